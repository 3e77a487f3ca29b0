package document

import "strings"

// leaf reads a scalar or an empty container up to the end of its line. The column is that of the key or dash before it:
// lines that are indented further continue a plain scalar.
func (d *blockDecoder) leaf(column int) *Node {
	switch c := d.at(0); c {
	case '{', '[':
		n := d.node(Map)
		if c == '[' {
			n.Kind = List
		}
		if d.at(1) != c+2 || d.at(2) != '\n' { // "]" and "}" come two places after their partners in ASCII
			return nil
		}
		d.endLine(2)
		return n
	case '\'', '"':
		n := d.node(String)
		var ok bool
		if n.Text, ok = d.quoted(); !ok || d.at(0) != '\n' {
			return nil
		}
		d.endLine(0)
		return n
	case ' ', '\n', '?', ':':
		return nil
	}
	return d.plain(column)
}

// plain reads a plain scalar with its continuation lines.
func (d *blockDecoder) plain(column int) *Node {
	if !startsPlain(d.data[d.pos:]) || d.at(0) == '-' && d.at(1) == '\n' {
		return nil
	}
	n := d.node(String)
	text, ok := d.plainLine()
	for ok && d.pos < len(d.data) {
		indent := d.indent()
		if indent < 0 {
			return nil
		}
		if indent <= column {
			break
		}
		d.pos += indent
		if d.at(0) == '#' {
			return nil
		}
		var more string
		more, ok = d.plainLine()
		text += " " + more
	}
	if !ok || !setPlain(n, text) {
		return nil
	}
	return n
}

// plainLine returns the rest of the line when it belongs to a plain scalar as a whole.
func (d *blockDecoder) plainLine() (string, bool) {
	length := strings.IndexByte(d.data[d.pos:], '\n')
	text := d.data[d.pos : d.pos+length]
	if text[length-1] == ' ' || text[length-1] == ':' || strings.Contains(text, ": ") || strings.Contains(text, " #") {
		return "", false
	}
	d.endLine(length)
	return text, true
}

// setPlain gives n the value of a plain scalar, unless that is a fault or deserves a warning.
func setPlain(n *Node, text string) bool {
	tag := resolvePlain(text)
	if yamlSurprise(text, tag) != "" {
		return false
	}
	ok := true
	switch tag {
	case tagString:
		n.Text = text
	case tagNull:
		n.Kind = Null
	case tagBool:
		n.Kind = Bool
		n.Bool, ok = yamlBool(text)
	case tagInt:
		n.Kind = Int
		n.Text, ok = yamlInt(text)
	case tagFloat:
		n.Kind = Float
		n.Float, ok = yamlFloat(text)
		ok = ok && isFinite(n.Float)
	default:
		return false
	}
	return ok
}
