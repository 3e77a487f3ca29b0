//go:build e2e

package e2e

import (
	"io"
	"log"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	registryimages "github.com/google/go-containerregistry/pkg/v1/remote"
)

// TestImagesAreBuiltFromTheContainer: with the engine's socket mounted, as the runner does, the Action's container builds
// an OciImages Unit with the docker client that it ships, pushes it to a registry, and records the digest; the next run
// builds nothing.
func TestImagesAreBuiltFromTheContainer(t *testing.T) {
	_, image := images(t)
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	repository := strings.TrimPrefix(server.URL, "http://") + "/shop/web"

	r := newRemote(t)
	repo := newRepository(t, r, image)
	repo.write(t, "web/Dockerfile", "FROM scratch\nCOPY web/page.html /page.html\n")
	repo.write(t, "web/page.html", "<p>hello</p>\n")
	repo.write(t, "deployment/environments/dev/units/web.yaml", `apiVersion: unit.gitopsctr.io/v1
kind: OciImages
metadata: {name: web}
spec:
  source: {path: web}
  build: {dockerfile: web/Dockerfile, platform: linux/amd64}
  publish:
    targets:
      main: {type: registry, repository: "`+repository+`"}
`)
	repo.commit(t, r, "Add an image")
	repo.giveToRunner(t)

	socket := []string{"--volume", "/var/run/docker.sock:/var/run/docker.sock"}
	code, out := startAction(t, repo, r, image, socket...).wait(t)
	if code != "0" {
		t.Fatalf("the run ended with %s:\n%s", code, out)
	}
	artifact := r.git(t, "show", observedRef+":artifacts/web/containers.yaml")
	match := regexp.MustCompile(`(?m)^    uri: (\S+@sha256:[0-9a-f]{64})$`).FindStringSubmatch(artifact)
	if match == nil {
		t.Fatalf("the artifact names no digest:\n%s", artifact)
	}
	reference, err := name.ParseReference(match[1])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := registryimages.Head(reference); err != nil {
		t.Errorf("%s is not in the registry: %v", match[1], err)
	}
	before := r.refs(t)
	code, out = startAction(t, repo, r, image, socket...).wait(t)
	if code != "0" || !strings.Contains(out, "nothing to do") {
		t.Errorf("the second run ended with %s, want 0 and nothing to do:\n%s", code, out)
	}
	if after := r.refs(t); after["refs/heads/"+observedRef] != before["refs/heads/"+observedRef] || len(after) != len(before) {
		t.Errorf("the second run moved the observed ref")
	}
}
