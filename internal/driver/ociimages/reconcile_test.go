package ociimages_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/driver"
	"github.com/gitopsctr/gitopsctr/internal/driver/ociimages"
)

var (
	engineBuild = []string{
		"docker build --platform linux/amd64 --file SOURCE/app/Dockerfile --tag images:HEX SOURCE",
		"docker save --output TEMP/archive.tar images:HEX",
	}
	layoutBuild = []string{"docker buildx build --platform linux/amd64 --provenance=false --sbom=false " +
		"--output type=oci,dest=TEMP/layout.tar --file SOURCE/app/Dockerfile SOURCE"}
)

func TestBuildsOnceAndPublishesEverywhere(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answers map[string]string
		env     string
		want    []string
	}{
		"without buildx":                           {want: engineBuild},
		"with a builder of its own":                {answers: map[string]string{"buildx-version": "github.com/docker/buildx v0.30.1 x", "buildx-inspect": "Name: b\nDriver:        docker-container\n"}, want: layoutBuild},
		"with images in containerd":                {answers: map[string]string{"buildx-version": "github.com/docker/buildx v0.30.1 x", "buildx-inspect": "Name: default\nDriver: docker\n", "info---format": `[["driver-type","io.containerd.snapshotter.v1"]]`}, want: layoutBuild},
		"where the engine cannot write layouts":    {answers: map[string]string{"buildx-version": "v0.30.1", "buildx-inspect": "Driver: docker\n", "info---format": `[["Backing Filesystem","extfs"]]`}, want: engineBuild},
		"where the user wants the classic builder": {env: "DOCKER_BUILDKIT=0", answers: map[string]string{"buildx-version": "v0.30.1", "buildx-inspect": "Driver: docker-container\n"}, want: engineBuild},
		"with a buildx that makes no attestations": {answers: map[string]string{"buildx-version": "github.com/docker/buildx v0.9.1 x", "buildx-inspect": "Driver: docker-container\n"},
			want: []string{"docker buildx build --platform linux/amd64 --output type=oci,dest=TEMP/layout.tar --file SOURCE/app/Dockerfile SOURCE"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			built, digest := randomImage(t)
			f, s := newFixture(t, built), newServer(t, nil)
			for file, text := range test.answers {
				f.answer(file, text)
			}
			f.Options.Env = append(f.Options.Env, test.env)
			u := f.with("{b: {type: registry, repository: " + s.Host + "/team/app}, a: {type: registry, repository: " + s.Host + "/copy}}")
			got := f.uris(u)
			if slices.Equal(test.want, engineBuild) { // a docker archive is no OCI image: its manifest is made anew
				digest = s.digest("team/app", authn.Anonymous)
			}
			want := []string{"b=" + s.Host + "/team/app@" + digest, "a=" + s.Host + "/copy@" + digest}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("images (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.want, f.calls(u)); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
			for _, path := range []string{"team/app", "copy"} {
				if got := s.digest(path, authn.Anonymous); got != digest {
					t.Errorf("%s: want %s, got %s", path, digest, got)
				}
			}
			// The second time the tag is everywhere, and docker is not even asked what it can.
			if err := os.RemoveAll(filepath.Join(f.bin, "calls")); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, f.uris(u)); diff != "" {
				t.Errorf("second time (-want +got):\n%s", diff)
			}
			if calls := f.calls(u); len(calls) > 0 {
				t.Errorf("second time: want no command, got %q", calls)
			}
		})
	}
}

