package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gitopsctr/gitopsctr/internal/engine"
	"github.com/gitopsctr/gitopsctr/internal/graph"
	"github.com/gitopsctr/gitopsctr/internal/inspect"
	"github.com/gitopsctr/gitopsctr/internal/report"
)

func newDependencies(o *globalOptions) *cobra.Command {
	var r engine.DependenciesRequest
	var from, output string
	var list, json bool
	outputs := []string{"tree", "list", "json", "mermaid", "dot"}
	c := &cobra.Command{
		Use:   "dependencies --environment E --unit U...",
		Short: "Show which producers Units need",
		Long: `Dependencies follows references (fromReceipt, fromArtifact) and the dependsOn of Stacks from the given Units to their
producers. It reads a commit of the source branch, or with --from the working tree or what the desired ref was resolved
with. It runs nothing and writes nothing.`,
		Example: `  gitopsctr dependencies --environment dev --unit app
  gitopsctr dependencies --environment dev --unit app --list --depth 1
  gitopsctr dependencies --environment dev --unit shop/web --from desired --output mermaid`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := require(c, "environment", "unit"); err != nil {
				return err
			}
			switch {
			case list:
				output = "list"
			case json:
				output = "json"
			case !slices.Contains(outputs, output):
				return usageError(c, fmt.Sprintf("--output must be one of %s, not %q", strings.Join(outputs, ", "), output))
			}
			if !slices.Contains(engine.DependencySources(), from) {
				return usageError(c, fmt.Sprintf("--from must be one of %s, not %q", strings.Join(engine.DependencySources(), ", "), from))
			}
			r.From = engine.DependencySource(from)
			o.offline = o.offline || r.From != engine.FromDesired // no ref is read
			if !c.Flags().Changed("depth") {
				r.Depth = graph.All
			} else if r.Depth < 0 {
				o.started = true
				return fmt.Errorf("--depth must be 0 or more, not %d", r.Depth)
			}
			return o.withEngine(c, func(ctx context.Context, e *engine.Engine) error {
				d, err := e.Dependencies(ctx, r)
				if err != nil {
					return err
				}
				return o.printDependencies(d, output)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&r.Environment, "environment", "", "name of the environment (required)")
	f.StringArrayVar(&r.Units, "unit", nil, "Unit to begin at, STACK/UNIT for one of a Stack (repeatable, required)")
	f.StringVar(&from, "from", string(engine.FromSource), "what to read: "+strings.Join(engine.DependencySources(), ", "))
	f.StringVar(&r.SourceRevision, "source-revision", "HEAD", "commit to read with --from source")
	f.IntVar(&r.Depth, "depth", 0, "follow at most this many references (default: all)")
	f.StringVarP(&output, "output", "o", "tree", "form of the answer: "+strings.Join(outputs, ", "))
	f.BoolVar(&list, "list", false, "same as --output list: producers first, one a line")
	f.BoolVar(&json, "json", false, "same as --output json")
	o.offlineFlag(c)
	c.MarkFlagsMutuallyExclusive("list", "json", "output")
	return c
}

func (o *globalOptions) printDependencies(d inspect.Dependencies, output string) error {
	var text string
	switch output {
	case "list":
		text = d.List()
	case "json":
		text = string(d.JSON())
	case "mermaid":
		text = d.Graph.Mermaid()
	case "dot":
		text = d.DOT()
	default:
		paint := func(s string) string { return s }
		isTerminal, isRegular := streamKind(o.io.Out)
		if report.Colour(o.io.Getenv, isTerminal, isRegular) {
			paint = report.PaintEntity
		}
		text = d.Tree(paint)
	}
	_, err := io.WriteString(o.io.Out, text)
	return err
}

// usageError is a mistake in the command line, with the line that says how to call the command.
func usageError(c *cobra.Command, message string) error {
	return &engine.UsageError{Message: fmt.Sprintf("%s\nusage: %s\nsee %s --help", message, c.UseLine(), c.CommandPath())}
}
