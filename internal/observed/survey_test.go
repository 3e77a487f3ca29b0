package observed_test

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// A tree is the content of a ref: path to text.
type tree map[string]string

func (t tree) Files(prefix string) []gitstate.File {
	var out []gitstate.File
	for _, path := range slices.Sorted(maps.Keys(t)) {
		if prefix == "" || path == prefix || strings.HasPrefix(path, strings.TrimSuffix(prefix, "/")+"/") {
			out = append(out, gitstate.File{Path: path, Mode: 0o644, Blob: document.BlobID([]byte(t[path]))})
		}
	}
	return out
}

func (t tree) ReadFile(path string) ([]byte, error) {
	if text, ok := t[path]; ok {
		return []byte(text), nil
	}
	return nil, fs.ErrNotExist
}

func survey(desired, seen tree) *observed.Survey {
	return observed.NewSurvey(observed.Plane{Ref: "desired", Revision: "d", Tree: desired}, observed.Plane{Ref: "observed", Revision: "o", Tree: seen})
}

const digest = "sha256:db74b627f1b78e7c822fbb22de0cc962745dabdc6d599a2f1b2308eecb966817"

// unit is a desired Terraform Unit; owner is "" or the name of a Stack, extra goes into metadata.
func unit(name, owner, extra string) string {
	if owner != "" {
		extra += fmt.Sprintf("  ownerReferences:\n  - {apiVersion: gitopsctr.io/v1, kind: Stack, name: %s, uid: s-%s}\n", owner, owner)
	}
	return fmt.Sprintf(`apiVersion: unit.gitopsctr.io/v1
kind: Terraform
metadata:
  name: %s
  uid: u-%s
%sspec:
  source: {path: tf, revision: %s, driverVersion: 2, inputHash: "%s", inputs: null}
  terraform: {backend: null, variables: null, observeOutputs: [], checks: null}
  inputs: null
  resolvedInputs: null
`, name, name, extra, strings.Repeat("a", 40), digest)
}

func receipt(name, kind, blob string) string {
	return fmt.Sprintf(`apiVersion: gitopsctr.io/v1
kind: Receipt
metadata: {name: %[1]s}
spec:
  subject: {apiVersion: unit.gitopsctr.io/v1, kind: %[2]s, name: %[1]s, qualifiedName: %[1]s}
  desired: {unitBlob: %[3]s, revision: %[3]s}
  resolvedInputs: null
status:
  controller: {version: "1"}
  result: {applied: {sourceRevision: x, path: tf}, outputs: {}}
`, name, kind, blob)
}

func blob(text string) string { return document.BlobID([]byte(text)) }

