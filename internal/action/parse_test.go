package action

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func parse(inputs map[string]string, event Event) (Job, error) {
	return Parse(func(name string) string { return inputs[name] }, event, "/repo")
}

func TestInputErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		inputs map[string]string
		want   string
	}{
		{"booleans come first", map[string]string{"operation": "bogus", "dry": "True", "plan": "yes"}, `input "dry" is "True"; use "true" or "false"`},
		{"reapply is a boolean", map[string]string{"operation": "bogus", "reapply": "1"}, `input "reapply" is "1"; use "true" or "false"`},
		{"plan before dry", map[string]string{"operation": "converge", "plan": "true", "dry": "true"}, `input "plan" cannot be used with the operation converge; it is for reconcile`},
		{"dry before files", map[string]string{"operation": "reconcile", "dry": "true", "files": "a"}, `input "dry" cannot be used with the operation reconcile; it is for apply, rollback or promote`},
		{"files before partition", map[string]string{"operation": "rollback", "files": "a", "partition": "p"}, `input "files" cannot be used with the operation rollback; it is for apply, converge, promote or plan`},
		{"partition before required", map[string]string{"operation": "verify", "partition": "p"}, `input "partition" cannot be used with the operation verify; it is for apply, converge, promote or plan`},
		{"unknown operation", map[string]string{"operation": "deploy"}, `input "operation" is "deploy", which is no operation; use prepare, apply, converge, reconcile, promote, rollback, plan, verify or comment`},
		{"environment first", map[string]string{"operation": "rollback"}, `input "environment" is required by the operation rollback; set it`},
		{"then the rest in order", map[string]string{"operation": "rollback", "environment": "dev", "reason": "r"}, `input "rollback-revision" is required by the operation rollback; set it`},
		{"reconcile needs a unit", map[string]string{"operation": "reconcile", "environment": "dev"}, `input "unit" is required by the operation reconcile; set it`},
		{"promote needs files", map[string]string{"operation": "promote", "from-environment": "a", "to-environment": "b"}, `input "files" is required by the operation promote; set it`},
		{"prepare refuses require-source-ref", map[string]string{"operation": "prepare", "environment": "dev", "require-source-ref": "main"}, `input "require-source-ref" cannot be used with the operation prepare; remove it`},
		{"units and partition", map[string]string{"operation": "converge", "environment": "dev", "units": "a", "partition": "p"}, `input "partition" cannot be used together with unit; select by one of them`},
		{"empty element", map[string]string{"operation": "verify", "environment": "dev", "units": "a, ,b"}, `input "units" has an empty element; separate names by single commas`},
		{"only a comma", map[string]string{"operation": "verify", "environment": "dev", "units": ","}, `input "units" has an empty element; separate names by single commas`},
		{"fail-on", map[string]string{"operation": "verify", "environment": "dev", "fail-on": "drifted"}, `input "fail-on" has the element "drifted"; use waiting, drift and destroy, with commas between`},
		{"max-parallel", map[string]string{"operation": "verify", "environment": "dev", "max-parallel": "0"}, `input "max-parallel" is "0"; use a whole number from 1`},
		{"lock-timeout", map[string]string{"operation": "verify", "environment": "dev", "lock-timeout": "60"}, `input "lock-timeout" is "60"; use a duration such as "90s" or "5m"`},
		{"event without default", map[string]string{"environment": "dev"}, `input "operation" is empty, and the event "issues" has no default operation; set it`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := parse(tt.inputs, Event{Name: "issues"})
			if usage := (*InputError)(nil); !errors.As(err, &usage) {
				t.Fatalf("error = %v, want an InputError", err)
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		inputs map[string]string
		event  Event
		want   Job
	}{
		{
			"push converges what the commit says",
			map[string]string{"environment": "dev", "working-directory": "app", "fail-on": "waiting, drift", "dry": "false"},
			Event{Name: "push", SHA: "abc"},
			Job{Requests: []Request{{Operation: Converge, Environment: "dev", Directory: "/repo/app", Authored: true, SourceRevision: "abc", FailOn: FailOn{Waiting: true, Drift: true}}}},
		},
		{
			"files of a push",
			map[string]string{"environment": "dev", "files": "a.yaml\n\n b c.yaml \r\n", "source-revision": "def"},
			Event{Name: "workflow_dispatch", SHA: "abc"},
			Job{Requests: []Request{{Operation: Converge, Environment: "dev", Directory: "/repo", Files: []string{"a.yaml", "b c.yaml"}, SourceRevision: "def"}}},
		},
		{
			"schedule converges and verifies",
			map[string]string{"environment": "dev", "working-directory": "/elsewhere", "max-parallel": "4", "lock-timeout": "5m"},
			Event{Name: "schedule", SHA: "abc"},
			Job{Requests: []Request{
				{Operation: Converge, Environment: "dev", Directory: "/elsewhere", Authored: true, SourceRevision: "abc", MaxParallel: 4, LockTimeout: 5 * time.Minute},
				{Operation: Verify, Environment: "dev", Directory: "/elsewhere", MaxParallel: 4, LockTimeout: 5 * time.Minute},
			}},
		},
		{
			"pull request plans",
			map[string]string{"environment": "dev", "terraform-version": "1.9.8", "github-token": "tok"},
			Event{Name: "pull_request", SHA: "abc"},
			Job{Requests: []Request{{Operation: Plan, Environment: "dev", Directory: "/repo", Authored: true, SourceRevision: "abc", TerraformVersion: "1.9.8", Token: "tok"}}},
		},
		{
			"foreign pull request plans without drivers",
			map[string]string{"environment": "dev"},
			Event{Name: "pull_request", SHA: "abc", Foreign: true},
			Job{Requests: []Request{{Operation: Plan, Environment: "dev", Directory: "/repo", Authored: true, SourceRevision: "abc", Static: true}}},
		},
		{
			"merge group plans",
			map[string]string{"environment": "dev"},
			Event{Name: "merge_group", SHA: "abc"},
			Job{Requests: []Request{{Operation: Plan, Environment: "dev", Directory: "/repo", Authored: true, SourceRevision: "abc"}}},
		},
		{
			"named converge applies nothing",
			map[string]string{"operation": "converge", "environment": "dev", "unit": "a", "units": "b, a,"},
			Event{Name: "push", SHA: "abc"},
			Job{Requests: []Request{{Operation: Converge, Environment: "dev", Directory: "/repo", Units: []string{"b", "a"}}}},
		},
		{
			"named verify fails on drift",
			map[string]string{"operation": "verify", "environment": "dev", "unit": "a"},
			Event{Name: "schedule", SHA: "abc"},
			Job{Requests: []Request{{Operation: Verify, Environment: "dev", Directory: "/repo", Units: []string{"a"}, FailOn: FailOn{Drift: true}}}},
		},
		{
			"what an operation does not use is ignored aloud",
			map[string]string{"operation": "promote", "from-environment": "a", "to-environment": "b", "files": "f", "desired-ref": "z", "environment": "y", "package-source": "git", "git-author-name": "N"},
			Event{Name: "push", SHA: "abc"},
			Job{
				Requests: []Request{{Operation: Promote, FromEnvironment: "a", ToEnvironment: "b", Files: []string{"f"}, SpecificationRevision: "abc", Directory: "/repo", Author: Author{Name: "N"}}},
				Warnings: []string{
					`input "environment" is ignored: the operation promote does not use it`,
					`input "desired-ref" is ignored: the operation promote does not use it`,
					`input "package-source" is ignored: this version of the action does not use it`,
				},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := parse(tt.inputs, tt.event)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("job (-want +got):\n%s", diff)
			}
		})
	}
}

