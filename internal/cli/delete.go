package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gitopsctr/gitopsctr/internal/engine"
)

func newDelete(o *globalOptions) *cobra.Command {
	c := &cobra.Command{
		Use:   "delete",
		Short: "Mark a resource for deletion; converge then tears it down",
		Example: `  gitopsctr delete unit --environment dev --name app --uid d1-48a879f6a746d722c286255c714e4a62
  gitopsctr converge --environment dev --yes`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return &engine.UsageError{Message: "delete what? Name a kind of resource: gitopsctr delete unit, stack or stacktemplate"}
		},
	}
	c.AddCommand(newDeleteUnit(o), newDeleteRoot(o, "stack", "Stack", "a Stack and the Units that it owns"),
		newDeleteRoot(o, "stacktemplate", "StackTemplate", "a StackTemplate; it goes when no Stack uses it any more"))
	return c
}

// newDeleteRoot is delete for the kinds that have no driver.
func newDeleteRoot(o *globalOptions, use, kind, what string) *cobra.Command {
	r := engine.DeleteRequest{Kind: kind}
	c := &cobra.Command{
		Use:   use + " --environment E --name N --uid UID",
		Short: "Mark " + what,
		Example: fmt.Sprintf(`  gitopsctr delete %s --environment dev --name core --uid d1-48a879f6a746d722c286255c714e4a62
  gitopsctr converge --environment dev --yes`, use),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.delete(c, &r) },
	}
	o.deleteFlags(c, &r)
	return c
}

func (o *globalOptions) deleteFlags(c *cobra.Command, r *engine.DeleteRequest) {
	targetFlags(c, &r.Target, true)
	f := c.Flags()
	f.StringVar(&r.Name, "name", "", "name of the resource (required)")
	f.StringVar(&r.UID, "uid", "", "UID of the resource (required)")
	f.BoolVar(&r.Dry, "dry", false, "check and tell, but publish nothing")
}

func (o *globalOptions) delete(c *cobra.Command, r *engine.DeleteRequest) error {
	if err := require(c, "environment", "name", "uid"); err != nil {
		return err
	}
	return o.publish(c, func(ctx context.Context, e *engine.Engine) (engine.Outcome, error) { return e.Delete(ctx, *r) })
}

func newDeleteUnit(o *globalOptions) *cobra.Command {
	var r engine.DeleteRequest
	c := &cobra.Command{
		Use:   "unit --environment E --name N --uid UID",
		Short: "Mark a Unit for deletion on the desired ref",
		Long: `Delete unit marks a Unit on the desired ref; from then on its document is frozen. Converge and reconcile tear it down once no
other Unit reads from it, record that on the observed ref, and leave a tombstone in its place. Remove the authored document
as well: an apply that still has it is refused until the Unit is gone.

The UID says which incarnation is meant, so that a script that was written for an earlier Unit of the name does no harm;
gitopsctr get units --output yaml shows it.

A Unit whose driver does not tear down stays until people have removed what it made and say so with --torn-down-by-hand.`,
		Example: `  gitopsctr delete unit --environment dev --name app --uid d1-48a879f6a746d722c286255c714e4a62
  gitopsctr delete unit --environment dev --name web --uid d1-0e5d3a004af8c530a5c3ac42dff27dd4 --torn-down-by-hand`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.delete(c, &r) },
	}
	o.deleteFlags(c, &r)
	c.Flags().BoolVar(&r.TornDownByHand, "torn-down-by-hand", false, "the marked Unit's resources were removed by people: record that and finalize it")
	return c
}
