package action

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/report"
)

func everythingRun() report.Run {
	return report.Run{Operation: "plan", Environment: "dev", Result: report.RunClean, DesiredRevision: "d", ObservedRevision: "o"}
}

// A job is a fake step: inputs and facts, and the files that the runner reads afterwards.
type job struct {
	env             map[string]string
	output, summary string // paths
	log             bytes.Buffer
	requests        []Request
}

func newJob(t *testing.T, env map[string]string) *job {
	t.Helper()
	dir := t.TempDir()
	j := &job{env: env, output: filepath.Join(dir, "output"), summary: filepath.Join(dir, "summary")}
	j.env["GITHUB_OUTPUT"], j.env["GITHUB_STEP_SUMMARY"] = j.output, j.summary
	return j
}

// answer is what a fake operation returns for one Request.
type answer struct {
	events    []report.Event
	run       report.Run
	published Published
	err       error
}

type script struct {
	job     *job
	answers []answer
}

func (s *script) Run(_ context.Context, req Request, sink report.Sink) (report.Run, Published, error) {
	s.job.requests = append(s.job.requests, req)
	a := s.answers[len(s.job.requests)-1]
	for _, e := range a.events {
		sink.Event(e)
	}
	return a.run, a.published, a.err
}

func (j *job) run(answers ...answer) int {
	return Run(context.Background(), Process{Getenv: func(key string) string { return j.env[key] }, Dir: "/repo", Stdout: &j.log}, &script{j, answers})
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}

func TestRunOfAPush(t *testing.T) {
	t.Parallel()
	j := newJob(t, map[string]string{"GITHUB_EVENT_NAME": "push", "GITHUB_SHA": "abc", "INPUT_ENVIRONMENT": "dev", "INPUT_GITHUB-TOKEN": "ghs_secret", "INPUT_REPORT": "r"})
	run := report.Run{
		Operation: "converge", Environment: "dev", Result: report.RunFailed,
		Units: []report.UnitResult{{Unit: "net", Outcome: report.Failed, Action: report.Apply, Err: "boom ##[x]", Position: report.Position{File: "units/net.yaml", Line: 4}}},
	}
	moved := true
	code := j.run(answer{
		events:    []report.Event{report.RunStarted{Operation: "converge", Environment: "dev"}, report.RunFinished{Run: run}},
		run:       run,
		published: Published{Change: &Change{Revision: "c1", TargetRef: "d", Status: "published"}, Reconciled: &moved},
	})
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	wantLog := `::add-mask::ghs_secret

==> Converge dev

==> Convergence result for dev
    RESULT   FAILED: net; 0/1 units clean; no drivers ran
::error file=units/net.yaml,line=4,title=net in dev failed::boom ## [x]
::warning title=Warning for dev::input "report" is ignored%3A the operation converge does not use it
`
	if diff := cmp.Diff(strings.ReplaceAll(wantLog, "%3A", ":"), j.log.String()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	outputs, err := readFileCommands(read(t, j.output))
	if err != nil {
		t.Fatal(err)
	}
	wantOutputs := map[string]string{
		"change_revision": "c1", "target_ref": "d", "candidate_ref": "", "change_status": "published", "change_url": "",
		"change-revision": "c1", "target-ref": "d", "candidate-ref": "", "change-status": "published", "change-url": "",
		"result": "failed", "waiting": "[]", "failed": `["net"]`, "drifted": "[]", "drivers-ran": "[]",
		"changed-units": "[]", "waiting-units": "[]", "failed-units": `["net"]`, "drifted-units": "[]",
	}
	if diff := cmp.Diff(wantOutputs, outputs); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
	if summary := read(t, j.summary); !strings.HasPrefix(summary, "## Converge dev\n\n**dev: 1 failed**\n") {
		t.Errorf("summary:\n%s", summary)
	}
	if diff := cmp.Diff("ghs_secret", j.requests[0].Token.Reveal()); diff != "" {
		t.Errorf("token (-want +got):\n%s", diff)
	}
}

func TestRunExitCodes(t *testing.T) {
	t.Parallel()
	result := func(r report.Result) answer { return answer{run: report.Run{Result: r}} }
	tests := []struct {
		name              string
		operation, failOn string
		event             string
		answers           []answer
		want, requests    int
	}{
		{"clean", "", "", "push", []answer{result(report.RunClean)}, 0, 1},
		{"waiting", "", "", "push", []answer{result(report.RunWaiting)}, 0, 1},
		{"waiting that may not be", "", "waiting", "push", []answer{result(report.RunWaiting)}, 1, 1},
		{"failed", "", "", "push", []answer{result(report.RunFailed)}, 1, 1},
		{"drift on a schedule", "", "", "schedule", []answer{result(report.RunClean), result(report.RunDrifted)}, 0, 2},
		{"drift on a schedule that may not be", "", "drift", "schedule", []answer{result(report.RunClean), result(report.RunDrifted)}, 1, 2},
		{"named verify", "verify", "", "schedule", []answer{result(report.RunDrifted)}, 1, 1},
		{"waiting does not keep from verifying", "", "waiting", "schedule", []answer{result(report.RunWaiting), result(report.RunClean)}, 1, 2},
		{"failure keeps from verifying", "", "", "schedule", []answer{result(report.RunFailed)}, 1, 1},
		{"error", "", "", "schedule", []answer{{err: errors.New("no network")}}, 1, 1},
		{"wrong input found late", "", "", "push", []answer{{err: &InputError{"unit", "is unknown", ""}}}, 2, 1},
		{"wrong input", "bogus", "", "push", nil, 2, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			j := newJob(t, map[string]string{"GITHUB_EVENT_NAME": tt.event, "INPUT_ENVIRONMENT": "dev", "INPUT_OPERATION": tt.operation, "INPUT_FAIL-ON": tt.failOn})
			if got := j.run(tt.answers...); got != tt.want {
				t.Errorf("exit code %d, want %d", got, tt.want)
			}
			if len(j.requests) != tt.requests {
				t.Errorf("%d requests, want %d", len(j.requests), tt.requests)
			}
			if failed := strings.Contains(j.log.String(), "::error "); failed != (tt.want != 0 && (tt.answers == nil || tt.answers[0].run.Result != report.RunFailed)) {
				t.Errorf("log does not fit:\n%s", j.log.String())
			}
		})
	}
}

