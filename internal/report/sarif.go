package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// WriteSARIF writes problems as a SARIF 2.1.0 log, which code scanning and editors read. Paths are relative to the repository
// root.
func WriteSARIF(w io.Writer, version string, problems []Problem) error {
	run := sarifRun{Results: []sarifResult{}}
	run.Tool.Driver.Name, run.Tool.Driver.Version = "gitopsctr", version
	for _, p := range problems {
		result := sarifResult{RuleID: "document", Level: sarifLevel(p.Severity)}
		result.Message.Text = sarifText(p)
		if p.Position.File != "" {
			location := sarifLocation{}
			location.Physical.Artifact.URI = p.Position.File
			if p.Position.Line > 0 {
				location.Physical.Region = &sarifRegion{p.Position.Line, p.Position.Column}
			}
			result.Locations = []sarifLocation{location}
		}
		run.Results = append(run.Results, result)
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	log := sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
	if err := encoder.Encode(log); err != nil {
		return fmt.Errorf("write SARIF: %w", err)
	}
	return nil
}

// sarifText is a problem without its file and line, which SARIF has in fields of their own.
func sarifText(p Problem) string {
	p.Position.File, p.Position.Line, p.Position.Column = "", 0, 0
	return p.String()
}

func sarifLevel(s Severity) string {
	if s == Notice {
		return "note"
	}
	return string(s)
}

// WriteCommands writes problems as workflow commands, from which GitHub makes annotations on the lines of a pull request.
// Texts are escaped: a document cannot speak to the runner.
func WriteCommands(w io.Writer, problems []Problem) error {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, p := range problems {
		var at []string
		if p.Position.File != "" {
			at = append(at, "file="+property.Replace(p.Position.File))
			if p.Position.Line > 0 {
				at = append(at, fmt.Sprintf("line=%d", p.Position.Line), fmt.Sprintf("col=%d", max(p.Position.Column, 1)))
			}
		}
		command := "::" + string(p.Severity)
		if len(at) > 0 {
			command += " " + strings.Join(at, ",")
		}
		if _, err := fmt.Fprintf(w, "%s::%s\n", command, data.Replace(sarifText(p))); err != nil {
			return fmt.Errorf("write annotations: %w", err)
		}
	}
	return nil
}

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool struct {
		Driver struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"driver"`
	} `json:"tool"`
	Results []sarifResult `json:"results"`
}

type sarifResult struct {
	RuleID  string `json:"ruleId"`
	Level   string `json:"level"`
	Message struct {
		Text string `json:"text"`
	} `json:"message"`
	Locations []sarifLocation `json:"locations,omitempty"`
}

type sarifLocation struct {
	Physical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region *sarifRegion `json:"region,omitempty"`
	} `json:"physicalLocation"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn,omitempty"`
}
