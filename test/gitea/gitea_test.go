//go:build gitea && unix

// Package gitea tests the program against a real forge: a Gitea with its hooks, branch protections, pull requests and
// comments, to which a job talks as on a runner, by HTTP with a token.
//
// It knows nothing of the program's inside. What a job did is asked from Gitea.
//
// hack/gitea.sh builds the server and runs the test.
package gitea

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pull is a pull request as the server shows it.
type pull struct {
	Number int            `json:"number"`
	Title  string         `json:"title"`
	Body   string         `json:"body"`
	URL    string         `json:"html_url"`
	State  string         `json:"state"`
	Merged bool           `json:"merged"`
	Head   map[string]any `json:"head"`
	Base   map[string]any `json:"base"`
}

type issue struct {
	ID    int64  `json:"id"`
	Title string `json:"title"`
	Body  string `json:"body"`
	URL   string `json:"html_url"`
	State string `json:"state"`
}

var dev = map[string]string{"environment": "dev"}

func TestGitea(t *testing.T) {
	p := buildProgram(t)
	s := startServer(t)
	t.Run("a push delivers", func(t *testing.T) { testPush(t, newRepository(t, s, p, "push")) })
	t.Run("a pull request is planned in one comment", func(t *testing.T) { testComment(t, newRepository(t, s, p, "comment")) })
	t.Run("a token for less", func(t *testing.T) { testScopes(t, newRepository(t, s, p, "scopes")) })
	t.Run("a protected branch refuses", func(t *testing.T) { testProtected(t, newRepository(t, s, p, "protected")) })
	t.Run("a promotion opens a pull request", func(t *testing.T) { testPromote(t, newRepository(t, s, p, "promote")) })
	t.Run("drift keeps one issue", func(t *testing.T) { testDriftIssue(t, newRepository(t, s, p, "drift")) })
}

// deliver converges dev and fails the test unless that worked.
func deliver(t *testing.T, r *repository) job {
	t.Helper()
	run := r.action(t, "push", map[string]any{}, dev)
	if run.code != 0 || run.outputs["result"] != "clean" {
		t.Fatalf("the delivery ended with %d, result %q", run.code, run.outputs["result"])
	}
	return run
}

// testPush: both refs are published, the Receipts have what was applied, and a second run has nothing to do.
func testPush(t *testing.T, r *repository) {
	run := deliver(t, r)
	refs := r.refs(t)
	if got, want := refs["gitopsctr/desired/dev"], run.outputs["desired-revision"]; got == "" || got != want {
		t.Errorf("the desired branch is at %q, want %q", got, want)
	}
	if got, want := refs["gitopsctr/observed/dev"], run.outputs["observed-revision"]; got == "" || got != want {
		t.Errorf("the observed branch is at %q, want %q", got, want)
	}
	for file, want := range map[string]string{"units/net.yaml": "url: https://dev.example.test", "units/app.yaml": "seen: r1 https://dev.example.test"} {
		if got := r.file(t, "gitopsctr/observed/dev", file); !strings.Contains(got, want) {
			t.Errorf("the Receipt %s does not contain %q:\n%s", file, want, got)
		}
	}
	again := r.action(t, "push", map[string]any{}, dev)
	if again.code != 0 || !strings.Contains(again.log, "nothing to do") {
		t.Errorf("the second run ended with %d, want nothing to do", again.code)
	}
	if diff := cmp.Diff(refs, r.refs(t)); diff != "" {
		t.Errorf("the second run moved branches (-before +after):\n%s", diff)
	}
}

// testComment: the plan of a pull request is one comment; the next push updates it in place, among others' comments, and
// an older run that ends late changes nothing.
func testComment(t *testing.T, r *repository) {
	deliver(t, r)
	opened, comments := openRequest(t, r)
	r.api(t, "POST", comments, map[string]any{"body": "What a person says."}, nil)
	before := r.refs(t)

	plan := func() (job, []issue) {
		t.Helper()
		run := planRequest(t, r, opened)
		var found []issue
		r.api(t, "GET", comments, nil, &found)
		if len(found) != 2 || found[0].Body != "What a person says." {
			t.Fatalf("want the person's comment and ours, got %+v", found)
		}
		return run, found
	}
	first, posted := plan()
	if got, want := first.outputs["comment-url"], posted[1].URL; got != want {
		t.Errorf("the output comment-url is %q, want %q", got, want)
	}
	for _, text := range []string{"1 to change", "app", "r2"} {
		if !strings.Contains(posted[1].Body, text) {
			t.Errorf("the comment does not contain %q:\n%s", text, posted[1].Body)
		}
	}

	r.replace(t, topicUnit, "release: r2", "release: r3")
	before["topic"] = r.push(t, "topic", "Release r3")
	_, updated := plan()
	if updated[1].ID != posted[1].ID || !strings.Contains(updated[1].Body, "r3") || strings.Contains(updated[1].Body, "release: r2") {
		t.Errorf("want comment %d to show r3 only, got comment %d:\n%s", posted[1].ID, updated[1].ID, updated[1].Body)
	}
	t.Logf("comment:\n%s", updated[1].Body)

	r.run = 50
	if _, late := plan(); late[1] != updated[1] {
		t.Errorf("an older run changed the comment:\n%s", cmp.Diff(updated[1], late[1]))
	}
	if diff := cmp.Diff(before, r.refs(t)); diff != "" {
		t.Errorf("a plan moved branches (-before +after):\n%s", diff)
	}
}

