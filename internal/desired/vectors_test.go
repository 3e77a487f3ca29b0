package desired

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/expression"
	"github.com/gitopsctr/gitopsctr/internal/resource"
	"github.com/gitopsctr/gitopsctr/internal/source"
)

const vectorUnits = "deployment/environments/qa/units/"

// vectorSetting is the recorded source tree with the recorded documents, but for those left out.
func vectorSetting(t testing.TB, without ...string) setting {
	t.Helper()
	tree := vectorPlane(t, "b-apply-references/desired/authored")
	s := setting{
		project: tree["gitopsctr.yaml"], source: tree, authored: plane{},
		environment: strings.Replace(tree["deployment/environments/qa/environment.yaml"], "name: qa", "name: dev", 1),
	}
	for path, text := range tree {
		if name, ok := strings.CutPrefix(path, vectorUnits); ok {
			s.authored[name] = text
		}
	}
	for _, name := range without {
		delete(s.authored, name)
	}
	return s
}

// TestDesiredVectors builds the recorded desired trees, byte for byte, from the recorded source: new Units with their UIDs
// and a block first, the blocked Unit once its producer is observed, and then nothing more. Rendering the payload of cm is
// the business of its driver, so the first apply goes without cm; the second carries it as it was recorded.
func TestDesiredVectors(t *testing.T) {
	t.Parallel()
	first, second := vectorPlane(t, "b-apply-references/desired/first"), vectorPlane(t, "b-apply-references/desired/second")

	s := vectorSetting(t, "cm.yaml")
	got := after(s.build(t), nil)
	want := plane{}
	for path, text := range first {
		if !strings.Contains(path, "/cm") {
			want[path] = text
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("first apply (-want +got):\n%s", diff)
	}

	s = vectorSetting(t)
	s.desired = first
	if edits := s.build(t).Edits(); len(edits) != 0 {
		t.Errorf("the same again: want no edits, got %v", edits)
	}

	s.observed = vectorPlane(t, "b-apply-references/desired/observed")
	c := s.build(t)
	if diff := cmp.Diff(second, after(c, first)); diff != "" {
		t.Errorf("second apply (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"app"}, c.ChangedUnits()); diff != "" {
		t.Errorf("changed Units (-want +got):\n%s", diff)
	}

	s.desired = second
	if edits := s.build(t).Edits(); len(edits) != 0 {
		t.Errorf("a third time: want no edits, got %v", edits)
	}
}

// TestInputHashVectors goes from the recorded files and specs to the recorded hashes, through the same steps as an apply:
// select, hash, normal form, input hash.
func TestInputHashVectors(t *testing.T) {
	t.Parallel()
	n, err := document.Decode("input-hash.json", []byte(vector(t, "b-apply-references/input-hash.json")))
	check(t, err)
	tree := recordedTree{plane{}, map[string]bool{}}
	for _, f := range n.Get("files").Items {
		tree.plane[f.Get("path").Str()] = f.Get("text").Str()
		tree.executable[f.Get("path").Str()] = f.Get("executable").Bool
	}
	index, err := source.NewIndex(tree)
	check(t, err)
	cases := n.Get("cases").Items
	if len(cases) != 15 {
		t.Errorf("want 15 cases, got %d", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Get("label").Str(), func(t *testing.T) {
			t.Parallel()
			u, err := resource.AuthoredUnitFromNode("u.yaml", document.NewMap(
				document.F("apiVersion", document.NewString(resource.UnitAPI)), document.F("kind", c.Get("kind")),
				document.F("metadata", document.NewMap(document.F("name", document.NewString("u")))), document.F("spec", c.Get("spec"))))
			check(t, err)
			normal, err := u.Normal(expression.Normal)
			check(t, err)
			from := u.Source()
			selected, err := index.Select(from.Path, from.Inputs, from.HasInputs)
			check(t, err)
			files, err := (&source.Hasher{}).Hash(t.Context(), index, selected)
			check(t, err)
			kind, _ := resource.UnitKindOf(u.Kind)
			hash, preimage := resource.InputHash(kind, normal, inputFiles(files))
			if diff := cmp.Diff(c.Get("bytes").Str(), string(preimage)); diff != "" {
				t.Errorf("pre-image (-want +got):\n%s", diff)
			}
			if want := c.Get("inputHash").Str(); hash != want {
				t.Errorf("input hash: want %s, got %s", want, hash)
			}
		})
	}
}

// recordedTree is a source whose files may be executable.
type recordedTree struct {
	plane
	executable map[string]bool
}

func (r recordedTree) Files(prefix string) []source.File {
	out := sources{r.plane}.Files(prefix)
	for i := range out {
		if r.executable[out[i].Path] {
			out[i].Mode = source.ModeExecutable
		}
	}
	return out
}

// TestPromotionVector builds the recorded target Unit of a promotion: an inferred and an explicit promotion reference and a
// Receipt, with their fingerprints in the order of first resolution (chapter F, 3.3). The promoted Units are our own, so
// their recorded blob ids stand in for those of the source.
func TestPromotionVector(t *testing.T) {
	t.Parallel()
	recorded, err := resource.DecodeUnit("web.yaml", []byte(vector(t, "f-promotion/promoted-unit-web.yaml")))
	check(t, err)
	s := setting{
		source: plane{"web/main.tf": "", "net/main.tf": ""},
		authored: plane{"net.yaml": netUnit, "web.yaml": `apiVersion: unit.gitopsctr.io/v1
kind: Terraform
metadata: {name: web}
spec:
  source: {path: web}
  terraform:
    variables:
      gateway: {fromReceipt: {unit: net, pointer: /outputs/host}}
      release: {fromPromotion: {}}
      extra: {fromPromotion: {unit: net, pointer: /terraform/variables/cidr}}
`},
	}
	s.promotion = &Promotion{Environment: "dev", Tree: plane{
		"units/web.yaml": after(setting{source: s.source, authored: plane{"web.yaml": terraformUnit("web", "release: v1")}}.build(t), nil)["units/web.yaml"],
		"units/net.yaml": after(setting{source: s.source, authored: plane{"net.yaml": terraformUnit("net", "cidr: '10.1'")}}.build(t), nil)["units/net.yaml"],
	}}
	s.desired = after(s.build(t), nil)
	s.observed = plane{"units/net.yaml": receipt(t, s.desired, "net", strings.Replace(netResult, "h1", "gw-10.2", 1))}
	got := s.build(t).Unit("web")
	if got == nil {
		t.Fatal("web does not resolve")
	}
	variables := func(u *resource.Unit) string {
		return string(document.CanonicalJSON(u.Spec.Path("terraform", "variables")))
	}
	if diff := cmp.Diff(variables(recorded), variables(got)); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(fingerprintKeys(recorded), fingerprintKeys(got)); diff != "" {
		t.Errorf("resolvedInputs (-want +got):\n%s", diff)
	}
	blobs := s.promotion.Tree.Files("")
	want := []string{blobs[1].Blob, blobs[0].Blob} // of web, net
	var found []string
	for _, f := range got.ResolvedInputs().Get("promotions").Fields {
		found = append(found, f.Value.Str())
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("fingerprints (-want +got):\n%s", diff)
	}
}

// fingerprintKeys are the keys of resolvedInputs in written order, with null for what is null.
func fingerprintKeys(u *resource.Unit) []string {
	var keys []string
	for _, group := range u.ResolvedInputs().Fields {
		if group.Value.IsNull() {
			keys = append(keys, group.Key+": null")
			continue
		}
		for _, f := range group.Value.Fields {
			keys = append(keys, group.Key+": "+f.Key)
		}
	}
	return keys
}

func terraformUnit(name, variables string) string {
	return "apiVersion: unit.gitopsctr.io/v1\nkind: Terraform\nmetadata: {name: " + name + "}\nspec:\n  source: {path: " + name +
		"}\n  terraform:\n    variables:\n      " + strings.ReplaceAll(variables, "\n", "\n      ") + "\n"
}
