package resource

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/google/go-cmp/cmp"
)

func TestUnitDigests(t *testing.T) {
	t.Parallel()
	var want map[string]string
	readJSONVector(t, "a-documents/unit-digests.json", &want)
	u, err := DecodeUnit("unit-input.json", readVector(t, "a-documents/unit-input.json"))
	if err != nil {
		t.Fatal(err)
	}
	content := ContentDigest(u.Node())
	metadata := u.Metadata
	metadata.Deletion = &Deletion{Generation: 1, ResourceDigest: content}
	deleting := u.With(metadata)
	blob := func(u *Unit, f document.Format) string {
		data, err := u.Encode(f)
		if err != nil {
			t.Fatal(err)
		}
		return document.BlobID(data)
	}
	got := map[string]string{
		"resourceContentDigest":           content,
		"bindingDigest":                   u.BindingDigest(),
		"resourceContentDigestOfDeleting": ContentDigest(deleting.Node()),
		"unit-desired.yaml":               blob(u, document.YAML),
		"unit-desired.json":               blob(u, document.JSON),
		"unit-deleting.yaml":              blob(deleting, document.YAML),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("digests (-want +got):\n%s", diff)
	}
}

func TestDeletionMarkOfChapterD(t *testing.T) {
	t.Parallel()
	before, err := DecodeUnit("before.yaml", readVector(t, "d-reconcile/before.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(readVector(t, "d-reconcile/resource-digest-input.json")), string(document.CanonicalJSON(before.Node()))); diff != "" {
		t.Errorf("digest input (-want +got):\n%s", diff)
	}
	marked := before.Marked()
	got, err := marked.Encode(document.YAML)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(readVector(t, "d-reconcile/after.yaml")), string(got)); diff != "" {
		t.Errorf("marked Unit (-want +got):\n%s", diff)
	}
	for what, u := range map[string]*Unit{"without a mark": before, "as marked": marked} {
		if err := u.CheckMark(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	changed := *marked
	changed.Spec = marked.Spec.With("source", document.NewNull())
	if err := changed.CheckMark(); err == nil || !strings.Contains(err.Error(), "was changed after it had been marked for deletion") {
		t.Errorf("changed after the mark: got %v", err)
	}
}

func TestStackDigests(t *testing.T) {
	t.Parallel()
	var want map[string]map[string]json.RawMessage
	readJSONVector(t, "a-documents/stack-digests.json", &want)
	for name, facts := range want {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := "a-documents/" + name + ".yaml"
			if !strings.Contains(name, "/") {
				path = "a-documents/" + name + "-desired.yaml"
			}
			check := func(fact, got string) {
				t.Helper()
				var want string
				if err := json.Unmarshal(facts[fact], &want); err != nil {
					t.Fatal(err)
				}
				if want != got {
					t.Errorf("%s: want %s, got %s", fact, want, got)
				}
			}
			data := readVector(t, path)
			if s, err := DecodeStackTemplate(path, data); err == nil {
				check("resourceContentDigest", ContentDigest(s.Node()))
				got := TemplateContentDigest(s.Spec.Get("parameters"), s.Spec.Get("unitTemplates"))
				if want := s.Spec.Get("contentDigest").Str(); got != want {
					t.Errorf("contentDigest: want %s, got %s", want, got)
				}
				return
			}
			s, err := DecodeStack(path, data)
			if err != nil {
				t.Fatal(err)
			}
			check("resourceContentDigest", ContentDigest(s.Node()))
			structural, active := s.Spec.Get("structuralProjection"), s.Spec.Get("activeProjection")
			if want, got := structural.Path("identity", "projectionDigest").Str(), StructuralProjectionDigest(structural); want != got {
				t.Errorf("structural projectionDigest: want %s, got %s", want, got)
			}
			if want, got := active.Get("projectionDigest").Str(), ActiveProjectionDigest(active); want != got {
				t.Errorf("active projectionDigest: want %s, got %s", want, got)
			}
		})
	}
}

func TestProjectionContextDigest(t *testing.T) {
	t.Parallel()
	n, err := document.DecodeLenient("context.json", readVector(t, "f-promotion/projection-context-with-promotion.json"))
	if err != nil {
		t.Fatal(err)
	}
	if want, got := n.Get("digest").Str(), ProjectionContextDigest(n); want != got {
		t.Errorf("digest: want %s, got %s", want, got)
	}
}

func file(path, mode, content string) InputFile {
	return InputFile{path, mode, document.SHA256Hex([]byte(content))}
}

