package terraform

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/driver"
)

// A session is one operation on one Unit: where the tool runs, with what, and where its files are. Every file of it holds
// values that may be secret, so all are for the owner only and outside of the source.
type session struct {
	driver  *Driver
	unit    driver.Unit
	spec    spec
	tool    tool
	dir     string // working directory: the root module
	env     []string
	varFile string // "" when there are no variables
	// planFile is where the tool writes its plan; ReportDir gets a copy.
	planFile string
	release  func()
}

// open checks the Unit and prepares everything but the tool's own initialization.
func (d *Driver) open(ctx context.Context, u driver.Unit) (*session, error) {
	spec, err := parseSpec(u.Spec)
	if err != nil {
		return nil, err
	}
	s := &session{
		driver: d, unit: u, spec: spec, dir: filepath.Join(u.SourceDir, spec.Path),
		planFile: filepath.Join(u.TempDir, planName), release: func() {},
	}
	if info, err := os.Stat(s.dir); err != nil || !info.IsDir() {
		return nil, invalid("/source/path", fmt.Sprintf("the source has no directory %q", spec.Path), "correct the path, or add the directory")
	}
	if s.tool, err = d.tools.choose(ctx, s.dir, spec.Path); err != nil {
		return nil, err
	}
	s.env = d.providers.environment(s.dir)
	if err := s.prepareFiles(); err != nil {
		return nil, &driver.Error{Op: "prepare " + s.tool.Name, Err: err}
	}
	if d.dataDir != nil {
		if err := d.dataDir.Acquire(ctx, 1); err != nil {
			return nil, &driver.Error{Op: s.tool.Name, Detail: "cancelled while it waited for TF_DATA_DIR, which all Units share", Err: err}
		}
		s.release = func() { d.dataDir.Release(1) }
	}
	return s, nil
}

func (s *session) close() { s.release() }

const (
	planName     = "plan.tfplan"
	planTextName = "plan.txt"
	privateFile  = 0o600
	privateDir   = 0o700
)

