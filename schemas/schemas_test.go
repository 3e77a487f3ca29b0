package schemas

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func decode(t *testing.T, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestSchemas compiles every schema and checks that it is what the catalog says.
func TestSchemas(t *testing.T) {
	t.Parallel()
	names := Names()
	if len(names) != 26 {
		t.Errorf("want 26 schemas, got %d", len(names))
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, _ := Path(name)
			raw, ok := Raw(name)
			if !ok {
				t.Fatalf("%s is in the index, but not there", path)
			}
			var head struct {
				Schema, ID, Title string
			}
			tree, _ := decode(t, string(raw)).(map[string]any)
			head.Schema, _ = tree["$schema"].(string)
			head.ID, _ = tree["$id"].(string)
			if want := "https://json-schema.org/draft/2020-12/schema"; head.Schema != want {
				t.Errorf("$schema: want %s, got %s", want, head.Schema)
			}
			if want := "https://niklasrosenstein.github.io/gitopsctr/schemas/" + path; head.ID != want {
				t.Errorf("$id: want %s, got %s", want, head.ID)
			}
			violations, err := Validate(name, map[string]any{})
			if err != nil {
				t.Fatal(err)
			}
			if len(violations) < 3 || violations[0].Message != `missing field "apiVersion"` {
				t.Errorf("want the missing fields of an empty document, got %v", violations)
			}
		})
	}
}

func TestViolations(t *testing.T) {
	t.Parallel()
	terraform := func(spec string) string {
		return `{"apiVersion": "unit.gitopsctr.io/v1", "kind": "Terraform", "metadata": {"name": "net"}, "spec": ` + spec + `}`
	}
	for _, tt := range []struct {
		name, schema, value string
		want                []Violation
	}{
		{"valid", "unit.gitopsctr.io/v1/Terraform/authored", terraform(`{"source": {"path": "a"}, "terraform": {"variables": {"x": {"fromReceipt": {"unit": "b"}}}}}`), nil},
		{"$schema is a text", "unit.gitopsctr.io/v1/Terraform/authored", `{"$schema": 1, ` + terraform(`{"source": {"path": "a"}}`)[1:], []Violation{
			{"/$schema", "must be a string, not a number"}}},
		{"unknown field", "unit.gitopsctr.io/v1/Terraform/authored", terraform(`{"source": {"path": "a", "a/b": 1}}`), []Violation{
			{"/spec/source/a~1b", `unknown field "a/b"`}}},
		{"missing field", "unit.gitopsctr.io/v1/Terraform/authored", terraform(`{"source": {}}`), []Violation{
			{"/spec/source", `missing field "path"`}}},
		{"wrong type", "unit.gitopsctr.io/v1/Terraform/authored", terraform(`{"source": {"path": ["a"]}, "terraform": {"observeOutputs": "url"}}`), []Violation{
			{"/spec/source/path", "must be a string, not a list"},
			{"/spec/terraform/observeOutputs", "must be a list or null, not a string"}}},
		{"pattern", "unit.gitopsctr.io/v1/Terraform/authored", terraform(`{"source": {"path": "a/../b"}}`), []Violation{
			{"/spec/source/path", `must be a path inside the repository: relative, not empty, without ".."`}}},
		{"value that is not allowed", "unit.gitopsctr.io/v1/Terraform/authored", terraform(`{"source": {"path": "a"}, "terraform": {"checks": [{"type": "tcp", "urlOutput": "u"}]}}`), []Violation{
			{"/spec/terraform/checks/0/type", `must be "http"`}}},
		{"fault inside a reference", "unit.gitopsctr.io/v1/Terraform/authored", terraform(`{"source": {"path": "a"}, "inputs": {"x": [{"fromReceipt": {"unit": "B"}}]}}`), []Violation{
			{"/spec/inputs/x/0/fromReceipt/unit", `must be a qualified name such as "app" or "stack/app"`}}},
		{"reference that stays", "unit.gitopsctr.io/v1/Terraform/desired", `{"apiVersion": "unit.gitopsctr.io/v1", "kind": "Terraform", "metadata": {"name": "net", "uid": "u"}, "spec":
			{"source": {"path": "a", "revision": "1111111111111111111111111111111111111111"}, "inputs": {"x": {"fromReceipt": {}}}}}`, []Violation{
			{"/spec/inputs/x/fromReceipt", "references have become values here"}}},
		{"fault of the chosen variant", "unit.gitopsctr.io/v1/KubernetesManifests/authored", `{"apiVersion": "unit.gitopsctr.io/v1", "kind": "KubernetesManifests", "metadata": {"name": "k"}, "spec":
			{"source": {"path": "a"}, "materialize": {"type": "helm", "releaseName": "r", "namespace": "n"}, "delivery": {"mode": "push"}}}`, []Violation{
			{"/spec/delivery/mode", `must be "direct" or "external"`},
			{"/spec/materialize", `missing field "values"`}}},
		{"alternative of null", "gitopsctr.io/v1/Project", `{"apiVersion": "gitopsctr.io/v1", "kind": "Project", "metadata": {"name": "p"}, "spec": {"effectLease": {"store": {"branch": {}}}}}`, []Violation{
			{"/spec/effectLease/store/branch", `missing field "ref"`}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Validate(tt.schema, decode(t, tt.value))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnknownSchema(t *testing.T) {
	t.Parallel()
	if _, err := Validate("gitopsctr.io/v1/Nothing", map[string]any{}); err == nil || err.Error() != `there is no schema "gitopsctr.io/v1/Nothing"` {
		t.Errorf("want an error about the name, got %v", err)
	}
	if _, ok := Raw("gitopsctr.io/v1/Nothing"); ok {
		t.Error("want no text for an unknown name")
	}
	if _, err := refuseURL("https://example.test/x"); err == nil {
		t.Error("want no schema to be loaded")
	}
}
