package ociimages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/gitopsctr/gitopsctr/internal/driver"
)

// A builder is a way of the docker command to make an image. Both build the same: the source's root is the context.
type builder struct {
	// name says to people what builds.
	name  string
	build func(context.Context) (*image, error)
}

// build builds the image with the best builder that there is. It publishes nothing.
func (s *session) build(ctx context.Context) (*image, error) {
	file := filepath.Join(s.unit.SourceDir, s.spec.Dockerfile)
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return nil, invalid("/build/dockerfile", fmt.Sprintf("the source has no file %q", s.spec.Dockerfile),
			"correct the path, which is relative to the root of the repository, or add the file")
	}
	b := s.builder(ctx, file)
	s.say("BUILD   %s for %s with %s", s.spec.Dockerfile, s.spec.Platform, b.name)
	i, err := b.build(ctx)
	return i, explainBuild(err)
}

// builder chooses BuildKit with an OCI layout, which needs no copy in the engine and keeps the exact manifest, where the
// job has it. The plain engine takes over where there is no buildx, where its builder cannot write a layout, and where
// the user asks for the classic builder.
func (s *session) builder(ctx context.Context, file string) builder {
	engine := builder{"docker build", func(ctx context.Context) (*image, error) { return s.buildInEngine(ctx, file) }}
	if kit, ok := driver.Lookup(s.driver.options.Env, "DOCKER_BUILDKIT"); ok {
		if on, err := strconv.ParseBool(kit); err == nil && !on {
			return engine
		}
	}
	version, ok := s.ask(ctx, "buildx", "version")
	if !ok {
		return engine
	}
	inspected, ok := s.ask(ctx, "buildx", "inspect")
	if !ok {
		return engine
	}
	if kind := driverLine.FindStringSubmatch(inspected); kind == nil || kind[1] == "docker" {
		// The engine's own BuildKit writes layouts only when the engine keeps its images in containerd.
		if status, ok := s.ask(ctx, "info", "--format", "{{json .DriverStatus}}"); !ok || !strings.Contains(status, "io.containerd.snapshotter") {
			return engine
		}
	}
	return builder{"docker buildx", func(ctx context.Context) (*image, error) { return s.buildLayout(ctx, file, version) }}
}

var (
	driverLine    = regexp.MustCompile(`(?m)^Driver:\s*(\S+)`)
	buildxVersion = regexp.MustCompile(`\bv0\.(\d+)\.`)
)

// buildLayout builds with BuildKit into an OCI layout. Attestations would make the digest differ from build to build.
func (s *session) buildLayout(ctx context.Context, file, version string) (*image, error) {
	archive := s.temp("layout.tar")
	args := []string{"buildx", "build", "--platform", s.spec.Platform}
	if v := buildxVersion.FindStringSubmatch(version); v == nil || len(v[1]) > 1 {
		args = append(args, "--provenance=false", "--sbom=false") // older ones make none and refuse the flags
	}
	args = append(args, "--output", "type=oci,dest="+archive, "--file", file, s.unit.SourceDir)
	if err := s.command("docker buildx build", "docker", args...).Run(ctx); err != nil {
		return nil, err
	}
	i, err := readLayout(archive, s.temp("layout"))
	if err != nil {
		return nil, &driver.Error{Op: "read the built image", Detail: err.Error(), Err: err}
	}
	return i, nil
}

// buildInEngine builds with docker build, by the classic builder or BuildKit as the caller's DOCKER_BUILDKIT says, and
// takes the image out of the engine. The tagged image stays there: it is the cache of the next build.
func (s *session) buildInEngine(ctx context.Context, file string) (*image, error) {
	c := s.command("docker build", "docker", "build", "--platform", s.spec.Platform, "--file", file, "--tag", s.spec.Local, s.unit.SourceDir)
	if err := c.Run(ctx); err != nil {
		return nil, err
	}
	archive := s.temp("archive.tar")
	if err := s.command("docker save", "docker", "save", "--output", archive, s.spec.Local).Run(ctx); err != nil {
		return nil, err
	}
	built, err := tarball.ImageFromPath(archive, nil)
	if err != nil {
		return nil, &driver.Error{Op: "read the built image", Detail: err.Error(), Err: err}
	}
	return &image{content: built, single: func() (v1.Image, error) { return built, nil }, archive: archive}, nil
}

// command is one of a tool that is shown in the transcript.
func (s *session) command(name, tool string, args ...string) driver.Command {
	o := s.driver.options
	return driver.Command{
		Name: name, Path: tool, Args: args, Dir: s.unit.SourceDir, Env: o.Env, Log: s.secrets.Writer(s.unit.Log), Mask: o.Mask,
		Grace: o.Timeouts.Grace, Install: "install " + tool,
	}
}

// ask runs a docker command that only tells something; ok is false when it cannot.
func (s *session) ask(ctx context.Context, args ...string) (answer string, ok bool) {
	var out bytes.Buffer
	c := s.command("docker "+args[0], "docker", args...)
	c.Log, c.Stdout, c.ReadOnly = io.Discard, &out, true
	err := c.Run(ctx)
	return out.String(), err == nil
}

func (s *session) temp(name string) string { return filepath.Join(s.unit.TempDir, name) }

// explainBuild adds the way out to the failures of docker that people meet most.
func explainBuild(err error) error {
	var e *driver.Error
	if !errors.As(err, &e) {
		return err
	}
	for _, known := range []struct{ said, fix string }{
		{"Cannot connect to the Docker daemon", "start the Docker engine, or let the job reach one (DOCKER_HOST, or /var/run/docker.sock mounted into the container)"},
		{"permission denied while trying to connect to the Docker daemon", "let this user access the socket of the Docker engine"},
		{"buildx component is missing or broken", "install docker buildx, or unset DOCKER_BUILDKIT"},
		{"is too old. Minimum supported API version", "install a newer docker command: the engine does not talk to this one"},
		{"is too new. Maximum supported API version", "set DOCKER_API_VERSION to the version that the engine has"},
	} {
		if strings.Contains(e.Detail, known.said) {
			e.Fix = known.fix
		}
	}
	return err
}
