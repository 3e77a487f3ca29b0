package desired

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/expression"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

const (
	netUnit = `apiVersion: unit.gitopsctr.io/v1
kind: Terraform
metadata: {name: net}
spec:
  source: {path: net}
  terraform: {observeOutputs: [host, gone, list]}
`
	imageUnit = `apiVersion: unit.gitopsctr.io/v1
kind: OciImages
metadata: {name: img}
spec:
  source: {path: img}
  build: {dockerfile: img/Dockerfile, platform: linux/amd64}
  publish: {targets: {app: {type: registry, repository: example.test/app}}}
`
	netResult    = `{"applied":{"sourceRevision":"` + revision + `","path":"net"},"outputs":{"host":"h1","gone":null,"list":[10,20]}}`
	imageRef     = `"unit":"img","name":"containers","apiVersion":"artifact.gitopsctr.io/v1","kind":"ContainerImages"`
	artifactPath = "artifacts/img/containers.yaml"
)

// world is an environment in which net (Terraform) and img (OciImages) are applied and observed.
func world(t testing.TB) *setting {
	t.Helper()
	s := &setting{source: plane{"net/main.tf": "", "img/Dockerfile": "FROM scratch\n"}, authored: plane{"net.yaml": netUnit, "img.yaml": imageUnit}}
	s.desired = after(s.build(t), nil)
	descriptor, file := artifact(t, s.desired, func(*resource.Artifact) {})
	s.observed = plane{
		"units/net.yaml": receipt(t, s.desired, "net", netResult),
		"units/img.yaml": receipt(t, s.desired, "img", `{}`, descriptor),
		artifactPath:     file,
	}
	return s
}

// artifact is img's artifact after a change to it, with the descriptor of exactly that file.
func artifact(t testing.TB, desired plane, change func(*resource.Artifact)) (resource.ArtifactDescriptor, string) {
	t.Helper()
	u, err := resource.DecodeUnit("img.yaml", []byte(desired["units/img.yaml"]))
	check(t, err)
	producer, err := resource.ProducerOf(u, "img")
	check(t, err)
	a, err := resource.NewArtifact(resource.GVK{APIVersion: resource.ArtifactAPI, Kind: "ContainerImages"}, "containers", producer,
		value(t, `{"images":{"app":{"uri":"example.test/app@sha256:1"}}}`))
	check(t, err)
	change(a)
	descriptor, data, err := a.Describe(document.YAML)
	check(t, err)
	return descriptor, string(data)
}

// reobserve replaces img's artifact and makes its Receipt describe the new file.
func reobserve(change func(*resource.Artifact), describe func(*resource.ArtifactDescriptor)) func(testing.TB, *setting) {
	return func(t testing.TB, s *setting) {
		t.Helper()
		d, file := artifact(t, s.desired, change)
		describe(&d)
		s.observed[artifactPath] = file
		s.observed["units/img.yaml"] = receipt(t, s.desired, "img", `{}`, d)
	}
}

func sameArtifact(*resource.Artifact)             {}
func sameDescriptor(*resource.ArtifactDescriptor) {}

// edit replaces text that must be there in one file of the observed plane.
func edit(path, old, with string) func(testing.TB, *setting) {
	return func(t testing.TB, s *setting) {
		t.Helper()
		if !strings.Contains(s.observed[path], old) {
			t.Fatalf("%s has no %q:\n%s", path, old, s.observed[path])
		}
		s.observed[path] = strings.ReplaceAll(s.observed[path], old, with)
	}
}

// promoted gives the setting an active promotion from the desired plane of another environment.
func promoted(change func(*Promotion)) func(testing.TB, *setting) {
	return func(t testing.TB, s *setting) {
		t.Helper()
		s.promotion = &Promotion{Environment: "dev", Tree: s.desired}
		change(s.promotion)
	}
}

