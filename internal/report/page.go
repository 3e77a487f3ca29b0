package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A page is Markdown that has to fit a size. Its sections stand in reading order; what is left out when they do not all
// fit is decided part by part, by rank, and the page says what is missing.
type page struct {
	head     string // always kept
	where    string // where the left-out parts are; "" is the log
	sections []section
}

// A section is shown with the parts that fit, or not at all when none does.
type section struct {
	name        string // of one part, for the note: "row"
	open, close string
	parts       []part
}

// A part is the smallest piece that is kept or left out. Parts of a lower rank are placed first.
type part struct {
	text string
	rank int
}

const noteSize = 600 // room for the note about what is missing

// render returns the page in at most limit bytes.
func (p page) render(limit int) string {
	whole := p.keep(func(int, int) bool { return true })
	if len(whole) <= limit {
		return whole
	}
	kept := p.fit(limit - len(p.head) - noteSize)
	text := p.keep(func(s, i int) bool { return kept[[2]int{s, i}] }) + p.note(kept)
	if len(text) > limit {
		return strings.ToValidUTF8(text[:max(limit, 0)], "")
	}
	return text
}

// fit chooses parts by rank, then in reading order, while the budget lasts.
func (p page) fit(budget int) map[[2]int]bool {
	var order [][2]int
	for s := range p.sections {
		for i := range p.sections[s].parts {
			order = append(order, [2]int{s, i})
		}
	}
	slices.SortStableFunc(order, func(a, b [2]int) int {
		return cmp.Compare(p.sections[a[0]].parts[a[1]].rank, p.sections[b[0]].parts[b[1]].rank)
	})
	kept, opened := map[[2]int]bool{}, map[int]bool{}
	for _, at := range order {
		s := p.sections[at[0]]
		size := len(s.parts[at[1]].text)
		if !opened[at[0]] {
			size += len(s.open) + len(s.close)
		}
		if size > budget {
			continue
		}
		budget -= size
		kept[at], opened[at[0]] = true, true
	}
	return kept
}

func (p page) keep(keep func(section, part int) bool) string {
	var b strings.Builder
	b.WriteString(p.head)
	for s, section := range p.sections {
		opened := false
		for i, part := range section.parts {
			if !keep(s, i) {
				continue
			}
			if !opened {
				b.WriteString(section.open)
				opened = true
			}
			b.WriteString(part.text)
		}
		if opened {
			b.WriteString(section.close)
		}
	}
	return b.String()
}

// note says what is missing.
func (p page) note(kept map[[2]int]bool) string {
	var missing []string
	for s, section := range p.sections {
		n := 0
		for i := range section.parts {
			if !kept[[2]int{s, i}] {
				n++
			}
		}
		switch {
		case n == 1:
			missing = append(missing, "1 "+section.name)
		case n > 1:
			missing = append(missing, fmt.Sprintf("%d %ss", n, section.name))
		}
	}
	return "\n_Left out because this page is limited: " + strings.Join(missing, ", ") + ". " + cmp.Or(p.where, "The log has everything.") + "_\n"
}
