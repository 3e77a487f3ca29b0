package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gitopsctr/gitopsctr/internal/engine"
)

func newRecoverEffectLease(o *globalOptions) *cobra.Command {
	var r engine.RecoverRequest
	var stopped bool
	c := &cobra.Command{
		Use:   "recover-effect-lease --environment E --unit U --uid UID --token TOKEN --confirm-stopped",
		Short: "Remove the lease of a run that was killed",
		Long: `While a driver runs, its Unit is leased, so that no two runs change the world for it at once. A run that is killed cannot give
the lease back, and leases do not expire: whoever knows that the run and everything it started is gone removes the lease with
this command. The report of every run that meets the lease, and status, print the command with its arguments.`,
		Example: `  gitopsctr recover-effect-lease --environment dev --unit app --uid d1-48a879f6a746d722c286255c714e4a62 \
    --token lease-095844698a905fdd774738d8ca5efb88ee2841c2cd1fb97d17d554d1e230fadd --confirm-stopped`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := require(c, "environment", "unit", "uid", "token"); err != nil {
				return err
			}
			if !stopped {
				return &engine.UsageError{Message: fmt.Sprintf("%s needs --confirm-stopped: make sure that the run which holds the lease, and every process that it started, is gone", c.CommandPath())}
			}
			return o.run(c, nil, func(ctx context.Context, e *engine.Engine) (engine.Outcome, error) {
				revision, err := e.RecoverEffectLease(ctx, r)
				if err == nil {
					err = o.printRevision(revision)
				}
				return engine.Outcome{}, err
			})
		},
	}
	targetFlags(c, &r.Target, false)
	f := c.Flags()
	f.StringVar(&r.Unit, "unit", "", "qualified name of the Unit (required)")
	f.StringVar(&r.UID, "uid", "", "UID in the lease (required)")
	f.StringVar(&r.Token, "token", "", "token of the lease (required)")
	f.BoolVar(&stopped, "confirm-stopped", false, "nothing of the run that holds the lease is running any more (required)")
	return c
}
