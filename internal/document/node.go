// Package document holds the ordered tree that every YAML or JSON document of gitopsctr is read into and written from.
//
// Key order and source positions are part of a document here: key order decides the written bytes (and so every Git blob
// id), positions decide where an error or an annotation points. The package knows bytes and trees only: no kinds, no
// files, no git. Its rules are those of the specification's chapter A, sections 2 to 4 and 8.
package document

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Kind is the JSON type of a Node. Integers and floats are told apart, since 1 and 1.0 have different canonical forms.
type Kind uint8

// The kinds of a Node.
const (
	Null Kind = iota
	Bool
	Int
	Float
	String
	List
	Map
)

// String names the kind as an error message would.
func (k Kind) String() string {
	return [...]string{"null", "boolean", "integer", "number", "string", "list", "mapping"}[k]
}

// A Node is one JSON-compatible value with key order and, when it was read from a file, its position.
// Nodes are immutable by convention: functions that change one return a copy that shares the unchanged parts.
type Node struct {
	Kind Kind
	// Bool is the value of a Bool node.
	Bool bool
	// Float is the value of a Float node.
	Float float64
	// Text is the text of a String node, or the decimal digits of an Int node (optional "-", no leading zeros, any size).
	Text string
	// Items are the elements of a List node.
	Items []*Node
	// Fields are the members of a Map node, in document order; keys are unique.
	Fields []Field
	// Line and Column are the 1-based position of the value's first character, 0 when it was not read from text.
	Line, Column int
}

// A Field is one member of a mapping.
type Field struct {
	Key   string
	Value *Node
	// Line and Column are the 1-based position of the key, 0 when it was not read from text.
	Line, Column int
}

// NewNull returns a null node.
func NewNull() *Node { return &Node{Kind: Null} }

// NewBool returns a boolean node.
func NewBool(b bool) *Node { return &Node{Kind: Bool, Bool: b} }

// NewInt returns an integer node.
func NewInt(i int64) *Node { return &Node{Kind: Int, Text: strconv.FormatInt(i, 10)} }

// NewFloat returns a float node; it stays a float in every written form, even for 1.0.
func NewFloat(f float64) *Node { return &Node{Kind: Float, Float: f} }

// NewString returns a string node.
func NewString(s string) *Node { return &Node{Kind: String, Text: s} }

// NewList returns a list node.
func NewList(items ...*Node) *Node { return &Node{Kind: List, Items: items} }

// NewStrings returns a list of strings.
func NewStrings(items []string) *Node {
	n := &Node{Kind: List}
	for _, s := range items {
		n.Items = append(n.Items, NewString(s))
	}
	return n
}

// NewMap returns a mapping with the given members in that order.
func NewMap(fields ...Field) *Node { return &Node{Kind: Map, Fields: fields} }

// F is shorthand for a Field.
func F(key string, value *Node) Field { return Field{Key: key, Value: value} }

// IsNull tells whether n is absent (nil) or null.
func (n *Node) IsNull() bool { return n == nil || n.Kind == Null }

// Get returns the member key of a mapping, or nil when n is no mapping or has no such member.
func (n *Node) Get(key string) *Node {
	if f := n.Field(key); f != nil {
		return f.Value
	}
	return nil
}

// Field returns the member key of a mapping with the key's own position, or nil.
func (n *Node) Field(key string) *Field {
	if n == nil || n.Kind != Map {
		return nil
	}
	for i := range n.Fields {
		if n.Fields[i].Key == key {
			return &n.Fields[i]
		}
	}
	return nil
}

// Path returns the node below n that the keys lead to, or nil.
func (n *Node) Path(keys ...string) *Node {
	for _, k := range keys {
		n = n.Get(k)
	}
	return n
}

// Has tells whether n is a mapping with the member key (its value may be null).
func (n *Node) Has(key string) bool { return n.Field(key) != nil }

// Str returns the text of a string node, or "" for anything else (nil included).
func (n *Node) Str() string {
	if n == nil || n.Kind != String {
		return ""
	}
	return n.Text
}

// Strs returns the texts of a list of strings; nil for anything else.
func (n *Node) Strs() []string {
	if n == nil || n.Kind != List {
		return nil
	}
	out := make([]string, 0, len(n.Items))
	for _, i := range n.Items {
		out = append(out, i.Str())
	}
	return out
}

// Int64 returns the value of an integer node (or of a float without fraction) and whether it is one that fits.
func (n *Node) Int64() (int64, bool) {
	switch {
	case n == nil:
		return 0, false
	case n.Kind == Int:
		i, err := strconv.ParseInt(n.Text, 10, 64)
		return i, err == nil
	case n.Kind == Float && n.Float == math.Trunc(n.Float) && math.Abs(n.Float) < 1<<53:
		return int64(n.Float), true
	}
	return 0, false
}

// With returns a copy of the mapping n in which key has the given value: in its old place, else appended.
func (n *Node) With(key string, value *Node) *Node {
	c := *n
	c.Fields = slices.Clone(n.Fields)
	for i := range c.Fields {
		if c.Fields[i].Key == key {
			c.Fields[i].Value = value
			return &c
		}
	}
	c.Fields = append(c.Fields, F(key, value))
	return &c
}

// Without returns a copy of the mapping n without the member key.
func (n *Node) Without(key string) *Node {
	c := *n
	c.Fields = make([]Field, 0, len(n.Fields))
	for _, f := range n.Fields {
		if f.Key != key {
			c.Fields = append(c.Fields, f)
		}
	}
	return &c
}

// Equal tells whether a and b are the same JSON value: key order does not matter, 1 and 1.0 differ. nil equals null.
func Equal(a, b *Node) bool {
	if a.IsNull() || b.IsNull() {
		return a.IsNull() && b.IsNull()
	}
	if a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case Bool:
		return a.Bool == b.Bool
	case Float:
		return a.Float == b.Float && math.Signbit(a.Float) == math.Signbit(b.Float)
	case Int, String:
		return a.Text == b.Text
	case List:
		return slices.EqualFunc(a.Items, b.Items, Equal)
	}
	if len(a.Fields) != len(b.Fields) {
		return false
	}
	for _, f := range a.Fields {
		other := b.Field(f.Key)
		if other == nil || !Equal(f.Value, other.Value) {
			return false
		}
	}
	return true
}

// PointerToken escapes one reference token of a JSON Pointer (RFC 6901).
func PointerToken(key string) string {
	if !strings.ContainsAny(key, "~/") {
		return key
	}
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}
