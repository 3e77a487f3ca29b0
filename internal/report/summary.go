package report

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"
)

// SummaryLimit is the size in bytes that a job summary keeps to. The runner refuses more than 1 MiB per step, and pages
// near that size were seen to vanish.
const SummaryLimit = 1_000_000

// SummaryOptions are what a summary needs besides the Run.
type SummaryOptions struct {
	// ServerURL and Repository ("owner/name") make links; without them there are none.
	ServerURL, Repository string
	// Graph is the Mermaid text of the Units' dependency graph, "" for none.
	Graph string
	// Limit is the greatest size in bytes, 0 for SummaryLimit.
	Limit int
}

// Sizes of the dependency graph, in Units, from which it is folded and left out: a large one is slow and unreadable.
const (
	foldedGraph = 30
	noGraph     = 150
	foldedUnits = 5 // more unchanged Units than this are folded
)

// The ranks: what is kept first when a page is too large.
const (
	rankFailed = iota
	rankDestroyed
	rankProblem
	rankAttention
	rankFailure
	rankWaiting
	rankRefs
	rankUnchanged
	rankPlan
	rankGraph
)

// Summary renders the run as the Markdown of a job summary: a headline, a table of the Units, what failed and why, what
// waits for what, plans, and the graph. Foreign text is escaped. It never exceeds the limit, and says what it leaves out;
// failures and destroys are kept first, and the name of a failed Unit always.
func Summary(run Run, o SummaryOptions) string {
	limit := cmp.Or(o.Limit, SummaryLimit)
	if run.Operation == "plan" {
		return planPage{run: run, limit: limit, site: newSite(o.ServerURL, o.Repository), mermaid: o.Graph}.render()
	}
	s := summary{run: run, site: newSite(o.ServerURL, o.Repository), limit: limit}
	p := page{head: s.headline(), sections: []section{
		s.table(), s.problems(), s.failures(), s.waiting(), s.plans(), s.unchanged(), s.graph(o.Graph), s.refs(), s.lineage(),
	}}
	if rows := s.failedRows(); rows > limit/2 {
		p.head += s.failedNames(limit / 2)
	}
	return p.render(limit)
}

type summary struct {
	run   Run
	site  site
	limit int
}

func (s summary) headline() string {
	head := "## " + inline(title(s.run.Operation)+" "+s.run.Environment) + "\n\n"
	if sentence, ok := NoOp(s.run); ok {
		return head + inline(sentence) + "\n"
	}
	return head + "**" + inline(s.run.Environment) + ": " + Tally(s.run) + "**\n"
}

const tableHead = "| Unit | State | What ran | Changes | Duration | Receipt |\n| --- | --- | --- | --- | --- | --- |\n"

// table lists the Units, those that need attention first; many unchanged ones are left to the folded table.
func (s summary) table() section {
	t := section{name: "row", open: "\n" + tableHead}
	results := slices.Clone(s.run.Units)
	slices.SortStableFunc(results, func(a, b UnitResult) int { return cmp.Compare(rowRank(a), rowRank(b)) })
	for _, u := range results {
		if u.Outcome != Unchanged || !s.foldsUnchanged() {
			t.parts = append(t.parts, part{s.row(u), rowRank(u)})
		}
	}
	return t
}

func (s summary) foldsUnchanged() bool { return len(named(s.run.Units, Unchanged)) > foldedUnits }

func rowRank(u UnitResult) int {
	switch {
	case u.Outcome == Failed:
		return rankFailed
	case u.Outcome == Destroyed || u.Changes.Destroy+u.Changes.Replace > 0:
		return rankDestroyed
	case u.Outcome == Unchanged:
		return rankUnchanged
	}
	return rankAttention
}

func (s summary) row(u UnitResult) string {
	const none = "–"
	state, ran, changes, duration, receipt := string(u.Outcome), none, none, none, none
	if u.Outcome == Failed || u.Outcome == Drifted {
		state = "**" + state + "**"
	}
	if u.Action != "" {
		ran, duration = strings.ToLower(string(u.Action)), Duration(u.Duration)
		if u.Outcome != Failed || u.Changes.Any() { // of a failure nobody knows what it changed
			changes = markedChanges(u)
		}
	}
	if address := s.site.blob(u.ReceiptRevision, u.Receipt); address != "" {
		receipt = link("receipt", address)
	} else if u.Receipt != "" {
		receipt = inline(u.Receipt)
	}
	return "| " + strings.Join([]string{inline(u.Unit), state, inline(ran), changes, duration, receipt}, " | ") + " |\n"
}

// markedChanges are a Unit's changes, with a mark when something is lost.
func markedChanges(u UnitResult) string {
	if u.Losses() > 0 {
		return "❗ " + u.Changes.String()
	}
	return u.Changes.String()
}

func (s summary) failedRows() int {
	n := 0
	for _, u := range s.run.Units {
		if u.Outcome == Failed {
			n += len(s.row(u))
		}
	}
	return n
}

