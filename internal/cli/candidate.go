package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/gitopsctr/gitopsctr/internal/engine"
)

func newCheckCandidate(o *globalOptions) *cobra.Command {
	var check engine.CandidateCheck
	var event string
	c := &cobra.Command{
		Use:   "check-candidate [--head REV --base REV]",
		Short: "Check that a pull request merges exactly one reviewed candidate",
		Long: `Check-candidate is for a required check on the desired branches. It makes sure that what is about to be merged is one
candidate commit directly on the accepted state, that it can be read, and that nobody changed it since it was proposed. A
candidate that another merge has overtaken fails: propose it again.

The revisions come from the event of the job (pull_request or merge_group), or from the flags. The candidate itself must be
checked out, not the merge commit that the forge makes of it.`,
		Example: `  gitopsctr check-candidate
  gitopsctr check-candidate --head "$HEAD_SHA" --base "$BASE_SHA"`,
		RunE: func(c *cobra.Command, _ []string) error {
			if check.Head == "" && check.Base == "" {
				if event == "" {
					event = o.io.Getenv("GITHUB_EVENT_PATH")
				}
				if event == "" {
					return &engine.UsageError{Message: c.CommandPath() + " needs --head and --base, or the event of a job in $GITHUB_EVENT_PATH"}
				}
				var err error
				if check, err = readCandidateEvent(event); err != nil {
					return err
				}
			}
			return o.run(c, nil, func(ctx context.Context, e *engine.Engine) (engine.Outcome, error) {
				return engine.Outcome{}, e.CheckCandidate(ctx, check)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&check.Head, "head", "", "commit of the candidate (default: from the event)")
	f.StringVar(&check.Base, "base", "", "head of the desired branch (default: from the event)")
	f.StringVar(&event, "event", "", "file of the job's event (default: $GITHUB_EVENT_PATH)")
	return c
}

// readCandidateEvent takes the revisions and branches out of a pull_request or merge_group event.
func readCandidateEvent(file string) (engine.CandidateCheck, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return engine.CandidateCheck{}, fmt.Errorf("read the job's event: %w", err)
	}
	type side struct{ Sha, Ref string }
	var payload struct {
		PullRequest *struct{ Head, Base side } `json:"pull_request"`
		MergeGroup  *struct {
			HeadSHA string `json:"head_sha"`
			BaseSHA string `json:"base_sha"`
		} `json:"merge_group"`
	}
	if err := json.Unmarshal(data, &payload); err != nil {
		return engine.CandidateCheck{}, fmt.Errorf("read the job's event %s: %w", file, err)
	}
	switch {
	case payload.PullRequest != nil:
		p := payload.PullRequest
		return engine.CandidateCheck{Head: p.Head.Sha, Base: p.Base.Sha, HeadRef: p.Head.Ref, BaseRef: p.Base.Ref}, nil
	case payload.MergeGroup != nil:
		return engine.CandidateCheck{Head: payload.MergeGroup.HeadSHA, Base: payload.MergeGroup.BaseSHA}, nil
	}
	return engine.CandidateCheck{}, &engine.UsageError{Message: fmt.Sprintf("the event in %s is neither pull_request nor merge_group; give --head and --base", file)}
}