func TestMaterializationDigest(t *testing.T) {
	t.Parallel()
	const plain, exec = "100644", "100755"
	configMap := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n"
	for _, tt := range []struct {
		name, want string
		files      []InputFile
	}{
		{"paths are ordered segment by segment", "sha256:25713788596971e31af1436cfe0b7b16f120a0d457ebc027a110277f95bea97d",
			[]InputFile{file("a", exec, "1"), file("sub.x", plain, "3"), file("sub/z", plain, "2")}},
		{"an executable file", "sha256:1f6c472d3385ed9da6678655ad72ed324e6edab6c19991dee3c758387216efdd",
			[]InputFile{file("a.yaml", plain, configMap), file("sub/b.yml", plain, "x: 1\n"), file("sub/run.sh", exec, "#!/bin/sh\n")}},
		{"a directory sorts before a longer name", "sha256:2dec2db35ed45925cc139c3585cca4723ec4acabc8b8ed3d2761ac9d9488ecce",
			[]InputFile{file("sub-a", plain, "z"), file("a.yaml", plain, configMap), file("sub/b.yml", plain, "x: 1\n"), file("sub/run.sh", exec, "#!/bin/sh\n")}},
		{"one file", "sha256:2d9c1813684c99787122434f01a9f0d2374cbd732060798759ba8bc3a7b191b4",
			[]InputFile{file("manifest.yaml", plain, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")}},
		{"non-ASCII names", "sha256:e81fb1516a1de43e3a1149bf6ab8e2a38999d6230e68a839fe69dfab529e74d6",
			[]InputFile{file("a-b.yaml", plain, "x\n"), file("a.yaml", plain, "z\n"), file("a/b.yaml", plain, "y\n"), file("ü.yaml", plain, "u\n")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := MaterializationDigest(tt.files); got != tt.want {
				t.Errorf("digest: want %s, got %s", tt.want, got)
			}
		})
	}
}

func TestCandidateID(t *testing.T) {
	t.Parallel()
	context := func(s string) *document.Node { return parse(t, s) }
	payload := func(path string) CandidateIdentity {
		n, err := document.Decode(path, readVector(t, path))
		if err != nil {
			t.Fatal(err)
		}
		c := CandidateIdentity{Operation: n.Get("operation").Str(), Environment: n.Get("environment").Str(),
			TargetRef: n.Get("targetRef").Str(), TargetRevision: n.Get("targetRevision").Str(), Context: n.Get("context")}
		for _, f := range n.Get("files").Items {
			c.Files = append(c.Files, InputFile{Path: f.Get("path").Str(), SHA256: f.Get("contentHash").Str()})
		}
		slices.Reverse(c.Files)
		return c
	}
	tree := []InputFile{file("a", "100755", "1"), file("sub/z", "100644", "2"), file("sub.x", "100644", "3")}
	hello := []InputFile{file("a.txt", "100644", "hello\n")}
	c40 := strings.Repeat("c", 40)
	for _, tt := range []struct {
		name, want string
		identity   CandidateIdentity
	}{
		{"apply", "b418ad69590c", CandidateIdentity{"apply", "dev", "d", strings.Repeat("1", 40), context("partition: null"), tree}},
		{"delete", "cc9dc54f196d", CandidateIdentity{"delete", "qa", "gitopsctr/desired/qa", c40, context("{kind: Unit, name: net, uid: d1-x}"), hello}},
		{"deletion progression", "6ff0d4281ccf", CandidateIdentity{"deletion-progression", "qa", "gitopsctr/desired/qa", c40,
			context("{kind: Unit, name: net, uid: d1-x, deletionGeneration: 1}"), hello}},
		{"promotion", "06bdab300621", payload("f-promotion/promotion-candidate/candidate-id-payload.json")},
		{"rollback", "e193ebbe52bb", payload("f-promotion/rollback-candidate-id-payload.json")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.identity.ID(); got != tt.want {
				t.Errorf("candidate id: want %s, got %s", tt.want, got)
			}
		})
	}
}

func TestPromotionCandidateContext(t *testing.T) {
	t.Parallel()
	p, err := DecodePromotion("promotion.yaml", readVector(t, "f-promotion/promotion-candidate/tree/promotion.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := document.Decode("payload.json", readVector(t, "f-promotion/promotion-candidate/candidate-id-payload.json"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(document.CanonicalJSON(want.Get("context"))), string(document.CanonicalJSON(p.CandidateContext()))); diff != "" {
		t.Errorf("context (-want +got):\n%s", diff)
	}
}
