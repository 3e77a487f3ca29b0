package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gitopsctr/gitopsctr/internal/engine"
)

func newRecoverOpaqueUnit(o *globalOptions) *cobra.Command {
	var r engine.RecoverOpaqueRequest
	c := &cobra.Command{
		Use:   "recover-opaque-unit --environment E --unit U --uid UID --source-revision REV",
		Short: "Turn a desired Unit that could not be read back into a Unit",
		Long: `An opaque cleanup root keeps a desired Unit whose document an earlier version could not read. When this version can read it,
this command writes it back. A Unit that was marked for deletion, that is not in the source any more or that has another kind
there is marked, so that converge tears it down.`,
		Example: `  gitopsctr recover-opaque-unit --environment dev --unit old --uid d1-48a879f6a746d722c286255c714e4a62 --source-revision HEAD`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := require(c, "environment", "unit", "uid", "source-revision"); err != nil {
				return err
			}
			return o.publish(c, func(ctx context.Context, e *engine.Engine) (engine.Outcome, error) {
				return e.RecoverOpaqueUnit(ctx, r)
			})
		},
	}
	targetFlags(c, &r.Target, true)
	f := c.Flags()
	f.StringVar(&r.Unit, "unit", "", "name of the Unit (required)")
	f.StringVar(&r.UID, "uid", "", "UID of the Unit (required)")
	f.StringVar(&r.SourceRevision, "source-revision", "", "commit of the source to compare with (required)")
	return c
}

func newResolveOpaqueUnit(o *globalOptions) *cobra.Command {
	var r engine.ResolveOpaqueRequest
	var cleaned bool
	c := &cobra.Command{
		Use:   "resolve-opaque-unit --environment E --unit U --uid UID --deletion-generation N --reason TEXT --confirm-external-cleanup",
		Short: "Forget a desired Unit that cannot be read, after people removed what it made",
		Long: `An opaque cleanup root that is marked for deletion and that no version can read stays until a person answers for it: remove what
the Unit made, then run this command. A tombstone takes its place, and the reason stays in the history.`,
		Example: `  gitopsctr resolve-opaque-unit --environment dev --unit old --uid d1-48a879f6a746d722c286255c714e4a62 --deletion-generation 1 \
    --reason "bucket removed by hand" --confirm-external-cleanup`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := require(c, "environment", "unit", "uid", "deletion-generation", "reason"); err != nil {
				return err
			}
			if !cleaned {
				return &engine.UsageError{Message: fmt.Sprintf("%s needs --confirm-external-cleanup: remove what the Unit made first", c.CommandPath())}
			}
			return o.publish(c, func(ctx context.Context, e *engine.Engine) (engine.Outcome, error) {
				return e.ResolveOpaqueUnit(ctx, r)
			})
		},
	}
	targetFlags(c, &r.Target, true)
	f := c.Flags()
	f.StringVar(&r.Unit, "unit", "", "name of the Unit (required)")
	f.StringVar(&r.UID, "uid", "", "UID of the Unit (required)")
	f.Int64Var(&r.Generation, "deletion-generation", 0, "generation of its deletion mark (required)")
	f.StringVar(&r.Reason, "reason", "", "why it may be forgotten; kept in the commit message (required)")
	f.BoolVar(&cleaned, "confirm-external-cleanup", false, "what the Unit made is removed (required)")
	return c
}

// publish runs an operation that publishes, and prints the published revision.
func (o *globalOptions) publish(c *cobra.Command, op func(context.Context, *engine.Engine) (engine.Outcome, error)) error {
	return o.run(c, nil, func(ctx context.Context, e *engine.Engine) (engine.Outcome, error) {
		outcome, err := op(ctx, e)
		if err == nil {
			err = o.printRevision(outcome.Publication.Revision)
		}
		return outcome, err
	})
}
