package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// CommentLimit is the size that a forge accepts of a comment, in characters that it counts as UTF-16 code units. A text of
// at most this many bytes of UTF-8 never has more.
const CommentLimit = 65_536

// CommentOptions are what the page of a plan needs besides the Run.
type CommentOptions struct {
	// ServerURL and Repository ("owner/name") make links; without them there are none.
	ServerURL, Repository string
	// Untrusted says on the page that a stranger's code made the plan.
	Untrusted bool
	// FullText is the address of a page with the whole plan, "" for none.
	FullText string
	// Limit is the greatest size in bytes, 0 for CommentLimit.
	Limit int
}

// Comment renders a plan as the Markdown of a pull-request comment: a headline, a table of the Units, and for each changed
// Unit its folded plan. What destroys or replaces comes first and is marked, what stays as it is is folded into one line.
// Foreign text can neither break out of its place nor notify anybody. The text never exceeds the limit; what is left out
// is said, and the headline always tells how much is destroyed.
func Comment(run Run, o CommentOptions) string {
	return planPage{run: run, limit: cmp.Or(o.Limit, CommentLimit), fullText: o.FullText, site: newSite(o.ServerURL, o.Repository), untrusted: o.Untrusted}.render()
}

// PlanHeadline is the plan of an environment in one line of Markdown.
func PlanHeadline(run Run) string {
	if run.Result == RunFailed && len(run.Units) == 0 {
		return "❌ **" + codeSpan(shorten(run.Environment, 100)) + ": the plan failed**"
	}
	mark := ""
	if CountPlan(run).Failed > 0 {
		mark = "❌ "
	}
	if CountPlan(run).Destructive() {
		mark += "⚠️ "
	}
	return mark + "**" + codeSpan(shorten(run.Environment, 100)) + ": " + CountPlan(run).String() + "**"
}

// planPage renders a plan for the comment and for the job summary alike.
type planPage struct {
	run      Run
	limit    int
	fullText string
	site     site
	mermaid  string // the dependency graph, "" for none
	// untrusted plans were made by code of another repository.
	untrusted bool
}

func (p planPage) render() string {
	results := slices.Clone(p.run.Units)
	slices.SortStableFunc(results, func(a, b UnitResult) int { return cmp.Compare(planRank(a), planRank(b)) })
	head := "### " + title(p.run.Operation) + " " + codeSpan(shorten(p.run.Environment, 100)) + "\n\n" + PlanHeadline(p.run) + "\n"
	if p.untrusted {
		head += "\n_Made by a run of another repository's code, which may have written anything here._\n"
	}
	page := page{
		head:     head + p.losses(results),
		where:    p.where(),
		sections: []section{p.table(results), p.problems(), p.details(results), p.unchanged(results), summary{run: p.run}.graph(p.mermaid), p.refs()},
	}
	return page.render(p.limit)
}

// where says where the left-out parts are.
func (p planPage) where() string {
	if p.fullText != "" {
		return "The [full plan](" + p.fullText + ") has everything."
	}
	return "The job's log has everything."
}

// losses names every Unit that loses something, as far as a tenth of the page goes, and says how many more there are. It
// is part of the head, which is always kept: no table row that is cut can hide it.
func (p planPage) losses(results []UnitResult) string {
	var b strings.Builder
	left := 0
	for _, u := range results {
		if !u.loses() {
			continue
		}
		text := "> - " + codeSpan(shorten(u.Unit, 200)) + ": " + lossesOf(u) + "\n"
		if left > 0 || b.Len()+len(text) > p.limit/10 {
			left++
			continue
		}
		b.WriteString(text)
	}
	if b.Len()+left == 0 {
		return ""
	}
	if left > 0 {
		fmt.Fprintf(&b, "> - and %s more\n", units(left))
	}
	return "\n> [!CAUTION]\n> Resources are destroyed or replaced in:\n" + b.String()
}

