package action

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/driver"
	"github.com/gitopsctr/gitopsctr/internal/forge"
	"github.com/gitopsctr/gitopsctr/internal/forge/forgetest"
	"github.com/gitopsctr/gitopsctr/internal/report"
)

// A pullRequestJob is a step of a pull request's workflow, with a forge.
type pullRequestJob struct {
	*job
	server *forgetest.Server
}

func newPullRequestJob(t *testing.T, server *forgetest.Server, environment string, run int, more map[string]string) pullRequestJob {
	t.Helper()
	event := filepath.Join(t.TempDir(), "event.json")
	payload := fmt.Sprintf(`{"pull_request": {"number": 7, "head": {"sha": "%040d", "repo": {"full_name": "acme/shop"}}, "base": {"repo": {"full_name": "acme/shop"}}}}`, run)
	if err := os.WriteFile(event, []byte(payload), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{
		"GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": event, "GITHUB_SHA": "merge", "GITHUB_RUN_ID": fmt.Sprint(run), "GITHUB_RUN_ATTEMPT": "1",
		"GITHUB_REPOSITORY": forgetest.Repository, "GITHUB_SERVER_URL": "https://forge.test", "GITHUB_API_URL": server.URL,
		"INPUT_ENVIRONMENT": environment, "INPUT_GITHUB-TOKEN": "ghs_canary",
	}
	for name, value := range more {
		env[name] = value
	}
	return pullRequestJob{newJob(t, env), server}
}

func (j pullRequestJob) run(run report.Run, err error) int {
	process := Process{
		Getenv: func(key string) string { return j.env[key] }, Dir: "/repo", Stdout: &j.log,
		Pause: func(context.Context, time.Duration) error { return nil },
		Forge: func(api, repository, token string) (Forge, error) {
			return forge.Open(forge.Options{APIURL: api, Repository: repository, Token: token, Sleep: func(context.Context, time.Duration) error { return nil }})
		},
	}
	return Run(context.Background(), process, &script{j.job, []answer{{run: run, err: err}}})
}

// planOf is a plan of one Unit that changes.
func planOf(environment, unit string) report.Run {
	return report.Run{Operation: "plan", Environment: environment, Result: report.RunPlanned, Units: []report.UnitResult{{
		Unit: unit, Kind: "Terraform", Outcome: report.Planned, Action: report.Plan, Changes: driver.Changes{Create: 1}, PlanText: "  + a",
		Foresight: &report.Foresight{Certainty: report.Exact},
	}}}
}

// bodies are the texts of the pull request's comments.
func (j pullRequestJob) bodies() []string {
	var out []string
	for _, c := range j.server.Comments(7) {
		out = append(out, c.Body)
	}
	return out
}

func TestCommentIsCreatedThenUpdated(t *testing.T) {
	t.Parallel()
	server := forgetest.New(t)
	for i := range 130 { // ours is on the second page
		server.AddComment(forgetest.Comment{Number: 7, Body: fmt.Sprint("talk ", i), Author: "someone"})
	}
	first := newPullRequestJob(t, server, "dev", 10, nil)
	if code := first.run(planOf("dev", "network"), nil); code != exitOK {
		t.Fatalf("exit code %d:\n%s", code, &first.log)
	}
	second := newPullRequestJob(t, server, "dev", 11, nil)
	second.run(planOf("dev", "database"), nil)
	bodies := second.bodies()
	if len(bodies) != 131 {
		t.Fatalf("want one comment of ours, got %d", len(bodies)-130)
	}
	if body := bodies[130]; !strings.Contains(body, "`database`") || strings.Contains(body, "`network`") || !strings.HasPrefix(body, commentMark) {
		t.Errorf("want the second plan only, got:\n%s", body)
	}
	outputs, err := readFileCommands(read(t, second.output))
	if want := fmt.Sprintf("%s/acme/shop/pull/7#issuecomment-%d", server.URL, server.Comments(7)[130].ID); err != nil || outputs["comment-url"] != want {
		t.Errorf("comment-url: want %s, got %q, %v", want, outputs["comment-url"], err)
	}
	if strings.Contains(second.log.String(), "ghs_canary\n\n") || strings.Contains(bodies[130], "ghs_canary") {
		t.Error("the token shows")
	}
}

func TestOlderRunYields(t *testing.T) {
	t.Parallel()
	server := forgetest.New(t)
	newPullRequestJob(t, server, "dev", 11, nil).run(planOf("dev", "new"), nil)
	late := newPullRequestJob(t, server, "dev", 10, nil)
	if code := late.run(planOf("dev", "old"), nil); code != exitOK {
		t.Errorf("exit code %d, want 0", code)
	}
	if body := strings.Join(late.bodies(), ""); !strings.Contains(body, "`new`") || strings.Contains(body, "`old`") {
		t.Errorf("want the newer run's plan, got:\n%s", body)
	}
	if !strings.Contains(late.log.String(), "stays as it is: run 11 (attempt 1)") {
		t.Errorf("the log does not say why:\n%s", &late.log)
	}
}

// A token of a person that may not ask whose it is learns that from the comment that it creates.
func TestNamelessToken(t *testing.T) {
	t.Parallel()
	server := forgetest.New(t)
	server.User, server.Nameless = "robot", true
	server.AddComment(forgetest.Comment{Number: 7, Body: commentMark + "a stranger's", Author: "mallory"})
	for _, run := range []struct {
		id         int
		unit, want string
	}{{10, "network", "network"}, {11, "database", "database"}, {9, "late", "database"}} {
		newPullRequestJob(t, server, "dev", run.id, nil).run(planOf("dev", run.unit), nil)
		comments := server.Comments(7)
		if len(comments) != 2 || comments[0].Author != "mallory" || !strings.Contains(comments[0].Body, "a stranger's") {
			t.Fatalf("after run %d: want the stranger's comment and one of ours, got %+v", run.id, comments)
		}
		if body := comments[1].Body; !strings.Contains(body, "`"+run.want+"`") || strings.Count(body, "### Plan") != 1 {
			t.Errorf("after run %d: want the plan of %s only, got:\n%s", run.id, run.want, body)
		}
	}
}

func TestEnvironmentsShareOneComment(t *testing.T) {
	t.Parallel()
	server := forgetest.New(t)
	newPullRequestJob(t, server, "dev", 10, nil).run(planOf("dev", "a"), nil)
	newPullRequestJob(t, server, "prod", 10, nil).run(planOf("prod", "b"), nil)
	last := newPullRequestJob(t, server, "dev", 11, nil)
	last.run(planOf("dev", "c"), nil)
	bodies := last.bodies()
	if len(bodies) != 1 {
		t.Fatalf("want one comment, got %d", len(bodies))
	}
	sections, _ := parseComment(bodies[0])
	var got []string
	for _, s := range sections {
		got = append(got, fmt.Sprintf("%s by %d", s.key, s.made.run))
	}
	if diff := cmp.Diff([]string{"dev . by 11", "prod . by 10"}, got); diff != "" {
		t.Errorf("sections (-want +got):\n%s", diff)
	}
	if !strings.Contains(bodies[0], "`c`") || !strings.Contains(bodies[0], "`b`") || strings.Contains(bodies[0], "`a`") {
		t.Errorf("want the plans c and b:\n%s", bodies[0])
	}
}

func TestTokenThatMayNotComment(t *testing.T) {
	t.Parallel()
	server := forgetest.New(t)
	server.Fail(forgetest.Failure{Method: http.MethodPost, Path: "/comments", Status: 403, Message: "Resource not accessible by integration"})
	j := newPullRequestJob(t, server, "dev", 10, nil)
	if code := j.run(planOf("dev", "a"), nil); code != exitOK {
		t.Errorf("exit code %d, want 0", code)
	}
	if n := strings.Count(j.log.String(), "may not comment on pull request #7"); n != 1 {
		t.Errorf("want it said once, got %d times:\n%s", n, &j.log)
	}
	if !strings.Contains(read(t, j.summary), "`a`") {
		t.Errorf("the summary has no plan:\n%s", read(t, j.summary))
	}
}

func TestCommentRaces(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		failure  func(id int64) forgetest.Failure
		requests int
	}{
		"deleted between list and update": {func(id int64) forgetest.Failure {
			return forgetest.Failure{Method: http.MethodPatch, Path: fmt.Sprint("/", id), Before: func(s *forgetest.Server) { s.DeleteComment(id) }}
		}, 0},
		"a passing failure": {func(id int64) forgetest.Failure {
			return forgetest.Failure{Method: http.MethodPatch, Path: fmt.Sprint("/", id), Status: 502}
		}, 0},
		"too long by the forge's count": {func(id int64) forgetest.Failure {
			return forgetest.Failure{Method: http.MethodPatch, Path: fmt.Sprint("/", id), Status: 422, Message: "body is too long"}
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := forgetest.New(t)
			newPullRequestJob(t, server, "dev", 10, nil).run(planOf("dev", "a"), nil)
			server.Fail(tc.failure(server.Comments(7)[0].ID))
			j := newPullRequestJob(t, server, "dev", 11, nil)
			j.run(planOf("dev", "b"), nil)
			if bodies := j.bodies(); len(bodies) != 1 || !strings.Contains(bodies[0], "`b`") {
				t.Errorf("want one comment with the plan b, got %q\n%s", bodies, &j.log)
			}
		})
	}
}