// topicUnit is what the pull requests change.
const topicUnit = "deployment/environments/dev/units/app.yaml"

// openRequest opens a pull request that changes app. It returns its number and where its comments are.
func openRequest(t *testing.T, r *repository) (number int, comments string) {
	t.Helper()
	r.git(t, "checkout", "--quiet", "-b", "topic")
	r.replace(t, topicUnit, "release: r1", "release: r2")
	r.push(t, "topic", "Release r2")
	var opened pull
	r.api(t, "POST", r.path("/pulls"), map[string]any{"title": "Release r2", "head": "topic", "base": "main"}, &opened)
	return opened.Number, r.path(fmt.Sprintf("/issues/%d/comments", opened.Number))
}

// planRequest is the job of a pull request, which has to succeed.
func planRequest(t *testing.T, r *repository, number int) job {
	t.Helper()
	// The payload is what Gitea gives to a runner: the pull request as its interface shows it.
	var request map[string]any
	r.api(t, "GET", r.path(fmt.Sprintf("/pulls/%d", number)), nil, &request)
	run := r.action(t, "pull_request", map[string]any{"number": number, "pull_request": request}, dev)
	if run.code != 0 || run.outputs["result"] != "planned" {
		t.Fatalf("the plan ended with %d, result %q", run.code, run.outputs["result"])
	}
	return run
}

// testScopes: a token that may not comment fails nothing, and the log says once why; one that may not ask whose it is
// still keeps one comment.
func testScopes(t *testing.T, r *repository) {
	deliver(t, r)
	number, comments := openRequest(t, r)
	found := func() (all []issue) {
		t.Helper()
		r.api(t, "GET", comments, nil, &all)
		return all
	}
	r.jobToken = r.newToken(t, "no-comments", "write:repository,read:user")
	run := planRequest(t, r, number)
	if n := strings.Count(run.log, "the token may not comment on pull request"); n != 1 || len(found()) != 0 {
		t.Errorf("the log says %d times that the token may not comment, want once", n)
	}
	if !strings.Contains(run.summary, "1 to change") {
		t.Errorf("the job summary does not have the plan:\n%s", run.summary)
	}

	r.jobToken = r.newToken(t, "no-user", "write:repository,write:issue")
	planRequest(t, r, number)
	first := found()
	again := planRequest(t, r, number)
	second := found()
	if len(first) != 1 || len(second) != 1 || first[0].ID != second[0].ID || first[0].Body == second[0].Body {
		t.Errorf("want one comment, updated in place; got %+v, then %+v", first, second)
	}
	if got, want := again.outputs["comment-url"], second[0].URL; got != want {
		t.Errorf("the output comment-url is %q, want %q", got, want)
	}
}

// testProtected: a rule that lets nobody push to the desired branch is named as what refused, with the remedy, before any
// driver runs; the observed branch likewise, after it. Without the rules the next run delivers.
func testProtected(t *testing.T, r *repository) {
	for _, branch := range []string{"desired", "observed"} {
		name := "gitopsctr/" + branch + "/dev"
		r.api(t, "POST", r.path("/branch_protections"), map[string]any{"rule_name": name, "enable_push": false}, nil)
		before := r.refs(t)
		run := r.action(t, "push", map[string]any{}, dev)
		if run.code != 1 || run.outputs["result"] != "failed" {
			t.Errorf("the run against the protected branch ended with %d, result %q, want 1 and failed", run.code, run.outputs["result"])
		}
		for _, text := range []string{"publish " + name, "protected branch", "allow this identity to bypass the ruleset or branch protection"} {
			if !strings.Contains(run.log, text) {
				t.Errorf("the log does not contain %q", text)
			}
		}
		after := r.refs(t)
		if after[name] != before[name] {
			t.Errorf("%s moved to %s", name, after[name])
		}
		_, err := os.Stat(filepath.Join(r.states, "dev-net.tfstate"))
		if applied := err == nil; applied != (branch == "observed") {
			t.Errorf("with %s protected the driver ran: %v", name, applied)
		}
		r.api(t, "DELETE", r.path("/branch_protections/"+strings.ReplaceAll(name, "/", "%2F")), nil, nil)
	}
	deliver(t, r)
}

