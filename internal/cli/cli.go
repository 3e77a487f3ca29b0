// Package cli is the command line for people and scripts: it parses arguments into engine requests, sets up what the
// engine needs from the process (environment, streams, a temporary directory), and turns the outcome into an exit code.
// It takes no decision about state.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gitopsctr/gitopsctr/internal/engine"
)

// Version is the program's version; the release build sets it by the linker.
var Version = "0.1.0-dev"

// Exit codes (chapter A, section 9).
const (
	ExitOK      = 0
	ExitFailure = 1
	ExitUsage   = 2
)

// An IO is the process as the commands see it.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
	// Environ is the environment as os.Environ returns it.
	Environ []string
	// Getwd returns the working directory.
	Getwd func() (string, error)
}

// Getenv returns the value of an environment variable, "" when unset.
func (s *IO) Getenv(name string) string {
	for i := len(s.Environ) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(s.Environ[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// An Action runs the GitHub Action entry point; the composition root supplies it, since cli does not know the action room.
type Action func(ctx context.Context) int

// exitError carries an exit code that was already explained to the user.
type exitError struct{ code int }

func (e *exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// Run executes the command line args (without the program's name) and returns the exit code.
func Run(ctx context.Context, s *IO, args []string, open Open, action Action) int {
	options := &globalOptions{io: s, open: open}
	root := newRoot(options, action)
	root.SetArgs(args)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	err := root.ExecuteContext(ctx)
	var exit *exitError
	var usage *engine.UsageError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &exit):
		return exit.code
	case errors.As(err, &usage):
		_, _ = fmt.Fprintf(s.Err, "gitopsctr: %s\n", usage.Message)
		return ExitUsage
	case !options.started: // cobra refused the command line before any command ran
		_, _ = fmt.Fprintf(s.Err, "gitopsctr: %s\n", err)
		return ExitUsage
	}
	failed(s, err)
	return ExitFailure
}

// failed prints the one FAILED line, or one a fault.
func failed(s *IO, err error) {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	for _, line := range lines {
		_, _ = fmt.Fprintf(s.Err, "    FAILED   gitopsctr: %s\n", line)
	}
}

func newRoot(options *globalOptions, action Action) *cobra.Command {
	root := &cobra.Command{
		Use:   "gitopsctr",
		Short: "A GitOps delivery controller that runs inside a CI job",
		Long: `gitopsctr keeps environments as their repository says, from inside a CI job: Git is its only database.

The source branch holds Units and the files that they deploy. The desired ref of an environment holds each Unit resolved
and immutable; the observed ref holds a Receipt for each, the evidence of what its driver did.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       Version,
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return &engine.UsageError{Message: fmt.Sprintf("%s\n%s", err, strings.TrimSpace(c.UsageString()))}
	})
	flags := root.PersistentFlags()
	flags.StringVar(&options.repository, "repository", "", "directory inside the repository (default: $GITOPSCTR_REPOSITORY, else the working directory)")
	flags.StringVar(&options.remote, "remote", "origin", "name of the git remote that holds the refs")
	flags.BoolVar(&options.verbose, "verbose", false, "say more about each Unit")
	flags.StringVar(&options.output, "output", "text", "how to print the outcome: text, or json on standard output")
	root.AddCommand(
		newApply(options), newReconcile(options), newConverge(options), newPlan(options), newVerify(options), newStatus(options),
		newPromote(options), newRollback(options), newCheckCandidate(options),
		newValidate(options), newResolveDesired(options), newGet(options), newDependencies(options), newCreate(options), newSchemas(options), newDemo(options),
		newDelete(options), newRecoverEffectLease(options), newRecoverOpaqueUnit(options), newResolveOpaqueUnit(options),
	)
	if action != nil {
		root.AddCommand(&cobra.Command{
			Use:    "action",
			Short:  "Run as a GitHub Action: inputs come from INPUT_ variables",
			Hidden: true,
			Args:   cobra.NoArgs,
			RunE: func(c *cobra.Command, _ []string) error {
				options.started = true
				if code := action(c.Context()); code != 0 {
					return &exitError{code: code}
				}
				return nil
			},
		})
	}
	options.completeFlags(root)
	for _, c := range root.Commands() {
		if c.Args == nil {
			c.Args = noArgs
		}
	}
	return root
}

func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return &engine.UsageError{Message: fmt.Sprintf("%s takes no argument, got %q\n%s", c.CommandPath(), args[0], strings.TrimSpace(c.UsageString()))}
	}
	return nil
}

// Std returns the IO of this process.
func Std() *IO {
	return &IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: os.Environ(), Getwd: os.Getwd}
}
