package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/engine"
)

// printRevision prints a revision on standard output, nothing for "" and nothing beside JSON.
func (o *globalOptions) printRevision(revision string) error {
	if revision == "" || o.output == "json" {
		return nil
	}
	_, err := fmt.Fprintln(o.io.Out, revision)
	return err
}

// writeOutputs appends the outputs of chapters B (1) and D (3.3) to the file that GITHUB_OUTPUT names, if any.
func (o *globalOptions) writeOutputs(out engine.Outcome) error {
	name := o.io.Getenv("GITHUB_OUTPUT")
	if name == "" {
		return nil
	}
	var lines []string
	add := func(key, value string) { lines = append(lines, key+"="+value+"\n") }
	if p := out.Publication; p.Revision != "" {
		add("change_revision", p.Revision)
		add("target_ref", p.TargetRef)
		add("candidate_ref", p.CandidateRef)
		add("change_status", p.Status)
		add("change_url", p.URL)
	}
	if p := out.Promotion; p != nil {
		add("candidate_revision", p.CandidateRevision)
		add("source_desired_revision", p.SourceDesiredRevision)
	}
	if out.Revision != "" {
		add("active", "true")
		add("desired_revision", out.Revision)
	}
	if out.Reconciled != nil {
		add("reconciled", fmt.Sprint(*out.Reconciled))
	}
	if len(lines) == 0 {
		return nil
	}
	for _, line := range lines {
		if strings.ContainsAny(strings.TrimSuffix(line, "\n"), "\r\n\x00") {
			return fmt.Errorf("refuse to write an output with a line break: %q", line)
		}
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write outputs: %w", err)
	}
	if _, err := f.WriteString(strings.Join(lines, "")); err != nil {
		_ = f.Close()
		return fmt.Errorf("write outputs: %w", err)
	}
	return f.Close()
}
