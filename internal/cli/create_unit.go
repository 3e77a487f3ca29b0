package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/engine"
	"github.com/gitopsctr/gitopsctr/internal/inspect"
	"github.com/gitopsctr/gitopsctr/internal/resource"
	"github.com/gitopsctr/gitopsctr/internal/scaffold"
)

func newCreateUnit(o *globalOptions) *cobra.Command {
	var r engine.CreateRequest
	var d scaffold.Unit
	var driver string
	c := &cobra.Command{
		Use:     "unit --environment E --name NAME --driver KIND",
		Short:   "Write the document of a new Unit",
		Example: `  gitopsctr create unit --environment dev --name network --driver Terraform --source-path infrastructure/network`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := require(c, "environment", "name", "driver"); err != nil {
				return err
			}
			kind, ok := scaffold.KindOf(driver)
			if !ok {
				o.started = true
				return unknownDriver(driver)
			}
			d.Kind = kind
			r.Document, r.Environment = d, d.Environment
			return o.create(c, r)
		},
	}
	f := c.Flags()
	f.StringVar(&d.Environment, "environment", "", "environment that the Unit belongs to (required)")
	f.StringVar(&d.Name, "name", "", "name of the Unit (required)")
	f.StringVar(&driver, "driver", "", "kind of the Unit: "+strings.Join(resource.UnitKinds(), ", ")+" (required)")
	f.StringVar(&d.SourcePath, "source-path", ".", "directory of the Unit's files")
	createFlags(c, &r, "force")
	_ = c.RegisterFlagCompletionFunc("driver", cobra.FixedCompletions(resource.UnitKinds(), cobra.ShellCompDirectiveNoFileComp)) // it exists
	return c
}

func unknownDriver(name string) error {
	hint := ""
	if near := inspect.Nearest(name, resource.UnitKinds()); near != "" {
		hint = fmt.Sprintf(", did you mean %s?", near)
	}
	return fmt.Errorf("no driver %q%s; one of %s", name, hint, strings.Join(resource.UnitKinds(), ", "))
}

func newCreateStack(o *globalOptions) *cobra.Command {
	var r engine.CreateRequest
	var d scaffold.Stack
	var units, parameters string
	c := &cobra.Command{
		Use:     "stack --environment E --name NAME --template TEMPLATE",
		Short:   "Write the document of a new Stack",
		Example: `  gitopsctr create stack --environment dev --name shop --template service --parameters '{"size": "small"}'`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := require(c, "environment", "name", "template"); err != nil {
				return err
			}
			o.started = true
			var err error
			if c.Flags().Changed("units") {
				if d.Units, err = unitList(units); err != nil {
					return err
				}
			}
			if parameters != "" {
				if d.Parameters, err = document.Decode("parameters.json", []byte(parameters)); err != nil {
					return fmt.Errorf("--parameters: %w", err)
				}
			}
			r.Document, r.Environment = d, d.Environment
			return o.create(c, r)
		},
	}
	f := c.Flags()
	f.StringVar(&d.Environment, "environment", "", "environment that the Stack belongs to (required)")
	f.StringVar(&d.Name, "name", "", "name of the Stack (required)")
	f.StringVar(&d.Template, "template", "", "name of its StackTemplate, which need not exist yet (required)")
	f.StringVar(&units, "units", "", "Units of the template to make, separated by commas (default: all)")
	f.StringVar(&parameters, "parameters", "", "values of the template's parameters, as a JSON object")
	createFlags(c, &r, "or-update")
	return c
}

// unitList splits names at commas; there must be one at least, and none twice.
func unitList(text string) ([]string, error) {
	var out []string
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		switch {
		case name == "":
		case slices.Contains(out, name):
			return nil, fmt.Errorf("--units names %s twice", name)
		default:
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("--units names no Unit; leave it out for all Units of the template")
	}
	return out, nil
}