func TestCopiesFromTheRegistryThatHasTheImage(t *testing.T) {
	t.Parallel()
	image, digest := randomImage(t)
	f, there, here := newFixture(t, nil), newServer(t, nil), newServer(t, nil)
	there.put("app", image)
	u := f.with("{new: {type: registry, repository: " + here.Host + "/app}, other: {type: registry, repository: " + there.Host + "/other}, old: {type: registry, repository: " + there.Host + "/app}}")
	want := []string{"new=" + here.Host + "/app@" + digest, "other=" + there.Host + "/other@" + digest, "old=" + there.Host + "/app@" + digest}
	if diff := cmp.Diff(want, f.uris(u)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if calls := f.calls(u); len(calls) > 0 {
		t.Errorf("want no command, got %q", calls)
	}
}

func TestAnIndexStaysAnIndex(t *testing.T) {
	t.Parallel()
	index, err := random.Index(256, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	f, s := newFixture(t, nil), newServer(t, nil)
	f.answer("buildx-version", "v0.30.1")
	f.answer("buildx-inspect", "Driver: docker-container\n")
	writeLayout(t, filepath.Join(f.bin, "layout.tar"), func(p layout.Path) error { return p.AppendIndex(index) })
	digest := digestOf(t, index)
	u := f.with("{a: {type: registry, repository: " + s.Host + "/a}}")
	if diff := cmp.Diff([]string{"a=" + s.Host + "/a@" + digest}, f.uris(u)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	u = f.with("{a: {type: registry, repository: " + s.Host + "/a}, b: {type: registry, repository: " + s.Host + "/b}}")
	if diff := cmp.Diff([]string{"a=" + s.Host + "/a@" + digest, "b=" + s.Host + "/b@" + digest}, f.uris(u)); diff != "" {
		t.Errorf("copied (-want +got):\n%s", diff)
	}
}

func TestLoadsIntoLocalClusters(t *testing.T) {
	t.Parallel()
	image, digest := randomImage(t)
	loads := []string{"kind load image-archive TEMP/archive.tar --name c1", "minikube --profile p1 image load TEMP/archive.tar"}
	const locals = "mini: {type: minikube, profile: p1}"
	for name, published := range map[string]bool{"built here": false, "published before": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, s := newFixture(t, image), newServer(t, nil)
			f.tool("kind", `cp "$3" "$SCRIPT/loaded.tar"`)
			want := slices.Concat(engineBuild, loads)
			if published {
				s.put("app", image)
				want = loads
			}
			u := f.with("{kind: {type: kind, cluster: c1}, app: {type: registry, repository: " + s.Host + "/app}, " + locals + "}")
			uris := f.uris(u)
			wantURIs := []string{"app=" + s.Host + "/app@" + s.digest("app", authn.Anonymous), "kind=" + local, "mini=" + local}
			if diff := cmp.Diff(wantURIs, uris); diff != "" {
				t.Errorf("registries come first (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want[len(want)-2:], f.calls(u)[len(want)-2:]); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
			if published && !strings.Contains(wantURIs[0], digest) {
				t.Errorf("want the published image %s, got %s", digest, wantURIs[0])
			}
			checkArchive(t, filepath.Join(f.bin, "loaded.tar"), image)
		})
	}
}

func TestReconcileErrors(t *testing.T) {
	t.Parallel()
	image, _ := randomImage(t)
	denied := func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			return false
		}
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"errors": [{"code": "DENIED", "message": "permission_denied: write_package"}]}`))
		return true
	}
	for name, test := range map[string]struct {
		before  func(http.ResponseWriter, *http.Request) bool
		prepare func(*fixture, *server)
		want    []string
	}{
		"who may not push": {before: denied, want: []string{"push HOST/app:" + tag, "403 Forbidden", "DENIED: permission_denied: write_package", "anonymous", "log in to HOST with an account that may"}},
		"who may not look": {before: requireLogin("u", "p"), want: []string{"look up HOST/app:" + tag, "401 Unauthorized", "UNAUTHORIZED: who are you", "log in to HOST"}},
		"registry down":    {prepare: func(_ *fixture, s *server) { s.http.Close() }, want: []string{"look up HOST/app", "connection refused", "see that HOST can be reached"}},
		"registry that forgets": {before: func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/manifests/") {
				w.WriteHeader(http.StatusCreated)
				return true
			}
			return false
		}, want: []string{"push HOST/app", "does not have the tag"}},
		"no docker": {prepare: func(f *fixture, _ *server) { f.Options.Env = []string{"PATH=/nowhere"} }, want: []string{"docker build: the program docker was not found", "install docker"}},
		"engine down": {prepare: func(f *fixture, _ *server) {
			f.answer("fail-docker-build", "Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?")
		}, want: []string{"docker build: ", "Cannot connect to the Docker daemon", "/var/run/docker.sock mounted"}},
		"build that fails":       {prepare: func(f *fixture, _ *server) { f.answer("fail-docker-build", "no such instruction") }, want: []string{"docker build: ", "no such instruction"}},
		"archive that is none":   {prepare: func(f *fixture, _ *server) { f.answer("archive.tar", "x") }, want: []string{"read the built image"}},
		"Dockerfile that is not": {prepare: func(f *fixture, _ *server) { _ = os.Remove(filepath.Join(f.Source, "app", "Dockerfile")) }, want: []string{"spec/build/dockerfile", `no file "app/Dockerfile"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, s := newFixture(t, image), newServer(t, test.before)
			if test.prepare != nil {
				test.prepare(f, s)
			}
			_, err := f.reconcile(f.with("{app: {type: registry, repository: " + s.Host + "/app}}"))
			var fault *driver.Error
			if !errors.As(err, &fault) {
				t.Fatalf("want a driver error, got %v", err)
			}
			for _, want := range test.want {
				if want = strings.ReplaceAll(want, "HOST", s.Host); !strings.Contains(err.Error(), want) {
					t.Errorf("want %q in: %v", want, err)
				}
			}
		})
	}
}

