package ociimages

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/driver"
)

// spec is a desired OciImages spec that can run (chapter G 3.1): the schema allows more.
type spec struct {
	// Dockerfile is relative to the root of the source, which is the build context too.
	Dockerfile string
	// DockerfileOutside tells that the input hash does not cover the Dockerfile.
	DockerfileOutside bool
	Platform          string
	// Tag is made of the input hash, and so is Local: the image's name in local clusters and in the engine.
	Tag, Local string
	// Registries and Locals are the targets, each in document order.
	Registries []registryTarget
	Locals     []localTarget
	// ECR tells that the credentials of all registries come from AWS.
	ECR bool
}

// A registryTarget is a registry that gets the image.
type registryTarget struct {
	Name       string
	Repository repository
}

// A localTarget is a cluster on this machine that gets the image.
type localTarget struct {
	Name string
	// Type is kind or minikube.
	Type string
	// Cluster is the kind cluster or the minikube profile.
	Cluster string
}

func (t localTarget) String() string {
	if t.Type == "minikube" {
		return "minikube profile " + t.Cluster
	}
	return "kind cluster " + t.Cluster
}

var digestPattern = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// parseSpec reads the desired spec of a Unit. Its errors are *driver.Error with the pointer of the faulty field.
func parseSpec(u driver.Unit) (spec, error) {
	source, build, publish := u.Spec.Get("source"), u.Spec.Get("build"), u.Spec.Get("publish")
	s := spec{}
	hash := source.Get("inputHash").Str()
	switch {
	case source.IsNull():
		return s, invalid("/source", "is missing", "give the Unit a source.path")
	case !digestPattern.MatchString(hash):
		return s, invalid("/source/inputHash", fmt.Sprintf("%q is no sha256 digest", hash), "apply the Unit again")
	case build.IsNull():
		return s, invalid("/build", "is missing", "add build with dockerfile and platform")
	case publish.IsNull():
		return s, invalid("/publish", "is missing", "add publish with targets")
	}
	hex := strings.TrimPrefix(hash, "sha256:")
	s.Tag, s.Local = "input-"+hex, u.Name+":"+hex
	if err := s.parseBuild(build); err != nil {
		return s, err
	}
	within, err := filepath.Rel(source.Get("path").Str(), s.Dockerfile)
	s.DockerfileOutside = err != nil || !filepath.IsLocal(within)
	return s, s.parsePublish(publish)
}

// Check implements driver.Checker: what parseSpec says of an authored spec, as far as it is written already.
func (*Driver) Check(authored *document.Node) error {
	s := spec{}
	if build := authored.Get("build"); !build.IsNull() {
		if err := s.parseBuild(build); err != nil {
			return err
		}
	}
	if publish := authored.Get("publish"); !publish.IsNull() {
		return s.parsePublish(publish)
	}
	return nil
}

func (s *spec) parseBuild(build *document.Node) error {
	s.Dockerfile, s.Platform = build.Get("dockerfile").Str(), build.Get("platform").Str()
	switch {
	case !filepath.IsLocal(s.Dockerfile):
		return invalid("/build/dockerfile", fmt.Sprintf("%q does not lead into the source", s.Dockerfile), "give the path of the Dockerfile, relative to the root of the repository")
	case s.Platform == "":
		return invalid("/build/platform", "is empty", "name the platform of the image, for example linux/amd64")
	}
	return nil
}

func (s *spec) parsePublish(publish *document.Node) error {
	s.ECR = publish.Path("credentialProvider", "type").Str() == "aws-ecr"
	return s.parseTargets(publish.Get("targets"))
}

func (s *spec) parseTargets(targets *document.Node) error {
	if targets.IsNull() || len(targets.Fields) == 0 {
		return invalid("/publish/targets", "is empty", "add a target, for example {type: registry, repository: ghcr.io/OWNER/IMAGE}")
	}
	for _, f := range targets.Fields {
		at := "/publish/targets/" + document.PointerToken(f.Key)
		if f.Key == "" {
			return invalid(at, "has no name", "name the target")
		}
		switch kind := f.Value.Get("type").Str(); kind {
		case "registry":
			r, err := parseRepository(f.Value.Get("repository").Str())
			if err != nil {
				return invalid(at+"/repository", err.Error(), "write REGISTRY/PATH in lower case, without tag or digest")
			}
			if _, ok := parseECRHost(r.host); s.ECR && !ok {
				return invalid(at+"/repository", fmt.Sprintf("%s is no ECR registry, but the credential provider aws-ecr serves all registries of the Unit", r.host),
					"use ACCOUNT.dkr.ecr.REGION.amazonaws.com, or publish to other registries with another Unit")
			}
			s.Registries = append(s.Registries, registryTarget{f.Key, r})
		case "kind", "minikube":
			field := map[string]string{"kind": "cluster", "minikube": "profile"}[kind]
			name := f.Value.Get(field).Str()
			if name == "" || strings.HasPrefix(name, "-") {
				return invalid(at+"/"+field, fmt.Sprintf("%q is no name", name), "name the "+field)
			}
			s.Locals = append(s.Locals, localTarget{f.Key, kind, name})
		default:
			return invalid(at+"/type", fmt.Sprintf("%q is no type of target", kind), "use registry, kind or minikube")
		}
	}
	if s.ECR && len(s.Registries) == 0 {
		return invalid("/publish/credentialProvider", "has no registry to log in to", "remove it, or add a registry target")
	}
	return nil
}

// invalid is a fault of the Unit's own document.
func invalid(pointer, detail, fix string) error {
	return &driver.Error{Op: "spec" + pointer, Detail: detail, Pointer: pointer, Fix: fix}
}
