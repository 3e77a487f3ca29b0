package report

import (
	"bytes"
	"strings"
	"testing"
)

func TestLineage(t *testing.T) {
	t.Parallel()
	base := Lineage{Environment: "staging", Source: "dev", SourceRevision: revA, SpecificationRevision: revB, SourceHead: revB}
	const head = "staging was promoted from dev at aaaaaaaaaaaa (documents of bbbbbbbbbbbb)"
	tests := []struct {
		name   string
		change func(*Lineage)
		want   string
	}{
		{"up to date", func(*Lineage) {}, head + ", which is what dev has now"},
		{"one commit", func(l *Lineage) { l.Behind = 1 }, head + "; dev is 1 commit ahead of that"},
		{"several", func(l *Lineage) { l.Behind = 12 }, head + "; dev is 12 commits ahead of that"},
		{"many", func(l *Lineage) { l.Behind, l.AtLeast = 50, true }, head + "; dev is at least 50 commits ahead of that"},
		{"rewritten", func(l *Lineage) { l.Behind = -1 }, head + "; the desired branch of dev was rewritten since, so promote again"},
		{"gone", func(l *Lineage) { l.SourceHead = "" }, head + "; the desired branch of dev does not exist any more"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := base
			tt.change(&l)
			if got := l.String(); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// TestLineageIsReported shows it in the job summary and in the JSON of a run.
func TestLineageIsReported(t *testing.T) {
	t.Parallel()
	run := Run{Operation: "converge", Environment: "staging", Result: RunClean, Lineage: &Lineage{Environment: "staging", Source: "dev",
		SourceRevision: revA, SpecificationRevision: revB, SourceHead: revB, Behind: 3}}
	if got, want := Summary(run, SummaryOptions{}), "\nstaging was promoted from dev at aaaaaaaaaaaa (documents of bbbbbbbbbbbb); dev is 3 commits ahead of that\n"; !strings.Contains(strings.ReplaceAll(got, `\`, ""), want) {
		t.Errorf("the summary does not contain %q:\n%s", want, got)
	}
	var out bytes.Buffer
	if err := WriteJSON(&out, run); err != nil {
		t.Fatal(err)
	}
	want := `  "lineage": {
    "source": "dev",
    "sourceRevision": "` + revA + `",
    "specificationRevision": "` + revB + `",
    "sourceHead": "` + revB + `",
    "behind": 3,
    "atLeast": false
  },
`
	if !strings.Contains(out.String(), want) {
		t.Errorf("the JSON does not contain\n%s\nbut is\n%s", want, out.String())
	}
}
