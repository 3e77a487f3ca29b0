package resource

import (
	"testing"
	"time"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/google/go-cmp/cmp"
)

// TestNewReceipt makes the Receipts of a run again from their parts.
func TestNewReceipt(t *testing.T) {
	t.Parallel()
	const root = "g-drivers/run1/"
	at := func(s string) time.Time {
		v, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return v.In(time.FixedZone("elsewhere", 3600))
	}
	for _, tt := range []struct{ name, desiredRevision, observedAt, artifact string }{
		{"argo", "ec450f202a86e1ae4ce168954d978944203276b5", "2026-11-30T03:27:40Z", ""},
		{"bundle", "331026322afcb5565d41f01fb8fe1b8ce96be570", "2026-11-30T03:28:38Z", "frontend"},
		{"helm", "50150cc9a4de66d9a0b1f9da72dfd3c403887029", "2026-11-30T03:30:07Z", ""},
		{"images", "4534fc743f0023de7f5ba932b121fc2ff0c45e34", "2026-11-30T03:29:23Z", "containers"},
		{"site", "50150cc9a4de66d9a0b1f9da72dfd3c403887029", "2026-11-30T03:31:28Z", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			data := readVector(t, root+"desired/units/"+tt.name+".yaml")
			unit, err := DecodeUnit(tt.name+".yaml", data)
			if err != nil {
				t.Fatal(err)
			}
			path := root + "observed/units/" + tt.name + ".yaml"
			want, err := DecodeReceipt(path, readVector(t, path))
			if err != nil {
				t.Fatal(err)
			}
			var descriptors []ArtifactDescriptor
			if tt.artifact != "" {
				descriptors = append(descriptors, artifactOfRun(t, root+"observed/", unit, tt.artifact))
			}
			controller := Controller{Version: "0.0.0", Revision: "5b81b70b1b3e751059f420ce99cb3ebbfe6824a7", ObservedAt: at(tt.observedAt)}
			r, err := NewReceipt(unit, tt.name, document.BlobID(data), tt.desiredRevision, controller.Node(), want.Result, descriptors)
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.Encode(document.YAML)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(readVector(t, path)), string(got)); diff != "" {
				t.Errorf("Receipt (-want +got):\n%s", diff)
			}
			if !r.Current(document.BlobID(data)) || r.Current("0") {
				t.Error("want the Receipt to be current for its Unit only")
			}
		})
	}
}

// artifactOfRun makes an artifact of a run again from its parts, and returns its descriptor.
func artifactOfRun(t *testing.T, root string, unit *Unit, name string) ArtifactDescriptor {
	t.Helper()
	path := root + ArtifactPath(unit.Metadata.Name, name, document.YAML)
	data := readVector(t, path)
	read, err := DecodeArtifact(path, data)
	if err != nil {
		t.Fatal(err)
	}
	producer, err := ProducerOf(unit, unit.Metadata.Name)
	if err != nil {
		t.Fatal(err)
	}
	kind, _ := UnitKindOf(unit.Kind)
	a, err := NewArtifact(kind.Artifacts[name], name, producer, read.Payload)
	if err != nil {
		t.Fatal(err)
	}
	d, written, err := a.Describe(document.YAML)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(data), string(written)); diff != "" {
		t.Errorf("artifact (-want +got):\n%s", diff)
	}
	return d
}

