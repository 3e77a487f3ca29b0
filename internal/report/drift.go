package report

import (
	"cmp"
	"slices"
)

// DriftIssue renders a verify as the text of an issue: which Units differ from the world and how. It never exceeds the
// limit of a comment. For a run without drift it says that everything is as desired.
func DriftIssue(run Run, o CommentOptions) string {
	p := planPage{run: run, limit: cmp.Or(o.Limit, CommentLimit), fullText: o.FullText, site: newSite(o.ServerURL, o.Repository)}
	drifted := named(run.Units, Drifted)
	if len(drifted) == 0 {
		return "Every unit of " + codeSpan(run.Environment) + " is as its desired document says.\n"
	}
	results := slices.DeleteFunc(slices.Clone(run.Units), func(u UnitResult) bool { return u.Outcome != Drifted })
	slices.SortStableFunc(results, func(a, b UnitResult) int { return cmp.Compare(planRank(a), planRank(b)) })
	verb := " differ"
	if len(drifted) == 1 {
		verb = " differs"
	}
	head := units(len(drifted)) + " of " + codeSpan(run.Environment) + verb + " from the world. " +
		"A converge does not repair this by itself: reapply the unit, or change its source to what the world is now.\n" + p.losses(results)
	page := page{head: head, where: p.where(), sections: []section{p.table(results), p.details(results), p.refs()}}
	return page.render(p.limit)
}
