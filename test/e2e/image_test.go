//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"testing"
)

// builtImage is the tag under which the tests build the project's Dockerfile.
const builtImage = "gitopsctr:e2e"

// images gives the Debian image that stands for the runner's machine, the Dockerfile's own base, and the image of the
// Action: GITOPSCTR_E2E_IMAGE, or else built once from the Dockerfile.
func images(t *testing.T) (base, action string) {
	t.Helper()
	base = dockerfileArg(t, "BASE_IMAGE")
	if name := os.Getenv("GITOPSCTR_E2E_IMAGE"); name != "" {
		return base, name
	}
	if err := buildImage(); err != nil {
		t.Fatal(err)
	}
	return base, builtImage
}

// dockerfileArg is the default of a build argument.
func dockerfileArg(t *testing.T, name string) string {
	t.Helper()
	match := regexp.MustCompile(`(?m)^ARG ` + name + `=(\S+)$`).FindStringSubmatch(readFile(t, projectRoot+"/Dockerfile"))
	if match == nil {
		t.Fatalf("the Dockerfile has no default for %s", name)
	}
	return match[1]
}

// buildImage shows the builder's last words once, not with every test that needs the image.
var buildImage = sync.OnceValue(func() error {
	cmd := exec.Command("docker", "build", "--force-rm", "--build-arg", "VERSION="+builtVersion, "--tag", builtImage, projectRoot)
	out, err := cmd.CombinedOutput()
	if err != nil {
		_, _ = os.Stderr.Write(out[max(0, len(out)-8000):])
		return fmt.Errorf("docker build: %w", err)
	}
	return nil
})

// builtVersion is what the built image has to say of itself.
const builtVersion = "v0.0.0-e2e"
