package resource

import (
	"strings"
	"testing"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/google/go-cmp/cmp"
)

// TestDesiredFromAuthored builds desired Units from authored ones and compares with what the reference published. The
// values of references, source and payload are taken from the published document.
func TestDesiredFromAuthored(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ authored, desired string }{
		{"g-drivers/run1/authored/argo.yaml", "g-drivers/run1/desired/units/argo.yaml"},
		{"g-drivers/run1/authored/bundle.yaml", "g-drivers/run1/desired/units/bundle.yaml"},
		{"g-drivers/run1/authored/helm.yaml", "g-drivers/run1/desired/units/helm.yaml"},
		{"g-drivers/run1/authored/images.yaml", "g-drivers/run1/desired/units/images.yaml"},
		{"g-drivers/run1/authored/plain.yaml", "g-drivers/run1/desired/units/plain.yaml"},
		{"g-drivers/run1/authored/site.yaml", "g-drivers/run1/desired/units/site.yaml"},
		{"g-drivers/terraform/authored-infra.yaml", "g-drivers/terraform/desired-infra.yaml"},
		{"b-apply-references/desired/authored/deployment/environments/qa/units/app.yaml", "b-apply-references/desired/second/units/app.yaml"},
		{"b-apply-references/desired/authored/deployment/environments/qa/units/net.yaml", "b-apply-references/desired/second/units/net.yaml"},
		{"b-apply-references/desired/authored/deployment/environments/qa/units/cm.yaml", "b-apply-references/desired/second/units/cm.yaml"},
	} {
		t.Run(tt.desired, func(t *testing.T) {
			t.Parallel()
			authored, err := DecodeAuthoredUnit(tt.authored, readVector(t, tt.authored))
			if err != nil {
				t.Fatal(err)
			}
			if err := authored.CheckDirect(); err != nil {
				t.Fatal(err)
			}
			want, err := DecodeUnit(tt.desired, readVector(t, tt.desired))
			if err != nil {
				t.Fatal(err)
			}
			resolved := map[string]*document.Node{}
			for _, template := range authored.Templates() {
				value, err := want.Spec.At(template.Pointer)
				if err != nil {
					t.Fatal(err)
				}
				resolved[template.Pointer] = value
			}
			spec, err := BuildDesiredSpec(authored.Kind, authored.Substitute(resolved), want.Source(), want.ResolvedInputs(), want.Spec.Get("materialization"))
			if err != nil {
				t.Fatal(err)
			}
			u, err := NewUnit(authored.Kind, want.Metadata, spec)
			if err != nil {
				t.Fatal(err)
			}
			got, err := u.Encode(document.YAML)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(readVector(t, tt.desired)), string(got)); diff != "" {
				t.Errorf("desired document (-want +got):\n%s", diff)
			}
			if u.HasReferences() {
				t.Error("want no references in the desired document")
			}
		})
	}
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, kind, spec string
		want             []string
	}{
		{"variables before inputs", "Terraform", "{source: {path: a}, inputs: {b: 1}, terraform: {variables: {a: 1}}}", []string{`/terraform/variables {"a":1}`, `/inputs {"b":1}`}},
		{"none", "Terraform", "{source: {path: a}, terraform: {variables: null}}", nil},
		{"values of helm", "KubernetesManifests", "{source: {path: a}, materialize: {type: helm, releaseName: r, namespace: n, values: {x: 1}}, delivery: {mode: external}}", []string{`/materialize/values {"x":1}`}},
		{"plain has none", "KubernetesManifests", "{source: {path: a}, materialize: {type: plain}, delivery: {mode: external}}", nil},
		{"typed inputs in declared order, nulls filled in", "FrontendS3Cloudfront", "{inputs: {url: u, bucket: {fromReceipt: {unit: a}}}}",
			[]string{`/inputs typed {"bucket":{"fromReceipt":{"unit":"a"}},"bundle":null,"distributionId":null,"runtimeConfig":null,"url":"u"}`}},
		{"images have none", "OciImages", "{source: {path: a}}", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			u, err := DecodeAuthoredUnit("u.yaml", []byte("apiVersion: unit.gitopsctr.io/v1\nkind: "+tt.kind+"\nmetadata: {name: u}\nspec: "+tt.spec))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, template := range u.Templates() {
				s := template.Pointer + " "
				if template.Typed {
					s += "typed "
				}
				got = append(got, s+string(document.CanonicalJSON(template.Node)))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("templates (-want +got):\n%s", diff)
			}
		})
	}
}

// Values come from other documents; when they do not fit, the error names the place in the Unit.
func TestDesiredSpecRefusesWrongValues(t *testing.T) {
	t.Parallel()
	source := &Source{Path: "a", Revision: strings.Repeat("1", 40)}
	for _, tt := range []struct{ name, kind, authored, want string }{
		{"a number for a text", "FrontendS3Cloudfront", "{inputs: {bundle: b, bucket: 5, distributionId: d, url: u, runtimeConfig: {schema: 1, apiBase: a, auth: {mode: cognito, issuer: i, clientId: c}}}}",
			"/spec/inputs/bucket: must be a string, not an integer; put it in quotes"},
		{"null for a text", "FrontendS3Cloudfront", "{inputs: {bundle: null, bucket: b, distributionId: d, url: u, runtimeConfig: {schema: 1, apiBase: a, auth: {mode: cognito, issuer: i, clientId: c}}}}",
			"/spec/inputs/bundle: must be a string, not null"},
		{"another version of the configuration", "FrontendS3Cloudfront", "{inputs: {bundle: b, bucket: b, distributionId: d, url: u, runtimeConfig: {schema: 2, apiBase: a, auth: {mode: basic, issuer: i, clientId: c}}}}",
			"/spec/inputs/runtimeConfig/schema: must be the integer 1\n/spec/inputs/runtimeConfig/auth/mode: must be \"cognito\", not \"basic\""},
		{"a value that looks like a reference", "Terraform", "{source: {path: a}, terraform: {variables: {x: [{fromPromotion: {}}]}}}",
			`/spec/terraform/variables/x/0/fromPromotion: a desired document must not hold the key "fromPromotion"`},
		{"no inputs", "FrontendS3Cloudfront", "{}", `/spec: missing field "inputs"; add it: a mapping`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := BuildDesiredSpec(tt.kind, parse(t, tt.authored), source, nil, nil)
			if err == nil {
				t.Fatal("want an error, got none")
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

// inOrder writes a node as JSON with its keys in order.
func inOrder(n *document.Node) string {
	switch n.Kind {
	case document.Map:
		parts := make([]string, len(n.Fields))
		for i, f := range n.Fields {
			parts[i] = string(document.CanonicalJSON(document.NewString(f.Key))) + ":" + inOrder(f.Value)
		}
		return "{" + strings.Join(parts, ",") + "}"
	case document.List:
		parts := make([]string, len(n.Items))
		for i, item := range n.Items {
			parts[i] = inOrder(item)
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return string(document.CanonicalJSON(n))
}

func TestProducers(t *testing.T) {
	t.Parallel()
	for path, want := range map[string][]string{
		"g-drivers/run1/desired/units/helm.yaml":  {"images"},
		"f-promotion/promoted-unit-web.yaml":      {"net"},
		"g-drivers/run1/desired/units/plain.yaml": nil,
	} {
		u, err := DecodeUnit(path, readVector(t, path))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, u.Producers()); diff != "" {
			t.Errorf("producers of %s (-want +got):\n%s", path, diff)
		}
	}
}
