package driver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// DefaultGrace is how long a tool has after SIGINT when nothing else is said: enough for terraform to store its state
// and release the state's lock.
const DefaultGrace = 60 * time.Second

// drainTime bounds how long Run reads on after everything in the tool's process group is gone. Only a process that left
// the group (setsid) can still hold the pipe then.
const drainTime = 2 * time.Second

// A Command is one run of a foreign program: a stranger (chapter G 1.2). It runs in a process group of its own with
// exactly the environment given, an empty standard input unless one is given, and no controlling terminal's signals.
type Command struct {
	// Name says what runs in the words of a message: "terraform apply". It must hold no argument that could be secret.
	Name string
	// Path is the program. One without a slash is looked up in the PATH of Env, see LookPath.
	Path string
	Args []string
	Dir  string
	// Env is the complete environment, see Environment. Nil is an empty environment, not the caller's.
	Env []string
	// Stdin is the standard input; nil is empty.
	Stdin io.Reader
	// Log receives standard error and, unless Stdout is set, standard output: as one stream in the order of arrival, one
	// Write per line, with its line feed. Nil discards.
	Log io.Writer
	// Stdout, when set, receives standard output as it is: neither split, masked, nor shown.
	Stdout io.Writer
	// Mask is applied to every line before Log or an error sees it. Nil masks nothing.
	Mask *Masker
	// Grace is how long the tool has after SIGINT before it is killed; 0 is DefaultGrace.
	Grace time.Duration
	// ReadOnly tells that the tool changes nothing outside, so that killing it leaves no unknown effect.
	ReadOnly bool
	// Install says how to get the program, for the error that it is missing.
	Install string
}

// Run runs the command to its end. When ctx ends, the whole process group gets SIGINT once (a second one makes terraform
// give up its state), then Grace to end by itself, then SIGKILL. Nothing of the process group survives Run.
//
// The error is an *Error without arguments, with the last lines of the log as detail. It wraps ctx's cause when the tool
// failed after ctx had ended, and says EffectUnknown when the tool was killed while it might have been changing things.
// A tool that ends successfully in spite of SIGINT has succeeded. ExitCode tells the exit status.
func (c Command) Run(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return &Error{Op: c.Name, Detail: "not started: " + context.Cause(ctx).Error(), Err: context.Cause(ctx)}
	}
	path, err := LookPath(c.Env, c.Path)
	if err != nil {
		return c.startError(err)
	}
	log := newLineWriter(c.Log, c.Mask)
	cmd := &exec.Cmd{
		Path: path, Args: append([]string{c.Path}, c.Args...), Dir: c.Dir, Env: c.environment(), Stdin: c.Stdin,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true}, WaitDelay: drainTime,
	}
	streams, err := c.connect(cmd, log)
	if err != nil {
		return &Error{Op: c.Name, Err: fmt.Errorf("cannot make a pipe: %w", err)}
	}
	if err := cmd.Start(); err != nil {
		streams.abandon()
		return c.startError(err)
	}
	streams.start()
	killed, waitErr := c.supervise(ctx, cmd)
	streams.finish()
	log.flush()
	if waitErr == nil {
		return nil
	}
	return c.exitError(ctx, killed, waitErr, log)
}

// environment is Env with a PWD that agrees with Dir; never nil, which would mean our own environment.
func (c Command) environment() []string {
	env := slices.Clone(c.Env)
	if c.Dir != "" {
		env = append(env, "PWD="+c.Dir)
	}
	return append([]string{}, env...)
}

// supervise waits for the started tool, interrupts it when ctx ends, and clears its process group away.
func (c Command) supervise(ctx context.Context, cmd *exec.Cmd) (killed bool, err error) {
	group := -cmd.Process.Pid
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		_ = syscall.Kill(group, syscall.SIGINT)
		grace := c.Grace
		if grace <= 0 {
			grace = DefaultGrace
		}
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case err = <-ended:
		case <-timer.C:
			killed = true
			_ = syscall.Kill(group, syscall.SIGKILL)
			err = <-ended
		}
	}
	_ = syscall.Kill(group, syscall.SIGKILL)
	return killed, err
}

func (c Command) startError(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
		if info, statErr := os.Stat(c.Dir); c.Dir != "" && (statErr != nil || !info.IsDir()) {
			return &Error{Op: c.Name, Detail: "its working directory does not exist", Err: err}
		}
		return &Error{Op: c.Name, Detail: fmt.Sprintf("the program %s was not found", c.Path), Fix: c.Install, Err: err}
	}
	return &Error{Op: c.Name, Detail: fmt.Sprintf("cannot start %s: %v", c.Path, err), Fix: c.Install, Err: err}
}

func (c Command) exitError(ctx context.Context, killed bool, waitErr error, log *lineWriter) error {
	e := &Error{Op: c.Name, Err: waitErr}
	what := waitErr.Error()
	var exit *exec.ExitError
	signalled := errors.As(waitErr, &exit) && exit.ExitCode() < 0
	switch {
	case ctx.Err() != nil && killed:
		what = fmt.Sprintf("killed, since it did not end after SIGINT (%v)", context.Cause(ctx))
	case ctx.Err() != nil:
		what = fmt.Sprintf("interrupted (%v), %s", context.Cause(ctx), what)
	}
	if ctx.Err() != nil {
		e.Err = errors.Join(context.Cause(ctx), waitErr)
	}
	e.EffectUnknown = !c.ReadOnly && (killed || signalled)
	e.Detail = what
	if last := log.last(); len(last) > 0 {
		e.Detail += ":\n" + strings.Join(last, "\n")
	}
	return e
}

// ExitCode returns the exit status with which the tool behind err ended, and false when err is of another sort or the
// tool was ended by a signal.
func ExitCode(err error) (int, bool) {
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() < 0 {
		return 0, false
	}
	return exit.ExitCode(), true
}
