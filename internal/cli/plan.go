package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gitopsctr/gitopsctr/internal/engine"
	"github.com/gitopsctr/gitopsctr/internal/report"
)

func newPlan(o *globalOptions) *cobra.Command {
	var r engine.PlanRequest
	var markdown string
	c := &cobra.Command{
		Use:   "plan --environment E [-f PATH...] [--source-revision REV] [--unit U...]",
		Short: "Show what applying the documents and converging would change; change nothing",
		Long: `Plan builds the desired state from the documents in memory and asks the driver of every Unit that would run what it would
do, producers first. No ref is written, no state is locked and nothing is changed.

A Unit that reads an output of a Unit that is to run first is planned with the value that the producer's plan shows. Where
that plan does not know the value, the Unit is deferred and the report names the value; a dryFallback is used instead where
the author wrote one, and the report says so.

Without -f the environment's own documents are planned.`,
		Example: `  gitopsctr plan --environment dev --source-revision HEAD
  gitopsctr plan --environment dev --source-revision HEAD --markdown plan.md
  gitopsctr plan --environment dev --source-revision HEAD --documents-only`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := require(c, "environment"); err != nil {
				return err
			}
			r.Authored = r.Authored || len(r.Files) == 0
			return o.run(c, nil, func(ctx context.Context, e *engine.Engine) (engine.Outcome, error) {
				outcome, err := e.Plan(ctx, r)
				if markdown != "" && outcome.Run.Operation != "" {
					err = errors.Join(err, o.writeMarkdown(markdown, outcome.Run))
				}
				return outcome, err
			})
		},
	}
	targetFlags(c, &r.Target, false)
	inputFlags(c, &r.ApplyRequest)
	f := c.Flags()
	f.StringArrayVar(&r.Units, "unit", nil, "only this Unit and its producers (repeatable)")
	f.BoolVar(&r.Static, "documents-only", false, "run no driver: only resolve and compare documents")
	f.BoolVar(&o.planBuild, "build", false, "build the images that are not published yet, and publish nothing")
	f.StringVar(&r.ReportDir, "report", "", "directory for each Unit's plan.txt and plan.tfplan (they may hold values in clear)")
	f.StringVar(&markdown, "markdown", "", "file to write the plan to as a pull-request comment shows it")
	o.driverFlags(c)
	return c
}

// writeMarkdown writes the plan as a comment into a file.
func (o *globalOptions) writeMarkdown(name string, run report.Run) error {
	if !filepath.IsAbs(name) {
		dir, err := o.io.Getwd()
		if err != nil {
			return err
		}
		name = filepath.Join(dir, name)
	}
	text := report.Comment(run, report.CommentOptions{})
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the plan as Markdown: %w", err)
	}
	return nil
}
