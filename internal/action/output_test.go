package action

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sethvargo/go-githubactions"

	"github.com/gitopsctr/gitopsctr/internal/driver"
	"github.com/gitopsctr/gitopsctr/internal/report"
)

// written returns what writeOutputs leaves in the output file.
func written(t *testing.T, outputs []output) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "output")
	gh := githubactions.New(githubactions.WithGetenv(func(key string) string {
		return map[string]string{"GITHUB_OUTPUT": path}[key]
	}))
	err := writeOutputs(gh, outputs)
	data, readErr := os.ReadFile(path)
	if readErr != nil && !os.IsNotExist(readErr) {
		t.Fatal(readErr)
	}
	return string(data), err
}

func TestOutputs(t *testing.T) {
	t.Parallel()
	yes := true
	tests := []struct {
		name      string
		run       report.Run
		published Published
		want      string
	}{
		{"prepare", report.Run{}, Published{Prepared: &Prepared{Active: true, DesiredRevision: "abc"}}, "active=true\ndesired_revision=abc\ndesired-revision=abc\n"},
		{"prepare without a ref", report.Run{}, Published{Prepared: &Prepared{}}, "active=false\ndesired_revision=\ndesired-revision=\n"},
		{
			"converge",
			report.Run{Result: report.RunWaiting, DesiredRevision: "d", ObservedRevision: "o", DriversRan: []string{"s/b", "a"}, Units: []report.UnitResult{{Unit: "w", Outcome: report.Waiting}}},
			Published{Change: &Change{Revision: "c", TargetRef: "t", Status: "published"}, Reconciled: &yes},
			`change_revision=c
target_ref=t
candidate_ref=
change_status=published
change_url=
reconciled=true
change-revision=c
target-ref=t
candidate-ref=
change-status=published
change-url=
desired-revision=d
observed-revision=o
result=waiting
waiting=["w"]
failed=[]
drifted=[]
drivers-ran=["s/b","a"]
changed-units=[]
waiting-units=["w"]
failed-units=[]
drifted-units=[]
`,
		},
		{
			"plan",
			report.Run{Operation: "plan", Result: report.RunPlanned, Units: []report.UnitResult{
				{Unit: "a", Outcome: report.Planned, Changes: driver.Changes{Destroy: 1, Replace: 2}},
				{Unit: "b", Outcome: report.Waiting, Foresight: &report.Foresight{Certainty: report.Deferred}},
				{Unit: "c", Outcome: report.Planned, Foresight: &report.Foresight{Certainty: report.Exact}},
				{Unit: "d", Outcome: report.Waiting, Foresight: &report.Foresight{Teardown: true}},
			}},
			Published{},
			`result=planned
waiting=["b","d"]
failed=[]
drifted=[]
drivers-ran=[]
changed-units=["a","b","d"]
waiting-units=["b","d"]
failed-units=[]
drifted-units=[]
destroys=4
plan-json=
comment-url=
`,
		},
		{
			"prepare with shards",
			report.Run{},
			Published{Prepared: &Prepared{Active: true, DesiredRevision: "d"}, Shards: []Shard{{Units: []string{"a", "s/b"}}, {Units: []string{"c"}}}},
			`active=true
desired_revision=d
matrix={"include":[{"shard":1,"of":2,"units":"a,s/b"},{"shard":2,"of":2,"units":"c"}]}
desired-revision=d
`,
		},
		{
			"a failure is not reconciled",
			report.Run{Result: report.RunFailed, Units: []report.UnitResult{{Unit: "f", Outcome: report.Failed}}},
			Published{Reconciled: &yes},
			"result=failed\nwaiting=[]\nfailed=[\"f\"]\ndrifted=[]\ndrivers-ran=[]\nchanged-units=[]\nwaiting-units=[]\nfailed-units=[\"f\"]\ndrifted-units=[]\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var sum tally
			sum.add(tt.run)
			got, err := written(t, outputsOf(tt.run, tt.published, sum))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("outputs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOutputsCannotBeInjected(t *testing.T) {
	t.Parallel()
	const delimiter = "_GitHubActionsFileCommandDelimeter_" // of the library
	for _, value := range []string{"a\nresult=clean", "a\rresult=clean", "a\r\n" + delimiter + "\nresult<<x\nclean\nx", "a\x00", "a\u2028b", "a\u0085b", "\xff"} {
		got, err := written(t, []output{{"target-ref", value}})
		if err == nil || !strings.Contains(err.Error(), "target-ref") || got != "" {
			t.Errorf("%q: error %v, file %q, want an error and no file", value, err, got)
		}
	}
	outputs := []output{{"a", "<<x"}, {"b", "x<<y=z"}, {"c", delimiter}, {"d", "=, ::set-output name=e::f"}, {"g", list([]string{"\n<<x", "é\u2028"})}}
	text, err := written(t, outputs)
	if err != nil {
		t.Fatal(err)
	}
	got, err := readFileCommands(text)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a": "<<x", "b": "x<<y=z", "c": delimiter, "d": "=, ::set-output name=e::f", "g": `["\n\u003c\u003cx","é\u2028"]`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outputs as the runner reads them (-want +got):\n%s", diff)
	}
}

func TestFileCommandFailures(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "no", "such", "folder")
	gh := githubactions.New(githubactions.WithGetenv(func(string) string { return missing }))
	if err := writeOutputs(gh, []output{{"a", "b"}}); err == nil {
		t.Error("writeOutputs: no error")
	}
	if err := appendSummary(gh, "x"); err == nil {
		t.Error("appendSummary: no error")
	}
	unset := githubactions.New(githubactions.WithGetenv(func(string) string { return "" }))
	if err := writeOutputs(unset, []output{{"a", "b"}}); err != nil {
		t.Errorf("writeOutputs without a file: %v", err)
	}
	if err := appendSummary(unset, "x"); err != nil {
		t.Errorf("appendSummary without a file: %v", err)
	}
}

func TestTallyKeepsTheWorst(t *testing.T) {
	t.Parallel()
	var sum tally
	sum.add(report.Run{Result: report.RunWaiting, DriversRan: []string{"a"}, Units: []report.UnitResult{{Unit: "a", Outcome: report.Waiting}}})
	sum.add(report.Run{Result: report.RunClean, DriversRan: []string{"a", "b"}, Units: []report.UnitResult{{Unit: "a", Outcome: report.Waiting}, {Unit: "b", Outcome: report.Drifted}}})
	want := tally{result: report.RunWaiting, waiting: []string{"a"}, drifted: []string{"b"}, ran: []string{"a", "b"}}
	if diff := cmp.Diff(want, sum, cmp.AllowUnexported(tally{})); diff != "" {
		t.Errorf("tally (-want +got):\n%s", diff)
	}
}
