package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gitopsctr/gitopsctr/internal/inspect"
	"github.com/gitopsctr/gitopsctr/schemas"
)

func newSchemas(o *globalOptions) *cobra.Command {
	c := &cobra.Command{
		Use:   "schemas",
		Short: "Show or export the JSON Schemas of all documents",
		Long: `The schemas are part of the program, so editors and checks need no network. Their $id are the addresses that written
documents name.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return usageError(c, "say what to do: schemas show, or schemas export")
		},
	}
	c.AddCommand(newSchemasShow(o), newSchemasExport(o))
	return c
}

func newSchemasShow(o *globalOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "show API [KIND[/PROFILE]] [PROFILE]",
		Short: "Print one schema, or list them all",
		Long: `Show prints the schema of a kind. PROFILE is authored, desired or receipt, for kinds that have several; authored is the
default. Without arguments it lists what there is.`,
		Example: `  gitopsctr schemas show
  gitopsctr schemas show gitopsctr.io/v1 Project
  gitopsctr schemas show unit.gitopsctr.io/v1 Terraform/receipt`,
		Args: cobra.MaximumNArgs(3),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return schemas.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			o.started = true
			text := strings.Join(schemas.Names(), "\n") + "\n"
			if len(args) > 0 {
				data, err := schemaNamed(strings.Join(args, "/"))
				if err != nil {
					return err
				}
				text = string(data)
			}
			_, err := io.WriteString(o.io.Out, text)
			return err
		},
	}
}

// schemaNamed finds a schema by its name; without a profile the authored one is meant where there are several.
func schemaNamed(name string) ([]byte, error) {
	for _, candidate := range []string{name, name + "/authored"} {
		if data, ok := schemas.Raw(candidate); ok {
			return data, nil
		}
	}
	hint := ""
	var known []string
	for _, n := range schemas.Names() {
		known = append(known, n)
		if parts := strings.Split(n, "/"); len(parts) > 3 {
			known = append(known, strings.Join(parts[:3], "/"))
		}
	}
	if near := inspect.Nearest(name, known); near != "" {
		hint = fmt.Sprintf("; did you mean %s?", near)
	}
	return nil, fmt.Errorf("there is no schema %s%s (gitopsctr schemas show lists them)", name, hint)
}

func newSchemasExport(o *globalOptions) *cobra.Command {
	var check bool
	c := &cobra.Command{
		Use:   "export DIR [--check]",
		Short: "Write all schemas into a directory, or check that it has them",
		Long: `Export makes DIR the catalog of schemas: index.json and one file for each schema. Schemas of other versions that lie there
are removed; a directory that holds JSON files and is no catalog is refused. With --check nothing is written, and the
exit code is 1 when DIR is not what export would make it.`,
		Example: `  gitopsctr schemas export .schemas
  gitopsctr schemas export .schemas --check`,
		Args: exactly("DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			o.started = true
			dir, err := o.absolute(args[0])
			if err != nil {
				return err
			}
			catalog := schemaCatalog{dir}
			if check {
				return catalog.check()
			}
			if err := catalog.write(); err != nil {
				return err
			}
			_, err = fmt.Fprintln(o.io.Out, dir)
			return err
		},
	}
	c.Flags().BoolVar(&check, "check", false, "write nothing; fail when DIR is not up to date")
	return c
}

// exactly takes exactly the named arguments.
func exactly(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != len(names) {
			return usageError(c, fmt.Sprintf("%s takes %s, got %q", c.CommandPath(), strings.Join(names, " "), args))
		}
		return nil
	}
}
