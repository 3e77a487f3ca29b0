package document

import (
	"strings"
	"unicode/utf8"
)

// foldWidth is the column beyond which a scalar is folded at the next chance.
const foldWidth = 80

// textStyle is how a string is written in YAML.
type textStyle uint8

const (
	plainStyle textStyle = iota
	singleStyle
	doubleStyle
)

// text writes a string in the style that chapter A 4 chooses; continuation lines start at the column indent. Without fold
// (in a simple key) it stays on one line.
func (e *yamlEncoder) text(s string, indent int, fold bool) {
	switch styleOf(s) {
	case plainStyle:
		e.folded(s, indent, fold)
	case singleStyle:
		e.write("'")
		e.folded(strings.ReplaceAll(s, "'", "''"), indent, fold)
		e.write("'")
	case doubleStyle:
		e.escaped(s, indent, fold)
	}
}

// styleOf chooses the style of a string.
func styleOf(s string) textStyle {
	plain := s != "" && s[0] != ' ' && s[len(s)-1] != ' '
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\n':
			if i > 0 && s[i-1] == ' ' || i+1 < len(s) && s[i+1] == ' ' {
				return doubleStyle
			}
			plain = false
		case c < 0x20 || c > 0x7e:
			return doubleStyle
		case c == ':' && i > 0 && (i+1 == len(s) || s[i+1] == ' '):
			plain = false
		case c == '#' && i > 0 && s[i-1] == ' ':
			plain = false
		}
	}
	if plain && startsPlain(s) && resolvePlain(s) == tagString {
		return plainStyle
	}
	return singleStyle
}

// startsPlain tells whether the beginning of a non-empty string allows the plain style.
func startsPlain(s string) bool {
	switch s[0] {
	case '#', ',', '[', ']', '{', '}', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`':
		return false
	case '?', ':':
		return len(s) > 1 && s[1] != ' '
	case '-':
		return len(s) > 1 && s[1] != ' ' && !strings.HasPrefix(s, "---")
	case '.':
		return !strings.HasPrefix(s, "...")
	}
	return true
}

// folded writes the content of a plain or single-quoted scalar. A single space may become a line break, a run of line
// feeds becomes one line break more than it has.
func (e *yamlEncoder) folded(s string, indent int, fold bool) {
	for i := 0; i < len(s); {
		end := i + 1
		switch s[i] {
		case ' ':
			for end < len(s) && s[end] == ' ' {
				end++
			}
			if fold && end == i+1 && i > 0 && end < len(s) && e.column() > foldWidth {
				e.newline(indent)
			} else {
				e.write(s[i:end])
			}
		case '\n':
			for end < len(s) && s[end] == '\n' {
				end++
			}
			for range end - i {
				e.newline(0)
			}
			e.newline(indent)
		default:
			for end < len(s) && s[end] != ' ' && s[end] != '\n' {
				end++
			}
			e.write(s[i:end])
		}
		i = end
	}
}

// escaped writes a double-quoted scalar. Literal characters wait in a pending run (s[start:i]) since the place of a fold is
// decided by the column that they will reach.
func (e *yamlEncoder) escaped(s string, indent int, fold bool) {
	e.write(`"`)
	start := 0
	last := utf8.RuneCountInString(s) - 1
	index := 0
	for i := 0; i < len(s); index++ {
		r, size := utf8.DecodeRuneInString(s[i:])
		literal := r >= 0x20 && r <= 0x7e && r != '"' && r != '\\'
		if !literal {
			e.write(s[start:i])
			e.out = appendYAMLEscape(e.out, r)
			i += size
			start = i
		}
		width := e.column() + i - start
		if !literal {
			width--
		}
		if fold && 0 < index && index < last && (r == ' ' || i == start) && width > foldWidth {
			e.write(s[start:i])
			start = i
			e.write(`\`)
			e.newline(indent)
			if i < len(s) && s[i] == ' ' {
				e.write(`\`)
			}
		}
		if literal {
			i += size
		}
	}
	e.write(s[start:])
	e.write(`"`)
}

const upperHex = "0123456789ABCDEF"

func appendYAMLEscape(b []byte, r rune) []byte {
	if short := yamlShortEscape(r); short != 0 {
		return append(b, '\\', short)
	}
	switch {
	case r <= 0xff:
		return append(b, '\\', 'x', upperHex[r>>4], upperHex[r&15])
	case r <= 0xffff:
		return append(b, '\\', 'u', upperHex[r>>12], upperHex[r>>8&15], upperHex[r>>4&15], upperHex[r&15])
	}
	b = append(b, '\\', 'U')
	for shift := 28; shift >= 0; shift -= 4 {
		b = append(b, upperHex[r>>shift&15])
	}
	return b
}

// yamlShortEscape returns the letter of a one-letter escape, 0 when r has none.
func yamlShortEscape(r rune) byte {
	switch r {
	case 0:
		return '0'
	case '\a':
		return 'a'
	case '\b':
		return 'b'
	case '\t':
		return 't'
	case '\n':
		return 'n'
	case '\v':
		return 'v'
	case '\f':
		return 'f'
	case '\r':
		return 'r'
	case 0x1b:
		return 'e'
	case '"', '\\':
		return byte(r)
	case 0x85:
		return 'N'
	case 0xa0:
		return '_'
	case 0x2028:
		return 'L'
	case 0x2029:
		return 'P'
	}
	return 0
}
