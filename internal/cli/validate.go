package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gitopsctr/gitopsctr/internal/engine"
	"github.com/gitopsctr/gitopsctr/internal/report"
)

func newValidate(o *globalOptions) *cobra.Command {
	var r engine.ValidateRequest
	var output string
	outputs := []string{"text", "json", "github", "sarif"}
	c := &cobra.Command{
		Use:   "validate [FILE...] [--environment E...]",
		Short: "Check the authored documents without touching any ref",
		Long: `Validate checks the documents of the working tree and tells every fault with its file, line, JSON Pointer and remedy. Each
FILE is checked alone; without FILE and --environment the whole project is, and its documents against each other.`,
		Example: `  gitopsctr validate
  gitopsctr validate --environment dev
  gitopsctr validate deployment/environments/dev/units/app.yaml
  gitopsctr validate --output sarif > gitopsctr.sarif`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if !slices.Contains(outputs, output) {
				return usageError(c, fmt.Sprintf("--output must be one of %s, not %q", strings.Join(outputs, ", "), output))
			}
			r.Files = args
			o.offline = true // it reads no ref
			o.output = "text"
			if output == "json" {
				o.output = output
			}
			return o.run(c, nil, func(_ context.Context, e *engine.Engine) (engine.Outcome, error) {
				outcome, err := e.Validate(r)
				switch output {
				case "github":
					err = errors.Join(err, report.WriteCommands(o.io.Out, outcome.Run.Problems))
				case "sarif":
					err = errors.Join(err, report.WriteSARIF(o.io.Out, Version, outcome.Run.Problems))
				}
				return outcome, err
			})
		},
	}
	f := c.Flags()
	f.StringArrayVar(&r.Environments, "environment", nil, "check this environment (repeatable; default: all)")
	f.BoolVar(&r.FailFast, "fail-fast", false, "stop at the first fault")
	f.StringVarP(&output, "output", "o", "text", "form of the answer beside the text on standard error: "+strings.Join(outputs[1:], ", ")+"; github is workflow commands, which become annotations")
	return c
}
