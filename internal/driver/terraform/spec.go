package terraform

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/driver"
)

// spec is a desired Terraform spec that can run (chapter G 2.1): the schema allows more.
type spec struct {
	SourceRevision string
	// Path is the root module's directory, relative to the root of the source and within it; as the Unit writes it.
	Path string
	// Backend are the -backend-config entries in document order: "name=value".
	Backend []string
	// Variables is a mapping, maybe empty.
	Variables *document.Node
	// Observe are the names of the observed outputs in document order, each once.
	Observe []string
	Checks  []check
}

// check asks for URL + Path, where URL is the value of an observed output.
type check struct {
	Output, Path string
}

// parseSpec reads the desired spec of a Unit. Its errors are *driver.Error with the pointer of the faulty field.
func parseSpec(n *document.Node) (spec, error) {
	source, terraform := n.Get("source"), n.Get("terraform")
	s := spec{
		SourceRevision: source.Get("revision").Str(),
		Path:           source.Get("path").Str(),
		Variables:      terraform.Get("variables"),
	}
	switch {
	case source.IsNull():
		return s, invalid("/source", "is missing", "give the Unit a source.path")
	case !filepath.IsLocal(s.Path):
		return s, invalid("/source/path", fmt.Sprintf("%q does not lead into the source", s.Path), "use a path below the root of the repository")
	case terraform.IsNull():
		return s, invalid("/terraform", "is missing", "add terraform with backend, variables and observeOutputs")
	case terraform.Get("backend").IsNull():
		return s, invalid("/terraform/backend", "is missing", "write the backend's settings, or {} for those of the source")
	case s.Variables.IsNull():
		return s, invalid("/terraform/variables", "is missing", "write the variables, or {} for none")
	case terraform.Get("observeOutputs").IsNull():
		return s, invalid("/terraform/observeOutputs", "is missing", "list the outputs that the Receipt records, or [] for none")
	}
	for _, name := range terraform.Get("observeOutputs").Strs() {
		if !slices.Contains(s.Observe, name) {
			s.Observe = append(s.Observe, name)
		}
	}
	var err error
	if s.Backend, err = parseBackend(terraform.Get("backend")); err != nil {
		return s, err
	}
	s.Checks, err = parseChecks(terraform.Get("checks"), s.Observe)
	return s, err
}

func parseBackend(n *document.Node) ([]string, error) {
	var entries []string
	for _, f := range n.Fields {
		var value string
		switch f.Value.Kind {
		case document.String:
			value = f.Value.Text
		case document.Bool, document.Int, document.Float:
			value = string(document.CanonicalJSON(f.Value))
		default:
			return nil, invalid("/terraform/backend/"+document.PointerToken(f.Key),
				"is a "+f.Value.Kind.String(), "use a string, a number or a boolean")
		}
		entries = append(entries, f.Key+"="+value)
	}
	return entries, nil
}

func parseChecks(n *document.Node, observed []string) ([]check, error) {
	if n.IsNull() {
		return nil, nil
	}
	var checks []check
	for i, item := range n.Items {
		c := check{Output: item.Get("urlOutput").Str(), Path: item.Get("path").Str()}
		at := fmt.Sprintf("/terraform/checks/%d", i)
		if kind := item.Get("type").Str(); kind != "http" {
			return nil, invalid(at+"/type", fmt.Sprintf("%q is no kind of check", kind), `use "http"`)
		}
		if !slices.Contains(observed, c.Output) {
			return nil, invalid(at+"/urlOutput", fmt.Sprintf("the output %q is not observed", c.Output),
				"add it to terraform.observeOutputs")
		}
		checks = append(checks, c)
	}
	return checks, nil
}

// invalid is a fault of the Unit's own document.
func invalid(pointer, detail, fix string) error {
	return &driver.Error{Op: "spec" + pointer, Detail: detail, Pointer: pointer, Fix: fix}
}