func TestForeignPullRequests(t *testing.T) {
	t.Parallel()
	full := func(op Operation, dry string) map[string]string {
		return map[string]string{"operation": string(op), "environment": "dev", "unit": "u", "from-environment": "a", "to-environment": "b", "rollback-revision": "r", "reason": "r", "dry": dry}
	}
	tests := []struct {
		op      Operation
		dry     string
		allowed bool
	}{
		{Prepare, "", true}, {Plan, "", true}, {Apply, "true", true},
		{Apply, "", false}, {Converge, "", false}, {Reconcile, "", false}, {Verify, "", false}, {Rollback, "true", false}, {Promote, "true", false},
	}
	for _, tt := range tests {
		inputs := full(tt.op, tt.dry)
		if tt.op == Apply || tt.op == Promote {
			inputs["files"] = "f"
		}
		job, err := parse(inputs, Event{Name: "pull_request_target", Foreign: true})
		switch {
		case tt.allowed && (err != nil || !job.Requests[0].Static):
			t.Errorf("%s: error %v, want a static request", tt.op, err)
		case !tt.allowed && err == nil:
			t.Errorf("%s is not refused", tt.op)
		}
		if _, err := parse(inputs, Event{Name: "pull_request"}); err != nil {
			t.Errorf("%s of the repository's own pull request: %v", tt.op, err)
		}
	}
}

func TestForeign(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, payload string
		want          bool
	}{
		{"own branch", `{"pull_request":{"merged":false,"head":{"repo":{"full_name":"a/b"}},"base":{"repo":{"full_name":"a/b"}}}}`, false},
		{"fork", `{"pull_request":{"head":{"repo":{"full_name":"x/b"}},"base":{"repo":{"full_name":"a/b"}}}}`, true},
		{"deleted fork", `{"pull_request":{"head":{"repo":null},"base":{"repo":{"full_name":"a/b"}}}}`, true},
		{"merged fork", `{"pull_request":{"merged":true,"head":{"repo":{"full_name":"x/b"}},"base":{"repo":{"full_name":"a/b"}}}}`, false},
		{"no payload", `null`, true},
		{"strange payload", `{"pull_request":[1]}`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var payload map[string]any
			if err := json.Unmarshal([]byte(tt.payload), &payload); err != nil {
				t.Fatal(err)
			}
			if got := foreign(payload); got != tt.want {
				t.Errorf("foreign = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestSecretsDoNotShow(t *testing.T) {
	t.Parallel()
	req := Request{Token: "hunter2"}
	encoded, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{fmt.Sprint(req), fmt.Sprintf("%+v", req), fmt.Sprintf("%#v", req), fmt.Sprintf("%q", req.Token), string(encoded)} {
		if strings.Contains(text, "hunter2") {
			t.Errorf("the secret shows in %s", text)
		}
	}
	if got := req.Token.Reveal(); got != "hunter2" {
		t.Errorf("Reveal = %q", got)
	}
}
