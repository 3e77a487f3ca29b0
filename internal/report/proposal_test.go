package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestProposalBody(t *testing.T) {
	t.Parallel()
	got := ProposalBody(Proposal{
		Lead:  "This promotes dev to staging.",
		Facts: []Fact{{"Source desired revision", revA}},
		Units: []ProposedUnit{
			{Unit: "app", Change: "changed", Reason: "unit specification changed", Diff: "--- units/app.yaml\n+++ units/app.yaml\n@@ -1 +1 @@\n-a\n+b\n"},
			{Unit: "web", Change: "waits", Reason: "receipt does not exist: app"},
		},
		Next: "Converge staging after the merge.",
	})
	want := "This promotes dev to staging.\n\n- Source desired revision: `" + revA + "`\n" +
		"\n### What changes\n\n| Unit | Change | Why |\n| --- | --- | --- |\n" +
		"| app | changed | unit specification changed |\n| web | waits | receipt does not exist: app |\n" +
		"\n" + folded("app", fenced("--- units/app.yaml\n+++ units/app.yaml\n@@ -1 +1 @@\n-a\n+b\n", "diff")) +
		"\nConverge staging after the merge.\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

// TestProposalBodyFitsAndIsInert feeds hostile and large texts: the body stays in its limit, names what it leaves out, keeps
// the remark at the end, and lets no markup through.
func TestProposalBodyFitsAndIsInert(t *testing.T) {
	t.Parallel()
	p := Proposal{Lead: "@team <script>alert(1)</script> [x](y)", Facts: []Fact{{"Reason", "`; drop `"}}, Next: "Converge after the merge."}
	for i := range 400 {
		p.Units = append(p.Units, ProposedUnit{Unit: fmt.Sprintf("unit-%d", i), Change: "changed", Reason: "a | b\n| c", Diff: strings.Repeat("+ line ``` </details>\n", 100)})
	}
	got := ProposalBody(p)
	if len(got) > proposalLimit {
		t.Errorf("the body has %d bytes, want at most %d", len(got), proposalLimit)
	}
	for _, want := range []string{"| unit-0 | changed |", "| unit-399 | changed |", "Converge after the merge.", "_Left out because this page is limited", "- Reason: `'; drop '`\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("the body does not contain %q", want)
		}
	}
	if strings.Contains(got, "<script>") || strings.Contains(got, "[x](y)") {
		t.Errorf("markup came through: %.200q", got)
	}
}

func TestPromotionSummary(t *testing.T) {
	t.Parallel()
	record := PromotionRecord{From: "dev", To: "staging", SourceDesired: revA, Specification: revB, PublishedRef: "gitopsctr/desired/staging", PublishedRevision: revB}
	want := "## Promote dev to staging\n\n- Source desired: `" + revA + "`\n- Source observed: `None`\n- Specification: `" + revB + "`\n" +
		"- Published: `gitopsctr/desired/staging` (`" + revB + "`)\n\n"
	if diff := cmp.Diff(want, PromotionSummary(record)); diff != "" {
		t.Errorf("published (-want +got):\n%s", diff)
	}
	record.SourceObserved, record.CandidateRef, record.CandidateRevision = revB, "gitopsctr/candidates/staging/1", revA
	record.Images = []string{"r.test/a@sha256:1"}
	want = "## Promote dev to staging\n\n- Source desired: `" + revA + "`\n- Source observed: `" + revB + "`\n- Specification: `" + revB + "`\n" +
		"- Candidate: `gitopsctr/candidates/staging/1` (`" + revA + "`)\n\nArtifacts:\n- `r.test/a@sha256:1`\n\n"
	if diff := cmp.Diff(want, PromotionSummary(record)); diff != "" {
		t.Errorf("proposed (-want +got):\n%s", diff)
	}
}
