package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/gitopsctr/gitopsctr/internal/engine"
	"github.com/gitopsctr/gitopsctr/internal/scaffold"
)

func newCreate(o *globalOptions) *cobra.Command {
	c := &cobra.Command{
		Use:   "create",
		Short: "Write a new document into the working tree",
		Long: `Create writes a commented document, annotated with its schema for editors, where the project keeps documents of that
kind, and prints its path. It commits nothing. With --dry-run it prints the document and writes nothing.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return usageError(c, "say what to create: project, environment, unit, stack or stacktemplate")
		},
	}
	c.AddCommand(newCreateProject(o), newCreateEnvironment(o), newCreateUnit(o), newCreateStack(o), newCreateStackTemplate(o))
	return c
}

// createFlags adds the flags that all create commands have; replace is what the permission to write over is called.
func createFlags(c *cobra.Command, r *engine.CreateRequest, replace string) {
	c.Args = noArgs
	c.Flags().BoolVar(&r.Replace, replace, false, "write over a document that exists")
	c.Flags().BoolVar(&r.Dry, "dry-run", false, "print the document and write nothing")
}

func (o *globalOptions) create(c *cobra.Command, r engine.CreateRequest) error {
	o.offline = true // it reads no ref
	return o.withEngine(c, func(_ context.Context, e *engine.Engine) error {
		file, data, err := e.Create(r)
		if err != nil {
			return err
		}
		if r.Dry {
			_, err = o.io.Out.Write(data)
			return err
		}
		_, err = fmt.Fprintln(o.io.Out, file)
		return err
	})
}

func newCreateProject(o *globalOptions) *cobra.Command {
	var r engine.CreateRequest
	var d scaffold.Project
	c := &cobra.Command{
		Use:     "project --name NAME",
		Short:   "Write gitopsctr.yaml, the configuration of a repository",
		Example: `  gitopsctr create project --name shop`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := require(c, "name"); err != nil {
				return err
			}
			r.Document = d
			return o.create(c, r)
		},
	}
	f := c.Flags()
	f.StringVar(&d.Name, "name", "", "name of the project (required)")
	f.StringVar(&d.WriteFormat, "write-format", "yaml", "format of the documents that are written: yaml or json")
	f.StringVar(&d.EnvironmentsPath, "environments-path", "", "directory of the environments (default: deployment/environments)")
	f.StringVar(&d.Desired, "desired-ref-template", "", "branch of the desired state, with {environment}")
	f.StringVar(&d.Observed, "observed-ref-template", "", "branch of the observed state, with {environment}")
	f.StringVar(&d.Candidate, "candidate-ref-template", "", "branch of changes under review, with {environment} and {id}")
	createFlags(c, &r, "force")
	return c
}

func newCreateEnvironment(o *globalOptions) *cobra.Command {
	var r engine.CreateRequest
	var d scaffold.Environment
	c := &cobra.Command{
		Use:     "environment --name NAME",
		Short:   "Write the document of a new environment",
		Example: `  gitopsctr create environment --name prod --change-gate pullRequest`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := require(c, "name"); err != nil {
				return err
			}
			r.Document = d
			return o.create(c, r)
		},
	}
	f := c.Flags()
	f.StringVar(&d.Name, "name", "", "name of the environment (required)")
	f.StringVar(&d.ChangeGate, "change-gate", "none", "how changes get in: none, or pullRequest")
	createFlags(c, &r, "force")
	return c
}

func newCreateStackTemplate(o *globalOptions) *cobra.Command {
	var r engine.CreateRequest
	var d scaffold.StackTemplate
	var file string
	c := &cobra.Command{
		Use:   "stacktemplate --name NAME [--file FILE]",
		Short: "Write a StackTemplate: an example, or the document of a file",
		Example: `  gitopsctr create stacktemplate --name service
  gitopsctr create stacktemplate --name service --file service.yaml --or-update`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := require(c, "name"); err != nil {
				return err
			}
			if file != "" {
				o.started = true
				name, err := o.absolute(file)
				if err != nil {
					return err
				}
				if d.Text, err = os.ReadFile(name); err != nil {
					return err
				}
			}
			r.Document = d
			return o.create(c, r)
		},
	}
	f := c.Flags()
	f.StringVar(&d.Name, "name", "", "name of the template (required)")
	f.StringVar(&file, "file", "", "file that holds the template (default: an example is written)")
	createFlags(c, &r, "or-update")
	return c
}