func TestArtifactDescriptor(t *testing.T) {
	t.Parallel()
	a, err := DecodeArtifact("containers.yaml", readVector(t, "d-reconcile/artifact-containers.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := a.Describe(document.YAML)
	if err != nil {
		t.Fatal(err)
	}
	want := ArtifactDescriptor{
		Name: "containers", GVK: GVK{ArtifactAPI, "ContainerImages"}, Path: "artifacts/shop/images/containers.yaml",
		Digest:    "sha256:1c3546a2b9a0ab246a7f0dcee66972d00442c8859ce01421a786280320384187",
		MediaType: "application/vnd.gitopsctr.container-images.v1+yaml",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("descriptor (-want +got):\n%s", diff)
	}
	for path, want := range map[string]string{
		"a.yml":  "application/vnd.gitopsctr.frontend-bundle.v1+yaml",
		"a.json": "application/vnd.gitopsctr.frontend-bundle.v1+json",
	} {
		if got := MediaType("FrontendBundle", path); got != want {
			t.Errorf("media type of %s: want %s, got %s", path, want, got)
		}
	}
}

func TestReceiptWorkflowURL(t *testing.T) {
	t.Parallel()
	r, err := DecodeReceipt("db.yaml", readVector(t, "d-reconcile/receipt.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	c := Controller{Version: "9.9.9", Revision: r.Controller.Get("revision").Str(), ObservedAt: time.Date(2030, 1, 2, 3, 4, 5, 999, time.UTC), WorkflowURL: "https://github.com/o/r/actions/runs/55"}
	if diff := cmp.Diff(inOrder(r.Controller), inOrder(c.Node())); diff != "" {
		t.Errorf("controller (-want +got):\n%s", diff)
	}
}

func TestSemanticResult(t *testing.T) {
	t.Parallel()
	r, err := DecodeReceipt("images.yaml", readVector(t, "g-drivers/run1/observed/units/images.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"artifacts":{"containers":{"apiVersion":"artifact.gitopsctr.io/v1","digest":"sha256:7456b583f5f4ac91dd3e8c5cfcf76e74ce451518808e330beeb401d8b538b41a","kind":"ContainerImages"}}}`
	if diff := cmp.Diff(want, string(document.CanonicalJSON(r.SemanticResult()))); diff != "" {
		t.Errorf("semantic result (-want +got):\n%s", diff)
	}
}

// A document that another program wrote may leave out nulls, and write integers as floats; it is read into normal form.
func TestNormalForm(t *testing.T) {
	t.Parallel()
	u, err := DecodeUnit("u.yaml", []byte(`apiVersion: unit.gitopsctr.io/v1
kind: KubernetesManifests
metadata: {uid: d1-a, name: k}
spec:
  $schema: https://example.test
  delivery: {observer: {access: api, type: argocd, argocdContext: c, application: a, applicationNamespace: n}, mode: external}
  materialize: {type: plain}
  source: {revision: '1111111111111111111111111111111111111111', path: p, driverVersion: 1.0}
`))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"source":{"path":"p","revision":"1111111111111111111111111111111111111111","driverVersion":1,"inputHash":null,"inputs":null},` +
		`"materialize":{"type":"plain","paths":null,"allowSecrets":false},` +
		`"delivery":{"mode":"external","observer":{"type":"argocd","access":"api","application":"a","applicationNamespace":"n","argocdContext":"c","timeoutSeconds":600}},` +
		`"inputs":null,"resolvedInputs":null,"materialization":null}`
	if diff := cmp.Diff(want, inOrder(u.Spec)); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
}

// What is in normal form already is not copied.
func TestCompleteSharesNormalForm(t *testing.T) {
	t.Parallel()
	n, err := document.DecodeLenient("u.yaml", readVector(t, "a-documents/unit-desired.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if spec := n.Get("spec"); complete(terraformShapes.desired, spec) != spec {
		t.Error("want the same node")
	}
}

func TestScaffoldsAreWrittenAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"a-documents/scaffolds/stack-shop.yaml", "a-documents/scaffolds/stacktemplate-web.yaml"} {
		data := readVector(t, path)
		var n *document.Node
		if s, err := DecodeAuthoredStack(path, data); err == nil {
			n = s.Node()
		} else if s, err := DecodeAuthoredStackTemplate(path, data); err == nil {
			n = s.Node()
		} else {
			t.Fatal(err)
		}
		got, err := document.Encode(document.YAML, n)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(data), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	for _, name := range []string{"terraform", "kubernetes-manifests", "oci-images", "vite-oci-bundle"} {
		path := "a-documents/scaffolds/u-" + name + ".yaml"
		if _, err := DecodeAuthoredUnit(path, readVector(t, path)); err != nil {
			t.Error(err)
		}
	}
}
