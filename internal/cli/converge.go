package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gitopsctr/gitopsctr/internal/engine"
)

func newConverge(o *globalOptions) *cobra.Command {
	var r engine.ConvergeRequest
	var yes, dependencies bool
	c := &cobra.Command{
		Use:   "converge --environment E [--authored | -f PATH...] [--unit U... | --partition P]",
		Short: "Run what is not clean, producers first, until nothing is left to do",
		Long: `Converge brings an environment to what its desired ref says: every Unit whose document differs from its last Receipt is
run, independent ones in parallel, producers before consumers. Each Receipt is published as soon as its Unit is done.

With --authored or -f the desired state is first built from the authored documents, and again whenever new evidence lets
a waiting Unit go on. A Unit that waits is not a failure: the exit code is 0 and the report says what it waits for.`,
		Example: `  gitopsctr converge --environment dev --authored --source-revision HEAD --yes
  gitopsctr converge --environment dev --unit app --yes
  gitopsctr converge --environment dev --unit app --with-dependencies=false --yes`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := require(c, "environment"); err != nil {
				return err
			}
			r.WithoutDependencies = !dependencies
			approve := o.ask
			if yes {
				approve = nil
			}
			return o.run(c, approve, func(ctx context.Context, e *engine.Engine) (engine.Outcome, error) { return e.Converge(ctx, r) })
		},
	}
	targetFlags(c, &r.Target, true)
	inputFlags(c, &r.ApplyRequest)
	f := c.Flags()
	f.StringArrayVar(&r.Units, "unit", nil, "only this Unit and its producers (repeatable)")
	f.BoolVar(&dependencies, "with-dependencies", true, "run the producers of the --unit or --partition Units too, as far as they are not clean")
	f.IntVar(&r.MaxSteps, "max-steps", 0, "stop with an error after this many driver runs (default: no limit)")
	f.BoolVar(&r.FailOnRepeat, "fail-on-repeat", false, "stop with an error when a Unit that already ran is to run again")
	f.BoolVar(&yes, "yes", false, "do not ask before drivers run")
	c.MarkFlagsMutuallyExclusive("unit", "partition")
	o.driverFlags(c)
	return c
}

// inputFlags adds the flags that select the documents of an apply.
func inputFlags(c *cobra.Command, r *engine.ApplyRequest) {
	f := c.Flags()
	f.StringArrayVarP(&r.Files, "file", "f", nil, "document, or directory of documents, to apply; - is standard input (repeatable)")
	f.BoolVar(&r.Authored, "authored", false, "apply the environment's own units and stacks directories")
	f.StringVar(&r.SourceRevision, "source-revision", "", "read documents and sources from this commit (default: the worktree, for documents only)")
	f.StringVar(&r.Partition, "partition", "", "own the documents as this partition")
}

// ask asks on the terminal whether a driver may run; anything but y or yes is no (chapter D, 8.2 step 13).
func (o *globalOptions) ask(unit string) (bool, error) {
	if _, err := fmt.Fprintf(o.io.Err, "    APPROVE  run the driver of %s? [y/N] ", unit); err != nil {
		return false, err
	}
	line, err := bufio.NewReader(o.io.In).ReadString('\n')
	if err != nil && line == "" {
		return false, nil //nolint:nilerr // the end of input is a "no"
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", nil
}
