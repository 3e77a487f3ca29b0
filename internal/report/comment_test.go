package report

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/driver"
)

func plannedUnit(name string, c driver.Changes, text string) UnitResult {
	return UnitResult{
		Unit: name, Kind: "Terraform", Outcome: Planned, State: Ready, Action: Plan, Changes: c, PlanText: text,
		Reason: "source inputs changed", Foresight: &Foresight{Certainty: Exact, Changed: true, Diff: "--- units/a.yaml\n+++ units/a.yaml\n@@ -1 +1 @@\n-a: 1\n+a: 2\n"},
	}
}

func cleanUnit(name string) UnitResult {
	return UnitResult{Unit: name, Kind: "Terraform", Outcome: Unchanged, State: Clean, Foresight: &Foresight{Certainty: Exact}}
}

func planRun(units ...UnitResult) Run {
	run := Run{Operation: "plan", Environment: "dev", Result: RunPlanned, DesiredRef: "gitopsctr/desired/dev", DesiredRevision: revA, SourceRevision: revB, Units: units}
	return run
}

// A plan of 2 MiB is cut, and says so.
func TestCommentOfALargePlan(t *testing.T) {
	t.Parallel()
	run := planRun(plannedUnit("app", driver.Changes{Destroy: 1, Resources: []driver.ResourceChange{{Address: "disk.data", Action: "destroy"}}}, strings.Repeat("  + x 😀\n", 200_000)), plannedUnit("b", driver.Changes{Create: 1}, "+ b"))
	got := Comment(run, CommentOptions{})
	checkPage(t, run, got, CommentLimit)
	for _, want := range []string{"❗ destroy `disk.data`", "… 198", " lines left out …\n+   x", "_This is shortened from 2200 KB. ", "+ b"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
	if len(got) < 20_000 {
		t.Errorf("the page has %d bytes only", len(got))
	}
}

// No input makes a page that is too long, hides a destroy or lets foreign text out of its place.
func TestCommentProperties(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		run := randomPlan(random)
		limit := []int{5_000, 20_000, CommentLimit, SummaryLimit}[random.IntN(4)]
		checkPage(t, run, Comment(run, CommentOptions{Limit: limit, ServerURL: "https://forge.test", Repository: "a/b"}), limit)
		checkPage(t, run, Summary(run, SummaryOptions{Limit: limit}), limit)
		if t.Failed() {
			t.Fatalf("%d units, limit %d", len(run.Units), limit)
		}
	}
}

func randomPlan(random *rand.Rand) Run {
	text := func(most int) string {
		pieces := []string{hostile, "@canary", "#4711", "`", "```", "\n", "<!-- gitopsctr:", "</details>", "| |", "😀", "é", "plain words ", "\x00", "\xff", "  - gone\n", "https://evil.test/issues/4711 "}
		var b strings.Builder
		for range random.IntN(most + 1) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		return b.String()
	}
	run := planRun()
	run.Environment = "dev" + text(2)
	for i := range random.IntN([]int{3, 30, 400}[random.IntN(3)]) {
		u := plannedUnit(fmt.Sprintf("u%d%s", i, text(3)), driver.Changes{}, text([]int{5, 5000}[random.IntN(20)/19]))
		u.Outcome = []Outcome{Planned, Planned, Planned, Waiting, Failed, Unchanged}[random.IntN(6)]
		u.Err, u.Reason = text(20), text(10)
		u.Foresight.Diff = text(30)
		u.Foresight.Teardown = random.IntN(20) == 0
		u.Foresight.Awaited = append(u.Foresight.Awaited, Awaited{text(2), text(2), text(2)})
		for range random.IntN(4) {
			if u.Outcome != Planned {
				break
			}
			u.Changes.Destroy++
			u.Changes.Resources = append(u.Changes.Resources, driver.ResourceChange{Address: "gone" + text(3), Action: "destroy"})
		}
		run.Units = append(run.Units, u)
	}
	run.Problems = append(run.Problems, Problem{Severity: Error, Message: text(10)})
	return run
}

func checkPage(t *testing.T, run Run, page string, limit int) {
	t.Helper()
	if units := len(utf16.Encode([]rune(page))); len(page) > limit || units > limit {
		t.Errorf("%d bytes and %d UTF-16 units, want at most %d", len(page), units, limit)
	}
	if strings.ContainsAny(page, "\x00\x1b\u202E") {
		t.Error("control characters in the page")
	}
	checkForeign(t, page)
	losing := 0
	for _, u := range run.Units {
		if u.loses() {
			losing++
		}
	}
	if c := CountPlan(run); c.loss() != "" && !strings.Contains(page, c.loss()) {
		t.Errorf("the page does not say %q", c.loss())
	}
	if losing > 0 {
		if named := namedLosses(page); named != losing {
			t.Errorf("%d units lose something, the page names or counts %d:\n%s", losing, named, page)
		}
	}
}

// checkForeign finds what of the hostile text got out of its place.
func checkForeign(t *testing.T, page string) {
	t.Helper()
	outside := outsideCode(page)
	for _, bad := range []string{"@canary", "#4711", "GH-4711", "<script", "</details><details", "<!-- gitopsctr:end", "://evil.test"} {
		if strings.Contains(outside, bad) {
			t.Errorf("%q stands outside of code:\n%s", bad, outside)
		}
	}
}

var more = regexp.MustCompile(`^> - and (\d+) units? more$`)

