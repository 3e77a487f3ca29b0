package action

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitopsctr/gitopsctr/internal/forge/forgetest"
	"github.com/gitopsctr/gitopsctr/internal/report"
)

// A trusted workflow posts the plan that a stranger's run left: on the pull request that the forge names for its commit.
func TestCommentFromAFile(t *testing.T) {
	t.Parallel()
	server := forgetest.New(t)
	server.AddIssue(forgetest.Issue{Number: 6, State: "open", Head: "fix", Base: "main", HeadSHA: "old", HeadFullName: "mallory/shop"})
	server.AddIssue(forgetest.Issue{Number: 7, State: "open", Head: "fix", Base: "main", HeadSHA: "c0ffee", HeadFullName: "mallory/shop"})
	for name, tc := range map[string]struct {
		plan report.Run
		sha  string
		want string // in the log or in the comment
		code int
		post bool
	}{
		"a plan":                  {planOf("dev", "@everyone"), "c0ffee", "| `@everyone` | exact |", exitOK, true},
		"another environment":     {planOf("prod", "a"), "c0ffee", "is not of the environment dev", exitFailed, false},
		"not a plan":              {report.Run{Operation: "converge", Environment: "dev"}, "c0ffee", "the file is no plan", exitFailed, false},
		"a pull request moved on": {planOf("dev", "a"), "gone", "a newer run will report", exitOK, false},
	} {
		t.Run(name, func(t *testing.T) { //nolint:paralleltest // they share the server
			dir := t.TempDir()
			event, plan := filepath.Join(dir, "event.json"), filepath.Join(dir, "plan.json")
			payload := fmt.Sprintf(`{"workflow_run": {"id": 55, "run_attempt": 2, "head_sha": %q, "head_branch": "fix", "head_repository": {"owner": {"login": "mallory"}}}}`, tc.sha)
			var data strings.Builder
			if err := report.WriteJSON(&data, tc.plan); err != nil {
				t.Fatal(err)
			}
			for file, text := range map[string]string{event: payload, plan: data.String()} {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			before := len(server.Comments(7))
			j := newPullRequestJob(t, server, "dev", 99, map[string]string{
				"GITHUB_EVENT_NAME": "workflow_run", "GITHUB_EVENT_PATH": event, "INPUT_OPERATION": "comment", "INPUT_PLAN-JSON": plan,
			})
			if code := j.run(report.Run{}, nil); code != tc.code {
				t.Errorf("exit code %d, want %d:\n%s", code, tc.code, &j.log)
			}
			if posted := len(server.Comments(7)) > before; posted != tc.post {
				t.Errorf("posted %t, want %t", posted, tc.post)
			}
			if text := j.log.String() + strings.Join(j.bodies(), ""); !strings.Contains(text, tc.want) {
				t.Errorf("want %q in:\n%s", tc.want, text)
			}
			if tc.post {
				sections, _ := parseComment(server.Comments(7)[0].Body)
				if want := (generation{"c0ffee", 55, 2}); sections[0].made != want || !strings.Contains(sections[0].text, "may have written anything") {
					t.Errorf("want the section of %+v with a warning, got %+v", want, sections)
				}
			}
			server.DeleteComment(lastID(server))
		})
	}
	if got := server.Comments(6); len(got) > 0 {
		t.Errorf("the wrong pull request has comments: %v", got)
	}
}

func lastID(server *forgetest.Server) int64 {
	if comments := server.Comments(7); len(comments) > 0 {
		return comments[len(comments)-1].ID
	}
	return 0
}

func TestCommentNeedsItsEvent(t *testing.T) {
	t.Parallel()
	j := newPullRequestJob(t, forgetest.New(t), "dev", 99, map[string]string{"GITHUB_EVENT_NAME": "push", "INPUT_OPERATION": "comment", "INPUT_PLAN-JSON": "x"})
	if code := j.run(report.Run{}, nil); code != exitUsage || !strings.Contains(j.log.String(), "which is for the event workflow_run only") {
		t.Errorf("want 2 and the reason, got %d:\n%s", code, &j.log)
	}
}
