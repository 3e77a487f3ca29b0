package forge

import (
	"context"

	"github.com/google/go-github/v88/github"
)

// RunEnded tells whether an attempt of a workflow run is over, whatever came of it. The token needs to read actions.
func (r *Repository) RunEnded(ctx context.Context, run int64, attempt int) (bool, error) {
	var found *github.WorkflowRun
	err := r.do(ctx, "look at a workflow run", again, func() (resp *github.Response, err error) {
		found, resp, err = r.client.Actions.GetWorkflowRunAttempt(ctx, r.owner, r.name, run, attempt, nil)
		return resp, err
	})
	return err == nil && found.GetStatus() == "completed", err
}