// A comment that was created although the forge said it failed is found again.
func TestCommentCreatedInSpiteOfAFailure(t *testing.T) {
	t.Parallel()
	server := forgetest.New(t)
	server.Fail(forgetest.Failure{Method: http.MethodPost, Path: "/comments", Status: 502, Done: true})
	j := newPullRequestJob(t, server, "dev", 10, nil)
	j.run(planOf("dev", "a"), nil)
	if bodies := j.bodies(); len(bodies) != 1 {
		t.Errorf("want one comment, got %d\n%s", len(bodies), &j.log)
	}
}

// Two jobs that made a comment each at once end with one that has both sections.
func TestTwoFirstComments(t *testing.T) {
	t.Parallel()
	server := forgetest.New(t)
	other := commentSection{key: "prod .", made: generation{"s", 10, 1}, text: "### Plan `prod`\n"}
	server.Fail(forgetest.Failure{Method: http.MethodPost, Path: "/comments", Before: func(s *forgetest.Server) {
		s.AddComment(forgetest.Comment{Number: 7, Body: commentMark + other.head() + other.text + sectionEnd, Author: "github-actions[bot]", Bot: true})
	}})
	j := newPullRequestJob(t, server, "dev", 10, nil)
	j.run(planOf("dev", "a"), nil)
	bodies := j.bodies()
	if len(bodies) != 1 || !strings.Contains(bodies[0], "Plan `prod`") || !strings.Contains(bodies[0], "`a`") {
		t.Errorf("want one comment with both plans, got %q\n%s", bodies, &j.log)
	}
}

