package document

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// EncodeJSON writes n in the JSON form of chapter A 3: indented by two, keys sorted by code point, ASCII, one trailing
// line feed. $schema is an ordinary key. Use Encode for documents that are to be stored.
func EncodeJSON(n *Node) []byte {
	e := jsonEncoder{indent: true, sort: true}
	e.value(n, 0)
	return append(e.out, '\n')
}

// InspectionJSON writes n for people (chapter H 5.1): as EncodeJSON, but keys stay in the order that they have in n.
func InspectionJSON(n *Node) []byte {
	e := jsonEncoder{indent: true}
	e.value(n, 0)
	return append(e.out, '\n')
}

// CanonicalJSON writes n in the form that digests are taken of (chapter A 3): no white space, keys sorted by code point,
// ASCII, no trailing line feed. An integer and a float of the same value stay different ("2" and "2.0").
func CanonicalJSON(n *Node) []byte {
	e := jsonEncoder{sort: true}
	e.value(n, 0)
	return e.out
}

// jsonEncoder writes JSON; its fields are the choices that the three written forms differ in.
type jsonEncoder struct {
	out          []byte
	indent, sort bool
}

func (e *jsonEncoder) value(n *Node, depth int) {
	if n == nil {
		e.out = append(e.out, "null"...)
		return
	}
	switch n.Kind {
	case Null:
		e.out = append(e.out, "null"...)
	case Bool:
		e.out = appendBool(e.out, n.Bool)
	case Int:
		e.out = append(e.out, n.Text...)
	case Float:
		e.out = appendJSONFloat(e.out, n.Float)
	case String:
		e.out = appendJSONString(e.out, n.Text)
	case List:
		e.out = append(e.out, '[')
		for i, item := range n.Items {
			e.separate(i, depth+1)
			e.value(item, depth+1)
		}
		e.end(len(n.Items), depth, ']')
	case Map:
		e.out = append(e.out, '{')
		for i, f := range e.order(n.Fields) {
			e.separate(i, depth+1)
			e.out = append(appendJSONString(e.out, f.Key), ':')
			if e.indent {
				e.out = append(e.out, ' ')
			}
			e.value(f.Value, depth+1)
		}
		e.end(len(n.Fields), depth, '}')
	}
}

// order returns the fields in the order in which they are written. Byte order of UTF-8 is code point order.
func (e *jsonEncoder) order(fields []Field) []Field {
	byKey := func(a, b Field) int { return strings.Compare(a.Key, b.Key) }
	if !e.sort || slices.IsSortedFunc(fields, byKey) {
		return fields
	}
	fields = slices.Clone(fields)
	slices.SortFunc(fields, byKey)
	return fields
}

func (e *jsonEncoder) separate(index, depth int) {
	if index > 0 {
		e.out = append(e.out, ',')
	}
	if e.indent {
		e.newline(depth)
	}
}

func (e *jsonEncoder) end(count, depth int, bracket byte) {
	if e.indent && count > 0 {
		e.newline(depth)
	}
	e.out = append(e.out, bracket)
}

func (e *jsonEncoder) newline(depth int) {
	e.out = append(e.out, '\n')
	for range depth {
		e.out = append(e.out, "  "...)
	}
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, "true"...)
	}
	return append(b, "false"...)
}

const lowerHex = "0123456789abcdef"

// appendJSONString appends s quoted and in ASCII: what lies outside U+0020 to U+007E is escaped, beyond U+FFFF as a
// surrogate pair. "/", "<", ">" and "&" stay raw.
func appendJSONString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < 0x7f && c != '"' && c != '\\' {
			i++
			continue
		}
		b = append(b, s[start:i]...)
		r, size := utf8.DecodeRuneInString(s[i:])
		b = appendJSONEscape(b, r)
		i += size
		start = i
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

func appendJSONEscape(b []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(b, '\\', byte(r))
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	case '\b':
		return append(b, `\b`...)
	case '\f':
		return append(b, `\f`...)
	}
	if r > 0xffff {
		r -= 0x10000
		return appendUTF16(appendUTF16(b, 0xd800+r>>10), 0xdc00+r&0x3ff)
	}
	return appendUTF16(b, r)
}

func appendUTF16(b []byte, unit rune) []byte {
	return append(b, '\\', 'u', lowerHex[unit>>12&15], lowerHex[unit>>8&15], lowerHex[unit>>4&15], lowerHex[unit&15])
}
