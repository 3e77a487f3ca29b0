package document

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// decodeJSON reads one RFC 8259 document whose top level is a mapping.
func decodeJSON(file string, data []byte, lenient bool) (*Node, error) {
	if err := checkUTF8(file, data); err != nil {
		return nil, err
	}
	d := &jsonDecoder{file: file, data: string(data), line: 1, lenient: lenient}
	d.space()
	if d.pos == len(d.data) {
		return nil, d.fail("the document is empty", "")
	}
	n, err := d.value()
	if err != nil {
		return nil, err
	}
	d.space()
	if d.pos < len(d.data) {
		return nil, d.fail("text after the end of the document", "a file holds exactly one document")
	}
	if n.Kind != Map {
		return nil, &Error{File: file, Line: n.Line, Column: n.Column, Message: fmt.Sprintf("a document must be a mapping, not %s", withArticle(n.Kind))}
	}
	return n, nil
}

// jsonDecoder is a recursive-descent reader that keeps order and positions.
type jsonDecoder struct {
	file    string
	data    string
	lenient bool

	pos int
	// line is the current line, lineStart where it starts.
	line, lineStart int
	// counted is the number of characters between lineStart and countedTo; it keeps column linear in the file's size.
	counted, countedTo int
	trail              trail
}

// column is the 1-based column of the byte at pos, counted in characters.
func (d *jsonDecoder) column() int {
	if d.countedTo < d.lineStart || d.countedTo > d.pos {
		d.counted, d.countedTo = 0, d.lineStart
	}
	d.counted += utf8.RuneCountInString(d.data[d.countedTo:d.pos])
	d.countedTo = d.pos
	return d.counted + 1
}

func (d *jsonDecoder) fail(message, fix string) error {
	return d.failAt(d.line, d.column(), message, fix)
}

func (d *jsonDecoder) failAt(line, column int, message, fix string) error {
	return &Error{File: d.file, Line: line, Column: column, Pointer: d.trail.pointer(), Message: message, Fix: fix}
}

// unexpected reports that something else should stand at pos.
func (d *jsonDecoder) unexpected(wanted string) error {
	if d.pos >= len(d.data) {
		return d.fail("the document ends where "+wanted+" should be", "")
	}
	r, _ := utf8.DecodeRuneInString(d.data[d.pos:])
	if r == '\ufeff' && d.pos == 0 {
		return d.fail("the file starts with a byte order mark", "save it as UTF-8 without BOM")
	}
	return d.fail(fmt.Sprintf("%q where %s should be", r, wanted), "")
}

func (d *jsonDecoder) space() {
	for d.pos < len(d.data) {
		switch d.data[d.pos] {
		case '\n':
			d.line++
			d.lineStart = d.pos + 1
		case ' ', '\t', '\r':
		default:
			return
		}
		d.pos++
	}
}

func (d *jsonDecoder) peek() byte {
	if d.pos < len(d.data) {
		return d.data[d.pos]
	}
	return 0
}

func (d *jsonDecoder) value() (*Node, error) {
	n := &Node{Line: d.line, Column: d.column()}
	var err error
	switch c := d.peek(); {
	case c == '{':
		n.Kind = Map
		err = d.object(n)
	case c == '[':
		n.Kind = List
		err = d.array(n)
	case c == '"':
		n.Kind = String
		n.Text, err = d.str()
	case c == '-' || isDigit(c):
		err = d.number(n)
	default:
		err = d.word(n)
	}
	if err != nil {
		return nil, err
	}
	return n, nil
}

func (d *jsonDecoder) word(n *Node) error {
	rest := d.data[d.pos:]
	for _, w := range []struct {
		text string
		node Node
	}{{"null", Node{Kind: Null}}, {"true", Node{Kind: Bool, Bool: true}}, {"false", Node{Kind: Bool}}} {
		if strings.HasPrefix(rest, w.text) {
			n.Kind, n.Bool = w.node.Kind, w.node.Bool
			d.pos += len(w.text)
			return nil
		}
	}
	for _, w := range []string{"NaN", "Infinity", "-Infinity"} {
		if strings.HasPrefix(rest, w) {
			return d.fail(w+" is no JSON value", "numbers must be finite")
		}
	}
	return d.unexpected("a value")
}

// open enters a list or mapping.
func (d *jsonDecoder) open() error {
	if len(d.trail) >= maxDepth {
		return d.fail(fmt.Sprintf("values nest deeper than %d levels", maxDepth), "")
	}
	d.pos++
	d.space()
	return nil
}

func (d *jsonDecoder) object(n *Node) error {
	if err := d.open(); err != nil {
		return err
	}
	var b fieldBuilder
	for d.peek() != '}' || len(b.fields) > 0 {
		if d.peek() != '"' {
			return d.unexpected("a key in double quotes")
		}
		f := Field{Line: d.line, Column: d.column()}
		var err error
		if f.Key, err = d.str(); err != nil {
			return err
		}
		d.trail.pushKey(f.Key)
		if !d.lenient && b.find(f.Key) >= 0 {
			return d.failAt(f.Line, f.Column, fmt.Sprintf("duplicate key %q", f.Key), "keep one of the two")
		}
		d.space()
		if d.peek() != ':' {
			return d.unexpected(`":"`)
		}
		d.pos++
		d.space()
		if f.Value, err = d.value(); err != nil {
			return err
		}
		d.trail.pop()
		b.put(f)
		d.space()
		if d.peek() == '}' {
			break
		}
		if d.peek() != ',' {
			return d.unexpected(`"," or "}"`)
		}
		d.pos++
		d.space()
	}
	d.pos++
	n.Fields = b.fields
	return nil
}

func (d *jsonDecoder) array(n *Node) error {
	if err := d.open(); err != nil {
		return err
	}
	for d.peek() != ']' || len(n.Items) > 0 {
		d.trail.pushIndex(len(n.Items))
		item, err := d.value()
		if err != nil {
			return err
		}
		d.trail.pop()
		n.Items = append(n.Items, item)
		d.space()
		if d.peek() == ']' {
			break
		}
		if d.peek() != ',' {
			return d.unexpected(`"," or "]"`)
		}
		d.pos++
		d.space()
	}
	d.pos++
	return nil
}

// number reads -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?; a fraction or an exponent makes it a float.
func (d *jsonDecoder) number(n *Node) error {
	start := d.pos
	digits := func() int {
		count := span(d.data[d.pos:], isDigit)
		d.pos += count
		return count
	}
	if d.peek() == '-' {
		if strings.HasPrefix(d.data[d.pos:], "-Infinity") {
			return d.word(n)
		}
		d.pos++
	}
	if d.peek() == '0' {
		d.pos++
	} else if digits() == 0 {
		return d.unexpected("a digit")
	}
	n.Kind = Int
	if d.peek() == '.' {
		n.Kind = Float
		d.pos++
		if digits() == 0 {
			return d.unexpected("a digit")
		}
	}
	if c := d.peek(); c == 'e' || c == 'E' {
		n.Kind = Float
		d.pos++
		if c := d.peek(); c == '+' || c == '-' {
			d.pos++
		}
		if digits() == 0 {
			return d.unexpected("a digit")
		}
	}
	text := d.data[start:d.pos]
	if n.Kind == Int {
		if n.Text = text; text == "-0" {
			n.Text = "0"
		}
		return nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		d.pos = start
		return d.fail("the number is too large for a 64-bit float", "")
	}
	n.Float = f
	return nil
}
