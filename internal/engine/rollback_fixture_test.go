package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// historyFixture writes desired states of an ungated environment with a Stack, and Receipts for them.
type historyFixture struct {
	*gateFixture
	t testing.TB
}

func newHistoryFixture(t testing.TB) historyFixture {
	t.Helper()
	files := maps.Clone(stagingFiles)
	files["deployment/environments/staging/environment.yaml"] = "apiVersion: gitopsctr.io/v1\nkind: Environment\nmetadata: {name: staging}\nspec: {}\n"
	return historyFixture{newGateFixture(t, files, nil), t}
}

// stackUID and its like are valid UIDs.
const (
	stackUID  = "d1-00000000000000000000000000000001"
	otherUID  = "d1-00000000000000000000000000000002"
	sourceRev = "1111111111111111111111111111111111111111"
	digestOne = "sha256:1111111111111111111111111111111111111111111111111111111111111111"
)

// terraform is a desired Unit with one variable; extra is more metadata.
func terraform(name, uid, value, extra string) string {
	return fmt.Sprintf(`apiVersion: unit.gitopsctr.io/v1
kind: Terraform
metadata:
  name: %s
  uid: %s
%sspec:
  source: {path: net, revision: '%s', driverVersion: 2, inputHash: '%s', inputs: null}
  terraform: {backend: null, variables: {value: %s}, observeOutputs: [], checks: null}
  inputs: null
  resolvedInputs: null
`, name, uid, extra, sourceRev, digestOne, value)
}

func owned(uid string) string {
	return "  ownerReferences:\n  - {apiVersion: gitopsctr.io/v1, kind: Stack, name: app, uid: " + uid + "}\n"
}

// stack binds its Units; web comes after svc.
func (f historyFixture) stack(uid string, units map[string]string) string {
	f.t.Helper()
	bindings := ""
	for _, local := range slices.Sorted(maps.Keys(units)) {
		u := f.unit(units[local])
		before := "[]"
		if local == "web" {
			before = "[svc]"
		}
		bindings += fmt.Sprintf("      %s: {apiVersion: unit.gitopsctr.io/v1, kind: Terraform, name: %s, uid: %s, desiredDigest: '%s', sourceProjectionDigest: '%s', projectionContextDigest: '%s', dependsOn: %s}\n",
			local, local, u.Metadata.UID, u.BindingDigest(), digestOne, digestOne, before)
	}
	return fmt.Sprintf(`apiVersion: gitopsctr.io/v1
kind: Stack
metadata: {name: app, uid: %[1]s}
spec:
  templateRef: {name: app, uid: %[1]s, contentDigest: '%[2]s'}
  structuralProjection:
    identity: {stackUid: %[1]s, templateUid: %[1]s, templateContentDigest: '%[2]s', projectionContextDigest: '%[2]s', projectionDigest: '%[2]s'}
    units: {}
  activeProjection:
    sourceProjectionDigest: '%[2]s'
    projectionContextDigest: '%[2]s'
    units:
%[3]s    projectionDigest: '%[2]s'
`, uid, digestOne, bindings)
}

func (f historyFixture) unit(text string) *resource.Unit {
	f.t.Helper()
	u, err := resource.DecodeUnit("unit.yaml", []byte(text))
	if err != nil {
		f.t.Fatal(err)
	}
	return u
}

// publish makes files the whole tree of the desired branch, each document in canonical form, and returns the commit.
func (f historyFixture) publish(files map[string]string) string {
	f.t.Helper()
	result, err := f.store.Update(f.t.Context(), "gitopsctr/desired/staging", func(current *gitstate.Snapshot) ([]gitstate.Change, error) {
		var edits []gitstate.Edit
		for _, file := range current.Files("") {
			if _, kept := files[file.Path]; !kept {
				edits = append(edits, gitstate.Edit{Path: file.Path, Delete: true})
			}
		}
		for _, path := range slices.Sorted(maps.Keys(files)) {
			data := []byte(files[path])
			if strings.HasPrefix(path, "units/") {
				var err error
				if data, err = f.unit(files[path]).Encode(document.YAML); err != nil {
					return nil, err
				}
			}
			edits = append(edits, gitstate.Edit{Path: path, Content: data})
		}
		return []gitstate.Change{{Message: "desired", Edits: edits}}, nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return result.After.Revision()
}

// observe records a Receipt for every Unit of the desired head, and returns the observed commit.
func (f historyFixture) observe() string {
	f.t.Helper()
	_, p := f.open(f.t, "")
	result, err := f.store.Update(f.t.Context(), "gitopsctr/observed/staging", func(*gitstate.Snapshot) ([]gitstate.Change, error) {
		var edits []gitstate.Edit
		for _, name := range p.state.Names() {
			u := p.state.Unit(name)
			outcome, err := document.Decode("result.json", []byte(`{"applied": {"sourceRevision": "`+sourceRev+`", "path": "net"}, "outputs": {}}`))
			if err != nil {
				return nil, err
			}
			r, err := resource.NewReceipt(u.Unit, name, u.Blob, p.desired.Revision(), resource.Controller{Version: "test", Revision: sourceRev, ObservedAt: f.now}.Node(), outcome, nil)
			if err != nil {
				return nil, err
			}
			data, err := r.Encode(document.YAML)
			if err != nil {
				return nil, err
			}
			edits = append(edits, gitstate.Edit{Path: resource.ReceiptPath(name, document.YAML), Content: data})
		}
		return []gitstate.Change{{Message: "observed", Edits: edits}}, nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return result.After.Revision()
}

// state is an environment: a Stack app with svc and web, and lone.
func (f historyFixture) state(svc, lone, loneExtra string) map[string]string {
	units := map[string]string{"svc": terraform("svc", "d1-s", svc, owned(stackUID)), "web": terraform("web", "d1-w", "same", owned(stackUID))}
	return map[string]string{
		"stacks/app.yaml":    f.stack(stackUID, units),
		"units/app/svc.yaml": units["svc"], "units/app/web.yaml": units["web"],
		"units/lone.yaml": terraform("lone", "d1-l", lone, loneExtra),
	}
}

func (f historyFixture) rollback(to string, units ...string) (Outcome, error) {
	return f.Rollback(f.t.Context(), RollbackRequest{Target: Target{Environment: "staging"}, ToDesiredRevision: to, Reason: "r", Units: units})
}

// variable is a Unit's variable on the desired branch as it is now.
func (f historyFixture) variable(name string) string {
	f.t.Helper()
	_, p := f.open(f.t, "")
	return p.state.Unit(name).Spec.Path("terraform", "variables", "value").Str()
}
