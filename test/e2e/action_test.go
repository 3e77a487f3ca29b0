//go:build e2e

// Package e2e tests the Action as a whole: the image built from the Dockerfile, run by a workflow runner (act) in the
// project's own example workflows, against a repository that is served over HTTP to the holder of the job's token.
//
// It knows nothing of the program's inside. What a run did is read where a user would see it: the refs on the remote,
// the step's outputs, the job summary, the annotations and the log.
//
// hack/e2e.sh prepares what it needs: a Docker daemon, the base images, act.
package e2e

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

const (
	desiredRef  = "refs/heads/gitopsctr/desired/dev"
	observedRef = "refs/heads/gitopsctr/observed/dev"
)

// TestPushDelivers follows one repository through three pushes: the first creates everything, the second has nothing
// to do, the third breaks a Unit.
func TestPushDelivers(t *testing.T) {
	_, image := images(t)
	r := newRemote(t)
	repo := newRepository(t, r, image, "push.yml")

	first := runWorkflow(t, repo, r, "push", "push.yml")
	if !first.succeeded {
		t.Fatalf("the first run failed")
	}
	checkRefs(t, r)
	source := r.git(t, "rev-parse", "main")
	checkReceipts(t, r, source, source)
	if got := r.states.names(); !got["infrastructure"] || !got["app"] {
		t.Errorf("states on the server: %v, want infrastructure and app", got)
	}
	wantOutputs(t, first, map[string]string{
		"reconciled":    "true",
		"result":        "clean",
		"target_ref":    "gitopsctr/desired/dev",
		"change_status": "published",
		"waiting":       "[]",
		"failed":        "[]",
	})
	for _, text := range []string{"dev", "infrastructure", "app", "```mermaid"} {
		if !strings.Contains(first.summary, text) {
			t.Errorf("the job summary does not contain %q:\n%s", text, first.summary)
		}
	}
	if !strings.Contains(first.log, "result: clean") {
		t.Errorf("a later step did not see the output result:\n%s", first.log)
	}

	refs, writes := r.refs(t), r.states.writeCount()
	second := runWorkflow(t, repo, r, "push", "push.yml")
	if !second.succeeded {
		t.Fatalf("the second run failed")
	}
	if diff := cmp.Diff(refs, r.refs(t)); diff != "" {
		t.Errorf("the second run moved refs (-before +after):\n%s", diff)
	}
	if got := r.states.writeCount(); got != writes {
		t.Errorf("the second run wrote %d Terraform states, want 0", got-writes)
	}
	wantOutputs(t, second, map[string]string{"reconciled": "false"})
	for where, text := range map[string]string{"log": second.log, "summary": second.summary} {
		if !strings.Contains(text, "nothing to do") {
			t.Errorf("the second run's %s does not say that there was nothing to do:\n%s", where, text)
		}
	}

	repo.write(t, "app/check.tf", failingCheck)
	repo.commit(t, r, "Break the app")
	third := runWorkflow(t, repo, r, "push", "push.yml")
	if third.succeeded {
		t.Errorf("the run with a broken Unit succeeded")
	}
	if !slices.ContainsFunc(third.annotations, isErrorAt("deployment/environments/dev/units/app.yaml")) {
		t.Errorf("no error annotation at the broken Unit's file, got:\n%+v", third.annotations)
	}
	if !strings.Contains(third.log, "failed: [\"app\"]") {
		t.Errorf("a later step did not see the failed Unit:\n%s", third.log)
	}
	if got, want := r.git(t, "rev-parse", observedRef), refs[observedRef]; got != want {
		t.Errorf("the failed run published %s on the observed ref, want no Receipt after %s", got, want)
	}

	checkSecrets(t, r, first, second, third)
}

// failingCheck is Terraform code that fails when it is planned.
const failingCheck = `
resource "terraform_data" "check" {
  lifecycle {
    precondition {
      condition     = var.api_url == "https://somewhere.else"
      error_message = "the canary of a failing Unit"
    }
  }
}
`

// TestPullRequestPlans: an environment that is not there yet is planned, the plan is shown on the pull request in one
// comment for all runs, and nothing is published or applied.
func TestPullRequestPlans(t *testing.T) {
	_, image := images(t)
	r := newRemote(t)
	repo := newRepository(t, r, image, "pull-request.yml")
	repo.write(t, ".github/event.json", `{"number": 1, "pull_request": {"number": 1,
		"base": {"ref": "main", "repo": {"full_name": "acme/shop"}},
		"head": {"ref": "topic", "sha": "`+repo.git(t, "rev-parse", "HEAD")+`", "repo": {"full_name": "acme/shop", "fork": false}}}}`)
	before := r.refs(t)

	for range 2 {
		run := runWorkflow(t, repo, r, "pull_request", "pull-request.yml", "--eventpath", path.Join(repo.path, ".github/event.json"))
		if !run.succeeded {
			t.Errorf("the plan failed")
		}
		comments := r.forge.comments()
		if len(comments) != 1 {
			t.Fatalf("%d comments on the pull request, want 1: %v", len(comments), comments)
		}
		t.Logf("comment:\n%s", comments[0].Body)
		for where, text := range map[string]string{"summary": run.summary, "comment": comments[0].Body} {
			for _, unit := range []string{"infrastructure", "app"} {
				if !strings.Contains(text, unit) {
					t.Errorf("the plan's %s does not name %s:\n%s", where, unit, text)
				}
			}
			if strings.Contains(text, "nothing to do") {
				t.Errorf("the plan's %s says that there is nothing to do, but two Units are new:\n%s", where, text)
			}
		}
		checkSecrets(t, r, run)
	}
	if diff := cmp.Diff(before, r.refs(t)); diff != "" {
		t.Errorf("a plan moved refs (-before +after):\n%s", diff)
	}
	if got := r.states.writeCount(); got != 0 {
		t.Errorf("a plan wrote %d Terraform states, want 0", got)
	}
}

