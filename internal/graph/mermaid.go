package graph

import (
	"fmt"
	"strings"
	"unicode"
)

// Mermaid draws the graph as a Mermaid flowchart, arrows from producer to consumer, which is the way that values go. It
// ends with a line break and has no code fence. Names stand only in quoted labels, with every character that could mean
// something to Mermaid, HTML or Markdown as a character code. GitHub draws up to 500 edges and 50,000 characters; the
// caller decides what to show for more.
func (g *Graph) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	ids := map[string]string{}
	for i, n := range g.Nodes() {
		ids[n] = fmt.Sprintf("n%d", i)
		fmt.Fprintf(&b, "  %s[\"%s\"]\n", ids[n], mermaidText(n))
	}
	for _, e := range g.Edges() {
		fmt.Fprintf(&b, "  %s --> %s\n", ids[e.Producer], ids[e.Consumer])
	}
	return b.String()
}

func mermaidText(s string) string {
	var b strings.Builder
	for _, c := range s {
		switch {
		case unicode.IsLetter(c), unicode.IsDigit(c), strings.ContainsRune("-_./: ", c):
			b.WriteRune(c)
		case unicode.IsPrint(c):
			fmt.Fprintf(&b, "#%d;", c)
		default:
			b.WriteRune(' ')
		}
	}
	return b.String()
}