func TestUnitStates(t *testing.T) {
	t.Parallel()
	deleting := "  deletion: {generation: 2, resourceDigest: \"" + digest + "\"}\n"
	desired := tree{
		"units/clean.yaml": unit("clean", "", ""), "units/stale.yaml": unit("stale", "", ""), "units/fresh.yaml": unit("fresh", "", ""),
		"units/blocked.yaml": unit("blocked", "", ""), "units/gone.yaml": unit("gone", "", deleting), "units/other.yaml": unit("other", "", ""),
		"units/broken.yaml":                 "kind: 1",
		".gitopsctr/transition-blocks.json": `{"blocks": {"blocked": "receipt is stale: clean"}}`,
	}
	seen := tree{
		"units/clean.yaml": receipt("clean", "Terraform", blob(desired["units/clean.yaml"])),
		"units/stale.yaml": receipt("stale", "Terraform", strings.Repeat("b", 40)), "units/blocked.yaml": receipt("blocked", "Terraform", blob(desired["units/blocked.yaml"])),
		"units/orphan.yaml": receipt("orphan", "Terraform", strings.Repeat("b", 40)), "units/broken.yaml": receipt("broken", "Terraform", strings.Repeat("b", 40)),
		"units/other.yaml": strings.Replace(receipt("other", "KubernetesManifests", strings.Repeat("b", 40)), "{applied: {sourceRevision: x, path: tf}, outputs: {}}",
			"{applied: {manifestDigest: x, inventory: []}}", 1),
	}
	v := survey(desired, seen)
	got := map[string]string{}
	for _, name := range v.Names() {
		state, err := v.UnitState(name)
		got[name] = fmt.Sprintf("%s %s %s", state.Observation, state.Condition, state.Reason)
		if err != nil {
			got[name] = string(state.Observation) + " " + err.Error()
		}
	}
	for _, name := range []string{"orphan", "broken", "nothing"} {
		observation, err := v.Observation(name)
		got["receipt of "+name] = fmt.Sprintf("%s %v", observation, err)
	}
	want := map[string]string{
		"clean": "CURRENT CLEAN observation matches desired state", "stale": "STALE READY desired inputs changed since its last receipt",
		"fresh": "MISSING READY no observation receipt", "blocked": "CURRENT WAIT receipt is stale: clean",
		"gone":               "MISSING WAIT deletion pending finalization (UID u-gone, generation 2)",
		"other":              `UNKNOWN read observed: units/other.yaml: /spec/subject: is about the KubernetesManifests "other", but the Unit there is the Terraform "other"`,
		"receipt of orphan":  "ORPHAN <nil>",
		"receipt of broken":  "UNKNOWN <nil>",
		"receipt of nothing": "MISSING <nil>",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if faults := v.Faults(); len(faults) != 1 || faults[0].Name != "broken" || faults[0].Family != observed.UnitFamily {
		t.Errorf("want the fault of the Unit broken only, got %v", faults)
	}
}

func TestConditionsCountOpaqueRoots(t *testing.T) {
	t.Parallel()
	desired := tree{"units/a.yaml": unit("a", "", ""), ".gitopsctr/cleanup/units/old.yaml": "x: 1"}
	counts, err := survey(desired, tree{}).Conditions()
	if diff := cmp.Diff(map[observed.Condition]int{observed.Ready: 1, observed.Wait: 1}, counts); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	desired[".gitopsctr/cleanup/units/a.yaml"] = "x: 1"
	if _, err := survey(desired, tree{}).Conditions(); err == nil || !strings.Contains(err.Error(), `"a" has the name of another Unit`) {
		t.Errorf("want an error about the name, got %v", err)
	}
}

func TestPartitionIsThatOfTheOwner(t *testing.T) {
	t.Parallel()
	v := survey(tree{"units/free.yaml": unit("free", "", "  labels: {gitopsctr.io/partition: mine}\n")}, tree{})
	v.Stacks["shop"] = &observed.Root{Kind: "Stack", Name: "shop", Path: "stacks/shop.yaml",
		Metadata: resource.Metadata{Name: "shop", UID: "s-shop", Labels: []resource.Label{{Key: resource.PartitionLabel, Value: "theirs"}}}}
	v.Stacks["loop"] = &observed.Root{Kind: "Stack", Name: "loop", Path: "stacks/loop.yaml",
		Metadata: resource.Metadata{Name: "loop", UID: "s-loop", Owner: &resource.OwnerReference{Kind: "Stack", Name: "loop", UID: "s-loop"}}}
	owned := func(name, uid string) resource.Metadata {
		return resource.Metadata{Name: "app", Owner: &resource.OwnerReference{APIVersion: resource.CoreAPI, Kind: "Stack", Name: name, UID: uid}}
	}
	tests := map[string]struct {
		metadata    resource.Metadata
		want, fault string
	}{
		"own":            {v.Unit("free").Metadata, "mine", ""},
		"none":           {resource.Metadata{Name: "x"}, "", ""},
		"of the owner":   {owned("shop", "s-shop"), "theirs", ""},
		"unknown owner":  {owned("shops", "s-shop"), "", "the owner of app, the Stack shops with UID s-shop, is not on desired"},
		"another owner":  {owned("shop", "s-old"), "", "with UID s-old, is not on desired"},
		"owner of owner": {owned("loop", "s-loop"), "", "owns itself"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := v.Partition(test.metadata)
			if got != test.want || (err == nil) != (test.fault == "") || err != nil && !strings.Contains(err.Error(), test.fault) {
				t.Errorf("want %q and an error with %q, got %q and %v", test.want, test.fault, got, err)
			}
		})
	}
}

func TestStackObservationNamesWhatIsBroken(t *testing.T) {
	t.Parallel()
	desired := tree{
		"units/shop/app.yaml": unit("app", "shop", ""), "units/shop/db.yaml": unit("db", "shop", ""), "units/shop/web.yaml": unit("web", "other", ""),
	}
	v := survey(desired, tree{})
	binding := func(name, digest string) document.Field {
		return document.F(name, document.NewMap(document.F("apiVersion", document.NewString(resource.UnitAPI)), document.F("kind", document.NewString("Terraform")),
			document.F("name", document.NewString(name)), document.F("uid", document.NewString("u-"+name)), document.F("desiredDigest", document.NewString(digest))))
	}
	of := func(name string) string { return v.Unit("shop/" + name).BindingDigest() }
	tests := map[string]struct {
		bindings []document.Field
		want     string
	}{
		"nothing bound":   {nil, "N/A"},
		"whole":           {[]document.Field{binding("app", of("app"))}, "MISSING"},
		"another version": {[]document.Field{binding("app", of("app")), binding("db", digest)}, "BROKEN(db:mismatch),MISSING"},
		"not there":       {[]document.Field{binding("cache", digest)}, "BROKEN(cache:missing)"},
		"of another":      {[]document.Field{binding("web", of("web"))}, "BROKEN(web:owner)"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := document.NewMap(document.F("activeProjection", document.NewMap(document.F("units", document.NewMap(test.bindings...)))))
			stack := &observed.Root{Kind: "Stack", Name: "shop", Path: "stacks/shop.yaml", Metadata: resource.Metadata{Name: "shop", UID: "s-shop"}, Spec: spec}
			got, err := v.StackObservation(stack)
			if err != nil || got != test.want {
				t.Errorf("want %s, got %s, %v", test.want, got, err)
			}
		})
	}
}
