package resource

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/google/go-cmp/cmp"
)

const vectors = "../../testdata/vectors"

func readVector(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(vectors, path))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func readJSONVector(t testing.TB, path string, into any) {
	t.Helper()
	if err := json.Unmarshal(readVector(t, path), into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// parse reads a YAML document for a test.
func parse(t testing.TB, text string) *document.Node {
	t.Helper()
	n, err := document.Decode("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A writer is a decoded document that can be written again.
type writer interface {
	Encode(document.Format) ([]byte, error)
}

// A control is a decoded control file.
type control interface{ Encode() ([]byte, error) }

// decodePublished decodes a document of the desired or observed ref by its apiVersion and kind; ok is false when it is
// none.
func decodePublished(file string, data []byte) (encode func(document.Format) ([]byte, error), ok bool, err error) {
	n, err := document.DecodeLenient(file, data)
	if err != nil {
		return nil, false, nil
	}
	of := func(w writer, err error) (func(document.Format) ([]byte, error), bool, error) {
		if err != nil {
			return nil, true, err
		}
		return w.Encode, true, nil
	}
	ofControl := func(c control, err error) (func(document.Format) ([]byte, error), bool, error) {
		if err != nil {
			return nil, true, err
		}
		return func(document.Format) ([]byte, error) { return c.Encode() }, true, nil
	}
	switch kind := n.Get("kind").Str(); {
	case n.Get("apiVersion").Str() == UnitAPI && n.Path("metadata", "uid") != nil:
		return of(DecodeUnit(file, data))
	case n.Get("apiVersion").Str() == ArtifactAPI:
		return of(DecodeArtifact(file, data))
	case kind == "Receipt":
		return of(DecodeReceipt(file, data))
	case kind == "Promotion":
		return of(DecodePromotion(file, data))
	case kind == "Stack" && n.Path("metadata", "uid") != nil:
		return of(DecodeStack(file, data))
	case kind == "StackTemplate" && n.Path("metadata", "uid") != nil:
		return of(DecodeStackTemplate(file, data))
	case kind == "UnitEffectLease":
		return ofControl(DecodeEffectLease(file, data))
	case kind == "UnitTeardownEvidence":
		return ofControl(DecodeTeardownEvidence(file, data))
	case kind == "ResourceIncarnationTombstone":
		return ofControl(DecodeTombstone(file, data))
	case n.Has("blocks"):
		return ofControl(DecodeTransitionBlocks(file, data))
	}
	return nil, false, nil
}

// TestRoundTripOfPublishedDocuments decodes every published document among the vectors, and writes it again to the byte.
func TestRoundTripOfPublishedDocuments(t *testing.T) {
	t.Parallel()
	count := map[string]int{}
	err := filepath.WalkDir(vectors, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		switch filepath.Ext(path) {
		case ".yaml", ".yml", ".json":
		default:
			return nil
		}
		if strings.HasSuffix(path, "-input.json") {
			return nil // inputs are not as written
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		encode, ok, err := decodePublished(path, data)
		if !ok {
			return nil
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return nil
		}
		got, err := encode(document.FormatOf(path))
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return nil
		}
		if diff := cmp.Diff(string(data), string(got)); diff != "" {
			t.Errorf("%s is written differently (-want +got):\n%s", path, diff)
		}
		n, _ := document.DecodeLenient(path, data)
		count[n.Get("kind").Str()]++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{
		"Terraform": 14, "KubernetesManifests": 6, "OciImages": 1, "ViteOciBundle": 1, "FrontendS3Cloudfront": 1,
		"Receipt": 12, "ContainerImages": 2, "FrontendBundle": 1, "Promotion": 1, "Stack": 5, "StackTemplate": 5,
		"UnitEffectLease": 1, "UnitTeardownEvidence": 2, "ResourceIncarnationTombstone": 2,
		"": 3, // transition blocks
	}
	if diff := cmp.Diff(want, count); diff != "" {
		t.Errorf("documents of each kind (-want +got):\n%s", diff)
	}
}

// TestFormatsAgree writes documents that the reference wrote in both formats, from one to the other.
func TestFormatsAgree(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"a-documents/unit-desired.yaml", "a-documents/unit-desired.json"},
		{"a-documents/stack-desired.yaml", "a-documents/stack-desired.json"},
		{"a-documents/stack-template-desired.yaml", "a-documents/stack-template-desired.json"},
		{"a-documents/stack-run/stack-alpha.yaml", "a-documents/stack-run/stack-alpha.json"},
		{"a-documents/stack-run/stack-template-chain.yaml", "a-documents/stack-run/stack-template-chain.json"},
		{"d-reconcile/receipt.yaml", "d-reconcile/receipt-json.json"},
	} {
		t.Run(pair[0], func(t *testing.T) {
			t.Parallel()
			encode, _, err := decodePublished(pair[0], readVector(t, pair[0]))
			if err != nil {
				t.Fatal(err)
			}
			got, err := encode(document.JSON)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(readVector(t, pair[1])), string(got)); diff != "" {
				t.Errorf("JSON form (-want +got):\n%s", diff)
			}
		})
	}
}