func TestRegistriesThatDisagreeAreAnError(t *testing.T) {
	t.Parallel()
	one, first := randomImage(t)
	two, second := randomImage(t)
	f, s := newFixture(t, nil), newServer(t, nil)
	s.put("one", one)
	s.put("two", two)
	_, err := f.reconcile(f.with("{a: {type: registry, repository: " + s.Host + "/new}, b: {type: registry, repository: " + s.Host + "/one}, c: {type: registry, repository: " + s.Host + "/two}}"))
	for _, want := range []string{"/one@" + first, "/two@" + second, "delete the tag"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q in: %v", want, err)
		}
	}
	if got := s.digest("new", authn.Anonymous); got != "" {
		t.Errorf("want nothing pushed, got %s", got)
	}
}

func TestCancelledBeforeItStarts(t *testing.T) {
	t.Parallel()
	image, _ := randomImage(t)
	f, s := newFixture(t, image), newServer(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	u := f.with("{app: {type: registry, repository: " + s.Host + "/app}}")
	if _, err := ociimages.New(f.Options).Reconcile(ctx, u); !errors.Is(err, context.Canceled) {
		t.Errorf("want context.Canceled, got %v", err)
	}
	if _, err := ociimages.New(f.Options).Plan(ctx, u); !errors.Is(err, context.Canceled) {
		t.Errorf("plan: want context.Canceled, got %v", err)
	}
}

func TestDestroyRetainsEverything(t *testing.T) {
	t.Parallel()
	image, digest := randomImage(t)
	f, s := newFixture(t, nil), newServer(t, nil)
	s.put("app", image)
	got, err := ociimages.New(f.Options).Destroy(t.Context(), f.with("{app: {type: registry, repository: "+s.Host+"/app}}"))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"artifactsRetained":true}`; string(document.CanonicalJSON(got)) != want {
		t.Errorf("want %s, got %s", want, document.CanonicalJSON(got))
	}
	if got := s.digest("app", authn.Anonymous); got != digest {
		t.Errorf("want the image to stay, got %q", got)
	}
}

// checkArchive fails unless a file holds the image under the Unit's local name.
func checkArchive(t *testing.T, file string, want v1.Image) {
	t.Helper()
	name, err := name.NewTag(local)
	if err != nil {
		t.Fatal(err)
	}
	got, err := tarball.ImageFromPath(file, &name)
	if err != nil {
		t.Fatal(err)
	}
	wantConfig, err := want.ConfigName()
	if err != nil {
		t.Fatal(err)
	}
	gotConfig, err := got.ConfigName()
	if err != nil {
		t.Fatal(err)
	}
	if wantConfig != gotConfig {
		t.Errorf("loaded: want the image %s, got %s", wantConfig, gotConfig)
	}
}
