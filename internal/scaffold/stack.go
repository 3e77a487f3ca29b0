package scaffold

import (
	"bytes"
	"path"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// A Stack is a new Stack of an environment.
type Stack struct {
	Environment, Name string
	// Template is the name of its StackTemplate, which need not exist yet.
	Template string
	// Units are the Units of the template to make; nil is all.
	Units []string
	// Parameters is a mapping with a value for each parameter; nil is none.
	Parameters *document.Node
}

// Stem implements Document.
func (s Stack) Stem(l Layout) string {
	return path.Join(l.EnvironmentsPath, s.Environment, "stacks", s.Name)
}

// Check implements Document.
func (s Stack) Check(file string, data []byte) error {
	_, err := resource.DecodeAuthoredStack(file, data)
	return err
}

// YAML implements Document.
func (s Stack) YAML() string {
	var b strings.Builder
	b.WriteString(head(resource.GVK{APIVersion: resource.CoreAPI, Kind: "Stack"}, resource.Authored, s.Name))
	b.WriteString("spec:\n  # Name of the StackTemplate.\n  template: " + scalar(s.Template) + "\n")
	b.WriteString("  # A value for each parameter of the template.\n")
	if s.Parameters.IsNull() || len(s.Parameters.Fields) == 0 {
		b.WriteString("  parameters: {}\n")
	} else {
		b.WriteString("  parameters:\n")
		for line := range strings.Lines(string(document.InspectionYAML(s.Parameters))) {
			b.WriteString("    " + line)
		}
	}
	b.WriteString("  # Units of the template to make; without units all of them.\n")
	if s.Units == nil {
		b.WriteString("  # units: [web]\n")
		return b.String()
	}
	b.WriteString("  units:\n")
	for _, u := range s.Units {
		b.WriteString("    - " + scalar(u) + "\n")
	}
	return b.String()
}

// A StackTemplate is a new StackTemplate.
type StackTemplate struct {
	Name string
	// Text is the document as somebody wrote it; "" is an example.
	Text []byte
}

// Stem implements Document.
func (s StackTemplate) Stem(l Layout) string { return path.Join(l.StackTemplatesPath, s.Name) }

// Check implements Document.
func (s StackTemplate) Check(file string, data []byte) error {
	template, err := resource.DecodeAuthoredStackTemplate(file, data)
	if err != nil {
		return err
	}
	return resource.CheckPath(file, s.Name, template.Name)
}

// YAML implements Document. A given text stays as it is, comments included; only the schema is named where it is not.
func (s StackTemplate) YAML() string {
	gvk := resource.GVK{APIVersion: resource.CoreAPI, Kind: "StackTemplate"}
	if s.Text != nil {
		text := string(bytes.TrimRight(s.Text, "\n")) + "\n"
		if document.SchemaDirective(s.Text) == "" {
			text = "# yaml-language-server: $schema=" + resource.SchemaURL(gvk, resource.Authored) + "\n" + text
		}
		return text
	}
	return head(gvk, resource.Authored, s.Name) + `spec:
  # Parameters; each Stack gives them values.
  parameters:
    - {name: size, type: string}
  # Units of each Stack by name. A Unit "app" of the Stack "shop" is called shop/app.
  unitTemplates:
    network:
      apiVersion: unit.gitopsctr.io/v1
      kind: Terraform
      spec:
        source: {path: network, inputs: ["**/*.tf"]}
        terraform:
          observeOutputs: [network_id]
    app:
      apiVersion: unit.gitopsctr.io/v1
      kind: Terraform
      # Units of this template that come first; references say it by themselves.
      dependsOn: [network]
      spec:
        source: {path: app, inputs: ["**/*.tf"]}
        terraform:
          variables:
            size:
              fromParameter: {name: size}
            network_id:
              fromReceipt: {unit: network, pointer: /outputs/network_id}
`
}
