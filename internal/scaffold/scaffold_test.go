package scaffold

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// TestEveryDocumentIsValid makes every document in both formats: what is scaffolded passes its contract, names its schema,
// and says the same in JSON as in YAML.
func TestEveryDocumentIsValid(t *testing.T) {
	t.Parallel()
	documents := map[string]Document{
		"project":             Project{Name: "shop"},
		"project with values": Project{Name: "shop", WriteFormat: "json", EnvironmentsPath: "env", Desired: "d/{environment}", Observed: "o/{environment}", Candidate: "c/{environment}/{id}"},
		"environment":         Environment{Name: "dev", ChangeGate: "none"},
		"gated environment":   Environment{Name: "1", ChangeGate: "pullRequest"},
		"stack":               Stack{Environment: "dev", Name: "shop", Template: "service"},
		"stack with values": Stack{Environment: "dev", Name: "shop", Template: "true", Units: []string{"a", "on"},
			Parameters: document.NewMap(document.F("size", document.NewString("yes: no")))},
		"stack template":         StackTemplate{Name: "service"},
		"stack template of text": StackTemplate{Name: "service", Text: []byte(StackTemplate{Name: "service"}.YAML())},
	}
	for _, kind := range resource.UnitKinds() {
		documents[kind] = Unit{Environment: "dev", Name: "on", Kind: kind, SourcePath: "."}
	}
	for name, d := range documents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stem := d.Stem(Layout{EnvironmentsPath: "env", StackTemplatesPath: "templates"})
			if file, isEnvironment := d.(Environment); isEnvironment && stem != "env/"+file.Name+"/environment" {
				t.Errorf("the place is %s", stem)
			}
			text, err := Text(d, stem+".yaml")
			if err != nil {
				t.Fatalf("YAML: %v\n%s", err, text)
			}
			if document.SchemaDirective(text) == "" {
				t.Errorf("no schema is named:\n%s", text)
			}
			asJSON, err := Text(d, stem+".json")
			if err != nil {
				t.Fatalf("JSON: %v\n%s", err, asJSON)
			}
			a, b := decode(t, stem+".yaml", text), decode(t, stem+".json", asJSON)
			if b.Get("$schema").Str() != document.SchemaDirective(text) {
				t.Errorf("schema: want %q, got %q", document.SchemaDirective(text), b.Get("$schema").Str())
			}
			if !document.Equal(a, b.Without("$schema")) {
				t.Errorf("YAML and JSON differ:\n%s\n%s", text, asJSON)
			}
		})
	}
}

func decode(t *testing.T, file string, data []byte) *document.Node {
	t.Helper()
	n, err := document.Decode(file, data)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestValuesStayStrings(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"true", "on", "1", "1.5", "017", "", "a: b", "#x", "{environment}", "x{environment}", ".", "~", "a\nb", "null", ".5", ".inf", "./src", "ü"} {
		got := decode(t, "x.yaml", []byte("v: "+scalar(value)+"\n")).Get("v")
		if got.Kind != document.String || got.Text != value {
			t.Errorf("%q is written as %s, which reads as %v %q", value, scalar(value), got.Kind, got.Text)
		}
	}
}

func TestFaultsOfValuesAreTold(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		document Document
		want     string
	}{
		"project name":      {Project{Name: "-"}, "/metadata/name"},
		"template":          {Project{Name: "a", Desired: "fixed"}, "/spec/environmentDefaults/refs/desired"},
		"write format":      {Project{Name: "a", WriteFormat: "xml"}, "/spec/writeFormat"},
		"environment name":  {Environment{Name: "A", ChangeGate: "none"}, "/metadata/name"},
		"source path":       {Unit{Name: "a", Kind: "Terraform", SourcePath: "../x"}, "/spec/source/path"},
		"unit name":         {Unit{Name: strings.Repeat("a", 64), Kind: "Terraform", SourcePath: "."}, "1 to 63"},
		"two units":         {Stack{Name: "a", Template: "t", Units: []string{"x", "x"}}, "/spec/units"},
		"name of a text":    {StackTemplate{Name: "b", Text: []byte(StackTemplate{Name: "a"}.YAML())}, "/metadata/name"},
		"kind of a text":    {StackTemplate{Name: "b", Text: []byte("apiVersion: gitopsctr.io/v1\nkind: Stack\n")}, "/kind"},
		"text that is none": {StackTemplate{Name: "b", Text: []byte("a: [")}, "x.yaml:"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Text(test.document, "x.yaml")
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("want an error about %s, got %v", test.want, err)
			}
		})
	}
}

func TestKindOf(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	for _, name := range []string{"Terraform", "terraform", "oci-images", "ociimages", "frontend-s3-cloudfront", "tf"} {
		kind, ok := KindOf(name)
		if !ok {
			kind = "none"
		}
		got[name] = kind
	}
	want := map[string]string{"Terraform": "Terraform", "terraform": "Terraform", "oci-images": "OciImages", "ociimages": "OciImages",
		"frontend-s3-cloudfront": "FrontendS3Cloudfront", "tf": "none"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
