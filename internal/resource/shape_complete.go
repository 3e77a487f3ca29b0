package resource

import (
	"strconv"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

// complete returns the normal form of a checked node: declared fields in declared order, defaults and nulls filled in,
// integers as integers, free-form parts as they are. What is in normal form already is returned itself.
//
// A nil node is an absent value, and so null.
func complete(s *shape, n *document.Node) *document.Node {
	done, _ := completion{}.node(s, n)
	return done
}

// A completion is one run of complete.
type completion struct {
	// reference, when given, rewrites what may hold reference expressions: a template, a value of a mapping of
	// templates, or (typed) an expression in a typed position.
	reference func(n *document.Node, typed bool) (*document.Node, error)
}

func (c completion) node(s *shape, n *document.Node) (*document.Node, error) {
	if n.IsNull() {
		if n == nil {
			n = document.NewNull()
		}
		return n, nil
	}
	switch s.kind {
	case objectShape:
		return c.object(s, n)
	case tableShape:
		return c.members(n, func(v *document.Node) (*document.Node, error) { return c.node(s.elem, v) })
	case bindingsShape:
		return c.members(n, func(v *document.Node) (*document.Node, error) { return c.rewrite(v, false) })
	case templateShape:
		return c.rewrite(n, false)
	case listShape:
		return c.items(s, n)
	case integerShape:
		if n.Kind == document.Float {
			whole := *n
			whole.Kind, whole.Float = document.Int, 0
			whole.Text = strconv.FormatFloat(n.Float, 'f', 0, 64)
			if whole.Text == "-0" {
				whole.Text = "0"
			}
			return &whole, nil
		}
	case typedShape:
		if hasReferenceKey(n) {
			return c.rewrite(n, true)
		}
		return c.node(s.elem, n)
	case unionShape:
		if v := s.choose(n); v != nil {
			return c.node(v, n)
		}
	}
	return n, nil
}

func (c completion) rewrite(n *document.Node, typed bool) (*document.Node, error) {
	if c.reference == nil {
		return n, nil
	}
	return c.reference(n, typed)
}

func (c completion) object(s *shape, n *document.Node) (*document.Node, error) {
	same := true
	out := make([]document.Field, 0, len(s.fields))
	for i := range s.fields {
		f := &s.fields[i]
		if f.presence == dropped {
			same = same && !n.Has(f.name)
			continue
		}
		have := n.Field(f.name)
		switch {
		case have == nil && f.presence == omitted:
			continue
		case have == nil && f.fallback != nil:
			out, same = append(out, document.F(f.name, f.fallback)), false
			continue
		case have == nil:
			out, same = append(out, document.F(f.name, document.NewNull())), false
			continue
		case f.presence == omitted && have.Value.IsNull():
			same = false
			continue
		}
		value, err := c.node(f.shape, have.Value)
		if err != nil {
			return nil, err
		}
		if at := len(out); value != have.Value || at >= len(n.Fields) || n.Fields[at].Key != f.name {
			same = false
		}
		done := *have
		done.Value = value
		out = append(out, done)
	}
	if same && len(out) == len(n.Fields) {
		return n, nil
	}
	done := *n
	done.Fields = out
	return &done, nil
}

func (c completion) members(n *document.Node, each func(*document.Node) (*document.Node, error)) (*document.Node, error) {
	done := n
	for i, f := range n.Fields {
		value, err := each(f.Value)
		if err != nil {
			return nil, err
		}
		if value == f.Value {
			continue
		}
		if done == n {
			changed := *n
			changed.Fields = append([]document.Field(nil), n.Fields...)
			done = &changed
		}
		done.Fields[i].Value = value
	}
	return done, nil
}

func (c completion) items(s *shape, n *document.Node) (*document.Node, error) {
	done := n
	for i, item := range n.Items {
		value, err := c.node(s.elem, item)
		if err != nil {
			return nil, err
		}
		if value == item {
			continue
		}
		if done == n {
			changed := *n
			changed.Items = append([]*document.Node(nil), n.Items...)
			done = &changed
		}
		done.Items[i] = value
	}
	return done, nil
}
