package ociimages_test

import (
	"archive/tar"
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/driver"
	"github.com/gitopsctr/gitopsctr/internal/driver/ociimages"
)

// requireDocker is the environment of tests that build for real. GITOPSCTR_TEST_DOCKER=1, which CI sets, makes a missing
// engine a failure.
func requireDocker(t *testing.T) []string {
	t.Helper()
	var env []string
	for _, entry := range driver.Environment(os.Environ()) {
		if !strings.HasPrefix(entry, "DOCKER_BUILDKIT=") {
			env = append(env, entry)
		}
	}
	if out, err := docker(env, "version", "--format", "{{.Server.Version}}"); err != nil {
		if os.Getenv("GITOPSCTR_TEST_DOCKER") == "1" {
			t.Fatalf("GITOPSCTR_TEST_DOCKER=1, but there is no Docker engine: %v %s", err, out)
		}
		t.Skipf("no Docker engine is reachable; start one, and set GITOPSCTR_TEST_DOCKER=1 to require it: %s", out)
	}
	return env
}

func docker(env []string, args ...string) (string, error) {
	path, err := driver.LookPath(env, "docker")
	if err != nil {
		return "", err
	}
	c := exec.Command(path, args...)
	c.Env = env
	out, err := c.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// buildKitEnv puts the first docker command in front that does BuildKit itself or by buildx: newer ones do not without.
func buildKitEnv(t *testing.T, env []string) []string {
	t.Helper()
	path, _ := driver.Lookup(env, "PATH")
	for _, dir := range filepath.SplitList(path) {
		if info, err := os.Stat(filepath.Join(dir, "docker")); err != nil || info.IsDir() {
			continue
		}
		candidate := slices.Concat(env, []string{"PATH=" + dir + ":" + path, "DOCKER_BUILDKIT=1"})
		version, err := docker(candidate, "version", "--format", "{{.Client.Version}}")
		if err != nil {
			continue
		}
		major, err := strconv.Atoi(strings.Split(version, ".")[0])
		if _, noBuildx := docker(candidate, "buildx", "version"); noBuildx == nil || err == nil && major < 23 {
			return candidate
		}
	}
	if os.Getenv("GITOPSCTR_TEST_DOCKER") == "1" {
		t.Fatal("GITOPSCTR_TEST_DOCKER=1, but no docker command in PATH can use BuildKit; install docker.io 20.10, or docker buildx")
	}
	t.Skip("no docker command in PATH can use BuildKit: newer ones need docker buildx")
	return nil
}

// TestRealEngine builds with the real engine, by each of its builders, and reads the image back from the registry.
func TestRealEngine(t *testing.T) {
	t.Parallel()
	env := requireDocker(t)
	for name, prepare := range map[string]func(*testing.T, []string) []string{
		"as the command does by itself": func(_ *testing.T, env []string) []string { return env },
		"with the classic builder": func(_ *testing.T, env []string) []string {
			return slices.Concat(env, []string{"DOCKER_BUILDKIT=0"})
		},
		"with BuildKit": buildKitEnv,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, s := newFixture(t, nil), newServer(t, nil)
			f.Options.Env = prepare(t, env)
			f.write(filepath.Join(f.Source, "app", "Dockerfile"), "FROM scratch\nCOPY app/hello.txt /hello.txt\nLABEL test=real\n")
			hash := make([]byte, 32)
			_, _ = rand.Read(hash) // never fails
			// Images of one content share layers in the engine, so removing one would disturb the build of another.
			f.write(filepath.Join(f.Source, "app", "hello.txt"), hex.EncodeToString(hash))
			u := f.with("{a: {type: registry, repository: " + s.Host + "/team/a}, b: {type: registry, repository: " + s.Host + "/b}}")
			u.Spec = u.Spec.With("source", u.Spec.Get("source").With("inputHash", document.NewString("sha256:"+hex.EncodeToString(hash))))
			t.Cleanup(func() {
				if out, err := docker(env, "image", "rm", "--force", "images:"+hex.EncodeToString(hash)); err != nil {
					t.Errorf("remove the image: %v %s", err, out)
				}
			})
			uris := f.uris(u)
			tagged := s.ref("team/a").Context().Tag("input-" + hex.EncodeToString(hash))
			image, err := remote.Image(tagged)
			if err != nil {
				t.Fatal(err)
			}
			digest := digestOf(t, image)
			want := []string{"a=" + s.Host + "/team/a@" + digest, "b=" + s.Host + "/b@" + digest}
			if diff := cmp.Diff(want, uris); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(map[string]string{"hello.txt": hex.EncodeToString(hash)}, filesOf(t, image)); diff != "" {
				t.Errorf("files of the image (-want +got):\n%s", diff)
			}
			config, err := image.ConfigFile()
			if err != nil {
				t.Fatal(err)
			}
			if config.OS != "linux" || config.Architecture != "amd64" || config.Config.Labels["test"] != "real" {
				t.Errorf("want linux/amd64 with the label, got %s/%s with %v", config.OS, config.Architecture, config.Config.Labels)
			}
			f.write(filepath.Join(f.Source, "app", "Dockerfile"), "FROM scratch\nNONSENSE\n")
			if diff := cmp.Diff(want, f.uris(u)); diff != "" {
				t.Errorf("the second time nothing is built (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRealEngineTellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	env := requireDocker(t)
	f, s := newFixture(t, nil), newServer(t, nil)
	f.Options.Env = env
	f.write(filepath.Join(f.Source, "app", "Dockerfile"), "FROM scratch\nCOPY absent.txt /\n")
	_, err := f.reconcile(f.with("{a: {type: registry, repository: " + s.Host + "/a}}"))
	var fault *driver.Error
	if !errors.As(err, &fault) || !strings.Contains(err.Error(), "absent.txt") || !strings.Contains(f.Log.String(), "absent.txt") {
		t.Errorf("want a driver error and a transcript that name absent.txt, got %v\n%s", err, f.Log)
	}
	f.Options = ociimages.Options{Env: slices.Concat(env, []string{"DOCKER_HOST=unix:///nowhere.sock"})}
	_, err = f.reconcile(f.with("{a: {type: registry, repository: " + s.Host + "/a}}"))
	if err == nil || !strings.Contains(err.Error(), "start the Docker engine") {
		t.Errorf("want the remedy for an engine that is down, got %v", err)
	}
}

// filesOf are the regular files of an image.
func filesOf(t *testing.T, image v1.Image) map[string]string {
	t.Helper()
	content := mutate.Extract(image)
	defer func() { _ = content.Close() }()
	files := map[string]string{}
	for r := tar.NewReader(content); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if _, err := io.Copy(&text, r); err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeReg {
			files[header.Name] = text.String()
		}
	}
}
