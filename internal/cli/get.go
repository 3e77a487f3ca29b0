package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gitopsctr/gitopsctr/internal/engine"
	"github.com/gitopsctr/gitopsctr/internal/inspect"
)

func newGet(o *globalOptions) *cobra.Command {
	var q inspect.Query
	var output string
	var watch time.Duration
	c := &cobra.Command{
		Use:   "get SELECTOR [NAME] [--environment E | --all-environments]",
		Short: "Show documents of the desired and observed refs, and what state they are in",
		Long: `Get shows Units, Stacks, StackTemplates, Promotions, Receipts and Artifacts of an environment, and the Environments
themselves. SELECTOR is one of ` + strings.Join(inspect.Selectors(), ", ") + `, or their singular.

A table shows states: whether evidence is current, what is to run, what waits and why. With -o yaml or json the exact
persisted document is printed when NAME names one, and a ResourceList with the provenance of each document otherwise.

Nothing is written and no ref moves. A document that cannot be read does not hide the others: they are printed, the fault
is told on standard error, and the exit code is 1.`,
		Example: `  gitopsctr get environments
  gitopsctr get units --environment dev
  gitopsctr get unit app --environment dev -o yaml
  gitopsctr get receipts --all-environments
  gitopsctr get receipt app --environment dev --artifacts
  gitopsctr get all --environment dev --desired-revision 1f2e3d4c5b6a
  gitopsctr get units --environment dev --sort-by RECONCILIATION --watch
  gitopsctr get receipt app --environment dev -o jsonpath='{.status.result.outputs.url}'`,
		Args:              getArgs,
		ValidArgsFunction: o.completeGet,
		RunE: func(c *cobra.Command, args []string) error {
			q.Selector = args[0]
			if len(args) > 1 {
				q.Name = args[1]
			}
			if err := q.ParseOutput(output); err != nil {
				return usageError(c, err.Error())
			}
			if watch > 0 || c.Flags().Changed("watch") {
				return o.watch(c, q, watch)
			}
			return o.get(c, q)
		},
	}
	f := c.Flags()
	f.StringVar(&q.Environment, "environment", "", "name of the environment")
	f.BoolVarP(&q.AllEnvironments, "all-environments", "A", false, "look into all environments")
	f.StringVar(&q.Producer, "producer", "", "only artifacts of this Unit")
	f.StringVar(&q.DesiredRef, "desired-ref", "", "desired branch (default: as the Environment or the Project says)")
	f.StringVar(&q.DesiredRevision, "desired-revision", "", "commit of the desired ref to look at (default: its head)")
	f.StringVar(&q.ObservedRef, "observed-ref", "", "observed branch (default: as the Environment or the Project says)")
	f.StringVar(&q.ObservedRevision, "observed-revision", "", "commit of the observed ref to look at (default: its head)")
	f.StringVarP(&output, "output", "o", "table", "form of the answer: "+strings.Join(inspect.Outputs(), ", "))
	f.BoolVar(&q.AsList, "as-list", false, "print a ResourceList, with provenance, even for one document")
	f.StringVar(&q.Artifact, "artifact", "", "with a Receipt's name: print the artifact of this name that it describes")
	f.BoolVar(&q.Artifacts, "artifacts", false, "with a Receipt's name: print all artifacts that it describes")
	f.StringToStringVarP(&q.Labels, "selector", "l", nil, "only documents with these labels: key=value,key=value")
	f.StringVar(&q.SortBy, "sort-by", "", "order the rows by this column of the table")
	f.DurationVar(&watch, "watch", 0, "look again in this interval (5s by default), and print the answer when it changed, until interrupted")
	f.Lookup("watch").NoOptDefVal = "5s"
	o.offlineFlag(c)
	return c
}

// getArgs takes a selector that exists, and at most one name.
func getArgs(c *cobra.Command, args []string) error {
	usage := func(message string) error { return usageError(c, message) }
	switch {
	case len(args) == 0:
		return usage("say what to get: one of " + strings.Join(inspect.Selectors(), ", "))
	case len(args) > 2:
		return usage(fmt.Sprintf("%s takes a selector and at most one name, got %q", c.CommandPath(), args))
	}
	if err := inspect.CheckSelector(args[0]); err != nil {
		return usage(err.Error())
	}
	return nil
}

func (o *globalOptions) get(c *cobra.Command, q inspect.Query) error {
	return o.withEngine(c, func(ctx context.Context, e *engine.Engine) error {
		list, err := e.Get(ctx, q)
		if err != nil {
			return err
		}
		q.SortRows(list)
		if len(list.Items) > 0 || len(list.Faults) == 0 {
			if err := q.Write(o.io.Out, list); err != nil {
				return err
			}
		}
		return errors.Join(list.Faults...)
	})
}

// offlineFlag adds --offline.
func (o *globalOptions) offlineFlag(c *cobra.Command) {
	c.Flags().BoolVar(&o.offline, "offline", false, "do not ask the remote: use its branches as this clone last fetched them")
}

// withEngine opens an engine for a command that only reads and prints by itself.
func (o *globalOptions) withEngine(c *cobra.Command, op func(ctx context.Context, e *engine.Engine) error) (err error) {
	o.started = true
	e, done, err := o.open(c.Context(), o.io, Settings{Repository: o.repository, Remote: o.remote, Offline: o.offline})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	return op(c.Context(), e)
}

// absolute is a path as given on the command line, from the directory that the command was called in.
func (o *globalOptions) absolute(path string) (string, error) {
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	dir, err := o.io.Getwd()
	return filepath.Join(dir, path), err
}
