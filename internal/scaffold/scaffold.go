// Package scaffold writes the first text of new documents: commented, annotated with their schema for editors, and valid
// (specification, chapter A, section 9). It knows the documents' contracts and nothing of files, Git or drivers.
//
// Its central idea is that a comment is worth more than a field: what is optional stands there as a comment that can be
// turned on, and what is written has a meaning that can be kept.
package scaffold

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// A Layout says where a repository keeps its documents.
type Layout struct{ EnvironmentsPath, StackTemplatesPath string }

// A Document is a document to be made.
type Document interface {
	// Stem is the path of its file without suffix.
	Stem(l Layout) string
	// YAML is its commented text.
	YAML() string
	// Check checks the text of a file against the document's contract.
	Check(file string, data []byte) error
}

// Text returns the document in the format that the file's name asks for, checked. JSON has no comments.
func Text(d Document, file string) ([]byte, error) {
	data := []byte(d.YAML())
	if document.FormatOf(file) == document.JSON {
		n, err := document.Decode("-", data)
		if err != nil {
			return nil, err
		}
		if schema := document.SchemaDirective(data); schema != "" {
			n = n.With("$schema", document.NewString(schema))
		}
		if data, err = document.Encode(document.JSON, n); err != nil {
			return nil, err
		}
	}
	return data, d.Check(file, data)
}

// head is what every document begins with.
func head(gvk resource.GVK, profile resource.Profile, name string) string {
	return fmt.Sprintf("# yaml-language-server: $schema=%s\napiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n",
		resource.SchemaURL(gvk, profile), gvk.APIVersion, gvk.Kind, scalar(name))
}

var (
	plain     = regexp.MustCompile(`^(\.|(\./)?[a-z][a-zA-Z0-9._/{}-]*)$`)
	ambiguous = []string{"true", "false", "yes", "no", "on", "off", "null", "y", "n"}
)

// scalar writes a string so that it stays one.
func scalar(s string) string {
	if plain.MatchString(s) && !slices.Contains(ambiguous, strings.ToLower(s)) {
		return s
	}
	return strings.TrimSpace(string(document.InspectionJSON(document.NewString(s))))
}

// An Environment is a new Environment document.
type Environment struct {
	Name string
	// ChangeGate is "none" or "pullRequest".
	ChangeGate string
}

// Stem implements Document.
func (e Environment) Stem(l Layout) string {
	return path.Join(l.EnvironmentsPath, e.Name, "environment")
}

// Check implements Document.
func (e Environment) Check(file string, data []byte) error {
	_, err := resource.DecodeEnvironment(file, data, e.Name)
	return err
}

// YAML implements Document.
func (e Environment) YAML() string {
	return head(resource.GVK{APIVersion: resource.CoreAPI, Kind: "Environment"}, resource.NoProfile, e.Name) + `spec:
  # none: changes of the desired state are published at once.
  # pullRequest: they wait on a candidate branch until they are merged.
  changeGate: ` + scalar(e.ChangeGate) + `
  # Branches of this environment, in place of the Project's.
  # refs:
  #   desired: gitopsctr/desired/` + e.Name + `
  #   observed: gitopsctr/observed/` + e.Name + `
  # Environments that may be promoted into this one.
  # promotion:
  #   allowedSources: [staging]
`
}

// A Project is a new Project document. Empty fields are left to the defaults.
type Project struct {
	Name, WriteFormat, EnvironmentsPath string
	// The templates hold {environment}; the candidate's also {id} and {operation}.
	Desired, Observed, Candidate string
}

// Stem implements Document.
func (p Project) Stem(Layout) string { return "gitopsctr" }

// Check implements Document.
func (p Project) Check(file string, data []byte) error {
	_, err := resource.DecodeProject(file, data)
	return err
}

// YAML implements Document.
func (p Project) YAML() string {
	or := func(s, fallback string) string {
		if s == "" {
			s = fallback
		}
		return scalar(s)
	}
	return head(resource.GVK{APIVersion: resource.CoreAPI, Kind: "Project"}, resource.NoProfile, p.Name) + `spec:
  # Format of the documents that are written: yaml or json.
  writeFormat: ` + or(p.WriteFormat, "yaml") + `
  # Directory that holds one directory for each environment.
  environmentsPath: ` + or(p.EnvironmentsPath, "deployment/environments") + `
  environmentDefaults:
    # Branches of each environment.
    refs:
      desired: ` + or(p.Desired, "gitopsctr/desired/{environment}") + `
      observed: ` + or(p.Observed, "gitopsctr/observed/{environment}") + `
      candidate: ` + or(p.Candidate, "gitopsctr/candidates/{environment}/{id}") + `
  # Leases on a branch keep two runs from changing the same Unit at once; null turns them off.
  effectLease:
    store:
      branch:
        ref: gitopsctr/leases
`
}
