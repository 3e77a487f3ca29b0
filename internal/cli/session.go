package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/gitopsctr/gitopsctr/internal/engine"
	"github.com/gitopsctr/gitopsctr/internal/report"
)

// Settings are what a command knows of how the engine is to be set up; the composition root does it.
type Settings struct {
	Repository  string
	Remote      string
	MaxParallel int
	// Terraform is the path of the tool to use; TerraformVersion and OpenTofuVersion ask to fetch exactly that version.
	Terraform, TerraformVersion, OpenTofuVersion string
	LockTimeout                                  time.Duration
	// PlanBuild makes plans build the images that are not published yet.
	PlanBuild bool
	// Token is for pushes; "" takes it from the environment.
	Token                   string
	AuthorName, AuthorEmail string
	Sink                    report.Sink
	Approve                 func(unit string) (bool, error)
	// Offline reads the refs as the clone last saw them.
	Offline bool
}

// Open makes an engine from settings; done releases it and everything temporary.
type Open func(ctx context.Context, s *IO, settings Settings) (e *engine.Engine, done func() error, err error)

// globalOptions are the flags that every command takes.
type globalOptions struct {
	io         *IO
	open       Open
	started    bool // a command has begun: the command line was well formed
	repository string
	remote     string
	verbose    bool
	output     string
	offline    bool

	maxParallel                                  int
	terraform, terraformVersion, opentofuVersion string
	lockTimeout                                  time.Duration
	planBuild                                    bool
}

// driverFlags adds the flags of commands that run drivers.
func (o *globalOptions) driverFlags(c *cobra.Command) {
	f := c.Flags()
	f.IntVar(&o.maxParallel, "max-parallel", 0, "how many drivers may run at once (default: the number of CPUs)")
	f.StringVar(&o.terraform, "terraform", o.io.Getenv("GITOPSCTR_TERRAFORM"), "path of the terraform or tofu binary (default: $GITOPSCTR_TERRAFORM, else the version file in the Unit's source, else PATH)")
	f.StringVar(&o.terraformVersion, "terraform-version", "", "fetch and use exactly this version of terraform")
	f.StringVar(&o.opentofuVersion, "opentofu-version", "", "fetch and use exactly this version of OpenTofu")
	f.DurationVar(&o.lockTimeout, "lock-timeout", 5*time.Minute, "how long terraform waits for a state lock")
	c.MarkFlagsMutuallyExclusive("terraform", "terraform-version", "opentofu-version")
}

func targetFlags(c *cobra.Command, t *engine.Target, candidate bool) {
	f := c.Flags()
	f.StringVar(&t.Environment, "environment", "", "name of the environment (required)")
	f.StringVar(&t.DesiredRef, "desired-ref", "", "desired branch (default: as the Environment or the Project says)")
	f.StringVar(&t.ObservedRef, "observed-ref", "", "observed branch (default: as the Environment or the Project says)")
	if candidate {
		f.StringVar(&t.CandidateRef, "candidate-ref", "", "candidate branch behind a change gate (default: as the Environment or the Project says)")
	}
}

// require returns a usage error unless every named flag was given a value.
func require(c *cobra.Command, names ...string) error {
	for _, name := range names {
		f := c.Flags().Lookup(name)
		if f.Value.String() == "" || f.Value.String() == "[]" {
			return &engine.UsageError{Message: fmt.Sprintf("%s needs --%s", c.CommandPath(), name)}
		}
	}
	return nil
}

// run opens an engine, runs op on it and prints the outcome.
func (o *globalOptions) run(c *cobra.Command, approve func(string) (bool, error), op func(ctx context.Context, e *engine.Engine) (engine.Outcome, error)) (err error) {
	o.started = true
	if o.output != "text" && o.output != "json" {
		return &engine.UsageError{Message: fmt.Sprintf("--output must be text or json, not %q", o.output)}
	}
	isTerminal, isRegular := streamKind(o.io.Err)
	bus := report.Serial(report.NewTerminal(o.io.Err, report.Colour(o.io.Getenv, isTerminal, isRegular)))
	defer bus.Heartbeat(c.Context(), heartbeat)()
	e, done, err := o.open(c.Context(), o.io, Settings{
		Repository: o.repository, Remote: o.remote, MaxParallel: o.maxParallel, Terraform: o.terraform,
		TerraformVersion: o.terraformVersion, OpenTofuVersion: o.opentofuVersion, LockTimeout: o.lockTimeout, PlanBuild: o.planBuild, Sink: bus, Approve: approve, Offline: o.offline,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	outcome, err := op(c.Context(), e)
	if o.output == "json" {
		if printErr := report.WriteJSON(o.io.Out, outcome.Run); printErr != nil {
			return errors.Join(err, printErr)
		}
	}
	if err != nil {
		return err
	}
	return o.writeOutputs(outcome)
}

// heartbeat is how often a driver that says nothing is reported to be still running.
const heartbeat = 30 * time.Second

// streamKind tells whether a stream is a terminal, or a regular file.
func streamKind(w io.Writer) (isTerminal, isRegular bool) {
	f, ok := w.(*os.File)
	if !ok {
		return false, false
	}
	info, err := f.Stat()
	return term.IsTerminal(int(f.Fd())), err == nil && info.Mode().IsRegular()
}
