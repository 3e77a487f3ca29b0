package resource

import "github.com/gitopsctr/gitopsctr/internal/document"

// A shape says what a part of a document may hold, and in which normal form it is written: the fields in their order,
// which of them may be absent or null, and what then stands in their place.
//
// One table of shapes per document serves four purposes, so that they cannot disagree: checking a document (check),
// completing it (complete), the identity of a Unit's inputs, and the published JSON Schemas (a test writes those files
// from the shapes and another one proves that both accept the same documents).
type shape struct {
	kind shapeKind
	// name makes the shape a definition of its own in a schema file; "" inlines it.
	name string
	doc  string
	// nullable allows null for a field that is not optional.
	nullable bool
	// fields of an object in written order; atLeastOne refuses one without members.
	fields     []field
	atLeastOne bool
	// elem is the shape of a list's items or of a table's values; keys is the rule for a table's keys.
	elem *shape
	keys *textRule
	// minItems and maxItems bound a list or a table, 0 is no bound; unique refuses equal items of a list.
	minItems, maxItems int
	unique             bool
	// rule and allowed restrict a text.
	rule    *textRule
	allowed []string
	// exactly and atLeast restrict an integer.
	exactly, atLeast *int64
	// by and variants choose the shape of a union: by the text of the field by, or, when by is "", by which field is
	// there at all; a variant for "" is then taken when no other is.
	by       string
	variants []variant
	// reference is the shape of a reference expression, for templates and typed references.
	reference *shape
}

type shapeKind uint8

const (
	objectShape   shapeKind = iota // the declared fields and no others
	tableShape                     // any keys, values of one shape; key order is kept
	listShape                      //
	textShape                      //
	flagShape                      // true or false
	integerShape                   // 2.0 is read as 2
	scalarShape                    // text, number or flag; integers and floats stay what they are
	valueShape                     // any value, kept as it is
	freeShape                      // any mapping, kept as it is
	resolvedShape                  // any mapping that holds no reference expression at any depth
	templateShape                  // any value in which reference expressions may stand
	bindingsShape                  // a mapping of which the values are templates; itself no reference
	typedShape                     // elem, or a reference expression in its place
	unionShape                     // one of several objects
)

type variant struct {
	name  string
	shape *shape
}

// presence says what becomes of a field that is absent.
type presence uint8

const (
	required presence = iota
	optional          // null is the same as absent; written as the default, or else as null
	omitted           // not written
	dropped           // accepted, never written
)

type field struct {
	name     string
	shape    *shape
	doc      string
	presence presence
	// fallback is written when an optional field is absent; with one, null is refused. nil is null.
	fallback *document.Node
}

func (f *field) allowsNull() bool {
	return f.shape.nullable || f.presence == optional && f.fallback == nil
}

func object(doc string, fields ...field) *shape {
	return &shape{kind: objectShape, doc: doc, fields: fields}
}

func table(doc string, keys *textRule, elem *shape) *shape {
	return &shape{kind: tableShape, doc: doc, keys: keys, elem: elem}
}

func list(elem *shape) *shape        { return &shape{kind: listShape, elem: elem} }
func text(rule *textRule) *shape     { return &shape{kind: textShape, rule: rule} }
func oneOf(allowed ...string) *shape { return &shape{kind: textShape, allowed: allowed} }
func either(elem, ref *shape) *shape { return &shape{kind: typedShape, elem: elem, reference: ref} }

// integer restricts an integer to one value, or to those from a least one; 0 is no restriction.
func integer(exactly, atLeast int64) *shape {
	s := &shape{kind: integerShape}
	if exactly != 0 {
		s.exactly = &exactly
	}
	if atLeast != 0 {
		s.atLeast = &atLeast
	}
	return s
}

func union(doc, by string, variants ...variant) *shape {
	return &shape{kind: unionShape, doc: doc, by: by, variants: variants}
}

// The shapes without parameters.
var (
	anyText    = &shape{kind: textShape}
	anyFlag    = &shape{kind: flagShape}
	anyInteger = &shape{kind: integerShape}
	anyScalar  = &shape{kind: scalarShape}
	anyValue   = &shape{kind: valueShape}
	anyObject  = &shape{kind: freeShape}
	anyTexts   = list(anyText)
	noMembers  = object("")
)

// orNull returns a copy of the shape that allows null where the field itself must be there.
func orNull(s *shape) *shape {
	c := *s
	c.nullable = true
	return &c
}

// named returns a copy of the shape that is a definition of its own in schema files.
func named(name string, s *shape) *shape {
	c := *s
	c.name = name
	return &c
}

// need, may, leave and with declare fields: required; absent is null; absent is left out; absent is the default.
func need(name string, s *shape, doc string) field {
	return field{name: name, shape: s, doc: doc, presence: required}
}

func may(name string, s *shape, doc string) field {
	return field{name: name, shape: s, doc: doc, presence: optional}
}

func leave(name string, s *shape, doc string) field {
	return field{name: name, shape: s, doc: doc, presence: omitted}
}

func with(name string, s *shape, fallback *document.Node, doc string) field {
	return field{name: name, shape: s, doc: doc, presence: optional, fallback: fallback}
}

// field returns the declared field of an object shape, or nil.
func (s *shape) field(name string) *field {
	for i := range s.fields {
		if s.fields[i].name == name {
			return &s.fields[i]
		}
	}
	return nil
}

// choose returns the variant that the node takes, nil when it takes none.
func (s *shape) choose(n *document.Node) *shape {
	var fallback *shape
	selector := n.Get(s.by)
	for _, v := range s.variants {
		switch {
		case s.by != "":
			if selector != nil && selector.Kind == document.String && selector.Text == v.name {
				return v.shape
			}
		case v.name == "":
			fallback = v.shape
		case n.Has(v.name):
			return v.shape
		}
	}
	return fallback
}

// selectors are the names of a union's variants.
func (s *shape) selectors() []string {
	var names []string
	for _, v := range s.variants {
		if v.name != "" {
			names = append(names, v.name)
		}
	}
	return names
}
