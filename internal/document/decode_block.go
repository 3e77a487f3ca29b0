package document

import "strings"

// decodeBlock reads the part of YAML that gitopsctr itself writes, several times as fast as the engine does: block mappings
// and lists, plain and quoted scalars, "{}" and "[]", printable ASCII, comments on the first lines only. It returns nil for
// everything else, faults included; then the full reader decides. What it returns equals the full reader's result,
// positions included, and is a document without warnings; a fuzz test holds the two against each other.
func decodeBlock(data []byte) *Node {
	if len(data) == 0 || data[len(data)-1] != '\n' {
		return nil
	}
	lines := 0
	for _, c := range data {
		if c == '\n' {
			lines++
		} else if c < 0x20 || c > 0x7e {
			return nil
		}
	}
	// Most lines bring one value; the root and the containers in list items come on top.
	d := &blockDecoder{data: string(data), line: 1, slab: make([]Node, lines+lines/8+1), open: make([]Field, 0, 16), fieldSlab: make([]Field, 0, lines)}
	for d.pos < len(d.data) && d.data[d.pos] == '#' {
		d.endLine(strings.IndexByte(d.data[d.pos:], '\n'))
	}
	if d.pos == len(d.data) || d.indent() != 0 {
		return nil
	}
	n := d.mapping(0)
	if n == nil || d.pos != len(d.data) {
		return nil
	}
	return n
}

// blockDecoder is a recursive-descent reader over whole lines. Its methods return nil, or false, to give up.
type blockDecoder struct {
	data string
	pos  int
	// line is the current line, lineStart where it starts.
	line, lineStart int
	depth           int
	// slab is where the next nodes come from: allocating each alone takes most of the time.
	slab []Node
	// open are the members so far of the mappings that are being read, the innermost last.
	open []Field
	// fieldSlab has room for all members of the document, since no line can hold two.
	fieldSlab []Field
}

// slabSize is the number of nodes that are allocated when a slab is used up.
const slabSize = 16

func (d *blockDecoder) node(kind Kind) *Node {
	if len(d.slab) == 0 {
		d.slab = make([]Node, slabSize)
	}
	n := &d.slab[0]
	d.slab = d.slab[1:]
	n.Kind, n.Line, n.Column = kind, d.line, d.column()+1
	return n
}

// column is the 0-based column of pos.
func (d *blockDecoder) column() int { return d.pos - d.lineStart }

// at returns the byte that is offset bytes after pos, a line feed beyond the end.
func (d *blockDecoder) at(offset int) byte {
	if d.pos+offset < len(d.data) {
		return d.data[d.pos+offset]
	}
	return '\n'
}

// endLine goes to the start of the next line, the current one ending length bytes after pos.
func (d *blockDecoder) endLine(length int) {
	d.pos += length + 1
	d.line++
	d.lineStart = d.pos
}

// indent returns the number of spaces at pos, the start of a line; -1 at the end of the data and on an empty line.
func (d *blockDecoder) indent() int {
	n := 0
	for d.at(n) == ' ' {
		n++
	}
	if d.at(n) == '\n' {
		return -1
	}
	return n
}

// isEntry tells whether a list's dash stands at the given offset.
func (d *blockDecoder) isEntry(offset int) bool { return d.at(offset) == '-' && d.at(offset+1) == ' ' }

// enter counts a level of nesting.
func (d *blockDecoder) enter() bool {
	d.depth++
	return d.depth < maxDepth
}

// next goes to the next entry of a block at the given column. It reports false at the block's end; ok is false for a line
// that fits nowhere.
func (d *blockDecoder) next(column int) (more, ok bool) {
	if d.pos == len(d.data) {
		return false, true
	}
	switch indent := d.indent(); {
	case indent < 0 || indent > column:
		return false, false
	case indent < column:
		return false, true
	}
	d.pos += column
	return true, true
}

// maxMembers is the largest mapping that is read here: keys are compared one by one.
const maxMembers = 256

