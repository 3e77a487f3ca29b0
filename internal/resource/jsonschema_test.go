package resource

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/google/go-cmp/cmp"
)

// The published JSON Schemas are written from the shapes:
//
//	go test ./internal/resource -run TestPublishedSchemas -update
var update = flag.Bool("update", false, "write the files that the tests compare with")

const schemaDir = "../../schemas"

// A published schema is one file of the catalog.
type published struct {
	gvk     GVK
	profile Profile
	shape   *shape
}

func catalog() []published {
	all := []published{
		{GVK{CoreAPI, "Project"}, NoProfile, projectShape},
		{GVK{CoreAPI, "Environment"}, NoProfile, environmentShape},
		{GVK{CoreAPI, "Promotion"}, NoProfile, promotionShape},
		{GVK{CoreAPI, "Receipt"}, NoProfile, anyReceiptShape},
		{stackGVK, Authored, authoredStackShape},
		{stackGVK, Desired, stackShape},
		{stackTemplateGVK, Authored, authoredStackTemplateShape},
		{stackTemplateGVK, Desired, stackTemplateShape},
		{GVK{"inspection.gitopsctr.io/v1", "ResourceList"}, NoProfile, resourceListShape},
	}
	for _, kind := range ArtifactKinds() {
		all = append(all, published{GVK{ArtifactAPI, kind}, NoProfile, artifactShapes[kind]})
	}
	for _, kind := range UnitKinds() {
		gvk, shapes := GVK{UnitAPI, kind}, unitDocuments[kind]
		all = append(all, published{gvk, Authored, shapes.authored}, published{gvk, Desired, shapes.desired}, published{gvk, Observed, shapes.result})
	}
	return all
}

// name is the key of the schema in index.json.
func (p published) name() string {
	return strings.TrimSuffix(p.gvk.String()+"/"+string(p.profile), "/")
}

var resourceListShape = envelopeShape(GVK{"inspection.gitopsctr.io/v1", "ResourceList"}, "What gitopsctr get prints for more than one resource.", noMembers,
	need("items", list(object("A resource.",
		need("provenance", object("Where it was read from.",
			need("environment", orNull(text(localName)), "Its environment, null for the Project."),
			need("plane", oneOf("source", "desired", "observed"), "The plane that it belongs to."),
			need("ref", orNull(anyText), "The branch, null for the work tree."),
			need("revision", orNull(anyText), "The commit, null for the work tree."),
			need("path", anyText, "Path of the document.")), "Where it was read from."),
		need("address", object("Its address.",
			need("family", anyText, "Family of the kind."),
			need("scope", oneOf("project", "environment"), "Scope of the kind."),
			need("namespace", orNull(anyText), "Its environment, null for the Project."),
			need("qualifiedName", anyText, "Its qualified name.")), "Its address."),
		need("document", anyObject, "The document."),
		need("inspection", orNull(object("",
			need("authentication", oneOf("CURRENT", "STALE", "ORPHAN"), "What a Receipt is worth."))), "What is known of it beyond the document."))), "The resources."))

func TestPublishedSchemas(t *testing.T) {
	t.Parallel()
	want := map[string][]byte{}
	apis := document.NewMap()
	for _, p := range catalog() {
		path := SchemaPath(p.gvk, p.profile)
		apis.Fields = append(apis.Fields, document.F(p.name(), document.NewString(path)))
		want[path] = document.EncodeJSON(schemaFile(p))
	}
	if len(want) != 26 {
		t.Errorf("want 26 schemas, got %d", len(want))
	}
	want["index.json"] = document.EncodeJSON(document.NewMap(schemaOne, document.F("apis", apis)))
	if *update {
		writeSchemas(t, want)
	}
	have := map[string][]byte{}
	err := filepath.WalkDir(schemaDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		rel, err := filepath.Rel(schemaDir, path)
		if err != nil {
			return err
		}
		have[filepath.ToSlash(rel)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for path := range have {
		if _, ok := want[path]; !ok {
			t.Errorf("%s is not in the catalog; remove it", path)
		}
	}
	for path, data := range want {
		if !bytes.Equal(data, have[path]) {
			t.Errorf("%s is not what the shapes say; run the test with -update (-want +got):\n%s", path, cmp.Diff(string(data), string(have[path])))
		}
	}
}

func writeSchemas(t *testing.T, files map[string][]byte) {
	t.Helper()
	for path, data := range files {
		path = filepath.Join(schemaDir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
