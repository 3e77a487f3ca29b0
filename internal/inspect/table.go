package inspect

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// writeTable writes left-aligned columns, two spaces apart, without trailing spaces (chapter H, 3.1). Control
// characters, which free text such as a reason can hold, become spaces: a row is a line, and no document speaks to the
// terminal.
func writeTable(b *strings.Builder, head []string, rows [][]string) {
	widths := make([]int, len(head))
	for i, h := range head {
		widths[i] = utf8.RuneCountInString(h)
	}
	printable := func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}
	for _, row := range rows {
		for i, cell := range row {
			row[i] = strings.Map(printable, cell)
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, row := range append([][]string{head}, rows...) {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}
