package report

import (
	"fmt"
	"html"
	"strings"
)

// details are the Units one by one, folded.
func (p planPage) details(results []UnitResult) section {
	d := section{name: "plan", open: "\n"}
	var detailed int
	for _, u := range results {
		if planRank(u) != rankUnchanged {
			detailed++
		}
	}
	share := max(1500, p.limit*3/5/max(1, detailed))
	for _, u := range results {
		if body := p.body(u, share); planRank(u) != rankUnchanged && body != "\n" {
			head := "<code>" + html.EscapeString(plain(shorten(u.Unit, 300))) + "</code>: " + detailTitle(u)
			d.parts = append(d.parts, part{folded(head, body), detailRank(u)})
		}
	}
	return d
}

// detailRank places the details of what failed or loses something before the rows of other Units, and all other details
// behind every row.
func detailRank(u UnitResult) int {
	if rank := planRank(u); rank <= rankDestroyed {
		return rank
	}
	return rankPlan
}

func detailTitle(u UnitResult) string {
	switch {
	case u.Outcome == Failed:
		return "failed"
	case u.Teardown():
		return "❗ deletion"
	case u.Foresight != nil && u.Foresight.Certainty == Deferred:
		return "deferred"
	case u.Outcome == Waiting:
		return "waits"
	case u.loses():
		return "❗ " + u.Changes.String()
	}
	return u.Changes.String()
}

// body is what there is to say of one Unit, in about share bytes.
func (p planPage) body(u UnitResult, share int) string {
	var b strings.Builder
	if u.Err != "" {
		b.WriteString(p.block(u.Err, "", share/2) + "\n")
	}
	b.WriteString(lostResources(u, share/4))
	document := ""
	if f := u.Foresight; f != nil {
		b.WriteString(foreseen(f, share/8))
		if f.Diff != "" {
			document = "Desired document:\n\n" + p.block(f.Diff, "diff", share/4)
		}
	}
	if u.PlanText != "" && (u.Changes.Any() || u.Outcome != Planned) {
		b.WriteString("Plan:\n\n" + p.planBlock(u, max(500, share-b.Len()-len(document)-100)) + "\n")
	}
	return strings.TrimRight(b.String()+document, "\n") + "\n"
}

// planBlock shows a Unit's plan. When it has to be shortened, what destroys or replaces is moved to its beginning.
func (p planPage) planBlock(u UnitResult, limit int) string {
	text := planDiff(u.PlanText)
	if len(text) > limit && u.Losses() > 0 {
		text = lossesFirst(text)
	}
	return p.block(text, "diff", limit)
}

// block shows foreign text in at most about limit bytes, and says below it when that is not all.
func (p planPage) block(text, language string, limit int) string {
	shown := shortenLines(text, limit)
	block := fenced(shown, language)
	if len(shown) < len(text) {
		block += fmt.Sprintf("\n_This is shortened from %d KB. %s_\n", max(1, len(text)/1000), p.where())
	}
	return block
}

// lostResources lists the resources that a Unit destroys or replaces before its plan, and says how many it leaves out.
func lostResources(u UnitResult, limit int) string {
	if u.Losses() == 0 {
		return ""
	}
	var b strings.Builder
	shown := 0
	for _, r := range u.Changes.Resources {
		if r.Action != "destroy" && r.Action != "replace" {
			continue
		}
		text := "- ❗ " + r.Action + " " + codeSpan(shorten(r.Address, 300)) + "\n"
		if b.Len()+len(text) > limit {
			break
		}
		b.WriteString(text)
		shown++
	}
	if rest := u.Losses() - shown; rest > 0 {
		fmt.Fprintf(&b, "- ❗ %d more to destroy or replace\n", rest)
	}
	return b.String() + "\n"
}

// foreseen says what a plan is based on: awaited values and fallbacks.
func foreseen(f *Foresight, limit int) string {
	var lines []string
	for _, a := range f.Awaited {
		lines = append(lines, "- waits on "+codeSpan(shorten(a.Value, 300))+" for "+codeSpan(shorten(a.At, 300))+": "+codeSpan(shorten(a.Cause, 300))+"\n")
	}
	for _, b := range f.Fallbacks {
		lines = append(lines, "- "+codeSpan(shorten(b.At, 300))+" is a **fallback** for "+codeSpan(shorten(b.Reference, 300))+"; the real value may differ\n")
	}
	var b strings.Builder
	for i, line := range lines {
		if b.Len()+len(line) > limit && i > 0 {
			fmt.Fprintf(&b, "- and %d more\n", len(lines)-i)
			break
		}
		b.WriteString(line)
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	return b.String()
}
