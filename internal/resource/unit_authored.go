package resource

import (
	"github.com/gitopsctr/gitopsctr/internal/document"
)

// An AuthoredUnit is a Unit as people write it, or as a Stack generates it.
type AuthoredUnit struct {
	// File is where it was read from; errors point there.
	File string
	Kind string
	// Name is metadata.name, a local name.
	Name string
	// Spec is as authored: checked, nothing added, references in their places.
	Spec *document.Node
}

// DecodeAuthoredUnit reads an authored Unit. All its faults come as document.Errors.
func DecodeAuthoredUnit(file string, data []byte) (*AuthoredUnit, error) {
	n, err := document.Decode(file, data)
	if err != nil {
		return nil, err
	}
	return AuthoredUnitFromNode(file, n)
}

// AuthoredUnitFromNode reads an authored Unit from a parsed document.
func AuthoredUnitFromNode(file string, n *document.Node) (*AuthoredUnit, error) {
	kind, err := kindOf(file, n, UnitAPI, UnitKinds())
	if err != nil {
		return nil, err
	}
	if err := checkShape(file, "", unitDocuments[kind].authored, n); err != nil {
		return nil, err
	}
	return &AuthoredUnit{File: file, Kind: kind, Name: n.Path("metadata", "name").Str(), Spec: n.Get("spec")}, nil
}

// CheckDirect checks what holds for Units outside Stacks only: the name is at most 63 characters, and the source has no
// revision of its own (chapter B, section 2.3).
func (u *AuthoredUnit) CheckDirect() error {
	if !isIdentifier(u.Name) {
		return faultAt(u.File, nil, quote(u.Name)+" is not "+identifier.says, "shorten it", "metadata", "name")
	}
	if revision := u.Spec.Path("source", "revision"); !revision.IsNull() {
		spec := document.NewMap(document.F("spec", u.Spec))
		return faultAt(u.File, spec, "a Unit outside a Stack takes its revision from the run", "remove it", "spec", "source", "revision")
	}
	return nil
}

// An AuthoredSource says where a Unit's files are.
type AuthoredSource struct {
	// Path is verbatim; it is part of the Unit's identity.
	Path string
	// Inputs are globs below Path. HasInputs tells an empty list (no files) from none (all files of Path).
	Inputs    []string
	HasInputs bool
	// Revision is the commit that a StackTemplate pins, "" else.
	Revision string
}

// Source returns the authored source, nil for a Unit without.
func (u *AuthoredUnit) Source() *AuthoredSource {
	n := u.Spec.Get("source")
	if n.IsNull() {
		return nil
	}
	inputs := n.Get("inputs")
	return &AuthoredSource{
		Path: n.Get("path").Str(), Revision: n.Get("revision").Str(), Inputs: inputs.Strs(), HasInputs: !inputs.IsNull(),
	}
}

// A Template is a part of an authored spec in which reference expressions may stand.
type Template struct {
	// Pointer is the place of the node below spec, for example "/terraform/variables".
	Pointer string
	Node    *document.Node
	// Typed tells that the positions of references are declared one by one, and that nulls are filled in.
	Typed bool
}

// Templates returns the parts that may hold references, in the order in which they are resolved (chapter B, 5.2).
func (u *AuthoredUnit) Templates() []Template {
	var all []Template
	add := func(pointer string, n *document.Node, typed bool) {
		if !n.IsNull() {
			all = append(all, Template{pointer, n, typed})
		}
	}
	switch u.Kind {
	case "Terraform":
		add("/terraform/variables", u.Spec.Path("terraform", "variables"), false)
		add("/inputs", u.Spec.Get("inputs"), false)
	case "KubernetesManifests":
		add("/materialize/values", u.Spec.Path("materialize", "values"), false)
	case "FrontendS3Cloudfront":
		if inputs := u.Spec.Get("inputs"); !inputs.IsNull() {
			add("/inputs", complete(authoredFrontendInputs, inputs), true)
		}
	}
	return all
}

// Substitute returns the spec with the templates replaced by their resolved values, by Template.Pointer.
func (u *AuthoredUnit) Substitute(resolved map[string]*document.Node) *document.Node {
	spec := u.Spec
	for _, t := range u.Templates() {
		value, ok := resolved[t.Pointer]
		if !ok {
			continue
		}
		switch t.Pointer {
		case "/inputs":
			spec = spec.With("inputs", value)
		case "/terraform/variables":
			spec = spec.With("terraform", spec.Get("terraform").With("variables", value))
		case "/materialize/values":
			spec = spec.With("materialize", spec.Get("materialize").With("values", value))
		}
	}
	return spec
}

// Normal returns the identity of the authored spec, S of chapter B 3.3: complete, without source.revision, references in
// normal form. The hook normalizes what may hold references: a value of a template, or (typed) a single expression in a
// typed position, where the normal form keeps an empty pointer. A nil hook keeps them as authored.
func (u *AuthoredUnit) Normal(normalize func(n *document.Node, typed bool) (*document.Node, error)) (*document.Node, error) {
	spec, err := completion{reference: normalize}.node(shapesOf(u.Kind).authored, u.Spec)
	if err != nil {
		return nil, err
	}
	if source := spec.Get("source"); !source.IsNull() {
		spec = spec.With("source", source.Without("revision"))
	}
	return spec, nil
}