// failedNames lists the failed Units in the shortest way.
func (s summary) failedNames(limit int) string {
	names := named(s.run.Units, Failed)
	var b strings.Builder
	for i, name := range names {
		name = inline(name) + "\n"
		if b.Len()+len(name) > limit {
			fmt.Fprintf(&b, "and %d more\n", len(names)-i)
			break
		}
		b.WriteString(name)
	}
	return "\nFailed:\n" + b.String()
}

func (s summary) problems() section {
	p := section{name: "problem", open: "\n### Problems\n\n"}
	for _, problem := range s.run.Problems {
		text := inline(shorten(problem.String(), 2000))
		p.parts = append(p.parts, part{"- **" + inline(string(problem.Severity)) + "** " + text + "\n", rankProblem})
	}
	return p
}

func (s summary) failures() section {
	f := section{name: "failure text", open: "\n### Failures\n\n"}
	share := s.share(2, Failed)
	for _, u := range s.run.Units {
		if u.Outcome != Failed {
			continue
		}
		text := inline(u.Unit) + ": " + inline(shorten(u.Reason, 500)) + "\n\n"
		if u.Reason == "" {
			text = inline(u.Unit) + ":\n\n"
		}
		if u.Err != "" {
			text += fenced(shorten(u.Err, share), "") + "\n"
		}
		f.parts = append(f.parts, part{text, rankFailure})
	}
	return f
}

func (s summary) waiting() section {
	w := section{name: "waiting reason", open: "\n### Waiting\n\n"}
	for _, u := range s.run.Units {
		if u.Outcome == Waiting || u.Outcome == Skipped {
			text := "- " + inline(u.Unit) + ": " + inline(shorten(cmp.Or(u.Reason, string(u.Outcome)), 500)) + "\n"
			w.parts = append(w.parts, part{text, rankWaiting})
		}
	}
	return w
}

func (s summary) plans() section {
	p := section{name: "plan", open: "\n### Plans\n\n"}
	share := s.share(4, Planned, Drifted)
	results := slices.Clone(s.run.Units)
	slices.SortStableFunc(results, func(a, b UnitResult) int { return cmp.Compare(rowRank(a), rowRank(b)) })
	for _, u := range results {
		if u.PlanText == "" || (u.Outcome != Planned && u.Outcome != Drifted) {
			continue
		}
		head := "<code>" + html.EscapeString(plain(u.Unit)) + "</code>: " + markedChanges(u)
		body := planPage{}.block(planDiff(u.PlanText), "diff", share)
		p.parts = append(p.parts, part{folded(head, body), rankPlan})
	}
	return p
}

// share is the room of one text when all Units with these outcomes have one and may take the limit's nth part.
func (s summary) share(nth int, outcomes ...Outcome) int {
	n := max(1, len(named(s.run.Units, outcomes...)))
	return min(60_000, max(1000, s.limit/nth/n))
}

func (s summary) unchanged() section {
	if !s.foldsUnchanged() {
		return section{}
	}
	u := section{
		name:  "unchanged row",
		open:  fmt.Sprintf("\n<details><summary>%d unchanged</summary>\n\n%s", len(named(s.run.Units, Unchanged)), tableHead),
		close: "\n</details>\n",
	}
	for _, r := range s.run.Units {
		if r.Outcome == Unchanged {
			u.parts = append(u.parts, part{s.row(r), rankUnchanged})
		}
	}
	return u
}

func (s summary) graph(mermaid string) section {
	g := section{name: "graph"}
	nodes := len(s.run.Units)
	if mermaid == "" || nodes == 0 {
		return g
	}
	text := fmt.Sprintf("\n_The graph of %d units is too large to draw._\n", nodes)
	switch diagram := fenced(mermaid, "mermaid"); {
	case nodes <= foldedGraph:
		text = "\n### Order\n\n" + diagram
	case nodes <= noGraph:
		text = "\n" + folded(fmt.Sprintf("Order of %d units", nodes), diagram)
	}
	g.parts = []part{{text, rankGraph}}
	return g
}

// refs tells which commits the run read and made.
func (s summary) refs() section {
	r := section{name: "ref"}
	add := func(plane, ref, before, after string) {
		if ref == "" || after == "" {
			return
		}
		text := "\n" + plane + ": " + inline(ref) + " at " + s.revision(after)
		if before != "" && before != after {
			text += ", was " + s.revision(before)
		}
		r.parts = append(r.parts, part{text + "\n", rankRefs})
	}
	add("Desired", s.run.DesiredRef, s.run.DesiredBefore, s.run.DesiredRevision)
	add("Observed", s.run.ObservedRef, s.run.ObservedBefore, s.run.ObservedRevision)
	return r
}

func (s summary) revision(rev string) string {
	if strings.HasPrefix(rev, "dry:") {
		return inline(Abbreviate(rev))
	}
	return link(inline(Abbreviate(rev)), s.site.commit(rev))
}
