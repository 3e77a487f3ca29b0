package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gitopsctr/gitopsctr/internal/engine"
)

func newStatus(o *globalOptions) *cobra.Command {
	var r engine.StatusRequest
	c := &cobra.Command{
		Use:   "status --environment E",
		Short: "Tell every Unit's state and what is next",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := require(c, "environment"); err != nil {
				return err
			}
			r.Verbose = o.verbose
			return o.run(c, nil, func(ctx context.Context, e *engine.Engine) (engine.Outcome, error) { return e.Status(ctx, r) })
		},
	}
	targetFlags(c, &r.Target, false)
	c.Flags().StringVar(&r.Unit, "unit", "", "only this Unit")
	c.Flags().StringVar(&r.DesiredRevision, "desired-revision", "", "commit of the desired ref to look at (default: its head)")
	return c
}

func newResolveDesired(o *globalOptions) *cobra.Command {
	var t engine.Target
	var revision string
	c := &cobra.Command{
		Use:   "resolve-desired (--desired-ref R | --environment E) [--desired-revision X]",
		Short: "Print the full commit of a desired ref",
		RunE: func(c *cobra.Command, _ []string) error {
			if t.Environment == "" && t.DesiredRef == "" {
				return &engine.UsageError{Message: fmt.Sprintf("%s needs --desired-ref or --environment", c.CommandPath())}
			}
			return o.run(c, nil, func(ctx context.Context, e *engine.Engine) (engine.Outcome, error) {
				outcome, err := e.ResolveDesired(ctx, t, revision)
				if err == nil {
					err = o.printRevision(outcome.Revision)
				}
				return outcome, err
			})
		},
	}
	targetFlags(c, &t, false)
	c.Flags().StringVar(&revision, "desired-revision", "", "commit in the ref's history (default: its head)")
	return c
}

func newValidate(o *globalOptions) *cobra.Command {
	var r engine.ValidateRequest
	c := &cobra.Command{
		Use:   "validate [FILE...] [--environment E...]",
		Short: "Check the Project, its Environments and Units without touching any ref",
		Args:  cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			r.Files = args
			return o.run(c, nil, func(_ context.Context, e *engine.Engine) (engine.Outcome, error) { return e.Validate(r) })
		},
	}
	c.Flags().StringArrayVar(&r.Environments, "environment", nil, "check this environment (repeatable; default: all)")
	c.Flags().BoolVar(&r.FailFast, "fail-fast", false, "stop at the first fault")
	return c
}
