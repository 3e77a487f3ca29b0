package report

import (
	"strings"
	"unicode"
)

// PlainLines splits foreign text into lines that only show characters: no terminal escape sequences, no control or
// invisible format characters (tabs stay), no invalid UTF-8. A carriage return ends a line as a line feed does, because
// the Actions runner reads it so; empty lines that only a carriage return made are dropped.
func PlainLines(text string) []string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.Contains(line, "\r") {
			lines = append(lines, plain(line))
			continue
		}
		before := len(lines)
		for piece := range strings.SplitSeq(line, "\r") {
			if piece != "" {
				lines = append(lines, plain(piece))
			}
		}
		if len(lines) == before {
			lines = append(lines, "")
		}
	}
	return lines
}

// plain removes from one line what PlainLines promises.
func plain(line string) string {
	line = withoutEscapes(line)
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || (r >= ' ' && r <= '~'):
			return r
		case r == '\v' || r == '\f' || r == '\u0085' || unicode.In(r, unicode.Zl, unicode.Zp):
			return ' '
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
			return -1
		}
		return r
	}, line)
}

// withoutEscapes removes the escape sequences of ECMA-48: CSI, the string sequences (OSC, DCS, ...) and the short ones.
func withoutEscapes(line string) string {
	if !strings.Contains(line, "\x1b") {
		return line
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(line, "\x1b")
		b.WriteString(before)
		if !found || after == "" {
			return b.String()
		}
		switch after[0] {
		case '[':
			line = afterControlSequence(after[1:])
		case ']', 'P', 'X', '^', '_':
			line = afterControlString(after[1:])
		default:
			if line = strings.TrimLeft(after, " !\"#$%&'()*+,-./"); line != "" && line[0] >= 0x30 && line[0] <= 0x7e {
				line = line[1:]
			}
		}
	}
}

// afterControlSequence skips parameter and intermediate bytes and the final byte.
func afterControlSequence(s string) string {
	i := 0
	for i < len(s) && s[i] >= 0x20 && s[i] <= 0x3f {
		i++
	}
	if i < len(s) && s[i] >= 0x40 && s[i] <= 0x7e {
		i++
	}
	return s[i:]
}

// afterControlString skips to the end of a string sequence: BEL, or ESC and a backslash. An open one ends with the line.
func afterControlString(s string) string {
	i := strings.IndexAny(s, "\a\x1b")
	if i < 0 {
		return ""
	}
	if s[i] == '\a' {
		return s[i+1:]
	}
	return strings.TrimPrefix(s[i+1:], "\\")
}
