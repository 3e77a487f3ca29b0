// Package expression is the reference language of Unit specs: fromReceipt, fromArtifact, fromPromotion, fromEnvironment
// and fromParameter (specification, chapter B section 5).
//
// Its central idea is that resolving has three outcomes: a value with the fingerprints of what was read, a wait with its
// reasons, or an error. The package knows no git, no files and no drivers: evidence comes through the Lookup interface.
package expression

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

// Kind is the key that makes a mapping a reference.
type Kind string

// The kinds of reference.
const (
	FromReceipt     Kind = "fromReceipt"
	FromArtifact    Kind = "fromArtifact"
	FromPromotion   Kind = "fromPromotion"
	FromEnvironment Kind = "fromEnvironment"
	FromParameter   Kind = "fromParameter"
)

// fieldsOf lists the target's fields of each kind in the order in which they are written.
var fieldsOf = map[Kind][]string{
	FromReceipt:     {"unit", "pointer", "dryFallback"},
	FromArtifact:    {"unit", "name", "apiVersion", "kind", "pointer", "dryFallback"},
	FromPromotion:   {"unit", "pointer", "dryFallback"},
	FromEnvironment: {"pointer"},
	FromParameter:   {"name"},
}

var requiredOf = map[Kind][]string{
	FromReceipt:   {"unit"},
	FromArtifact:  {"unit", "name", "apiVersion", "kind"},
	FromParameter: {"name"},
}

// A Reference is one parsed expression.
type Reference struct {
	Kind Kind
	// Unit is the producer's qualified name; "" for a fromPromotion that means the Unit's own name.
	Unit string
	// Name, APIVersion and ArtifactKind select an artifact; Name is also the parameter of fromParameter.
	Name, APIVersion, ArtifactKind string
	// Pointer selects a part of the value; "" is the whole. HasPointer tells a given "" from none, which matters for
	// fromPromotion only: there an absent pointer is inferred from the expression's place.
	Pointer    string
	HasPointer bool
	// Fallback is dryFallback as authored, nil when there is none; an authored null is a Null node.
	Fallback *document.Node
	// At is the JSON Pointer of the expression below spec, for example /terraform/variables/api_url.
	At string
	// Node is the mapping that was parsed; its position is the expression's.
	Node *document.Node
}

// String names the reference for a person: "fromReceipt infrastructure /outputs/api_url".
func (r *Reference) String() string {
	parts := []string{string(r.Kind)}
	switch r.Kind {
	case FromArtifact:
		parts = append(parts, r.Unit+"/"+r.Name)
	case FromParameter:
		parts = append(parts, r.Name)
	default:
		if r.Unit != "" {
			parts = append(parts, r.Unit)
		}
	}
	if r.Pointer != "" {
		parts = append(parts, r.Pointer)
	}
	return strings.Join(parts, " ")
}

// Origin says for a person which value the reference reads: "/outputs/api_url of the Receipt of Unit infrastructure". The
// pointer below leads on from there; own is the name of the Unit that the reference stands in.
func (r *Reference) Origin(own, below string) string {
	unit, pointer := r.Unit, r.Pointer
	if r.Kind == FromPromotion {
		if unit == "" {
			unit = own
		}
		if !r.HasPointer {
			pointer = r.At
		}
	}
	what := map[Kind]string{
		FromReceipt:     "the Receipt of Unit " + unit,
		FromArtifact:    "the artifact " + unit + "/" + r.Name,
		FromPromotion:   "the promoted Unit " + unit,
		FromEnvironment: "the Environment document",
		FromParameter:   "the parameter " + r.Name,
	}[r.Kind]
	if pointer+below == "" {
		return what
	}
	return pointer + below + " of " + what
}

// Parse reads n as a reference. It returns nil and no error when n is plain data, and a *document.Error, positioned and
// with a pointer below "/spec", when n has a reference key but is no valid expression. Nested fallbacks are parsed too.
func Parse(at string, n *document.Node) (*Reference, error) {
	if n == nil || n.Kind != document.Map {
		return nil, nil
	}
	var kind Kind
	for _, f := range n.Fields {
		if _, ok := fieldsOf[Kind(f.Key)]; ok {
			kind = Kind(f.Key)
			break
		}
	}
	if kind == "" {
		return nil, nil
	}
	if len(n.Fields) != 1 {
		for _, f := range n.Fields {
			if f.Key != string(kind) {
				return nil, fault(at, n, fmt.Sprintf("%s stands beside %q, but a reference must be the only key of its mapping", kind, f.Key),
					"move the other keys out of this mapping")
			}
		}
	}
	target := n.Fields[0].Value
	at2 := at + "/" + string(kind)
	if target == nil || target.Kind != document.Map {
		return nil, fault(at2, orElse(target, n), fmt.Sprintf("%s must be a mapping, not %s", kind, kindOf(target)),
			"write its fields: "+strings.Join(fieldsOf[kind], ", "))
	}
	ref := &Reference{Kind: kind, At: at, Node: n}
	for _, f := range target.Fields {
		if !slices.Contains(fieldsOf[kind], f.Key) {
			e := fault(at2+"/"+document.PointerToken(f.Key), f.Value, fmt.Sprintf("%s has no field %q", kind, f.Key),
				"its fields are "+strings.Join(fieldsOf[kind], ", "))
			if f.Line > 0 {
				e.Line, e.Column = f.Line, f.Column
			}
			return nil, e
		}
		if err := ref.set(at2, f); err != nil {
			return nil, err
		}
	}
	for _, name := range requiredOf[kind] {
		if !target.Has(name) {
			return nil, fault(at2, orElse(target, n), fmt.Sprintf("%s needs the field %q", kind, name), "")
		}
	}
	return ref, nil
}