// lossesOf words what one Unit loses.
func lossesOf(u UnitResult) string {
	if u.Teardown() {
		return "everything, the unit is deleted"
	}
	var parts []string
	if n := u.Changes.Destroy; n > 0 {
		parts = append(parts, fmt.Sprintf("%d to destroy", n))
	}
	if n := u.Changes.Replace; n > 0 {
		parts = append(parts, fmt.Sprintf("%d to replace", n))
	}
	return strings.Join(parts, ", ")
}

// planRank orders Units for readers: what failed, what loses something, what changes, what waits.
func planRank(u UnitResult) int {
	switch {
	case u.Outcome == Failed || u.Outcome == Skipped:
		return rankFailed
	case u.loses():
		return rankDestroyed
	case u.Outcome == Planned || u.Outcome == Drifted:
		return rankAttention
	case u.Outcome == Waiting:
		return rankWaiting
	}
	return rankUnchanged
}

func (p planPage) table(results []UnitResult) section {
	t := section{name: "row", open: "\n| Unit | Plan | Changes | Why |\n| --- | --- | --- | --- |\n"}
	for _, u := range results {
		if planRank(u) != rankUnchanged {
			t.parts = append(t.parts, part{planRow(u), planRank(u)})
		}
	}
	return t
}

func planRow(u UnitResult) string {
	changes, certainty := u.Changes.String(), ""
	if u.Foresight != nil {
		certainty = string(u.Foresight.Certainty)
	}
	switch {
	case u.Outcome == Failed, u.Outcome == Skipped:
		certainty, changes = "**"+string(u.Outcome)+"**", "–"
	case u.Teardown():
		certainty, changes = "deletion", "❗ everything to destroy"
	case u.Outcome == Waiting && certainty != string(Deferred):
		certainty, changes = "waits", "–"
	case u.Outcome == Waiting || certainty == string(DocumentOnly):
		changes = "–"
	case u.loses():
		changes = "❗ " + changes
	}
	why := cmp.Or(u.Reason, u.Err)
	if u.Outcome == Failed {
		why = u.Err
	}
	cells := []string{cellCode(shorten(u.Unit, 300)), certainty, changes, cellCode(shorten(firstLine(why), 300))}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

func (p planPage) problems() section {
	s := section{name: "problem", open: "\n#### Problems\n\n"}
	for _, problem := range p.run.Problems {
		s.parts = append(s.parts, part{"- **" + string(problem.Severity) + "** " + codeSpan(shorten(problem.String(), 2000)) + "\n", rankProblem})
	}
	return s
}

// unchanged names the Units that stay as they are in one folded line.
func (p planPage) unchanged(results []UnitResult) section {
	var names []string
	for _, u := range results {
		if planRank(u) == rankUnchanged {
			names = append(names, codeSpan(shorten(u.Unit, 300)))
		}
	}
	if len(names) == 0 {
		return section{}
	}
	head := fmt.Sprintf("%s unchanged", units(len(names)))
	s := section{name: "unchanged unit", open: "\n<details><summary>" + head + "</summary>\n\n", close: "\n</details>\n"}
	for _, name := range names {
		s.parts = append(s.parts, part{"- " + name + "\n", rankUnchanged})
	}
	return s
}

// refs tells in one line what the plan was made from.
func (p planPage) refs() section {
	var texts []string
	add := func(plane, ref, rev string) {
		if rev == "" {
			return
		}
		text := plane
		if ref != "" {
			text += " " + codeSpan(ref)
		}
		texts = append(texts, text+" at "+link(codeSpan(Abbreviate(rev)), p.site.commit(rev)))
	}
	add("Source", "", p.run.SourceRevision)
	add("Desired", p.run.DesiredRef, p.run.DesiredRevision)
	add("Observed", p.run.ObservedRef, p.run.ObservedRevision)
	if len(texts) == 0 {
		return section{}
	}
	return section{name: "revision line", parts: []part{{"\n<sub>" + strings.Join(texts, " · ") + "</sub>\n", rankRefs}}}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
