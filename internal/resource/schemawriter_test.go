package resource

import (
	"slices"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

// A schemaWriter turns one shape into one self-contained schema file.
type schemaWriter struct{ defs *document.Node }

func schemaFile(p published) *document.Node {
	w := schemaWriter{document.NewMap()}
	n := w.schema(p.shape)
	n = n.With("$schema", str("https://json-schema.org/draft/2020-12/schema"))
	n = n.With("$id", str(SchemaURL(p.gvk, p.profile)))
	title := p.gvk.Kind
	if p.profile != NoProfile {
		title += ", " + string(p.profile)
	}
	n = n.With("title", str(title))
	if len(w.defs.Fields) > 0 {
		n = n.With("$defs", w.defs)
	}
	return n
}

func str(s string) *document.Node                      { return document.NewString(s) }
func mapping(f ...document.Field) *document.Node       { return document.NewMap(f...) }
func member(k string, v *document.Node) document.Field { return document.F(k, v) }

func (w schemaWriter) schema(s *shape) *document.Node {
	if s.name == "" {
		return w.inline(s)
	}
	if !w.defs.Has(s.name) {
		w.defs.Fields = append(w.defs.Fields, member(s.name, document.NewNull())) // ends recursion
		done := w.inline(s)
		for i := range w.defs.Fields {
			if w.defs.Fields[i].Key == s.name {
				w.defs.Fields[i].Value = done
			}
		}
	}
	return mapping(member("$ref", str("#/$defs/"+s.name)))
}

func (w schemaWriter) inline(s *shape) *document.Node {
	n := mapping()
	set := func(key string, v *document.Node) { n = n.With(key, v) }
	if s.doc != "" {
		set("description", str(s.doc))
	}
	switch s.kind {
	case objectShape:
		w.object(s, set)
	case tableShape:
		set("type", str("object"))
		if s.keys != nil {
			set("propertyNames", withRule(mapping(), s.keys))
		}
		set("additionalProperties", w.schema(s.elem))
		if s.minItems > 0 {
			set("minProperties", document.NewInt(int64(s.minItems)))
		}
	case listShape:
		set("type", str("array"))
		set("items", w.schema(s.elem))
		if s.minItems > 0 {
			set("minItems", document.NewInt(int64(s.minItems)))
		}
		if s.maxItems > 0 {
			set("maxItems", document.NewInt(int64(s.maxItems)))
		}
		if s.unique {
			set("uniqueItems", document.NewBool(true))
		}
	case textShape:
		set("type", str("string"))
		switch {
		case s.rule != nil:
			n = withRule(n, s.rule)
		case len(s.allowed) == 1:
			set("const", str(s.allowed[0]))
		case s.allowed != nil:
			set("enum", document.NewStrings(s.allowed))
		}
	case flagShape:
		set("type", str("boolean"))
	case integerShape:
		set("type", str("integer"))
		if s.exactly != nil {
			set("const", document.NewInt(*s.exactly))
		}
		if s.atLeast != nil {
			set("minimum", document.NewInt(*s.atLeast))
		}
	case scalarShape:
		set("type", document.NewStrings([]string{"string", "number", "boolean"}))
	case freeShape:
		set("type", str("object"))
	case valueShape:
	case resolvedShape:
		set("type", str("object"))
		set("$ref", str("#/$defs/resolvedValue"))
		if !w.defs.Has("resolvedValue") {
			self := mapping(member("$ref", str("#/$defs/resolvedValue")))
			w.defs.Fields = append(w.defs.Fields, member("resolvedValue", mapping(
				member("propertyNames", mapping(
					member("not", mapping(member("enum", document.NewStrings([]string{"fromReceipt", "fromArtifact", "fromPromotion"})))),
					member("errorMessage", str("references have become values here")))),
				member("additionalProperties", self), member("items", self))))
		}
	case templateShape:
		set("if", isReference())
		set("then", w.schema(s.reference))
		self := mapping(member("$ref", str("#/$defs/"+s.name)))
		set("else", mapping(member("additionalProperties", self), member("items", self)))
	case bindingsShape:
		set("type", str("object"))
		set("not", isReference())
		set("errorMessage", str("must not itself be a reference"))
		set("additionalProperties", w.schema(s.reference.template()))
	case typedShape:
		set("if", isReference())
		set("then", w.schema(s.reference))
		set("else", w.schema(s.elem))
	case unionShape:
		w.union(s, set)
	}
	return n
}

func (w schemaWriter) object(s *shape, set func(string, *document.Node)) {
	set("type", str("object"))
	properties, need := mapping(), document.NewList()
	for i := range s.fields {
		f := &s.fields[i]
		properties.Fields = append(properties.Fields, member(f.name, w.property(f)))
		if f.presence == required {
			need.Items = append(need.Items, str(f.name))
		}
	}
	set("properties", properties)
	set("additionalProperties", document.NewBool(false))
	if len(need.Items) > 0 {
		set("required", need)
	}
	if s.atLeastOne {
		set("minProperties", document.NewInt(1))
	}
}

func (w schemaWriter) property(f *field) *document.Node {
	n := w.schema(f.shape)
	if f.allowsNull() {
		n = allowNull(n)
	}
	if f.doc != "" {
		n = n.With("description", str(f.doc))
	}
	if f.fallback != nil {
		n = n.With("default", f.fallback)
	}
	return n
}

// allowNull adds null to a schema: to its type and values where it has a type, else as an alternative.
func allowNull(n *document.Node) *document.Node {
	kind := n.Get("type")
	if kind == nil || n.Has("if") || n.Has("allOf") || n.Has("$ref") {
		return mapping(member("anyOf", document.NewList(mapping(member("type", str("null"))), n)))
	}
	if n.Has("const") {
		n = n.With("enum", document.NewList(n.Get("const"))).Without("const")
	}
	if enum := n.Get("enum"); enum != nil {
		n = n.With("enum", document.NewList(append(slices.Clone(enum.Items), document.NewNull())...))
	}
	types := kind.Strs()
	if kind.Kind == document.String {
		types = []string{kind.Text}
	}
	return n.With("type", document.NewStrings(append(types, "null")))
}

func (w schemaWriter) union(s *shape, set func(string, *document.Node)) {
	set("type", str("object"))
	if s.by != "" {
		set("required", document.NewStrings([]string{s.by}))
		set("properties", mapping(member(s.by, mapping(member("enum", document.NewStrings(s.selectors()))))))
		all := document.NewList()
		for _, v := range s.variants {
			all.Items = append(all.Items, mapping(
				member("if", mapping(
					member("required", document.NewStrings([]string{s.by})),
					member("properties", mapping(member(s.by, mapping(member("const", str(v.name)))))))),
				member("then", w.schema(v.shape))))
		}
		set("allOf", all)
		return
	}
	known := mapping()
	last := mapping(member("anyOf", document.NewList()))
	for _, v := range s.variants {
		if v.name == "" {
			last = w.schema(v.shape)
		}
	}
	for _, v := range slices.Backward(s.variants) {
		if v.name == "" {
			continue
		}
		has := mapping(member("required", document.NewStrings([]string{v.name})))
		if alternatives := last.Get("anyOf"); alternatives != nil {
			for _, name := range s.selectors() {
				alternatives.Items = append(alternatives.Items, mapping(member("required", document.NewStrings([]string{name}))))
			}
		}
		last = mapping(member("if", has), member("then", w.schema(v.shape)), member("else", last))
		if len(v.shape.fields) > 0 {
			known.Fields = append(known.Fields, member(v.name, mapping(member("description", str(v.shape.field(v.name).doc)))))
		}
	}
	set("properties", known) // for completion in editors; the variants say what is in them
	for _, f := range last.Fields {
		set(f.Key, f.Value)
	}
}

// isReference is the condition of hasReferenceKey.
func isReference() *document.Node {
	keys := document.NewList()
	for _, key := range referenceKeys {
		keys.Items = append(keys.Items, mapping(member("required", document.NewStrings([]string{key}))))
	}
	return mapping(member("type", str("object")), member("anyOf", keys))
}

func withRule(n *document.Node, r *textRule) *document.Node {
	if r == nonEmpty {
		return n.With("minLength", document.NewInt(1))
	}
	n = n.With("pattern", str(r.pattern)).With("patternErrorMessage", str("must be "+r.says))
	if r.not != "" {
		n = n.With("not", mapping(member("pattern", str(r.not)))).With("errorMessage", str("must be "+r.says))
	}
	if r.longest > 0 {
		n = n.With("maxLength", document.NewInt(int64(r.longest)))
	}
	return n
}