// testPromote: the change of a gated environment is a pull request, found again by the next run; nothing is applied until
// somebody merges it on the server.
func testPromote(t *testing.T, r *repository) {
	deliver(t, r)
	promote := map[string]string{
		"operation": "promote", "from-environment": "dev", "to-environment": "production",
		"files": "deployment/environments/production/units",
	}
	open := func() []pull {
		t.Helper()
		var found []pull
		r.api(t, "GET", r.path("/pulls?state=open"), nil, &found)
		return found
	}
	for _, status := range []string{"created", "existing"} {
		run := r.action(t, "workflow_dispatch", map[string]any{}, promote)
		found := open()
		if run.code != 0 || len(found) != 1 {
			t.Fatalf("the promotion ended with %d and %d pull requests are open, want 0 and 1", run.code, len(found))
		}
		want := map[string]string{"change-status": status, "change-url": found[0].URL, "candidate-ref": fmt.Sprint(found[0].Head["ref"])}
		got := map[string]string{}
		for name := range want {
			got[name] = run.outputs[name]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("outputs (-want +got):\n%s", diff)
		}
	}
	request := open()[0]
	if request.Title != "Promote dev to production" || request.Base["ref"] != "gitopsctr/desired/production" {
		t.Errorf("the pull request is %q into %v", request.Title, request.Base["ref"])
	}
	if !strings.Contains(request.Body, "release: r1") {
		t.Errorf("the pull request does not show the promoted value:\n%s", request.Body)
	}

	production := map[string]string{"environment": "production", "operation": "converge"}
	state := filepath.Join(r.states, "production-app.tfstate")
	r.action(t, "push", map[string]any{}, production)
	if _, err := os.Stat(state); err == nil {
		t.Error("a driver ran before the merge")
	}
	r.api(t, "POST", r.path(fmt.Sprintf("/pulls/%d/merge", request.Number)), map[string]any{"Do": "merge"}, nil)
	after := r.action(t, "push", map[string]any{}, production)
	if after.code != 0 || after.outputs["result"] != "clean" {
		t.Errorf("converging after the merge ended with %d, result %q", after.code, after.outputs["result"])
	}
	if got, want := r.file(t, "gitopsctr/observed/production", "units/app.yaml"), "seen: r1 https://production.example.test"; !strings.Contains(got, want) {
		t.Errorf("the Receipt does not contain %q:\n%s", want, got)
	}
}

const otherTitle = "Something else"

// testDriftIssue: drift opens one issue, the next run keeps it, and the run that finds none closes it.
func testDriftIssue(t *testing.T, r *repository) {
	deliver(t, r)
	state := filepath.Join(r.states, "dev-app.tfstate")
	clean := content(state)
	verify := func(code int) []issue {
		t.Helper()
		run := r.action(t, "schedule", map[string]any{}, map[string]string{"environment": "dev", "operation": "verify", "drift-issue": "true"})
		if run.code != code {
			t.Errorf("verify ended with %d, want %d", run.code, code)
		}
		var found []issue
		r.api(t, "GET", r.path("/issues?state=all&type=issues&limit=50"), nil, &found)
		return slices.DeleteFunc(found, func(i issue) bool { return i.Title == otherTitle })
	}
	if found := verify(0); len(found) != 0 {
		t.Fatalf("%d issues without drift: %+v", len(found), found)
	}
	if err := os.WriteFile(state, []byte(strings.ReplaceAll(clean, "r1 https", "by hand https")), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		found := verify(1)
		if len(found) != 1 || found[0].State != "open" || !strings.Contains(found[0].Body, "app") {
			t.Fatalf("want one open issue that names app, got %+v", found)
		}
		for range 20 { // so that a later run has to look on the second page, of 30 issues each
			r.api(t, "POST", r.path("/issues"), map[string]any{"title": otherTitle}, nil)
		}
	}
	if err := os.WriteFile(state, []byte(clean), 0o600); err != nil {
		t.Fatal(err)
	}
	if found := verify(0); len(found) != 1 || found[0].State != "closed" {
		t.Errorf("want the issue closed, got %+v", found)
	}
}
