package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gitopsctr/gitopsctr/internal/engine"
)

func newResolveDesired(o *globalOptions) *cobra.Command {
	var t engine.Target
	var revision string
	c := &cobra.Command{
		Use:   "resolve-desired (--desired-ref R | --environment E) [--desired-revision X]",
		Short: "Print the full commit of a desired ref",
		Example: `  gitopsctr resolve-desired --environment dev
  gitopsctr resolve-desired --environment dev --desired-revision 1f2e3d4c5b6a`,
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