func TestRunReportsErrorsWhereTheyAre(t *testing.T) {
	t.Parallel()
	j := newJob(t, map[string]string{"GITHUB_EVENT_NAME": "push", "INPUT_ENVIRONMENT": "dev"})
	moved := true
	fault := &document.Error{File: "a.yaml", Line: 2, Column: 3, Pointer: "/spec", Message: "bad", Fix: "mend it"}
	j.run(answer{events: []report.Event{report.UnitStarted{Unit: "net", Action: report.Apply}, report.UnitOutput{Unit: "net", Line: "..."}}, published: Published{Reconciled: &moved}, err: fault})
	if runner := new(fakeRunner).read(j.log.String()); runner.stopped != "" {
		t.Error("the runner is left stopped")
	} else if diff := cmp.Diff([]string{"group: net", "endgroup: ", "error col=3,file=a.yaml,line=2,title=Error in dev: /spec: bad; mend it"}, runner.executed); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("result=failed\nwaiting=[]\nfailed=[]\ndrifted=[]\ndrivers-ran=[]\nchanged-units=[]\nwaiting-units=[]\nfailed-units=[]\ndrifted-units=[]\n", read(t, j.output)); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
	if summary := read(t, j.summary); !strings.Contains(summary, "- **error** a.yaml:2:3: /spec: bad; mend it\n") {
		t.Errorf("summary:\n%s", summary)
	}
}

func TestRunRefusesAForeignPullRequest(t *testing.T) {
	t.Parallel()
	payload := filepath.Join(t.TempDir(), "event.json")
	if err := os.WriteFile(payload, []byte(`{"pull_request":{"head":{"repo":{"full_name":"x/b"}},"base":{"repo":{"full_name":"a/b"}}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	j := newJob(t, map[string]string{"GITHUB_EVENT_NAME": "pull_request_target", "GITHUB_EVENT_PATH": payload, "INPUT_ENVIRONMENT": "dev", "INPUT_OPERATION": "converge"})
	if code := j.run(); code != 2 {
		t.Errorf("exit code %d, want 2", code)
	}
	delete(j.env, "INPUT_OPERATION")
	if code := j.run(answer{run: report.Run{Result: report.RunPlanned}}); code != 0 || !j.requests[0].Static {
		t.Errorf("exit code %d, requests %v, want a static plan", code, j.requests)
	}
}

func TestRunWithABrokenEventFile(t *testing.T) {
	t.Parallel()
	payload := filepath.Join(t.TempDir(), "event.json")
	if err := os.WriteFile(payload, []byte(`{`), 0o600); err != nil {
		t.Fatal(err)
	}
	j := newJob(t, map[string]string{"GITHUB_EVENT_NAME": "push", "GITHUB_EVENT_PATH": payload, "INPUT_ENVIRONMENT": "dev"})
	if code := j.run(); code != 1 || !strings.Contains(j.log.String(), "GITHUB_EVENT_PATH") {
		t.Errorf("exit code %d, log:\n%s", code, j.log.String())
	}
}

func TestRunKeepsToTheRunnersLimitOfAnnotations(t *testing.T) {
	t.Parallel()
	many := func() answer {
		a := answer{run: report.Run{Result: report.RunWaiting}}
		for range 8 {
			a.run.Problems = append(a.run.Problems, report.Problem{Severity: report.Warning, Message: "m"})
		}
		return a
	}
	j := newJob(t, map[string]string{"GITHUB_EVENT_NAME": "schedule", "INPUT_ENVIRONMENT": "dev", "INPUT_REASON": "unused"})
	j.run(many(), many())
	if got := strings.Count(j.log.String(), "::warning "); got != 10 {
		t.Errorf("%d warnings, want 10", got)
	}
	if !strings.Contains(j.log.String(), "::warning title=17 warnings in dev::") {
		t.Errorf("no sum:\n%s", j.log.String())
	}
}

func TestRunKeepsSummariesTogetherBelowTheLimit(t *testing.T) {
	t.Parallel()
	big := answer{run: report.Run{Result: report.RunPlanned}}
	for range 600 {
		big.run.Problems = append(big.run.Problems, report.Problem{Severity: report.Notice, Message: strings.Repeat("x", 2000)})
	}
	j := newJob(t, map[string]string{"GITHUB_EVENT_NAME": "schedule", "INPUT_ENVIRONMENT": "dev"})
	j.run(big, big)
	if got := len(read(t, j.summary)); got > report.SummaryLimit || got < 900_000 {
		t.Errorf("%d bytes of summary", got)
	}
}

type closedStream struct{}

func (closedStream) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestRunSurvivesABrokenStream(t *testing.T) {
	t.Parallel()
	j := newJob(t, map[string]string{"GITHUB_EVENT_NAME": "push", "INPUT_ENVIRONMENT": "dev", "INPUT_GITHUB-TOKEN": "secret"})
	code := Run(context.Background(), Process{Getenv: func(key string) string { return j.env[key] }, Dir: "/", Stdout: closedStream{}}, &script{j, []answer{{run: report.Run{Result: report.RunClean}}}})
	if code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}