func (s *session) prepareFiles() error {
	if len(s.spec.Variables.Fields) > 0 {
		s.varFile = filepath.Join(s.unit.TempDir, "unit.tfvars.json")
		if err := os.WriteFile(s.varFile, document.CanonicalJSON(s.spec.Variables), privateFile); err != nil {
			return err
		}
	}
	if s.unit.ReportDir == "" {
		return nil
	}
	if err := os.MkdirAll(s.unit.ReportDir, privateDir); err != nil {
		return err
	}
	for _, name := range []string{planName, planTextName} {
		if err := os.Remove(filepath.Join(s.unit.ReportDir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// step is one command of the tool.
type step struct {
	name string // the subcommand, as messages say it
	args []string
	// stdout captures standard output, which then is not shown.
	stdout *bytes.Buffer
	// quiet keeps the command out of the transcript.
	quiet bool
	// effects tells that the step changes more than the session's own files.
	effects bool
	// ok are exit codes besides 0 that are no failure.
	ok []int
}

// run runs one step and returns its exit code. After a failure the report's plan.txt says what the tool said.
func (s *session) run(ctx context.Context, st step) (int, error) {
	var said boundedBuffer
	log := io.Writer(&said)
	if !st.quiet {
		log = io.MultiWriter(&said, s.unit.Log)
	}
	c := driver.Command{
		Name: s.tool.Name + " " + st.name,
		Path: s.tool.Path, Args: append([]string{st.name}, st.args...), Dir: s.dir, Env: s.env,
		Log: log, Mask: s.driver.options.Mask, Grace: s.driver.options.Timeouts.Grace, ReadOnly: !st.effects,
	}
	if st.stdout != nil {
		c.Stdout = st.stdout
	}
	err := c.Run(ctx)
	if code, ok := driver.ExitCode(err); ok && ctx.Err() == nil {
		for _, fine := range st.ok {
			if code == fine {
				return code, nil
			}
		}
	}
	if err == nil {
		return 0, nil
	}
	text := said.String()
	if text == "" {
		text = c.Name + " failed without a word\n"
	}
	if reportErr := s.report(planTextName, []byte(text)); reportErr != nil {
		return 0, errors.Join(err, reportErr)
	}
	return 0, explainLock(err, text)
}

func (s *session) init(ctx context.Context) error {
	args := []string{"-input=false", "-no-color"}
	for _, entry := range s.spec.Backend {
		args = append(args, "-backend-config="+entry)
	}
	return s.driver.providers.install(ctx, s.dir, s.spec.SourceRevision+" "+s.spec.Path, func() error {
		_, err := s.run(ctx, step{name: "init", args: args})
		return err
	})
}

// plan writes the plan file. It returns whether the plan has changes, which is known with -detailed-exitcode only.
func (s *session) plan(ctx context.Context, flags ...string) (changed bool, err error) {
	args := append([]string{"-input=false", "-no-color", "-out=" + s.planFile}, s.variables()...)
	code, err := s.run(ctx, step{name: "plan", args: append(args, flags...), ok: []int{2}})
	if err != nil {
		return false, err
	}
	if err := os.Chmod(s.planFile, privateFile); err != nil {
		return false, &driver.Error{Op: s.tool.Name + " plan", Detail: "wrote no plan file", Err: err}
	}
	if s.unit.ReportDir != "" {
		data, err := os.ReadFile(s.planFile)
		if err == nil {
			err = s.report(planName, data)
		}
		if err != nil {
			return false, &driver.Error{Op: "copy the plan", Err: err}
		}
	}
	return code == 2, nil
}

// showPlan returns the plan as the tool shows it to people, and writes it to the report.
func (s *session) showPlan(ctx context.Context) (string, error) {
	var out bytes.Buffer
	if _, err := s.run(ctx, step{name: "show", args: []string{"-no-color", s.planFile}, stdout: &out, quiet: true}); err != nil {
		return "", err
	}
	text := s.driver.options.Mask.String(out.String())
	return text, s.report(planTextName, []byte(text))
}

func (s *session) apply(ctx context.Context) error {
	args := append([]string{"-auto-approve", "-input=false", "-no-color"}, s.lock()...)
	_, err := s.run(ctx, step{name: "apply", args: append(args, s.planFile), effects: true})
	return err
}

func (s *session) destroy(ctx context.Context) error {
	args := append([]string{"-auto-approve", "-input=false", "-no-color"}, s.lock()...)
	_, err := s.run(ctx, step{name: "destroy", args: append(args, s.variables()...), effects: true})
	return err
}

func (s *session) variables() []string {
	if s.varFile == "" {
		return nil
	}
	return []string{"-var-file=" + s.varFile}
}

// lock says how long to wait for the state's lock, for the commands that take it.
func (s *session) lock() []string {
	if wait := s.driver.options.Timeouts.Lock; wait > 0 {
		return []string{"-lock-timeout=" + wait.Round(time.Second).String()}
	}
	return nil
}

// report writes a file of the report that the user asked for, if he did.
func (s *session) report(name string, data []byte) error {
	if s.unit.ReportDir == "" {
		return nil
	}
	if err := os.WriteFile(filepath.Join(s.unit.ReportDir, name), data, privateFile); err != nil {
		return &driver.Error{Op: "write the report", Err: err}
	}
	return nil
}

// boundedBuffer keeps the last part of what is written to it.
type boundedBuffer struct{ data []byte }

const reportLimit = 1 << 20

func (b *boundedBuffer) Write(p []byte) (int, error) {
	b.data = append(b.data, p...)
	if len(b.data) > 2*reportLimit {
		b.data = append(b.data[:0], b.data[len(b.data)-reportLimit:]...)
	}
	return len(p), nil
}

func (b *boundedBuffer) String() string { return string(b.data[max(0, len(b.data)-reportLimit):]) }
