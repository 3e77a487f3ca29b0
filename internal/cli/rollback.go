package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gitopsctr/gitopsctr/internal/engine"
)

func newRollback(o *globalOptions) *cobra.Command {
	var r engine.RollbackRequest
	c := &cobra.Command{
		Use:   "rollback --environment E --to-desired-revision REV --reason TEXT",
		Short: "Publish an earlier desired state again, as a new commit",
		Long: `Rollback takes a commit of the desired branch's history that was proven to work, and publishes its content as a new
commit on top of the present one: history only grows. With --unit only the named Units go back, together with every Unit that
reads from them. The reason becomes part of the commit.

Rolling back changes no authored file: the next apply of the same documents rolls forward again, so revert them too.
Where the environment has the change gate pullRequest, the result is proposed and takes effect when it is merged.

Standard output holds the published or proposed commit; with --dry what would be recorded, as JSON.`,
		Example: `  gitopsctr rollback --environment prod --to-desired-revision 4f2a91c --reason "checkout fails since 12:40"
  gitopsctr rollback --environment prod --to-desired-revision 4f2a91c --reason "bad image" --unit web --dry`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := require(c, "environment", "to-desired-revision", "reason"); err != nil {
				return err
			}
			return o.run(c, nil, func(ctx context.Context, e *engine.Engine) (engine.Outcome, error) {
				outcome, err := e.Rollback(ctx, r)
				if err == nil && r.Dry && o.output != "json" {
					_, err = o.io.Out.Write(outcome.Provenance)
				}
				if err == nil {
					err = o.printRevision(outcome.Publication.Revision)
				}
				return outcome, err
			})
		},
	}
	targetFlags(c, &r.Target, true)
	f := c.Flags()
	f.StringVar(&r.ToDesiredRevision, "to-desired-revision", "", "commit of the desired branch to go back to (required)")
	f.StringVar(&r.Reason, "reason", "", "why, in one line; it is recorded in the commit (required)")
	f.StringArrayVar(&r.Units, "unit", nil, "qualified name of a Unit to roll back with its consumers; repeatable (default: everything)")
	f.BoolVar(&r.Dry, "dry", false, "check everything, show what would change, and publish nothing")
	return c
}
