// Package engine holds the use cases: apply, reconcile, converge, verify, status, validate. It is the only room that knows the
// order of things: fetch the refs, build the desired candidate, publish it, run drivers, publish Receipts (chapters B and D).
//
// Nothing below calls back into it. What happens is told as events to a report.Sink; what came of it is returned as a
// report.Run. Nothing here reads the environment of the process or prints.
package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/driver"
	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/lease"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// Config is what the composition root gives the engine.
type Config struct {
	// Repository is a directory inside the user's clone.
	Repository string
	// Directory is where relative file arguments start: the caller's working directory.
	Directory string
	// Temp is a private directory for this run; the caller removes it.
	Temp string
	// Git opens the store; its Workspace and Dir are set by the engine.
	Git gitstate.Options
	// Drivers are the installed drivers.
	Drivers driver.Registry
	// Sink receives the events.
	Sink report.Sink
	// Controller describes this program in Receipts.
	Controller Controller
	// MaxParallel bounds the drivers that run at once; 0 means the number of CPUs.
	MaxParallel int
	// Stdin is read for the file argument "-".
	Stdin io.Reader
	// Masker hides secret values in driver output, errors and plan texts; nil hides nothing.
	Masker *driver.Masker
	// OpenForge returns what opens pull requests for candidates in a repository on a server, both as the remote's address has
	// them, "" for a remote that is a path. A nil Forge, or no OpenForge, leaves pull requests to people.
	OpenForge func(server, repository string) (Forge, error)
	// LeaseOwner is written into effect leases, see lease.Owner.
	LeaseOwner string
	// LockDir is where runs of this machine keep each other from running a Unit, in Projects without leases; "" is nowhere.
	LockDir string
	// RunEnded asks the forge whether an attempt of a workflow run is over; nil when there is none to ask.
	RunEnded func(ctx context.Context, run int64, attempt int) (bool, error)
	// Now is the clock.
	Now func() time.Time
	// Offline reads the refs as the clone last saw them; nothing can be published then.
	Offline bool
	// Approve asks a person before drivers run; nil approves (chapter D, 8.2 step 13).
	Approve func(unit string) (bool, error)
}

// Controller is what Receipts say of the program that wrote them (chapter A, section 7).
type Controller struct {
	Version string
	// Revision is the commit of the running workflow, "" to take the worktree's HEAD.
	Revision string
	// WorkflowURL is the run's page, "" outside of a workflow.
	WorkflowURL string
}

// Target selects an environment and, optionally, other refs than the configured ones.
type Target struct {
	Environment             string
	DesiredRef, ObservedRef string
	CandidateRef            string
}

// An Engine runs operations on one repository. It is made for one process and not reused after Close.
type Engine struct {
	Config
	store *gitstate.Store
	root  string
	// dir is the worktree's directory, and work the files in it: nothing outside can be reached through them.
	dir  *os.Root
	work fs.FS
	// worktree is the list of its non-ignored files, nil until it is asked for (see sources).
	worktree *gitstate.Worktree
}

// A UsageError is a mistake in how an operation was called: exit code 2.
type UsageError struct{ Message string }

func (e *UsageError) Error() string { return e.Message }

// Open prepares the engine: it finds the repository and opens the private object store.
func Open(ctx context.Context, c Config) (*Engine, error) {
	if c.MaxParallel <= 0 {
		c.MaxParallel = runtime.NumCPU()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	options := c.Git
	options.Workspace = c.Repository
	options.Dir = filepath.Join(c.Temp, "store.git")
	options.Now = c.Now
	store, err := gitstate.Open(ctx, options)
	if err != nil && c.Offline { // a clone without remote will do for what reads no ref
		options.RemoteURL = filepath.Join(c.Temp, "no-remote")
		store, err = gitstate.Open(ctx, options)
	}
	if err != nil {
		return nil, err
	}
	e := &Engine{Config: c, store: store, root: store.Root()}
	if e.dir, err = os.OpenRoot(e.root); err != nil {
		return nil, errors.Join(fmt.Errorf("open the worktree: %w", err), store.Close())
	}
	e.work = e.dir.FS()
	return e, nil
}

// Close releases the store.
func (e *Engine) Close() error {
	err := errors.Join(e.dir.Close(), e.store.Close())
	if e.worktree != nil {
		err = errors.Join(err, e.worktree.Close())
	}
	return err
}

// sources is the non-ignored worktree as a source tree. It is listed when it is first asked for: most runs take their
// sources from a commit and read no more of the worktree than the configuration.
func (e *Engine) sources(ctx context.Context) (sourceTree, error) {
	if e.worktree == nil {
		worktree, err := e.store.WorktreeFiles(ctx)
		if err != nil {
			return nil, err
		}
		e.worktree = worktree
	}
	return worktreeSource{e.worktree, e.root}, nil
}

func (e *Engine) emit(event report.Event) {
	if e.Sink != nil {
		e.Sink.Event(event)
	}
}

// project is the live configuration of one environment: the worktree's Project and Environment documents.
type project struct {
	*resource.Project
	file string
}

func (e *Engine) loadProject(tree fs.FS) (project, error) {
	p, file, err := resource.FindProject(tree)
	if err != nil {
		return project{}, err
	}
	return project{Project: p, file: file}, nil
}

// loadEnvironment reads the Environment document of name from tree.
func loadEnvironment(tree fs.FS, p project, name string) (*resource.Environment, string, error) {
	if err := resource.CheckName(name); err != nil {
		return nil, "", fmt.Errorf("environment %q: %w", name, err)
	}
	stem := path.Join(p.EnvironmentsPath, name, "environment")
	var found string
	var data []byte
	for _, file := range resource.Representations(stem) {
		b, err := fs.ReadFile(tree, file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, "", err
		}
		if found != "" {
			return nil, "", &document.Error{File: file, Message: "the environment has two documents: " + found + " and this one", Fix: "remove one of them"}
		}
		found, data = file, b
	}
	if found == "" {
		return nil, "", &document.Error{File: stem + ".yaml", Message: fmt.Sprintf("environment %q has no document", name),
			Fix: "create it, or name another environment"}
	}
	env, err := resource.DecodeEnvironment(found, data, name)
	return env, found, err
}

// scope is everything that an operation on one environment starts from.
type scope struct {
	Target
	project     project
	environment *resource.Environment
	refs        resource.Refs
	leases      *lease.Store // nil when the Project has leases off
	// reserved are deployment refs beside the environment's own that a candidate must not take.
	reserved []resource.RefRole
}

// open reads the configuration from the live worktree, as the chapters say for deployment refs, and resolves the refs.
func (e *Engine) open(t Target) (*scope, error) {
	p, err := e.loadProject(e.work)
	if err != nil {
		return nil, err
	}
	env, _, err := loadEnvironment(e.work, p, t.Environment)
	if err != nil {
		return nil, err
	}
	refs, err := p.Refs(env, resource.RefOverrides{Desired: t.DesiredRef, Observed: t.ObservedRef})
	if err != nil {
		return nil, err
	}
	leases, err := e.openLeases(p, t.Environment, refs)
	if err != nil {
		return nil, err
	}
	return &scope{Target: t, project: p, environment: env, refs: refs, leases: leases}, nil
}

// tempDir makes a private directory below the run's.
func (e *Engine) tempDir(pattern string) (string, error) {
	dir, err := os.MkdirTemp(e.Temp, pattern)
	if err != nil {
		return "", fmt.Errorf("make a work directory: %w", err)
	}
	return dir, nil
}
