//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// pulls is the part of the forge's interface that opens pull requests.
type pulls struct {
	mu   sync.Mutex
	open []pull
}

type pull struct {
	Number int    `json:"number"`
	URL    string `json:"html_url"`
	Title  string `json:"title"`
	Body   string `json:"body"`
	Head   side   `json:"head"`
	Base   side   `json:"base"`
}

type side struct {
	Ref  string            `json:"ref"`
	Repo map[string]string `json:"repo"`
}

// serve adds the interface to a forge.
func (p *pulls) serve(f *forge) {
	address := apiPath + "/repos/acme/shop/pulls"
	f.mux.HandleFunc("GET "+address, func(w http.ResponseWriter, req *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		found := []pull{}
		for _, one := range p.open {
			if "acme:"+one.Head.Ref == req.URL.Query().Get("head") && one.Base.Ref == req.URL.Query().Get("base") {
				found = append(found, one)
			}
		}
		answer(w, http.StatusOK, found)
	})
	f.mux.HandleFunc("POST "+address, func(w http.ResponseWriter, req *http.Request) {
		var in struct{ Title, Body, Head, Base string }
		if err := json.NewDecoder(req.Body).Decode(&in); err != nil {
			answer(w, http.StatusBadRequest, map[string]string{"message": err.Error()})
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		n := len(p.open) + 1
		repo := map[string]string{"full_name": "acme/shop"}
		p.open = append(p.open, pull{n, fmt.Sprintf("https://forge.example.test/pull/%d", n), in.Title, in.Body, side{in.Head, repo}, side{in.Base, repo}})
		answer(w, http.StatusCreated, p.open[n-1])
	})
}

func (p *pulls) all() []pull {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]pull(nil), p.open...)
}

const (
	productionEnvironment = `apiVersion: gitopsctr.io/v1
kind: Environment
metadata:
  name: production
spec:
  changeGate: pullRequest
  promotion:
    allowedSources: [dev]
`
	productionUnit = `apiVersion: unit.gitopsctr.io/v1
kind: Terraform
metadata:
  name: infrastructure
spec:
  source:
    path: infra
    inputs: ["**/*.tf"]
  terraform:
    backend:
      address: STATE_URL/production
    variables:
      environment: {fromPromotion: {}}
    observeOutputs: [api_url]
`
)

// TestDispatchPromotes delivers dev, promotes it by hand to a gated environment, merges the pull request as a forge does,
// and converges: nothing runs before the merge.
func TestDispatchPromotes(t *testing.T) {
	_, image := images(t)
	r := newRemote(t)
	requests := &pulls{}
	requests.serve(r.forge)
	repo := newRepository(t, r, image, "push.yml", "dispatch.yml")
	repo.write(t, "deployment/environments/production/environment.yaml", productionEnvironment)
	repo.write(t, "deployment/environments/production/units/infrastructure.yaml", strings.ReplaceAll(productionUnit, "STATE_URL", r.url+"/state"))
	repo.commit(t, r, "Describe production")
	if run := runWorkflow(t, repo, r, "push", "push.yml"); !run.succeeded {
		t.Fatal("dev was not delivered")
	}

	dispatch := func(operation string) job {
		t.Helper()
		run := runWorkflow(t, repo, r, "workflow_dispatch", "dispatch.yml", "--input", "environment=production", "--input", "operation="+operation)
		if !run.succeeded {
			t.Fatalf("%s failed", operation)
		}
		return run
	}
	first := dispatch("promote")
	open := requests.all()
	if len(open) != 1 {
		t.Fatalf("%d pull requests, want 1: %+v", len(open), open)
	}
	candidate := r.git(t, "rev-parse", open[0].Head.Ref)
	wantOutputs(t, first, map[string]string{
		"result": "proposed", "change_status": "created", "change_url": open[0].URL, "change_revision": candidate, "candidate_revision": candidate,
		"target_ref": "gitopsctr/desired/production", "candidate_ref": open[0].Head.Ref, "source_desired_revision": r.git(t, "rev-parse", desiredRef),
	})
	if want := "Promote dev to production"; open[0].Title != want || open[0].Base.Ref != "gitopsctr/desired/production" {
		t.Errorf("the pull request is %q into %s, want %q into the desired branch", open[0].Title, open[0].Base.Ref, want)
	}
	for _, text := range []string{r.git(t, "rev-parse", desiredRef), r.git(t, "rev-parse", observedRef), r.git(t, "rev-parse", "main"), "infrastructure"} {
		if !strings.Contains(open[0].Body, text) {
			t.Errorf("the pull request does not name %s:\n%s", text, open[0].Body)
		}
	}
	if !strings.Contains(first.summary, "## Promote dev to production") {
		t.Errorf("the job summary does not tell of the promotion:\n%s", first.summary)
	}

	refs := r.refs(t)
	wantOutputs(t, dispatch("promote"), map[string]string{"change_status": "existing", "change_revision": candidate})
	before := dispatch("converge")
	if r.states.names()["production"] {
		t.Errorf("a driver ran before the merge:\n%s", before.log)
	}
	if got := r.refs(t); len(got) != len(refs) {
		t.Errorf("refs before the merge: %v, want %v", got, refs)
	}

	r.git(t, "update-ref", "refs/heads/gitopsctr/desired/production", candidate)
	after := dispatch("converge")
	if !r.states.names()["production"] {
		t.Errorf("no driver ran after the merge:\n%s", after.log)
	}
	wantOutputs(t, after, map[string]string{"result": "clean"})
	checkSecrets(t, r, first, before, after)
}