// mapping reads the mapping whose first key stands at pos.
func (d *blockDecoder) mapping(column int) *Node {
	if !d.enter() {
		return nil
	}
	n := d.node(Map)
	first := len(d.open)
	for more := true; more; {
		f := Field{Line: d.line, Column: d.column() + 1}
		var ok bool
		if f.Key, ok = d.key(); !ok || d.isMember(first, f.Key) {
			return nil
		}
		if f.Value = d.member(column); f.Value == nil {
			return nil
		}
		d.open = append(d.open, f)
		if more, ok = d.next(column); !ok || len(d.open)-first > maxMembers {
			return nil
		}
	}
	d.depth--
	start := len(d.fieldSlab)
	d.fieldSlab = append(d.fieldSlab, d.open[first:]...)
	n.Fields = d.fieldSlab[start:len(d.fieldSlab):len(d.fieldSlab)]
	d.open = d.open[:first]
	return n
}

// isMember tells whether one of the open members from first on has the key.
func (d *blockDecoder) isMember(first int, key string) bool {
	for i := first; i < len(d.open); i++ {
		if d.open[i].Key == key {
			return true
		}
	}
	return false
}

// list reads the list whose first dash stands at pos.
func (d *blockDecoder) list(column int) *Node {
	if !d.enter() {
		return nil
	}
	n := d.node(List)
	n.Items = make([]*Node, 0, 4)
	for {
		d.pos += 2
		item := d.item(column)
		if item == nil {
			return nil
		}
		n.Items = append(n.Items, item)
		more, ok := d.next(column)
		if !ok {
			return nil
		}
		if !more || !d.isEntry(0) {
			// The list of a mapping's member may stand at the mapping's own column; its next key ends the list.
			if more {
				d.pos = d.lineStart
			}
			break
		}
	}
	d.depth--
	return n
}

// key reads a key and its colon.
func (d *blockDecoder) key() (string, bool) {
	length := d.keyLength()
	if length == 0 {
		return "", false
	}
	text := d.data[d.pos : d.pos+length]
	switch text[0] {
	case '\'', '"':
		line := d.line
		var ok bool
		if text, ok = d.quoted(); !ok || d.line != line || d.at(0) != ':' {
			return "", false
		}
	default:
		if text == "---" || resolvePlain(text) != tagString {
			return "", false
		}
		d.pos += length
	}
	d.pos++
	return text, true
}

// maxKey is the longest key that needs no "? " when it is read.
const maxKey = 1000

// keyLength returns the length of the key at pos, 0 when no simple key stands there.
func (d *blockDecoder) keyLength() int {
	rest := d.data[d.pos:min(d.pos+maxKey, len(d.data))]
	if c := rest[0]; c == '\'' || c == '"' {
		end := quoteEnd(rest, 0)
		if end+2 < len(rest) && rest[end+1] == ':' && (rest[end+2] == ' ' || rest[end+2] == '\n') &&
			!strings.Contains(rest[:end], "\n") {
			return end + 1
		}
		return 0
	}
	if !startsPlain(rest) || rest[0] == '?' || rest[0] == ':' {
		return 0
	}
	for i := 0; i+1 < len(rest); i++ {
		switch rest[i] {
		case '\n':
			return 0
		case '#':
			if i > 0 && rest[i-1] == ' ' {
				return 0
			}
		case ':':
			if rest[i+1] == ' ' || rest[i+1] == '\n' {
				if i > 0 && rest[i-1] == ' ' {
					return 0
				}
				return i
			}
		}
	}
	return 0
}

// member reads the value of a member of the mapping at the given column, pos being behind the colon.
func (d *blockDecoder) member(column int) *Node {
	if d.at(0) == ' ' {
		d.pos++
		return d.leaf(column)
	}
	d.endLine(0)
	indent := d.indent()
	if indent < 0 {
		return nil
	}
	switch {
	case indent == column && d.isEntry(indent):
		d.pos += indent
		return d.list(indent)
	case indent > column:
		d.pos += indent
		if d.isEntry(0) {
			return d.list(indent)
		}
		return d.mapping(indent)
	}
	return nil
}

// item reads an item of the list at the given column, pos being where the item starts.
func (d *blockDecoder) item(column int) *Node {
	if c := d.at(0); c == ' ' || c == '\n' {
		return nil
	}
	if d.isEntry(0) {
		return d.list(d.column())
	}
	if d.keyLength() > 0 {
		return d.mapping(d.column())
	}
	return d.leaf(column)
}
