package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gitopsctr/gitopsctr/internal/engine"
	"github.com/gitopsctr/gitopsctr/internal/inspect"
	"github.com/gitopsctr/gitopsctr/internal/report"
)

// ExitNotSettled is the exit code of status --exit-code when a Unit is to run, or waits.
const ExitNotSettled = 3

func newStatus(o *globalOptions) *cobra.Command {
	var r engine.StatusRequest
	var exitCode bool
	c := &cobra.Command{
		Use:   "status [--environment E]",
		Short: "Tell every Unit's state and what is next",
		Long: `Status tells for each Unit of an environment whether it is clean, ready to run, waiting and for what, or only published,
and why a ready one changed since its last Receipt: commits, files and fields. NEXT is what converge would run first.
Without --environment it prints the table of all environments.

The report of one environment goes to standard error, as all progress does; --output json prints it for programs on
standard output. The exit code is 0 whatever the states are, unless --exit-code is given.`,
		Example: `  gitopsctr status
  gitopsctr status --environment dev --unit app --verbose
  gitopsctr status --environment dev --exit-code || echo "dev is not settled"`,
		RunE: func(c *cobra.Command, _ []string) error {
			r.Verbose = o.verbose
			if r.Environment == "" {
				return o.statusOfAll(c)
			}
			settled := true
			err := o.run(c, nil, func(ctx context.Context, e *engine.Engine) (engine.Outcome, error) {
				outcome, err := e.Status(ctx, r)
				settled = !slices.ContainsFunc(outcome.Run.Units, func(u report.UnitResult) bool { return u.State == report.Ready || u.State == report.Wait })
				return outcome, err
			})
			if err == nil && exitCode && !settled {
				return &exitError{ExitNotSettled}
			}
			return err
		},
	}
	targetFlags(c, &r.Target, false)
	f := c.Flags()
	f.Lookup("environment").Usage = "name of the environment (default: a table of all)"
	f.StringVar(&r.Unit, "unit", "", "only this Unit")
	f.StringVar(&r.DesiredRevision, "desired-revision", "", "commit of the desired ref to look at (default: its head)")
	f.BoolVar(&exitCode, "exit-code", false, fmt.Sprintf("exit with %d when a Unit is to run or waits", ExitNotSettled))
	o.offlineFlag(c)
	return c
}

// statusOfAll prints the table of the environments: status without one.
func (o *globalOptions) statusOfAll(c *cobra.Command) error {
	for _, name := range []string{"unit", "desired-ref", "desired-revision", "observed-ref", "exit-code"} {
		if c.Flags().Changed(name) {
			o.started = true
			return fmt.Errorf("--%s needs --environment", name)
		}
	}
	q := inspect.Query{Selector: "environments", Output: inspect.Table}
	if strings.EqualFold(o.output, "json") {
		q.Output = inspect.JSON
	}
	return o.get(c, q)
}
