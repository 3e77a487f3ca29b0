package resource

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

// A checker walks a document along its shape and collects every fault, in document order.
type checker struct {
	file string
	// path holds the tokens of the JSON Pointer of the value under check, unescaped.
	path   []string
	faults document.Errors
}

// checkShape returns all faults of the node as document.Errors, or nil. The pointer base names where the node stands in
// its document, for example "/spec".
func checkShape(file, base string, s *shape, n *document.Node) error {
	c := checker{file: file}
	if base != "" {
		c.path = append(c.path, strings.TrimPrefix(base, "/"))
	}
	c.check(s, n)
	return c.err()
}

func (c *checker) err() error {
	if len(c.faults) == 0 {
		return nil
	}
	return c.faults
}

func (c *checker) check(s *shape, n *document.Node) {
	if n.IsNull() {
		if !s.nullable && s.kind != valueShape && s.kind != templateShape {
			c.fault(n, "must be "+s.expects()+", not null", "")
		}
		return
	}
	switch s.kind {
	case objectShape:
		c.object(s, n)
	case tableShape:
		c.table(s, n)
	case listShape:
		c.list(s, n)
	case textShape:
		c.text(s, n)
	case integerShape:
		c.integer(s, n)
	case flagShape:
		c.want(s, n, n.Kind == document.Bool)
	case scalarShape:
		c.want(s, n, n.Kind != document.List && n.Kind != document.Map)
	case freeShape:
		c.want(s, n, n.Kind == document.Map)
	case resolvedShape:
		if c.want(s, n, n.Kind == document.Map) {
			c.resolved(n)
		}
	case templateShape:
		c.template(s, n)
	case bindingsShape:
		c.bindings(s, n)
	case typedShape:
		if hasReferenceKey(n) {
			c.check(s.reference, n)
		} else {
			c.check(s.elem, n)
		}
	case unionShape:
		c.union(s, n)
	case valueShape:
	}
}

func (c *checker) object(s *shape, n *document.Node) {
	if !c.want(s, n, n.Kind == document.Map) {
		return
	}
	for i := range s.fields {
		if f := &s.fields[i]; f.presence == required && !n.Has(f.name) {
			c.fault(n, fmt.Sprintf("missing field %q", f.name), "add it: "+f.shape.expects())
		}
	}
	for i := range n.Fields {
		f := &n.Fields[i]
		declared := s.field(f.Key)
		if declared == nil {
			c.unknown(s, f)
			continue
		}
		if f.Value.IsNull() && declared.allowsNull() {
			continue
		}
		c.in(f.Key)
		c.check(declared.shape, f.Value)
		c.out()
	}
	if s.atLeastOne && len(n.Fields) == 0 {
		c.fault(n, "must not be empty", "set one of "+orList(s.fieldNames())+", or remove it")
	}
}

func (c *checker) unknown(s *shape, f *document.Field) {
	fix := "remove it; no fields are known here"
	if names := s.fieldNames(); len(names) > 0 {
		fix = "known here: " + strings.Join(names, ", ")
		if near := nearest(f.Key, names); near != "" {
			fix = fmt.Sprintf("did you mean %q?", near)
		}
	}
	c.in(f.Key)
	c.add(f.Line, f.Column, fmt.Sprintf("unknown field %s", quote(f.Key)), fix)
	c.out()
}

func (s *shape) fieldNames() []string {
	var names []string
	for i := range s.fields {
		if s.fields[i].name != schemaKey {
			names = append(names, s.fields[i].name)
		}
	}
	return names
}

func (c *checker) table(s *shape, n *document.Node) {
	if !c.want(s, n, n.Kind == document.Map) {
		return
	}
	for i := range n.Fields {
		f := &n.Fields[i]
		c.in(f.Key)
		if s.keys != nil && !s.keys.ok(f.Key) {
			c.add(f.Line, f.Column, fmt.Sprintf("the key %s is not %s", quote(f.Key), s.keys.says), "")
		}
		c.check(s.elem, f.Value)
		c.out()
	}
	c.count(s, n, len(n.Fields), "entry", "entries")
}

