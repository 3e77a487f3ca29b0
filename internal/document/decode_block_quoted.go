package document

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// quoted reads a string in single or double quotes, with its continuation lines, and stops behind the closing quote.
func (d *blockDecoder) quoted() (string, bool) {
	quote := d.data[d.pos]
	special := `'` + "\n"
	if quote == '"' {
		special = `"\` + "\n"
	}
	d.pos++
	var text []byte
	for d.pos < len(d.data) {
		length := strings.IndexAny(d.data[d.pos:], special)
		if length < 0 {
			return "", false
		}
		run := d.data[d.pos : d.pos+length]
		d.pos += length
		switch {
		case d.data[d.pos] == '\n':
			var ok bool
			if text, ok = d.fold(append(text, strings.TrimRight(run, " ")...)); !ok {
				return "", false
			}
		case d.data[d.pos] == '\\':
			var ok bool
			if text, ok = d.escape(append(text, run...)); !ok {
				return "", false
			}
		case quote == '\'' && d.at(1) == '\'':
			text = append(append(text, run...), '\'')
			d.pos += 2
		default:
			d.pos++
			if text == nil {
				return run, true
			}
			return string(append(text, run...)), true
		}
	}
	return "", false
}

// fold reads the line breaks at pos and the indentation of the line that follows: one break is a space, further ones are
// line feeds.
func (d *blockDecoder) fold(text []byte) ([]byte, bool) {
	breaks := 0
	for d.pos < len(d.data) && d.data[d.pos] == '\n' {
		breaks++
		d.endLine(0)
		d.skipSpaces()
	}
	if breaks == 1 {
		text = append(text, ' ')
	}
	for range breaks - 1 {
		text = append(text, '\n')
	}
	return text, !d.isDocumentMarker()
}

func (d *blockDecoder) skipSpaces() {
	for d.pos < len(d.data) && d.data[d.pos] == ' ' {
		d.pos++
	}
}

// isDocumentMarker tells whether the line starts with "---" or "...", which end a document even within quotes.
func (d *blockDecoder) isDocumentMarker() bool {
	rest := d.data[d.pos:]
	return d.column() == 0 && (strings.HasPrefix(rest, "---") || strings.HasPrefix(rest, "..."))
}

// escape reads the escape sequence at pos.
func (d *blockDecoder) escape(text []byte) ([]byte, bool) {
	c := d.at(1)
	if c == '\n' {
		d.pos++
		d.endLine(0)
		d.skipSpaces()
		return text, d.at(0) != '\n' && !d.isDocumentMarker()
	}
	digits := 0
	switch c {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	}
	d.pos += 2
	if digits == 0 {
		r, ok := oneLetterEscape(c)
		return utf8.AppendRune(text, r), ok
	}
	if d.pos+digits > len(d.data) {
		return nil, false
	}
	value, err := strconv.ParseUint(d.data[d.pos:d.pos+digits], 16, 32)
	if err != nil || value > utf8.MaxRune || !utf8.ValidRune(rune(value)) {
		return nil, false
	}
	d.pos += digits
	return utf8.AppendRune(text, rune(value)), true
}

// oneLetterEscape returns what a one-letter escape of a string in double quotes stands for.
func oneLetterEscape(c byte) (rune, bool) {
	const letters = `0abtnvfre "\/N_LP`
	i := strings.IndexByte(letters, c)
	if i < 0 {
		return 0, false
	}
	return [...]rune{
		0, '\a', '\b', '\t', '\n', '\v', '\f', '\r', 0x1b, ' ', '"', '\\', '/', 0x85, 0xa0, 0x2028, 0x2029,
	}[i], true
}
