package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gitopsctr/gitopsctr/internal/engine"
	"github.com/gitopsctr/gitopsctr/internal/inspect"
)

// completeGet completes the selector, then names of that family. Like all completion it asks the clone only, never the
// remote: a shell waits for it.
func (o *globalOptions) completeGet(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return inspect.Selectors(), cobra.ShellCompDirectiveNoFileComp
	case 1:
		return o.completeNames(c, args[0]), cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// completeNames are the names of a family in the environment of the command line, or in all.
func (o *globalOptions) completeNames(c *cobra.Command, selector string) []string {
	q := inspect.Query{Selector: selector, Output: inspect.Name}
	if !q.OfEnvironments() {
		if f := c.Flags().Lookup("environment"); f != nil {
			q.Environment = f.Value.String()
		}
		q.AllEnvironments = q.Environment == ""
	}
	var names []string
	o.offline = true
	_ = o.withEngine(c, func(ctx context.Context, e *engine.Engine) error { // no candidates are better than an error in a prompt
		list, err := e.Get(ctx, q)
		names = list.Names()
		return err
	})
	return names
}

// completeFlags makes the flags that name environments and Units complete, on every command that has them.
func (o *globalOptions) completeFlags(root *cobra.Command) {
	for _, c := range root.Commands() {
		o.completeFlags(c)
	}
	for flag, selector := range map[string]string{"environment": "environments", "unit": "units", "producer": "units"} {
		if root.Flags().Lookup(flag) == nil {
			continue
		}
		_ = root.RegisterFlagCompletionFunc(flag, func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return o.completeNames(c, selector), cobra.ShellCompDirectiveNoFileComp
		}) // it fails for flags that do not exist, or have one
	}
	if f := root.Flags().Lookup("output"); f != nil && strings.Contains(f.Usage, "table") {
		_ = root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(inspect.Outputs(), cobra.ShellCompDirectiveNoFileComp))
	}
}
