package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gitopsctr/gitopsctr/internal/engine"
)

func newApply(o *globalOptions) *cobra.Command {
	var r engine.ApplyRequest
	c := &cobra.Command{
		Use:   "apply --environment E (-f PATH... | --authored) [--source-revision REV]",
		Short: "Build the desired state from authored documents and publish it",
		Long: `Apply resolves the given Units against the environment's evidence and publishes the result on the desired ref, in one
commit. No driver runs. A Unit whose references have no evidence yet waits: what it waits for is recorded beside the Units.

Standard output holds the published commit, nothing when there was nothing to publish.`,
		Example: `  gitopsctr apply --environment dev --authored --source-revision HEAD
  gitopsctr apply --environment dev -f deployment/environments/dev/units --source-revision HEAD --dry`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := require(c, "environment"); err != nil {
				return err
			}
			return o.run(c, nil, func(ctx context.Context, e *engine.Engine) (engine.Outcome, error) {
				outcome, err := e.Apply(ctx, r)
				if err == nil {
					err = o.printRevision(outcome.Publication.Revision)
				}
				return outcome, err
			})
		},
	}
	targetFlags(c, &r.Target, true)
	inputFlags(c, &r)
	c.Flags().BoolVar(&r.Dry, "dry", false, "resolve with dryFallback values and publish nothing")
	return c
}
