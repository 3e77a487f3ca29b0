package report

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/driver"
)

func TestSummary(t *testing.T) {
	t.Parallel()
	got := Summary(convergeRun(), SummaryOptions{ServerURL: "https://git.example", Repository: "acme/shop", Graph: "graph LR\n  db --> app"})
	want := `## Converge dev

**dev: 1 failed, 1 destroyed, 1 applied, 1 waiting, 1 unchanged**

| Unit | State | What ran | Changes | Duration | Receipt |
| --- | --- | --- | --- | --- | --- |
| db | **failed** | apply | – | 12s | – |
| old | destroyed | destroy | ❗ 3 to destroy | 1m5s | – |
| app | waiting | – | – | – | – |
| net | applied | apply | 2 to create | 3.4s | [receipt](https://git.example/acme/shop/blob/cccccccccccccccccccccccccccccccccccccccc/units/net/receipt.yaml) |
| dns | unchanged | – | – | – | – |

### Problems

- **warning** gitopsctr.yaml:3:9: /spec/x\|y: unknown &lt;field&gt;; remove it

### Failures

db: terraform apply failed

~~~~
Error: no such zone
~~~
# injected
~~~~


### Waiting

- app: receipt does not exist: db

### Order

~~~mermaid
graph LR
  db --> app
~~~

Desired: gitopsctr/desired/dev at [bbbbbbbbbbbb](https://git.example/acme/shop/commit/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb), was [aaaaaaaaaaaa](https://git.example/acme/shop/commit/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa)

Observed: gitopsctr/observed/dev at [cccccccccccc](https://git.example/acme/shop/commit/cccccccccccccccccccccccccccccccccccccccc), was [aaaaaaaaaaaa](https://git.example/acme/shop/commit/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa)
`
	if diff := cmp.Diff(strings.ReplaceAll(want, "~", "`"), got); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

func TestSummaryOfNothingToDo(t *testing.T) {
	t.Parallel()
	run := cleanRun(14)
	run.DesiredRef, run.ObservedRef = "", ""
	got := Summary(run, SummaryOptions{})
	want := "## Converge dev\n\ndev: nothing to do, 14 units clean\n\n<details><summary>14 unchanged</summary>\n\n" + tableHead
	for _, u := range run.Units {
		want += "| " + u.Unit + " | unchanged | – | – | – | – |\n"
	}
	want += "\n</details>\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

func TestSummaryPlans(t *testing.T) {
	t.Parallel()
	run := Run{Operation: "reconcile", Environment: "dev", Result: RunPlanned, Units: []UnitResult{
		{Unit: "net", Outcome: Planned, Action: Plan, Changes: driver.Changes{Create: 1}, PlanText: "+ a\n"},
		{Unit: "<b>", Outcome: Planned, Action: Plan, Changes: driver.Changes{Replace: 1}, PlanText: "-/+ b"},
	}}
	want := `## Reconcile dev

**dev: 2 planned**

` + tableHead + `| &lt;b&gt; | planned | plan | ❗ 1 to replace | 0s | – |
| net | planned | plan | 1 to create | 0s | – |

### Plans

<details><summary><code>&lt;b&gt;</code>: ❗ 1 to replace</summary>

~~~diff
-/+ b
~~~

</details>
<details><summary><code>net</code>: 1 to create</summary>

~~~diff
+ a
~~~

</details>
`
	if diff := cmp.Diff(strings.ReplaceAll(want, "~", "`"), Summary(run, SummaryOptions{})); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

func TestSummaryGraphSizes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		nodes               int
		open, folded, notes bool
	}{
		{30, true, false, false}, {31, false, true, false}, {150, false, true, false}, {151, false, false, true},
	}
	for _, tt := range tests {
		got := Summary(cleanRun(tt.nodes), SummaryOptions{Graph: "graph LR"})
		if has := strings.Contains(got, "### Order\n\n```mermaid\ngraph LR"); has != tt.open {
			t.Errorf("%d units: open graph %v, want %v", tt.nodes, has, tt.open)
		}
		if has := strings.Contains(got, fmt.Sprintf("<summary>Order of %d units</summary>\n\n```mermaid", tt.nodes)); has != tt.folded {
			t.Errorf("%d units: folded graph %v, want %v", tt.nodes, has, tt.folded)
		}
		if has := strings.Contains(got, fmt.Sprintf("graph of %d units is too large", tt.nodes)); has != tt.notes {
			t.Errorf("%d units: note %v, want %v", tt.nodes, has, tt.notes)
		}
	}
}

func TestSummaryEscapesForeignText(t *testing.T) {
	t.Parallel()
	hostile := "a|b`c`<script>[x](http://y)\n\n# h\n| r |</details>"
	run := Run{Operation: "converge", Environment: hostile, DesiredRef: hostile, DesiredRevision: hostile, Units: []UnitResult{
		{Unit: hostile, Outcome: Failed, Action: Action(hostile), Reason: hostile, Err: hostile, Receipt: hostile, ReceiptRevision: hostile},
		{Unit: "w", Outcome: Waiting, Reason: hostile},
	}, Problems: []Problem{{Severity: Error, Message: hostile}}}
	got := Summary(run, SummaryOptions{ServerURL: "https://git.example", Repository: "a)b/c|d"})
	fence := "```\n"
	before, rest, _ := strings.Cut(got, fence)
	_, after, _ := strings.Cut(rest, fence)
	outside := before + after
	for _, markup := range []string{"<script>", "</details>", "\n# h", "\n| r", "[x](", "a|b"} {
		if strings.Contains(outside, markup) {
			t.Errorf("%q is markup in:\n%s", markup, outside)
		}
	}
}

func TestSummaryWithoutLinks(t *testing.T) {
	t.Parallel()
	for _, server := range []string{"", "javascript:alert(1)", "https://user:secret@git.example", "://", "git.example"} {
		got := Summary(convergeRun(), SummaryOptions{ServerURL: server, Repository: "acme/shop"})
		if strings.Contains(got, "](") || strings.Contains(got, "secret") {
			t.Errorf("server %q makes links:\n%s", server, got)
		}
	}
}

// The property: whatever a run holds, the summary keeps to its limit and names every failed Unit.
func TestSummaryKeepsToItsLimit(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	outcomes := []Outcome{Failed, Applied, Planned, Waiting, Unchanged, Destroyed, Drifted}
	text := func(limit int) string { return strings.Repeat("é`<\n", random.IntN(limit)) }
	for range 30 {
		run := Run{Operation: "converge", Environment: "dev"}
		for i := range random.IntN(300) {
			outcome := outcomes[random.IntN(len(outcomes))]
			run.Units = append(run.Units, UnitResult{
				Unit: fmt.Sprintf("unit-%03d", i), Outcome: outcome, Action: Apply, Reason: text(300), Err: text(2_000), PlanText: text(2_000),
				Receipt: "units/u/receipt.yaml", ReceiptRevision: revA,
			})
			run.Problems = append(run.Problems, Problem{Severity: Error, Message: text(200)})
		}
		limit := 6_000 + random.IntN(300_000)
		got := Summary(run, SummaryOptions{ServerURL: "https://git.example", Repository: "a/b", Graph: text(1000), Limit: limit})
		if len(got) > limit {
			t.Errorf("%d bytes, limit %d", len(got), limit)
		}
		if !utf8.ValidString(got) {
			t.Error("not UTF-8")
		}
		for _, name := range Named(run, Failed) {
			if !strings.Contains(got, name) {
				t.Errorf("limit %d: failed %s of %d units is not named", limit, name, len(run.Units))
			}
		}
	}
}

func TestSummarySaysWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	run := Run{Operation: "converge", Environment: "dev"}
	for i := range 100 {
		run.Units = append(run.Units, UnitResult{Unit: fmt.Sprintf("a%d", i), Outcome: Waiting, Reason: "r"})
	}
	run.Units = append(run.Units, UnitResult{Unit: "gone", Outcome: Destroyed, Action: Destroy}, UnitResult{Unit: "z", Outcome: Failed, Err: strings.Repeat("x", 5000)})
	got := Summary(run, SummaryOptions{Limit: 1500})
	want := `## Converge dev

**dev: 1 failed, 1 destroyed, 100 waiting**

` + tableHead + `| z | **failed** | – | – | – | – |
| gone | destroyed | destroy | no changes | 0s | – |
`
	if !strings.HasPrefix(got, want) {
		t.Errorf("summary starts otherwise (-want +got):\n%s", cmp.Diff(want, got))
	}
	if !strings.HasSuffix(got, "_Left out because this page is limited: 85 rows, 1 failure text, 99 waiting reasons. The log has everything._\n") {
		t.Errorf("the note is: %s", got[strings.LastIndex(got, "\n_"):])
	}
}

