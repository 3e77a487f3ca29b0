// Package schemas publishes the JSON Schemas of all documents (Draft 2020-12, specification chapter A, section 9), for
// editors, for "gitopsctr schemas", and for checking documents of unknown origin.
//
// It knows JSON only. The files are self-contained, and nothing is ever loaded from a network. They are written from the
// shapes in package resource, which checks documents on its own; a test there proves that both accept the same ones.
package schemas

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

//go:embed index.json apis
var files embed.FS

// Names lists the schemas in code point order: "<apiVersion>/<Kind>" or "<apiVersion>/<Kind>/<profile>", for example
// "unit.gitopsctr.io/v1/Terraform/authored".
func Names() []string {
	var names []string
	for name := range index() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Path returns the path of a schema in the catalog, for example "apis/gitopsctr.io/v1/Project.schema.json".
func Path(name string) (string, bool) {
	path, ok := index()[name]
	return path, ok
}

// Raw returns the text of a schema.
func Raw(name string) ([]byte, bool) {
	path, ok := Path(name)
	if !ok {
		return nil, false
	}
	data, err := files.ReadFile(path)
	return data, err == nil
}

// Index returns the text of the catalog's index.json.
func Index() []byte {
	data, _ := files.ReadFile("index.json") // embedded: it cannot fail
	return data
}

var index = sync.OnceValue(func() map[string]string {
	var catalog struct {
		APIs map[string]string `json:"apis"`
	}
	if err := json.Unmarshal(Index(), &catalog); err != nil {
		return nil // a test reads it
	}
	return catalog.APIs
})

// A compiled schema, and its text as a tree to word violations from.
type compiled struct {
	schema *jsonschema.Schema
	tree   any
}

// compilers compile each schema once, when it is first asked for.
var compilers = sync.OnceValue(func() map[string]func() (compiled, error) {
	all := map[string]func() (compiled, error){}
	for name, path := range index() {
		all[name] = sync.OnceValues(func() (compiled, error) { return compile(path) })
	}
	return all
})

func compile(path string) (compiled, error) {
	data, err := files.ReadFile(path)
	if err != nil {
		return compiled{}, err
	}
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.LoadURL = refuseURL
	if err := c.AddResource(path, strings.NewReader(string(data))); err != nil {
		return compiled{}, err
	}
	schema, err := c.Compile(path)
	if err != nil {
		return compiled{}, err
	}
	var tree any
	if err := json.Unmarshal(data, &tree); err != nil {
		return compiled{}, err
	}
	return compiled{schema, tree}, nil
}

// Validate checks a JSON value against a schema, and returns all violations in the order of their pointers; none means
// that it is valid. Numbers are best given as json.Number. The error is about the schema's name, or a value that is no
// JSON.
func Validate(name string, value any) ([]Violation, error) {
	once, ok := compilers()[name]
	if !ok {
		return nil, fmt.Errorf("there is no schema %q", name)
	}
	c, err := once()
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	return c.violations(value)
}
