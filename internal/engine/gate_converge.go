package engine

import (
	"context"

	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// gated tells whether the documents of this convergence go behind a change gate. Such a run makes the accepted state true
// first, and proposes the documents once, in the end: every Receipt that arrives would otherwise make another candidate.
func (c *convergence) gated() bool {
	return c.applier != nil && c.scope.environment.ChangeGate == resource.PullRequestGate
}

// begin applies the documents before the first driver runs. Behind a gate it only checks them, unless there is no accepted
// state yet that drivers could work on.
func (c *convergence) begin(ctx context.Context) (err error) {
	if err := c.engine.checkMerged(ctx, c.scope, c.planes.desired); err != nil {
		return err
	}
	if c.gated() && c.planes.desired.Revision() != "" {
		_, err = c.applier.build(ctx, c.planes)
		return err
	}
	return c.advance(ctx)
}
