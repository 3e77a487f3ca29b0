package cli

import "github.com/spf13/cobra"

func newSchemas(*globalOptions) *cobra.Command { return &cobra.Command{Use: "schemas"} }

