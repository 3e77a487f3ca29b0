package action

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/driver"
	"github.com/gitopsctr/gitopsctr/internal/forge/forgetest"
	"github.com/gitopsctr/gitopsctr/internal/report"
)

func verifyOf(outcome report.Outcome, unit string) report.Run {
	run := report.Run{Operation: "verify", Environment: "dev", Result: report.RunClean, Units: []report.UnitResult{{Unit: unit, Outcome: outcome, Action: report.Verify}}}
	switch outcome {
	case report.Drifted:
		run.Result, run.Units[0].Changes = report.RunDrifted, driver.Changes{Update: 1}
	case report.Failed:
		run.Result = report.RunFailed
	}
	return run
}

// One issue an environment is opened with the drift, updated with it, left alone by a verify that failed, and closed when
// the drift is gone; new drift opens a new one.
func TestDriftIssue(t *testing.T) {
	t.Parallel()
	server := forgetest.New(t)
	server.AddIssue(forgetest.Issue{Number: 1, State: "open", Title: "forged", Body: driftMark("dev .") + "x", Author: "mallory"})
	for _, step := range []struct {
		run  report.Run
		want []string // state and the Unit that the issue is about
	}{
		{verifyOf(report.Verified, "a"), nil},
		{verifyOf(report.Drifted, "a"), []string{"open `a`"}},
		{verifyOf(report.Drifted, "b"), []string{"open `b`"}},
		{verifyOf(report.Failed, "b"), []string{"open `b`"}},
		{verifyOf(report.Verified, "b"), []string{"closed "}},
		{verifyOf(report.Verified, "b"), []string{"closed "}},
		{verifyOf(report.Drifted, "c"), []string{"closed ", "open `c`"}},
	} {
		j := newPullRequestJob(t, server, "dev", 10, map[string]string{"GITHUB_EVENT_NAME": "schedule", "INPUT_OPERATION": "verify", "INPUT_DRIFT-ISSUE": "true"})
		j.run(step.run, nil)
		var got []string
		for _, i := range server.Issues()[1:] {
			unit := ""
			for _, name := range []string{"`a`", "`b`", "`c`"} {
				if strings.Contains(i.Body, name) {
					unit += name
				}
			}
			got = append(got, i.State+" "+unit)
			if i.Title != "Drift in dev" {
				t.Errorf("title %q", i.Title)
			}
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Fatalf("after %s: issues (-want +got):\n%s\n%s", step.run.Units[0].Outcome, diff, &j.log)
		}
	}
}

func TestDriftIssueNeedsPermission(t *testing.T) {
	t.Parallel()
	server := forgetest.New(t)
	server.Fail(forgetest.Failure{Method: "POST", Path: "/issues", Status: 403, Message: "Resource not accessible by integration"})
	j := newPullRequestJob(t, server, "dev", 10, map[string]string{"GITHUB_EVENT_NAME": "schedule", "INPUT_OPERATION": "verify", "INPUT_DRIFT-ISSUE": "true", "INPUT_FAIL-ON": ""})
	j.run(verifyOf(report.Drifted, "a"), nil)
	if !strings.Contains(j.log.String(), "give the job issues: write") {
		t.Errorf("the log does not say what is missing:\n%s", &j.log)
	}
}
