package action

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/driver"
	"github.com/gitopsctr/gitopsctr/internal/report"
)

// However large the plans of however many environments are, the comment fits, keeps every section, and each section says
// what its environment loses.
func TestMergeFits(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for _, environments := range []int{1, 3, 25} {
		var sections []commentSection
		for i := range environments * 2 {
			run := largePlan(random, fmt.Sprintf("env%d", i%environments))
			own := commentSection{key: run.Environment + " .", made: generation{"s", int64(i), 1}}
			body, newer := merge(sections, own, func(limit int) string { return report.Comment(run, report.CommentOptions{Limit: limit}) }, commentLimit)
			if newer != nil {
				t.Fatalf("yields to %+v", newer)
			}
			if units := len(utf16.Encode([]rune(body))); len(body) > commentLimit || units > commentLimit {
				t.Fatalf("%d environments: %d bytes, %d UTF-16 units", environments, len(body), units)
			}
			var ours bool
			if sections, ours = parseComment(body); !ours || len(sections) != min(i+1, environments) {
				t.Fatalf("want %d sections, got %d", min(i+1, environments), len(sections))
			}
			for _, s := range sections {
				if !strings.Contains(s.text, "resources will be destroyed") {
					t.Fatalf("the section %s does not say what is destroyed:\n%s", s.key, s.text)
				}
			}
		}
	}
}

func largePlan(random *rand.Rand, environment string) report.Run {
	run := report.Run{Operation: "plan", Environment: environment, Result: report.RunPlanned}
	for i := range 1 + random.IntN(30) {
		run.Units = append(run.Units, report.UnitResult{
			Unit: fmt.Sprintf("u%d", i), Outcome: report.Planned, Changes: driver.Changes{Destroy: 2}, PlanText: strings.Repeat("é plan\n", random.IntN(600)), Foresight: &report.Foresight{Certainty: report.Exact},
		})
	}
	return run
}

func TestSectionsSurviveTheForge(t *testing.T) {
	t.Parallel()
	own := commentSection{key: `dev --> "a b"/ü`, made: generation{"abc", 12, 3}}
	body, _ := merge(nil, own, func(int) string { return "text\n" }, commentLimit)
	own.text = "text\n"
	for name, stored := range map[string]string{"as it is": body, "with other line breaks": strings.ReplaceAll(body, "\n", "\r\n")} {
		got, ours := parseComment(stored)
		if diff := cmp.Diff([]commentSection{own}, got, cmp.AllowUnexported(commentSection{}, generation{})); diff != "" || !ours {
			t.Errorf("%s: sections (-want +got):\n%s", name, diff)
		}
	}
	if _, ours := parseComment("I like " + commentMark); ours {
		t.Error("a comment that quotes our mark is taken for ours")
	}
}
