package resource

import (
	"slices"
	"strings"
	"testing"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/google/go-cmp/cmp"
)

// hashedFiles are the files in a pre-image; which files are inputs at all is the business of package source.
func hashedFiles(t *testing.T, preimage string) []InputFile {
	t.Helper()
	n, err := document.Decode("bytes.json", []byte(preimage))
	if err != nil {
		t.Fatal(err)
	}
	var files []InputFile
	for _, f := range n.Get("files").Items {
		files = append(files, InputFile{f.Get("path").Str(), f.Get("mode").Str(), f.Get("contentHash").Str()})
	}
	slices.Reverse(files) // InputHash sorts
	return files
}

func TestInputHash(t *testing.T) {
	t.Parallel()
	var header struct {
		Cases []struct{ Label, Kind, Bytes, InputHash string }
	}
	readJSONVector(t, "b-apply-references/input-hash.json", &header)
	n, err := document.Decode("input-hash.json", readVector(t, "b-apply-references/input-hash.json"))
	if err != nil {
		t.Fatal(err)
	}
	for i, tt := range header.Cases {
		t.Run(tt.Label, func(t *testing.T) {
			t.Parallel()
			u, err := AuthoredUnitFromNode("unit.yaml", document.NewMap(
				document.F("apiVersion", document.NewString(UnitAPI)),
				document.F("kind", document.NewString(tt.Kind)),
				document.F("metadata", document.NewMap(document.F("name", document.NewString("u")))),
				document.F("spec", n.Get("cases").Items[i].Get("spec"))))
			if err != nil {
				t.Fatal(err)
			}
			normal, err := u.Normal(normalReference)
			if err != nil {
				t.Fatal(err)
			}
			kind, _ := UnitKindOf(tt.Kind)
			hash, preimage := InputHash(kind, normal, hashedFiles(t, tt.Bytes))
			if diff := cmp.Diff(tt.Bytes, string(preimage)); diff != "" {
				t.Errorf("pre-image (-want +got):\n%s", diff)
			}
			if hash != tt.InputHash {
				t.Errorf("input hash: want %s, got %s", tt.InputHash, hash)
			}
		})
	}
	if len(header.Cases) != 15 {
		t.Errorf("want 15 cases, got %d", len(header.Cases))
	}
}

// normalReference is the normal form of reference expressions (chapter B, section 5.1), as package expression has it.
func normalReference(n *document.Node, typed bool) (*document.Node, error) {
	switch n.Kind {
	case document.List:
		out := document.NewList()
		for _, item := range n.Items {
			done, _ := normalReference(item, typed)
			out.Items = append(out.Items, done)
		}
		return out, nil
	case document.Map:
		out := document.NewMap()
		for _, f := range n.Fields {
			value, _ := normalReference(f.Value, typed)
			if strings.HasPrefix(f.Key, "from") && value.Kind == document.Map && f.Key != "fromPromotion" {
				switch pointer := value.Get("pointer"); {
				case typed && pointer == nil:
					value = value.With("pointer", document.NewString(""))
				case !typed && pointer != nil && pointer.Text == "":
					value = value.Without("pointer")
				}
			}
			out.Fields = append(out.Fields, document.F(f.Key, value))
		}
		return out, nil
	}
	return n, nil
}

func TestInputHashIsOfSortedFiles(t *testing.T) {
	t.Parallel()
	kind, _ := UnitKindOf("Terraform")
	files := []InputFile{file("b", "100644", ""), file("a/c", "100644", ""), file("a-b", "100644", "")}
	_, got := InputHash(kind, document.NewMap(), files)
	n, err := document.Decode("preimage.json", got)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range n.Get("files").Items {
		paths = append(paths, f.Get("path").Str())
	}
	if diff := cmp.Diff([]string{"a-b", "a/c", "b"}, paths); diff != "" {
		t.Errorf("order of files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"b", "a/c", "a-b"}, []string{files[0].Path, files[1].Path, files[2].Path}); diff != "" {
		t.Errorf("the caller's files were reordered (-want +got):\n%s", diff)
	}
}
