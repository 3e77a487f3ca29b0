package report

import (
	"fmt"
	"html"
	"strings"
)

// A Proposal is what a person needs to know to review a candidate: what it is made of, what it changes, what comes next.
type Proposal struct {
	// Lead is the first paragraph; plain text.
	Lead string
	// Facts are the revisions that the candidate was made from, in order.
	Facts []Fact
	Units []ProposedUnit
	// Next says what a merge brings about; plain text.
	Next string
}

// A Fact is a name and a value, for example a revision.
type Fact struct{ Name, Value string }

// A ProposedUnit is a Unit whose desired document a candidate changes, or one that waits.
type ProposedUnit struct {
	Unit string
	// Change is what happens to the document: "added", "changed", "removed", "marked for deletion", "waits".
	Change string
	Reason string
	// Diff compares the accepted document with the proposed one; "" when there is none.
	Diff string
}

// proposalLimit is the size in bytes that a pull request's text keeps to; GitHub refuses 65,536 characters and more.
const proposalLimit = 60_000

// ProposalBody renders a proposal as the text of a pull request. Diffs that do not fit are left out, and the text says so.
func ProposalBody(p Proposal) string {
	var head strings.Builder
	head.WriteString(inline(p.Lead) + "\n\n")
	for _, f := range p.Facts {
		fmt.Fprintf(&head, "- %s: `%s`\n", inline(f.Name), strings.ReplaceAll(plain(f.Value), "`", "'"))
	}
	rows := section{name: "unit", open: "\n### What changes\n\n| Unit | Change | Why |\n| --- | --- | --- |\n"}
	diffs := section{name: "diff", open: "\n"}
	for _, u := range p.Units {
		rows.parts = append(rows.parts, part{fmt.Sprintf("| %s | %s | %s |\n", inline(u.Unit), inline(u.Change), inline(shorten(u.Reason, 300))), rankAttention})
		if u.Diff != "" {
			summary := html.EscapeString(plain(u.Unit))
			diffs.parts = append(diffs.parts, part{folded(summary, fenced(shorten(u.Diff, 16_000), "diff")), rankPlan})
		}
	}
	if len(p.Units) == 0 {
		head.WriteString("\nNo Unit changes; only what is recorded beside the Units does.\n")
	}
	next := section{name: "remark"}
	if p.Next != "" {
		next.parts = []part{{"\n" + inline(p.Next) + "\n", rankFailed}}
	}
	return page{head: head.String(), sections: []section{rows, diffs, next}, where: "The commit has everything."}.render(proposalLimit)
}

// A PromotionRecord is what a job summary says of a promotion (chapter F, 8.4).
type PromotionRecord struct {
	From, To                                     string
	SourceDesired, SourceObserved, Specification string
	CandidateRef, CandidateRevision              string // "" without a gate
	PublishedRef, PublishedRevision              string
	// Images are the immutable image references among the source's Units, sorted.
	Images []string
}

// PromotionSummary is the Markdown of a promotion in the job summary; other tools read its bullets.
func PromotionSummary(p PromotionRecord) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## Promote %s to %s\n\n", p.From, p.To)
	observed := p.SourceObserved
	if observed == "" {
		observed = "None"
	}
	fmt.Fprintf(&b, "- Source desired: `%s`\n- Source observed: `%s`\n- Specification: `%s`\n", p.SourceDesired, observed, p.Specification)
	if p.CandidateRef != "" {
		fmt.Fprintf(&b, "- Candidate: `%s` (`%s`)\n", p.CandidateRef, p.CandidateRevision)
	} else {
		fmt.Fprintf(&b, "- Published: `%s` (`%s`)\n", p.PublishedRef, p.PublishedRevision)
	}
	if len(p.Images) > 0 {
		b.WriteString("\nArtifacts:\n")
		for _, image := range p.Images {
			fmt.Fprintf(&b, "- `%s`\n", plain(image))
		}
	}
	b.WriteString("\n")
	return b.String()
}
