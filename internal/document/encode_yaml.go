package document

// schemaKey is the member that the YAML form turns into a comment for editors.
const schemaKey = "$schema"

// schemaDirective starts the first line of a written YAML document that has a $schema.
const schemaDirective = "# yaml-language-server: $schema="

// EncodeYAML writes n in the YAML form of chapter A 3 and 4, with one trailing line feed. Keys keep their order; a $schema
// that is a string becomes the directive comment of the first line, raw: use Encode for documents that are to be stored,
// which refuses a $schema that would break out of the comment.
func EncodeYAML(n *Node) []byte {
	if n == nil || n.Kind != Map {
		return InspectionYAML(n)
	}
	schema := n.Get(schemaKey)
	if schema == nil || schema.Kind != String {
		return InspectionYAML(n)
	}
	e := yamlEncoder{out: make([]byte, 0, 1024)}
	e.write(schemaDirective)
	e.write(schema.Text)
	e.write("\n")
	e.root(n.Without(schemaKey))
	return e.out
}

// InspectionYAML writes n for people (chapter H 5.1): as EncodeYAML, but $schema is an ordinary key.
func InspectionYAML(n *Node) []byte {
	e := yamlEncoder{out: make([]byte, 0, 1024)}
	e.root(n)
	return e.out
}

// yamlEncoder writes block-style YAML byte for byte as chapter A 4 says. Everything that it writes is ASCII, so columns
// are byte counts.
type yamlEncoder struct {
	out []byte
	// lineStart is the index in out of the current line's first byte.
	lineStart int
}

func (e *yamlEncoder) write(s string) { e.out = append(e.out, s...) }

func (e *yamlEncoder) column() int { return len(e.out) - e.lineStart }

// newline ends the line and indents the next one.
func (e *yamlEncoder) newline(indent int) {
	e.out = append(e.out, '\n')
	e.lineStart = len(e.out)
	for range indent {
		e.out = append(e.out, ' ')
	}
}

func (e *yamlEncoder) root(n *Node) {
	e.lineStart = len(e.out)
	if isBlock(n) {
		e.block(n, 0)
	} else {
		e.leaf(n, 2)
	}
	e.out = append(e.out, '\n')
}

// isBlock tells whether n is written over several lines: a mapping or list that is not empty.
func isBlock(n *Node) bool {
	return n != nil && (n.Kind == Map && len(n.Fields) > 0 || n.Kind == List && len(n.Items) > 0)
}

// block writes a non-empty mapping or list at the given column, where the current line already stands.
func (e *yamlEncoder) block(n *Node, column int) {
	if n.Kind == List {
		for i, item := range n.Items {
			if i > 0 {
				e.newline(column)
			}
			e.write("- ")
			e.sameLine(item, column+2)
		}
		return
	}
	for i, f := range n.Fields {
		if i > 0 {
			e.newline(column)
		}
		if !isSimpleKey(f.Key) {
			e.write("? ")
			e.text(f.Key, column+2, true)
			e.newline(column)
			e.write(": ")
			e.sameLine(f.Value, column+2)
			continue
		}
		e.text(f.Key, column+2, false)
		e.write(":")
		switch {
		case !isBlock(f.Value):
			e.write(" ")
			e.leaf(f.Value, column+2)
		case f.Value.Kind == List:
			e.newline(column)
			e.block(f.Value, column)
		default:
			e.newline(column + 2)
			e.block(f.Value, column+2)
		}
	}
}

// sameLine writes a value that starts on the current line, at the given column.
func (e *yamlEncoder) sameLine(n *Node, column int) {
	if isBlock(n) {
		e.block(n, column)
	} else {
		e.leaf(n, column)
	}
}

// leaf writes a scalar or an empty container; the lines of a folded string continue at the column indent.
func (e *yamlEncoder) leaf(n *Node, indent int) {
	if n == nil {
		e.write("null")
		return
	}
	switch n.Kind {
	case Null:
		e.write("null")
	case Bool:
		e.out = appendBool(e.out, n.Bool)
	case Int:
		e.write(n.Text)
	case Float:
		e.out = appendYAMLFloat(e.out, n.Float)
	case String:
		e.text(n.Text, indent, true)
	case List:
		e.write("[]")
	case Map:
		e.write("{}")
	}
}

// maxSimpleKey is the longest key, in code points, that is written without "? ".
const maxSimpleKey = 122

func isSimpleKey(key string) bool {
	if key == "" {
		return false
	}
	count := 0
	for _, r := range key {
		count++
		if count > maxSimpleKey || r == '\n' || r == '\u0085' || r == '\u2028' || r == '\u2029' {
			return false
		}
	}
	return true
}