func (c *checker) list(s *shape, n *document.Node) {
	if !c.want(s, n, n.Kind == document.List) {
		return
	}
	for i, item := range n.Items {
		c.in(strconv.Itoa(i))
		c.check(s.elem, item)
		if s.unique {
			for _, earlier := range n.Items[:i] {
				if document.Equal(earlier, item) {
					c.fault(item, "is listed twice", "remove one of the two")
					break
				}
			}
		}
		c.out()
	}
	c.count(s, n, len(n.Items), "item", "items")
}

func (c *checker) count(s *shape, n *document.Node, have int, one, many string) {
	if s.minItems > 0 && have < s.minItems {
		c.fault(n, fmt.Sprintf("needs at least %s", plural(s.minItems, one, many)), "")
	}
	if s.maxItems > 0 && have > s.maxItems {
		c.fault(n, fmt.Sprintf("holds %s, at most %d allowed", plural(have, one, many), s.maxItems), "")
	}
}

func (c *checker) text(s *shape, n *document.Node) {
	if !c.want(s, n, n.Kind == document.String) {
		return
	}
	switch {
	case s.rule != nil && !s.rule.ok(n.Text):
		c.fault(n, quote(n.Text)+" is not "+s.rule.says, "")
	case s.allowed != nil && !slices.Contains(s.allowed, n.Text):
		c.fault(n, "must be "+s.expects()+", not "+quote(n.Text), "")
	}
}

func (c *checker) integer(s *shape, n *document.Node) {
	whole := n.Kind == document.Int || n.Kind == document.Float && n.Float == math.Trunc(n.Float)
	if !c.want(s, n, whole) {
		return
	}
	value, fits := n.Int64()
	negative := n.Kind == document.Int && strings.HasPrefix(n.Text, "-") || n.Kind == document.Float && n.Float < 0
	switch {
	case s.exactly != nil && (!fits || value != *s.exactly):
		c.fault(n, "must be "+s.expects(), "")
	case s.atLeast != nil && (fits && value < *s.atLeast || !fits && negative):
		c.fault(n, "must be "+s.expects(), "")
	}
}

func (c *checker) union(s *shape, n *document.Node) {
	if !c.want(s, n, n.Kind == document.Map) {
		return
	}
	if v := s.choose(n); v != nil {
		c.check(v, n)
		return
	}
	if s.by == "" {
		c.fault(n, "must hold "+orList(s.selectors()), "")
		return
	}
	selector := n.Get(s.by)
	if selector == nil {
		c.fault(n, fmt.Sprintf("missing field %q", s.by), "add it: "+orQuoted(s.selectors()))
		return
	}
	c.in(s.by)
	c.check(&shape{kind: textShape, allowed: s.selectors()}, selector)
	c.out()
}

// want faults a node of the wrong type.
func (c *checker) want(s *shape, n *document.Node, ok bool) bool {
	if !ok {
		fix := ""
		if s.kind == textShape && (n.Kind == document.Int || n.Kind == document.Float || n.Kind == document.Bool) {
			fix = "put it in quotes"
		}
		c.fault(n, "must be "+s.expects()+", not "+article(n.Kind), fix)
	}
	return ok
}

func (c *checker) in(token string) { c.path = append(c.path, token) }
func (c *checker) out()            { c.path = c.path[:len(c.path)-1] }

func (c *checker) fault(n *document.Node, message, fix string) {
	line, column := 0, 0
	if n != nil {
		line, column = n.Line, n.Column
	}
	c.add(line, column, message, fix)
}

func (c *checker) add(line, column int, message, fix string) {
	c.faults = append(c.faults, &document.Error{
		File: c.file, Line: line, Column: column, Pointer: c.pointer(), Message: message, Fix: fix,
	})
}

func (c *checker) pointer() string {
	var b strings.Builder
	for _, token := range c.path {
		b.WriteByte('/')
		b.WriteString(document.PointerToken(token))
	}
	return b.String()
}
