package action

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/yaml"
)

func TestActionFileDeclaresWhatTheCodeKnows(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	type declaration struct {
		Description string  `json:"description"`
		Default     *string `json:"default"`
	}
	var file struct {
		Name        string                 `json:"name"`
		Author      string                 `json:"author"`
		Description string                 `json:"description"`
		Branding    map[string]string      `json:"branding"`
		Inputs      map[string]declaration `json:"inputs"`
		Outputs     map[string]declaration `json:"outputs"`
		Runs        map[string]string      `json:"runs"`
	}
	if err := yaml.UnmarshalStrict(data, &file); err != nil {
		t.Fatal(err)
	}
	want, got := map[string]string{}, map[string]string{}
	for _, in := range inputs {
		want[in.name] = in.fallback
	}
	for name, in := range file.Inputs {
		if in.Description == "" || in.Default == nil {
			t.Errorf("input %s has no description or no default", name)
			continue
		}
		got[name] = *in.Default
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("inputs and defaults (-code +file):\n%s", diff)
	}
	var names []string
	for name, out := range file.Outputs {
		names = append(names, name)
		if out.Description == "" || out.Default != nil {
			t.Errorf("output %s has no description, or a default", name)
		}
	}
	if diff := cmp.Diff(outputNames, names, cmpopts.SortSlices(func(a, b string) bool { return a < b })); diff != "" {
		t.Errorf("outputs (-code +file):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"using": "docker", "image": "Dockerfile"}, file.Runs); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

// Every output that the code can write is declared, or is a key of chapter F with underscores.
func TestWrittenOutputsAreDeclared(t *testing.T) {
	t.Parallel()
	declared := map[string]bool{}
	for _, name := range outputNames {
		declared[name] = true
	}
	truth := true
	everything := Published{Prepared: &Prepared{}, Change: &Change{}, Promotion: &Promotion{}, Reconciled: &truth, Shards: []Shard{}}
	keys := map[string]bool{
		"desired_revision": true, "change_revision": true, "target_ref": true, "candidate_ref": true, "change_status": true,
		"change_url": true, "candidate_revision": true, "source_desired_revision": true,
	}
	run := everythingRun()
	var sum tally
	sum.add(run)
	for _, o := range outputsOf(run, everything, sum) {
		if !declared[o.name] && !keys[o.name] {
			t.Errorf("output %s is not declared", o.name)
		}
		delete(declared, o.name)
	}
	if len(declared) > 0 {
		t.Errorf("declared but never written: %v", declared)
	}
}