// Another job's write in between that lost our section is seen and mended.
func TestLostSectionIsWrittenAgain(t *testing.T) {
	t.Parallel()
	server := forgetest.New(t)
	newPullRequestJob(t, server, "prod", 10, nil).run(planOf("prod", "p"), nil)
	old := server.Comments(7)[0]
	// The second look at the comments finds the comment as another job's write left it.
	server.Fail(forgetest.Failure{Method: http.MethodGet, Path: "/comments"}, forgetest.Failure{Method: http.MethodGet, Path: "/comments", Before: func(s *forgetest.Server) {
		s.DeleteComment(old.ID)
		s.AddComment(old)
	}})
	j := newPullRequestJob(t, server, "dev", 10, nil)
	j.run(planOf("dev", "a"), nil)
	if bodies := j.bodies(); len(bodies) != 1 || !strings.Contains(bodies[0], "`p`") || !strings.Contains(bodies[0], "`a`") {
		t.Errorf("want both plans, got %q\n%s", bodies, &j.log)
	}
}

// Anybody may write our mark; it is not taken for ours.
func TestForgedCommentIsIgnored(t *testing.T) {
	t.Parallel()
	server := forgetest.New(t)
	forged := commentSection{key: "dev .", made: generation{"s", 1 << 40, 1}, text: "all is well\n"}
	server.AddComment(forgetest.Comment{Number: 7, Body: commentMark + forged.head() + forged.text + sectionEnd, Author: "mallory"})
	j := newPullRequestJob(t, server, "dev", 10, nil)
	j.run(planOf("dev", "a"), nil)
	if bodies := j.bodies(); len(bodies) != 2 || !strings.Contains(bodies[1], "`a`") {
		t.Errorf("want a comment of our own, got %q\n%s", bodies, &j.log)
	}
}