// namedLosses counts the Units in the warning at the top.
func namedLosses(page string) int {
	n := 0
	for line := range strings.Lines(page) {
		var count int
		line = strings.TrimSuffix(line, "\n")
		switch m := more.FindStringSubmatch(line); {
		case m != nil:
			_, _ = fmt.Sscan(m[1], &count) // digits
			n += count
		case strings.HasPrefix(line, "> - "):
			n++
		}
	}
	return n
}

var htmlCode = regexp.MustCompile(`<code>[^<]*</code>`)

// outsideCode is a page without its fenced blocks, code spans and HTML code, by CommonMark's rules.
func outsideCode(page string) string {
	var out bytes.Buffer
	fence := ""
	for line := range strings.Lines(page) {
		line = strings.TrimSuffix(line, "\n")
		ticks := len(line) - len(strings.TrimLeft(line, "`"))
		switch {
		case fence != "" && ticks >= len(fence) && strings.Trim(line, "`") == "":
			fence = ""
		case fence == "" && ticks >= 3 && !strings.Contains(line[ticks:], "`"):
			fence = line[:ticks]
		case fence == "":
			out.WriteString(htmlCode.ReplaceAllString(withoutSpans(line), "") + "\n")
		}
	}
	return out.String()
}

func withoutSpans(line string) string {
	var out strings.Builder
	for line != "" {
		start := strings.IndexByte(line, '`')
		if start < 0 {
			break
		}
		ticks := len(line[start:]) - len(strings.TrimLeft(line[start:], "`"))
		end := closing(line[start+ticks:], ticks)
		out.WriteString(line[:start])
		if end < 0 {
			out.WriteString(line[start : start+ticks])
			line = line[start+ticks:]
			continue
		}
		line = line[start+ticks+end+ticks:]
	}
	return out.String() + line
}

// closing finds the run of exactly n backticks.
func closing(s string, n int) int {
	for i := 0; i < len(s); {
		if s[i] != '`' {
			i++
			continue
		}
		run := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		if run == n {
			return i
		}
		i += run
	}
	return -1
}

func TestPlanCount(t *testing.T) {
	t.Parallel()
	for want, run := range map[string]Run{
		"no units": planRun(),
		"2 to change, 1 waits, 2 unchanged; 1 resource will be destroyed": planRun(
			plannedUnit("a", driver.Changes{Create: 1}, ""), plannedUnit("b", driver.Changes{Destroy: 1}, ""), UnitResult{Unit: "c", Outcome: Waiting}, cleanUnit("d"), cleanUnit("e")),
		"1 failed, 1 to change, 1 to run without changes; 2 resources will be replaced": planRun(
			plannedUnit("a", driver.Changes{Replace: 2}, ""), plannedUnit("b", driver.Changes{}, ""), UnitResult{Unit: "c", Outcome: Failed}),
		"1 to change; 1 unit will be deleted with all that it manages": planRun(UnitResult{Unit: "a", Outcome: Waiting, Foresight: &Foresight{Teardown: true}}),
	} {
		if got := CountPlan(run).String(); got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}

func TestAsDiff(t *testing.T) {
	t.Parallel()
	got := asDiff("Plan\n  + new\n      ~ a = 1 -> 2\n  - old\n-/+ both\n  -/+ again\n    - list item\n  # comment\n")
	want := "Plan\n+   new\n!       a = 1 -> 2\n-   old\n-/+ both\n-/+   again\n-     list item\n  # comment\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLossesFirst(t *testing.T) {
	t.Parallel()
	const made, gone, anew = "  # a.made will be created\n+   a {\n    }\n\n", "  # a.gone will be destroyed\n  # (because)\n-   a {\n\n    }\n\n", "  # a.anew must be replaced\n-/+ a\n\n"
	for name, tc := range map[string]struct{ plan, want string }{
		"losses come first":      {"Intro\n\n" + made + gone + anew + "Plan: 1 to add", "Intro\n\n" + gone + anew + made + "Plan: 1 to add\n"},
		"without totals":         {made + gone, gone + made},
		"without losses":         {made + made + "Plan: 2 to add", made + made + "Plan: 2 to add\n"},
		"of an unknown shape":    {"text\nPlan: 1 to add\n", "text\nPlan: 1 to add\n"},
		"with totals in between": {"Plan: 1 to add\n" + made + gone, gone + made + "Plan: 1 to add\n"},
	} {
		if diff := cmp.Diff(tc.want, lossesFirst(tc.plan)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestDriftIssue(t *testing.T) {
	t.Parallel()
	run := Run{Operation: "verify", Environment: "dev", Result: RunDrifted, Units: []UnitResult{
		{Unit: "app", Outcome: Drifted, Action: Verify, Changes: driver.Changes{Update: 1}, PlanText: "  ~ x\n", Reason: "the world differs"}, {Unit: "net", Outcome: Verified},
	}}
	got := DriftIssue(run, CommentOptions{})
	for _, want := range []string{"1 unit of `dev` differs from the world.", "| `app` |", "!   x\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in:\n%s", want, got)
		}
	}
	if strings.Contains(got, "`net`") {
		t.Errorf("a unit without drift shows:\n%s", got)
	}
	if got := DriftIssue(Run{Environment: "dev"}, CommentOptions{}); got != "Every unit of `dev` is as its desired document says.\n" {
		t.Errorf("without drift: got %q", got)
	}
}
