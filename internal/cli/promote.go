package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/gitopsctr/gitopsctr/internal/engine"
)

// appendSummary appends Markdown to the file that GITHUB_STEP_SUMMARY names, if any.
func (o *globalOptions) appendSummary(text string) error {
	name := o.io.Getenv("GITHUB_STEP_SUMMARY")
	if name == "" || text == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write the job summary: %w", err)
	}
	if _, err := f.WriteString(text); err != nil {
		_ = f.Close()
		return fmt.Errorf("write the job summary: %w", err)
	}
	return f.Close()
}

func newPromote(o *globalOptions) *cobra.Command {
	var r engine.PromoteRequest
	c := &cobra.Command{
		Use:   "promote --from-environment E --to-environment E (-f PATH... | --authored)",
		Short: "Build an environment's desired state from what another one has proven",
		Long: `Promote builds the target's desired state from the given documents. Their fromPromotion references read the source
environment's desired Units, which must all be clean: reconciled, with current Receipts. The documents and the configuration of
both environments are read from the specification revision, not from the checkout. A Promotion document in the target records
which commits were used.

Where the target has the change gate pullRequest, the result is proposed: a candidate branch with one commit on top of the
accepted state, and a pull request if there is a token for the forge. Merging it is the deployment; nothing runs before.

Standard output holds the published or proposed commit.`,
		Example: `  gitopsctr promote --from-environment dev --to-environment staging --authored
  gitopsctr promote --from-environment staging --to-environment prod -f deployment/environments/prod/units --specification-revision v1.4.0 --dry`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := require(c, "from-environment", "to-environment"); err != nil {
				return err
			}
			if len(r.Files) == 0 && !r.Authored {
				return &engine.UsageError{Message: c.CommandPath() + " needs --file or --authored"}
			}
			return o.run(c, nil, func(ctx context.Context, e *engine.Engine) (engine.Outcome, error) {
				outcome, err := e.Promote(ctx, r)
				if err == nil {
					err = o.printRevision(outcome.Publication.Revision)
				}
				if err == nil && outcome.Promotion != nil {
					err = o.appendSummary(outcome.Promotion.Summary)
				}
				return outcome, err
			})
		},
	}
	f := c.Flags()
	f.StringVar(&r.From, "from-environment", "", "environment to promote from (required)")
	f.StringVar(&r.To, "to-environment", "", "environment to promote to (required)")
	f.StringArrayVarP(&r.Files, "file", "f", nil, "document or directory of documents of the target; repeatable")
	f.BoolVar(&r.Authored, "authored", false, "use the target's own units and stacks directories")
	f.StringVar(&r.Partition, "partition", "", "the documents are all of this partition; members that are missing are deleted")
	f.StringVar(&r.SourceDesiredRevision, "source-desired-revision", "", "commit of the source's desired branch to promote (default: its head)")
	f.StringVar(&r.SpecificationRevision, "specification-revision", "", "commit to read documents and configuration from (default: HEAD)")
	f.StringVar(&r.CandidateRef, "candidate-ref", "", "candidate branch behind a change gate (default: as the Environment or the Project says)")
	f.BoolVar(&r.Dry, "dry", false, "show what would change and publish nothing")
	return c
}