// Marks in a driver's output end or forge no section.
func TestForeignMarksAreInert(t *testing.T) {
	t.Parallel()
	forged := commentSection{key: "prod .", made: generation{"s", 1 << 40, 1}}
	run := planOf("dev", "a")
	run.Units[0].PlanText = sectionEnd + forged.head() + "all is well" + sectionEnd
	server := forgetest.New(t)
	newPullRequestJob(t, server, "dev", 10, nil).run(run, nil)
	j := newPullRequestJob(t, server, "prod", 10, nil)
	j.run(planOf("prod", "b"), nil)
	sections, _ := parseComment(strings.Join(j.bodies(), ""))
	if len(sections) != 2 || sections[1].made.run != 10 {
		t.Errorf("want the sections of dev and prod by run 10, got %+v\n%s", sections, &j.log)
	}
}

func TestCommentModes(t *testing.T) {
	t.Parallel()
	server := forgetest.New(t)
	newPullRequestJob(t, server, "dev", 10, map[string]string{"INPUT_COMMENT-MODE": "off"}).run(planOf("dev", "a"), nil)
	if got := server.Requests(); len(got) != 0 {
		t.Errorf("off: want no requests, got %q", got)
	}
	newPullRequestJob(t, server, "dev", 11, nil).run(planOf("dev", "a"), nil)
	server.AddComment(forgetest.Comment{Number: 7, Body: "talk", Author: "someone"})
	j := newPullRequestJob(t, server, "dev", 12, map[string]string{"INPUT_COMMENT-MODE": "recreate"})
	j.run(planOf("dev", "b"), nil)
	if bodies := j.bodies(); len(bodies) != 2 || bodies[0] != "talk" || !strings.Contains(bodies[1], "`b`") {
		t.Errorf("recreate: want ours at the end, got %q\n%s", bodies, &j.log)
	}
}

func TestFailedPlanIsCommentedOn(t *testing.T) {
	t.Parallel()
	server := forgetest.New(t)
	j := newPullRequestJob(t, server, "dev", 10, nil)
	if code := j.run(report.Run{}, fmt.Errorf("the Project has no name")); code != exitFailed {
		t.Errorf("exit code %d, want 1", code)
	}
	if bodies := j.bodies(); len(bodies) != 1 || !strings.Contains(bodies[0], "`the Project has no name`") || !strings.Contains(bodies[0], "the plan failed") {
		t.Errorf("want the failure in the comment, got %q", bodies)
	}
}

func TestPlanFailsOnDestroy(t *testing.T) {
	t.Parallel()
	run := planOf("dev", "a")
	run.Units[0].Changes = driver.Changes{Destroy: 1}
	j := newPullRequestJob(t, forgetest.New(t), "dev", 10, map[string]string{"INPUT_FAIL-ON": "destroy"})
	if code := j.run(run, nil); code != exitFailed || !strings.Contains(j.log.String(), "the plan destroys or replaces resources of a (see the input fail-on)") {
		t.Errorf("want 1 and the reason, got %d:\n%s", code, &j.log)
	}
	j = newPullRequestJob(t, forgetest.New(t), "dev", 10, map[string]string{"INPUT_FAIL-ON": "waiting,drift"})
	if code := j.run(run, nil); code != exitOK {
		t.Errorf("exit code %d, want 0:\n%s", code, &j.log)
	}
}