// TestScheduleVerifies: after a delivery the schedule finds no drift; after the state was changed behind our back it
// does, fails, and repairs nothing.
func TestScheduleVerifies(t *testing.T) {
	_, image := images(t)
	r := newRemote(t)
	repo := newRepository(t, r, image, "push.yml", "schedule.yml")
	if !runWorkflow(t, repo, r, "push", "push.yml").succeeded {
		t.Fatal("the delivery failed")
	}

	refs := r.refs(t)
	if clean := runWorkflow(t, repo, r, "schedule", "schedule.yml"); !clean.succeeded {
		t.Errorf("the schedule failed without drift")
	}

	r.states.rewrite(t, "app", `"input":{"value":"https://dev.example.test"`, `"input":{"value":"https://by.hand"`)
	writes := r.states.writeCount()
	drifted := runWorkflow(t, repo, r, "schedule", "schedule.yml")
	if drifted.succeeded {
		t.Errorf("the schedule succeeded with drift, although fail-on says drift")
	}
	if !strings.Contains(drifted.summary, "app") {
		t.Errorf("the summary does not name the drifted Unit:\n%s", drifted.summary)
	}
	if got := r.states.writeCount(); got != writes {
		t.Errorf("verifying wrote %d Terraform states, want 0", got-writes)
	}
	if diff := cmp.Diff(refs, r.refs(t)); diff != "" {
		t.Errorf("verifying moved refs (-before +after):\n%s", diff)
	}
}

// checkRefs: the environment's refs are there, and none outside the documented names.
func checkRefs(t *testing.T, r *remote) {
	t.Helper()
	refs := r.refs(t)
	for _, want := range []string{desiredRef, observedRef} {
		if refs[want] == "" {
			t.Errorf("%s is not on the remote", want)
		}
	}
	for name := range maps.Keys(refs) {
		if name != "refs/heads/main" && !strings.HasPrefix(name, "refs/heads/gitopsctr/") {
			t.Errorf("%s appeared on the remote", name)
		}
	}
}

// receipt is the part of a Receipt that ties the two state refs together.
type receipt struct {
	Spec struct {
		Subject struct {
			QualifiedName string `json:"qualifiedName"`
		} `json:"subject"`
		Desired struct {
			UnitBlob string `json:"unitBlob"`
		} `json:"desired"`
		ResolvedInputs struct {
			Receipts map[string]string `json:"receipts"`
		} `json:"resolvedInputs"`
	} `json:"spec"`
	Status struct {
		Result struct {
			Applied struct {
				SourceRevision string `json:"sourceRevision"`
				Path           string `json:"path"`
			} `json:"applied"`
			Outputs map[string]string `json:"outputs"`
		} `json:"result"`
	} `json:"status"`
}

// checkReceipts: each Unit has one, for the desired document as it is and the given commits of the source, and the
// app's names the evidence it used.
func checkReceipts(t *testing.T, r *remote, infraRevision, appRevision string) {
	t.Helper()
	want := func(unit, revision, folder string, outputs, receipts map[string]string) receipt {
		var w receipt
		w.Spec.Subject.QualifiedName = unit
		w.Spec.Desired.UnitBlob = r.git(t, "rev-parse", desiredRef+":units/"+unit+".yaml")
		w.Spec.ResolvedInputs.Receipts = receipts
		w.Status.Result.Applied.SourceRevision = revision
		w.Status.Result.Applied.Path = folder
		w.Status.Result.Outputs = outputs
		return w
	}
	const url = "https://dev.example.test"
	evidence := r.git(t, "rev-parse", observedRef+":units/infrastructure.yaml")
	for unit, want := range map[string]receipt{
		"infrastructure": want("infrastructure", infraRevision, "infra", map[string]string{"api_url": url}, nil),
		"app":            want("app", appRevision, "app", map[string]string{"seen": url}, map[string]string{"infrastructure": evidence}),
	} {
		var got receipt
		if err := yaml.Unmarshal([]byte(r.git(t, "show", observedRef+":units/"+unit+".yaml")), &got); err != nil {
			t.Fatalf("Receipt of %s: %v", unit, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Receipt of %s (-want +got):\n%s", unit, diff)
		}
	}
}

func wantOutputs(t *testing.T, run job, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for name := range want {
		if value, ok := run.outputs[name]; ok {
			got[name] = value
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
}

func isErrorAt(file string) func(annotation) bool {
	return func(a annotation) bool { return a.Level == "error" && a.File == file && a.Line != "" }
}

// checkSecrets: the credentials are in no object on the remote and nowhere in what the runner said, and were offered
// to nobody but the server that wants them. The runner masks the token in its log, so that the log is a test for the
// other one only.
func checkSecrets(t *testing.T, r *remote, runs ...job) {
	t.Helper()
	objects := r.allObjects(t)
	for _, secret := range []string{jobToken, statePassword} {
		if strings.Contains(objects, secret) {
			t.Errorf("an object on the remote contains the secret %q", secret)
		}
		for _, run := range runs {
			if strings.Contains(run.everything, secret) {
				t.Errorf("the runner's log contains the secret %q", secret)
			}
		}
	}
	if refused := r.unauthed.all(); len(refused) != 0 {
		t.Errorf("requests with another server's credentials: %v", refused)
	}
}