func (r *Reference) set(at string, f document.Field) error {
	at += "/" + f.Key
	if f.Key == "dryFallback" {
		r.Fallback = f.Value
		if r.Fallback == nil {
			r.Fallback = document.NewNull()
		}
		return Walk(r.At, r.Fallback, func(*Reference) error { return nil })
	}
	if f.Value == nil || f.Value.Kind != document.String {
		return fault(at, f.Value, fmt.Sprintf("%s must be a string, not %s", f.Key, kindOf(f.Value)), "quote the value")
	}
	text := f.Value.Text
	switch f.Key {
	case "unit":
		r.Unit = text
		if !qualifiedName(text) {
			return fault(at, f.Value, fmt.Sprintf("%q is not a Unit name", text), "use lower-case letters, digits and '-', with '/' between a Stack and its Unit")
		}
	case "name":
		r.Name = text
		if !qualifiedName(text) {
			return fault(at, f.Value, fmt.Sprintf("%q is not a name", text), "use lower-case letters, digits and '-'")
		}
	case "apiVersion":
		r.APIVersion = text
		if !strings.Contains(text, "/") {
			return fault(at, f.Value, fmt.Sprintf("%q is not an API version", text), "write group/version, for example artifact.gitopsctr.io/v1")
		}
	case "kind":
		r.ArtifactKind = text
		if !upperCamel(text) {
			return fault(at, f.Value, fmt.Sprintf("%q is not a kind", text), "start with a capital letter, then letters and digits")
		}
	case "pointer":
		r.Pointer, r.HasPointer = text, true
		if _, err := document.ParsePointer(text); err != nil {
			return fault(at, f.Value, err.Error(), "start with '/'; write '~' as '~0' and '/' inside a key as '~1'")
		}
	}
	return nil
}

// Walk calls visit for every outer reference in the template n, in document order; it stops at the first error. It does
// not descend into a reference: fallbacks are parsed (an invalid one is an error) but not visited.
func Walk(at string, n *document.Node, visit func(*Reference) error) error {
	ref, err := Parse(at, n)
	if err != nil {
		return err
	}
	if ref != nil {
		return visit(ref)
	}
	if n == nil {
		return nil
	}
	switch n.Kind {
	case document.List:
		for i, item := range n.Items {
			if err := Walk(fmt.Sprintf("%s/%d", at, i), item, visit); err != nil {
				return err
			}
		}
	case document.Map:
		for _, f := range n.Fields {
			if err := Walk(at+"/"+document.PointerToken(f.Key), f.Value, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

// Normal returns the normal form of the template n, as input hashes and desired documents know it: each reference holds
// only the fields of its kind, in their order; an empty pointer is left out, except that it stays for fromPromotion when
// given, and that the typed positions of FrontendS3Cloudfront always write it (chapter B, 3.3 and 5.1).
func Normal(n *document.Node, typed bool) (*document.Node, error) {
	ref, err := Parse("", n)
	if err != nil {
		return nil, err
	}
	if ref != nil {
		return ref.normal(typed)
	}
	if n == nil {
		return nil, nil
	}
	c := *n
	switch n.Kind {
	case document.List:
		c.Items = make([]*document.Node, len(n.Items))
		for i, item := range n.Items {
			if c.Items[i], err = Normal(item, typed); err != nil {
				return nil, err
			}
		}
	case document.Map:
		c.Fields = slices.Clone(n.Fields)
		for i := range c.Fields {
			if c.Fields[i].Value, err = Normal(c.Fields[i].Value, typed); err != nil {
				return nil, err
			}
		}
	}
	return &c, nil
}

func (r *Reference) normal(typed bool) (*document.Node, error) {
	target := document.NewMap()
	text := map[string]string{"unit": r.Unit, "name": r.Name, "apiVersion": r.APIVersion, "kind": r.ArtifactKind, "pointer": r.Pointer}
	for _, name := range fieldsOf[r.Kind] {
		switch {
		case name == "dryFallback":
			if r.Fallback != nil {
				fallback, err := Normal(r.Fallback, false)
				if err != nil {
					return nil, err
				}
				target.Fields = append(target.Fields, document.F(name, fallback))
			}
			continue
		case r.Kind == FromPromotion && name == "pointer" && !r.HasPointer,
			r.Kind == FromPromotion && name == "unit" && r.Unit == "",
			r.Kind != FromPromotion && name == "pointer" && r.Pointer == "" && !typed:
			continue
		}
		target.Fields = append(target.Fields, document.F(name, document.NewString(text[name])))
	}
	return document.NewMap(document.F(string(r.Kind), target)), nil
}

func fault(at string, n *document.Node, message, fix string) *document.Error {
	e := &document.Error{Pointer: "/spec" + at, Message: message, Fix: fix}
	if n != nil {
		e.Line, e.Column = n.Line, n.Column
	}
	return e
}

func orElse(n, other *document.Node) *document.Node {
	if n == nil || n.Line == 0 {
		return other
	}
	return n
}

func kindOf(n *document.Node) string {
	if n == nil {
		return document.Null.String()
	}
	return n.Kind.String()
}

// qualifiedName tells whether s is name(/name)*, each [a-z0-9][a-z0-9-]*.
func qualifiedName(s string) bool {
	for part := range strings.SplitSeq(s, "/") {
		if part == "" || part[0] == '-' {
			return false
		}
		for i := range len(part) {
			if c := part[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
				return false
			}
		}
	}
	return true
}

func upperCamel(s string) bool {
	for i := range len(s) {
		upper, other := s[i] >= 'A' && s[i] <= 'Z', s[i] >= 'a' && s[i] <= 'z' || s[i] >= '0' && s[i] <= '9'
		if !upper && (i == 0 || !other) {
			return false
		}
	}
	return s != ""
}
