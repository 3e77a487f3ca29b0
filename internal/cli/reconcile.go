package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gitopsctr/gitopsctr/internal/engine"
)

func newReconcile(o *globalOptions) *cobra.Command {
	var r engine.ReconcileRequest
	c := &cobra.Command{
		Use:   "reconcile --environment E --unit U",
		Short: "Run one Unit's driver if its Receipt is not current, and publish the Receipt",
		Example: `  gitopsctr reconcile --environment dev --unit app
  gitopsctr reconcile --environment dev --unit app --plan --report plans/app
  gitopsctr reconcile --environment dev --unit images --plan --build`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := require(c, "environment", "unit"); err != nil {
				return err
			}
			return o.run(c, nil, func(ctx context.Context, e *engine.Engine) (engine.Outcome, error) { return e.Reconcile(ctx, r) })
		},
	}
	targetFlags(c, &r.Target, false)
	f := c.Flags()
	f.StringVar(&r.Unit, "unit", "", "qualified name of the Unit (required)")
	f.StringVar(&r.DesiredRevision, "desired-revision", "", "commit of the desired ref to work on (default: its head)")
	f.BoolVar(&r.Plan, "plan", false, "only plan: no side effects, nothing is published")
	f.BoolVar(&o.planBuild, "build", false, "with --plan: build the images that are not published yet, and publish nothing")
	f.BoolVar(&r.Reapply, "reapply", false, "run the driver even if the Receipt is current")
	f.StringVar(&r.ReportDir, "report", "", "directory for plan.txt and plan.tfplan (they may hold values in clear)")
	o.driverFlags(c)
	return c
}

func newVerify(o *globalOptions) *cobra.Command {
	var r engine.VerifyRequest
	c := &cobra.Command{
		Use:   "verify --environment E [--unit U...]",
		Short: "Compare the world with the desired Units; exit 1 when one drifted",
		Example: `  gitopsctr verify --environment dev
  gitopsctr verify --environment dev --unit network --unit app`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := require(c, "environment"); err != nil {
				return err
			}
			return o.run(c, nil, func(ctx context.Context, e *engine.Engine) (engine.Outcome, error) { return e.Verify(ctx, r) })
		},
	}
	targetFlags(c, &r.Target, false)
	c.Flags().StringArrayVar(&r.Units, "unit", nil, "only this Unit (repeatable; default: all)")
	o.driverFlags(c)
	return c
}