// When not even the rows of the failed Units fit, their names do.
func TestSummaryNamesManyFailedUnits(t *testing.T) {
	t.Parallel()
	run := Run{Operation: "converge", Environment: "dev"}
	for i := range 400 {
		run.Units = append(run.Units, UnitResult{Unit: fmt.Sprintf("unit-%03d", i), Outcome: Failed})
	}
	got := Summary(run, SummaryOptions{Limit: 8_000})
	if len(got) > 8_000 {
		t.Errorf("%d bytes", len(got))
	}
	for _, u := range run.Units {
		if !strings.Contains(got, u.Unit) {
			t.Errorf("%s is not named", u.Unit)
		}
	}
	if got := Summary(run, SummaryOptions{Limit: 3_000}); !strings.Contains(got, "\nand 234 more\n") {
		t.Errorf("the rest is not counted:\n%s", got)
	}
}

func TestFencedCannotBeLeft(t *testing.T) {
	t.Parallel()
	got := fenced("a\n`````\nb\r\n\r\n", "x")
	want := "``````x\na\n`````\nb\n``````\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fenced (-want +got):\n%s", diff)
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	for limit := range 80 {
		s := strings.Repeat("é", 50)
		got := shorten(s, limit)
		if len(got) > limit || !utf8.ValidString(got) {
			t.Errorf("shorten to %d: %d bytes, %q", limit, len(got), got)
		}
	}
	if got := shorten(strings.Repeat("a", 50)+strings.Repeat("b", 50), 40); got != "aaaaaaa\n… left out …\nbbbbbbbbbbbbbbb" {
		t.Errorf("got %q", got)
	}
}