// TestEvidence is the whole table of chapter B, 5.3: for each kind of reference what it reads, when it waits and when it is
// an error, in the order in which the chapter checks. Each row changes one thing in a world where everything is current.
func TestEvidence(t *testing.T) {
	t.Parallel()
	const (
		host  = `{"fromReceipt":{"unit":"net","pointer":"/outputs/host","dryFallback":"f"}}`
		image = `{"fromArtifact":{` + imageRef + `,"pointer":"/images/app/uri","dryFallback":"f"}}`
	)
	remove := func(path string) func(testing.TB, *setting) {
		return func(_ testing.TB, s *setting) { delete(s.observed, path) }
	}
	for _, tt := range []struct {
		name     string
		in       string
		given    func(testing.TB, *setting)
		unknown  string // a Unit that the candidate does not hold
		want     string // the value
		wait     string // the stored reason
		err      string // a part of the error
		hardened bool   // an error in a dry run too, although there is a fallback; of a wait: not replaced by it
	}{
		{name: "receipt: all is current", in: host, want: `"h1"`},
		{name: "receipt: 1 no observed ref", in: host, given: func(_ testing.TB, s *setting) { s.observed = nil }, wait: "receipt does not exist: net"},
		{name: "receipt: 2 no receipt", in: host, given: remove("units/net.yaml"), wait: "receipt does not exist: net"},
		{name: "receipt: 2 the candidate has no such Unit", in: host, unknown: "net", wait: "receipt is stale: net"},
		{name: "receipt: 3 it cannot be read", in: host, given: edit("units/net.yaml", "kind: Receipt", "kind: Quittance"), err: "units/net.yaml:3:7: /kind: ", hardened: true},
		{name: "receipt: 3 it breaks its contract", in: host, given: edit("units/net.yaml", "  outputs:", "  output:"), err: `units/net.yaml`, hardened: true},
		{name: "receipt: 3 it is about another Unit", in: host, given: edit("units/net.yaml", "qualifiedName: net", "qualifiedName: shop/net"), err: `names "shop/net", but the file is the Receipt of "net"`, hardened: true},
		{name: "receipt: 4 it is stale", in: host, given: edit("units/net.yaml", "unitBlob: ", "unitBlob: 0123456789012345678901234567890123456789 # "), wait: "receipt is stale: net"},
		{name: "receipt: 5 it is of another kind", in: host, given: func(t testing.TB, s *setting) {
			edit("units/net.yaml", "kind: Terraform", "kind: FrontendS3Cloudfront")(t, s)
			i := strings.Index(s.observed["units/net.yaml"], "  result:")
			s.observed["units/net.yaml"] = s.observed["units/net.yaml"][:i] + "  result: {published: {bundle: b, artifactDigest: d, runtimeConfigHash: h, url: u}}\n"
		}, err: "is of kind FrontendS3Cloudfront, but the Unit is of kind Terraform", hardened: true},
		{name: "receipt: a missing key is an error, never a wait", in: `{"fromReceipt":{"unit":"net","pointer":"/outputs/nope","dryFallback":1}}`, err: `no such key; known there: host, gone, list`, hardened: true},
		{name: "receipt: an index out of range is an error", in: `{"fromReceipt":{"unit":"net","pointer":"/outputs/list/2","dryFallback":1}}`, err: "the list has 2 items", hardened: true},
		{name: "receipt: a step into a text is an error", in: `{"fromReceipt":{"unit":"net","pointer":"/outputs/host/x","dryFallback":1}}`, err: "cannot step into a string", hardened: true},
		{name: "receipt: a step into null is an error", in: `{"fromReceipt":{"unit":"net","pointer":"/outputs/gone/x","dryFallback":1}}`, err: "cannot step into", hardened: true},
		{name: "receipt: a present null is a value", in: `{"fromReceipt":{"unit":"net","pointer":"/outputs/gone","dryFallback":1}}`, want: `null`},
		{name: "receipt: identity and metadata are out of reach", in: `{"fromReceipt":{"unit":"net","pointer":"/status","dryFallback":1}}`, err: "known there: applied, outputs", hardened: true},

		{name: "artifact: all is current", in: image, want: `"example.test/app@sha256:1"`},
		{name: "artifact: the whole document is in reach", in: `{"fromArtifact":{` + imageRef + `,"pointer":"/producer/sourceRevision"}}`, want: `"` + revision + `"`},
		{name: "artifact: its schema line is not", in: `{"fromArtifact":{` + imageRef + `,"pointer":"/$schema","dryFallback":1}}`, err: "no such key", hardened: true},
		{name: "artifact: the type is not installed", in: strings.ReplaceAll(image, "ContainerImages", "Charts"), err: "artifact.gitopsctr.io/v1/Charts is no installed artifact type", hardened: true},
		{name: "artifact: the type is checked before anything is looked up", in: strings.ReplaceAll(image, "ContainerImages", "Charts"), given: remove("units/img.yaml"), err: "is no installed artifact type", hardened: true},
		{name: "artifact: the producer is in no candidate", in: image, unknown: "img", wait: "receipt is stale: img"},
		{name: "artifact: no receipt", in: image, given: remove("units/img.yaml"), wait: "receipt does not exist: img"},
		{name: "artifact: the receipt is stale", in: image, given: edit("units/img.yaml", "unitBlob: ", "unitBlob: 0123456789012345678901234567890123456789 # "), wait: "receipt is stale: img"},
		{name: "artifact: stale goes before tampered", in: image, given: func(t testing.TB, s *setting) {
			edit("units/img.yaml", "unitBlob: ", "unitBlob: 0123456789012345678901234567890123456789 # ")(t, s)
			edit(artifactPath, "sha256:1", "sha256:2")(t, s)
		}, wait: "receipt is stale: img"},
		{name: "artifact: the receipt does not describe it", in: image, given: func(_ testing.TB, s *setting) {
			s.observed["units/img.yaml"], _, _ = strings.Cut(s.observed["units/img.yaml"], "  artifacts:")
		}, err: `missing field "artifacts"`, hardened: true},
		{name: "artifact: the file is missing", in: image, given: remove(artifactPath), err: "the artifact files of img are none, but its Receipt describes artifacts/img/containers.yaml", hardened: true},
		{name: "artifact: one file too many", in: image, given: func(_ testing.TB, s *setting) { s.observed["artifacts/img/more.yaml"] = "x: 1\n" }, err: "the artifact files of img are artifacts/img/containers.yaml, artifacts/img/more.yaml, but", hardened: true},
		{name: "artifact: the producer's kind makes none", in: strings.ReplaceAll(image, `"img"`, `"net"`), err: `Unit net (Terraform) makes no artifact "containers"`, hardened: true},
		{name: "artifact: no artifact of that name", in: strings.ReplaceAll(image, `"containers"`, `"charts"`), err: `Unit img (OciImages) makes no artifact "charts"`, hardened: true},
		{name: "artifact: the name has another type", in: strings.ReplaceAll(image, "ContainerImages", "FrontendBundle"), err: `makes no artifact "containers" of type artifact.gitopsctr.io/v1/FrontendBundle`, hardened: true},
		{name: "artifact: 1 the path is not the canonical one", in: image, given: func(t testing.TB, s *setting) {
			edit("units/img.yaml", artifactPath, "artifacts/img/x.yaml")(t, s)
			s.observed["artifacts/img/x.yaml"] = s.observed[artifactPath]
			delete(s.observed, artifactPath)
		}, wait: `artifact does not match its descriptor: img (its path is "artifacts/img/x.yaml", not "artifacts/img/containers.yaml")`},
		{name: "artifact: 2 the described type is another", in: image, given: edit("units/img.yaml", "kind: ContainerImages", "kind: FrontendBundle"), err: `must be "ContainerImages"`, hardened: true},
		{name: "artifact: 3 the media type is another", in: image, given: reobserve(sameArtifact, func(d *resource.ArtifactDescriptor) { d.MediaType = "text/plain" }),
			wait: `artifact does not match its descriptor: img (its media type is "text/plain", not "application/vnd.gitopsctr.container-images.v1+yaml")`},
		{name: "artifact: 4 the digest is another", in: image, given: edit(artifactPath, "sha256:1", "sha256:2"), wait: "artifact does not match its descriptor: img (its digest is not the described one)"},
		{name: "artifact: 5 it breaks its contract", in: image, given: func(t testing.TB, s *setting) {
			broken := strings.ReplaceAll(s.observed[artifactPath], "uri:", "url:")
			reobserve(sameArtifact, func(d *resource.ArtifactDescriptor) { d.Digest = resource.ContentHash([]byte(broken)) })(t, s)
			s.observed[artifactPath] = broken
		}, err: "artifacts/img/containers.yaml:", hardened: true},
		{name: "artifact: 6 it has another name", in: image, given: reobserve(func(a *resource.Artifact) { a.Name = "other" }, func(d *resource.ArtifactDescriptor) { d.Name, d.Path = "containers", artifactPath }),
			wait: "artifact does not match its descriptor: img (it was made from another version of its Unit)"},
		{name: "artifact: 7 its producer is another source", in: image, given: reobserve(func(a *resource.Artifact) { a.Producer.SourceRevision = strings.Repeat("1", 40) }, sameDescriptor),
			wait: "artifact does not match its descriptor: img (it was made from another version of its Unit)"},
		{name: "artifact: 7 its producer has other inputs", in: image, given: reobserve(func(a *resource.Artifact) { a.Producer.InputHash = "sha256:" + strings.Repeat("1", 64) }, sameDescriptor),
			wait: "artifact does not match its descriptor: img (it was made from another version of its Unit)"},
		{name: "artifact: 7 its producer is another driver version", in: image, given: reobserve(func(a *resource.Artifact) { a.Producer.DriverVersion = 9 }, sameDescriptor),
			wait: "artifact does not match its descriptor: img (it was made from another version of its Unit)"},
		{name: "artifact: a missing key is an error", in: strings.ReplaceAll(image, "/images/app/", "/images/web/"), err: "known there: app", hardened: true},

		{name: "promotion: none is active", in: `{"fromPromotion":{"unit":"net","pointer":"","dryFallback":"f"}}`, wait: "no promotion is active"},
		{name: "promotion: active, explicit pointer", in: `{"fromPromotion":{"unit":"net","pointer":"/source/path"}}`, given: promoted(func(*Promotion) {}), want: `"net"`},
		{name: "promotion: an explicit pointer may read another kind", in: `{"fromPromotion":{"unit":"img","pointer":"/build/platform"}}`, given: promoted(func(*Promotion) {}), want: `"linux/amd64"`},
		{name: "promotion: defaults and nulls are in reach", in: `{"fromPromotion":{"unit":"net","pointer":"/terraform/checks"}}`, given: promoted(func(*Promotion) {}), want: `null`},
		{name: "promotion: metadata is out of reach", in: `{"fromPromotion":{"unit":"net","pointer":"/metadata","dryFallback":1}}`, given: promoted(func(*Promotion) {}), err: "known there: source, terraform, inputs, resolvedInputs", hardened: true},
		{name: "promotion: the inferred pointer leads nowhere", in: `{"fromPromotion":{"unit":"net","dryFallback":1}}`, given: promoted(func(*Promotion) {}), err: `JSON Pointer "/terraform/variables/v": token "v": cannot step into null`, hardened: true},
		{name: "promotion: the inferred pointer asks for the same kind", in: `{"fromPromotion":{"unit":"img","dryFallback":1}}`, given: promoted(func(*Promotion) {}), err: `in environment dev the Unit "img" is a OciImages, this one is a Terraform`, hardened: true},
		{name: "promotion: no such Unit", in: `{"fromPromotion":{"unit":"web","dryFallback":1}}`, given: promoted(func(*Promotion) {}), err: `the promoted state of environment dev has no Unit "web"`, hardened: true},
		{name: "promotion: its own Unit by default", in: `{"fromPromotion":{"pointer":"","dryFallback":1}}`, given: promoted(func(*Promotion) {}), err: `has no Unit "app"`, hardened: true},
		{name: "promotion: the Unit cannot be read", in: `{"fromPromotion":{"unit":"net","pointer":"","dryFallback":1}}`, given: promoted(func(p *Promotion) { p.Tree = plane{"units/net.yaml": "x: 1\n"} }), err: "the promoted state of environment dev: units/net.yaml", hardened: true},
		{name: "promotion: the Unit is there twice", in: `{"fromPromotion":{"unit":"net","pointer":"","dryFallback":1}}`, given: promoted(func(p *Promotion) { p.Tree = plane{"units/net.yaml": "", "units/net.json": ""} }), err: "one document in several files: units/net.json, units/net.yaml", hardened: true},
		{name: "promotion: it has lapsed", in: `{"fromPromotion":{"unit":"net","pointer":"","dryFallback":1}}`, given: promoted(func(p *Promotion) { p.Lapsed, p.Tree = "the branch x does not exist any more", nil }),
			wait: "promotion is no longer valid (the branch x does not exist any more)", hardened: true},

		{name: "environment: a value", in: `{"fromEnvironment":{"pointer":"/name"}}`, want: `"dev"`},
		{name: "environment: no defaults are added", in: `{"fromEnvironment":{"pointer":"/changeGate"}}`, err: "no such key; known there: name", hardened: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := world(t)
			if tt.given != nil {
				tt.given(t, s)
			}
			for _, dry := range []bool{false, true} {
				got, wait, err := s.resolve(t, tt.in, tt.unknown, dry)
				switch {
				case tt.err != "" && (!dry || tt.hardened):
					if err == nil || !strings.Contains(err.Error(), tt.err) {
						t.Errorf("dry %v: want an error with %q, got %v, value %s, wait %q", dry, tt.err, err, got, wait)
					}
					continue
				case err != nil:
					t.Errorf("dry %v: %v", dry, err)
					continue
				}
				wantValue, wantWait := tt.want, tt.wait
				if dry && tt.wait != "" && !tt.hardened {
					wantValue, wantWait = `"f"`, ""
				}
				if diff := cmp.Diff(wantWait, wait); diff != "" {
					t.Errorf("dry %v: wait (-want +got):\n%s", dry, diff)
				}
				if diff := cmp.Diff(wantValue, got); diff != "" {
					t.Errorf("dry %v: value (-want +got):\n%s", dry, diff)
				}
			}
		})
	}
}

// resolve resolves one value at /terraform/variables/v of the Terraform Unit app.
func (s *setting) resolve(t testing.TB, in, unknown string, dry bool) (got, wait string, err error) {
	t.Helper()
	planes := state(t, s.desired, s.observed)
	lookup := unitLookup{promotion: s.promotion, kind: "Terraform", Evidence: &observed.Evidence{
		State: planes,
		Env:   value(t, `{"name":"dev"}`),
		Candidate: func(name string) (*resource.Unit, string, bool) {
			u := planes.Unit(name)
			if u == nil || name == unknown {
				return nil, "", false
			}
			return u.Unit, u.Blob, true
		},
	}}
	r, err := expression.Resolve("/terraform/variables/v", "app", value(t, in), lookup, dry)
	if len(r.Waits) > 0 {
		wait = r.Waits[0].Error()
	}
	if r.Value != nil {
		got = string(document.CanonicalJSON(r.Value))
	}
	return got, wait, err
}
