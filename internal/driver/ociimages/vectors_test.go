package ociimages_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

// TestTheRecordedUnit reconciles the Unit of the recorded run: an ECR repository, a kind cluster and a minikube profile.
// Only the digest of the image is another.
func TestTheRecordedUnit(t *testing.T) {
	t.Parallel()
	const run = "../../../testdata/vectors/g-drivers/run1"
	decode := func(file string) *document.Node {
		data, err := os.ReadFile(filepath.Join(run, file))
		if err != nil {
			t.Fatal(err)
		}
		n, err := document.DecodeLenient(file, data)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	image, _ := randomImage(t)
	f := newFixture(t, image)
	f.write(filepath.Join(f.Source, "Dockerfile"), "FROM scratch\n")
	stub := newECRStub(t, f, canary, http.StatusOK)
	u := f.unit("{}")
	u.Spec = decode("desired/units/images.yaml").Get("spec")
	result, err := f.reconcile(u)
	if err != nil {
		t.Fatal(err)
	}
	recorded := decode("observed/artifacts/images/containers.yaml").Get("images")
	uri := recorded.Path("primary", "uri").Str()
	_, oldDigest, _ := strings.Cut(uri, "@")
	newDigest := stub.digest("team/app", &authn.Basic{Username: "AWS", Password: canary})
	want := strings.Replace(string(document.CanonicalJSON(recorded)), oldDigest, newDigest, 1)
	got := result.Artifacts["containers"].Get("images")
	if diff := cmp.Diff(want, string(document.CanonicalJSON(got))); newDigest == "" || diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var order, wantOrder []string
	for i := range recorded.Fields {
		wantOrder, order = append(wantOrder, recorded.Fields[i].Key), append(order, got.Fields[i].Key)
	}
	if diff := cmp.Diff(wantOrder, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	wantCalls := []string{
		"docker build --platform linux/amd64 --file SOURCE/Dockerfile --tag images:HEX SOURCE",
		"docker save --output TEMP/archive.tar images:HEX",
		"kind load image-archive TEMP/archive.tar --name c1",
		"minikube --profile p1 image load TEMP/archive.tar",
	}
	if diff := cmp.Diff(wantCalls, f.calls(u)); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}
