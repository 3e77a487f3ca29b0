package document

import (
	"bytes"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// checkLexis refuses what the engine lets pass but YAML as chapter A describes it does not allow: tabs that separate or
// indent (within strings in quotes, block scalars and comments they are fine), and the escape \' in double quotes.
func checkLexis(file string, data []byte, roots []*yaml.Node) error {
	if bytes.IndexByte(data, '\t') < 0 && !bytes.Contains(data, []byte(`\'`)) {
		return nil
	}
	s := &lexisScan{data: data, lines: lineStarts(data), allowed: make([]bool, len(data)), badEscape: -1}
	for _, root := range roots {
		s.visit(root)
	}
	s.closeBlock(len(data))
	if s.badEscape >= 0 {
		return textError(file, data, s.badEscape, `\' is no escape in YAML`, `write ' without backslash in a string in double quotes`)
	}
	s.allowComments()
	for i, c := range data {
		if c == '\t' && !s.allowed[i] {
			return textError(file, data, i, "a tab cannot separate or indent in YAML", "use spaces")
		}
	}
	return nil
}

// lexisScan marks the bytes of a file in which tabs may stand.
type lexisScan struct {
	data    []byte
	lines   []int
	allowed []bool
	// blockStart is where the content of the last block scalar starts; it lasts until the next value. 0 means none.
	blockStart int
	// badEscape is the index of the first \', -1 when there is none.
	badEscape int
}

// visit marks the scalars of a tree in document order.
func (s *lexisScan) visit(y *yaml.Node) {
	start := offsetOf(s.data, s.lines, y.Line, y.Column)
	s.closeBlock(start)
	if y.Kind == yaml.ScalarNode {
		s.scalar(y.Style, start)
	}
	for _, c := range y.Content {
		s.visit(c)
	}
}

func (s *lexisScan) scalar(style yaml.Style, start int) {
	var opening string
	switch {
	case style&yaml.DoubleQuotedStyle != 0:
		opening = `"`
	case style&yaml.SingleQuotedStyle != 0:
		opening = `'`
	case style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		opening = `|>`
	default:
		return
	}
	// A tag or an anchor may stand before; neither holds a quote or block indicator at its start.
	for start < len(s.data) && (s.data[start] == '!' || s.data[start] == '&') {
		start += bytes.IndexAny(append(s.data[start:len(s.data):len(s.data)], ' '), " \t\r\n")
		for start < len(s.data) && bytes.IndexByte([]byte(" \t\r\n"), s.data[start]) >= 0 {
			start++
		}
	}
	if start >= len(s.data) || bytes.IndexByte([]byte(opening), s.data[start]) < 0 {
		return
	}
	if opening == `|>` {
		if end := bytes.IndexByte(s.data[start:], '\n'); end >= 0 {
			s.blockStart = start + end
		}
		return
	}
	end := quoteEnd(s.data, start)
	s.allow(start, end)
	for i := start; s.data[start] == '"' && i < end && s.badEscape < 0; i++ {
		if s.data[i] == '\\' {
			if i++; s.data[i] == '\'' {
				s.badEscape = i - 1
			}
		}
	}
}

// quoteEnd returns the index of the quote that closes the one at start.
func quoteEnd[T string | []byte](data T, start int) int {
	quote := data[start]
	for i := start + 1; i < len(data); i++ {
		switch {
		case data[i] == '\\' && quote == '"':
			i++
		case data[i] != quote:
		case quote == '\'' && i+1 < len(data) && data[i+1] == quote:
			i++
		default:
			return i
		}
	}
	return len(data)
}

func (s *lexisScan) closeBlock(end int) {
	if s.blockStart > 0 {
		s.allow(s.blockStart, end)
		s.blockStart = 0
	}
}

func (s *lexisScan) allow(from, to int) {
	for i := from; i < to; i++ {
		s.allowed[i] = true
	}
}

// allowComments marks from each "#" that starts a comment to the end of its line.
func (s *lexisScan) allowComments() {
	for i, c := range s.data {
		if c != '#' || s.allowed[i] || i > 0 && !s.allowed[i-1] && bytes.IndexByte([]byte(" \t\r\n"), s.data[i-1]) < 0 {
			continue
		}
		for j := i; j < len(s.data) && s.data[j] != '\n'; j++ {
			s.allowed[j] = true
		}
	}
}

// lineStarts returns the index at which each line starts, lines being what the engine counts: they end at LF, CR LF, CR,
// U+0085, U+2028 and U+2029.
func lineStarts(data []byte) []int {
	starts := []int{0}
	if bytes.HasPrefix(data, []byte("\ufeff")) {
		starts[0] = len("\ufeff") // a byte order mark takes no column
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		i += size
		if r == '\r' && i < len(data) && data[i] == '\n' {
			continue
		}
		switch r {
		case '\n', '\r', '\u0085', '\u2028', '\u2029':
			starts = append(starts, i)
		}
	}
	return starts
}

// offsetOf returns the byte index of a 1-based position.
func offsetOf(data []byte, starts []int, line, column int) int {
	if line < 1 || line > len(starts) {
		return len(data)
	}
	at := starts[line-1]
	for ; column > 1 && at < len(data); column-- {
		_, size := utf8.DecodeRune(data[at:])
		at += size
	}
	return at
}
