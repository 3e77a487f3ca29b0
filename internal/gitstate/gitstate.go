// Package gitstate reads and publishes the controller's state in Git, its only database.
//
// A [Store] belongs to one run. It reads branch heads of one remote as immutable [Snapshot] values, and publishes edits
// as commits by a compare-and-swap on the remote branch: the push names the head that the edits were built on, and the
// server refuses it when somebody else was faster. Nothing is ever forced.
//
// The package knows no documents, environments or drivers: paths and bytes go in, paths and bytes come out. It is the
// only package that imports go-git.
//
// The central idea is an object store of its own, in layers: objects received or created by this run are held in memory
// (large downloads in a private bare repository), and below them lie, read-only, the objects of the user's clone. The
// clone is never fetched into, deepened, reconfigured or written, and need not be complete: what is missing because the
// clone is shallow is fetched from the remote into the private layers.
package gitstate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"
)

// Identity is the author and committer of every commit that a [Store] makes.
type Identity struct{ Name, Email string }

// DefaultIdentity is used for the parts of an [Identity] that are empty (chapter F, 6.1).
var DefaultIdentity = Identity{Name: "gitopsctr", Email: "gitopsctr@users.noreply.github.com"}

// Retry bounds how often [Store.Update] builds its commits anew after it lost a race. Zero fields mean the defaults.
type Retry struct {
	Races    int           // how often others may be faster; default 500, so that the window decides
	Attempts int           // how often the remote may be unavailable; default 16
	Window   time.Duration // no new attempt starts later than this after the first; default 2 minutes
	Delay    time.Duration // mean delay before the second attempt, doubled each time up to 2 seconds; default 50 ms
}

// Options say where a [Store] finds the user's clone and the remote, and who it is.
type Options struct {
	// Workspace is any directory inside the user's clone; "" when there is none, then RemoteURL must be set.
	Workspace string
	// Dir is the private directory for the store's bare repository; it is created. "" means a temporary directory that
	// Close removes.
	Dir string
	// Environ is the environment of Git commands that are run in the clone; nil means the process's own.
	Environ []string
	// RemoteName is the remote of the clone that holds the state; default "origin".
	RemoteName string
	// RemoteURL replaces the URL that the clone's configuration has for RemoteName.
	RemoteURL   string
	Credentials Credentials
	Identity    Identity
	// Now tells the time of commits, in the time zone that they record; default time.Now.
	Now func() time.Time
	// Rand returns numbers in [0, 1) for jitter, and is safe for concurrent use; default math/rand/v2.
	Rand func() float64
	// Timeout bounds each network operation; default 2 minutes.
	Timeout time.Duration
	Retry   Retry
}

// A Store is the Git state of one remote as one run sees it. Its methods are safe for concurrent use.
type Store struct {
	workspace *workspace // nil without a clone
	objects   *objects
	remote    *remote
	identity  Identity
	now       func() time.Time
	rand      func() float64
	retry     Retry
	tempDir   string // to remove on Close

	mu     sync.Mutex
	queues map[string]*queue // by branch name
}

// Open prepares a Store. It reads the clone's configuration and makes the private repository; it does not use the
// network. Close must be called in the end.
func Open(ctx context.Context, o Options) (_ *Store, err error) {
	s := &Store{
		identity: o.Identity, now: o.Now, rand: o.Rand, retry: o.Retry.withDefaults(), queues: map[string]*queue{},
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.rand == nil {
		s.rand = rand.Float64
	}
	if s.identity.Name == "" {
		s.identity.Name = DefaultIdentity.Name
	}
	if s.identity.Email == "" {
		s.identity.Email = DefaultIdentity.Email
	}
	if o.RemoteName == "" {
		o.RemoteName = "origin"
	}
	if o.Workspace != "" {
		if s.workspace, err = openWorkspace(o.Workspace); err != nil {
			return nil, err
		}
		s.workspace.environ = o.Environ
	}
	url := o.RemoteURL
	if url == "" {
		if s.workspace == nil {
			return nil, errors.New("no remote repository: neither a clone nor a remote URL is given")
		}
		if url, err = s.workspace.remoteURL(ctx, o.RemoteName); err != nil {
			return nil, err
		}
	}
	if s.remote, err = newRemote(url, o.Credentials, s.workspace, o.Timeout, s.rand); err != nil {
		return nil, err
	}
	dir := o.Dir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "gitopsctr-git-"); err != nil {
			return nil, fmt.Errorf("private Git repository: %w", err)
		}
		s.tempDir = dir
	}
	if s.objects, err = openObjects(dir, s.workspace); err != nil {
		return nil, errors.Join(err, s.removeTempDir())
	}
	return s, nil
}

// Close releases files and connections; with Options.Dir unset it removes the private repository.
func (s *Store) Close() error {
	s.remote.close()
	return errors.Join(s.objects.close(), s.removeTempDir())
}

// RemoteURL is the URL of the remote without user name and password, insteadOf rules applied.
func (s *Store) RemoteURL() string { return s.remote.shown }

// Root is the top level of the clone's worktree; "" when the Store was opened without a clone.
func (s *Store) Root() string {
	if s.workspace == nil {
		return ""
	}
	return s.workspace.root
}

func (s *Store) removeTempDir() error {
	if s.tempDir == "" {
		return nil
	}
	return os.RemoveAll(s.tempDir)
}

func (r Retry) withDefaults() Retry {
	if r.Races <= 0 {
		r.Races = 500
	}
	if r.Attempts <= 0 {
		r.Attempts = 16
	}
	if r.Window <= 0 {
		r.Window = 2 * time.Minute
	}
	if r.Delay <= 0 {
		r.Delay = 50 * time.Millisecond
	}
	return r
}
