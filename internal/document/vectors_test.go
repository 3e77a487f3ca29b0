package document

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// vectorsDir holds what the reference implementation was seen to do; each chapter has a README.md.
const vectorsDir = "../../testdata/vectors"

// outline writes n with one line for each value: pointer, kind, value, in document order. go-cmp takes exponential time on
// trees of lists, so trees are compared by their outlines.
func outline(n *Node) string { return outlineOf(n, false) }

// outlineWithPositions is outline with the position of each key and value.
func outlineWithPositions(n *Node) string { return outlineOf(n, true) }

func outlineOf(n *Node, positions bool) string {
	var b strings.Builder
	var walk func(pointer string, f Field)
	walk = func(pointer string, f Field) {
		n := f.Value
		if n == nil {
			fmt.Fprintf(&b, "%s missing\n", pointer)
			return
		}
		fmt.Fprintf(&b, "%s %v", pointer, n.Kind)
		switch n.Kind {
		case Bool:
			fmt.Fprintf(&b, " %t", n.Bool)
		case Float:
			fmt.Fprintf(&b, " %x", n.Float)
		case Int, String:
			fmt.Fprintf(&b, " %q", n.Text)
		}
		if positions {
			fmt.Fprintf(&b, " key %d:%d value %d:%d", f.Line, f.Column, n.Line, n.Column)
		}
		b.WriteByte('\n')
		for i, item := range n.Items {
			walk(fmt.Sprintf("%s/%d", pointer, i), Field{Value: item})
		}
		for _, f := range n.Fields {
			walk(pointer+"/"+PointerToken(f.Key), f)
		}
	}
	walk("", Field{Value: n})
	return b.String()
}

func readVector(t *testing.T, chapter, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(vectorsDir, chapter, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// vectorLines returns the rows of a .jsonl file. They are read with our own reader, since key order and the difference
// between 1 and 1.0 are part of them.
func vectorLines(t *testing.T, chapter, name string) []*Node {
	t.Helper()
	var rows []*Node
	for i, line := range bytes.Split(readVector(t, chapter, name), []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		row, err := Decode("row.json", line)
		if err != nil {
			t.Fatalf("%s:%d: %v", name, i+1, err)
		}
		rows = append(rows, row)
	}
	return rows
}

func wantRows(t *testing.T, rows []*Node, want int) {
	t.Helper()
	if len(rows) != want {
		t.Fatalf("want %d rows, got %d", want, len(rows))
	}
}

// refused are the documents that the reference reads and we do not, with the reason.
var refused = map[string]string{
	"nan.yaml":        "numbers must be finite",
	"nan.json":        "numbers must be finite",
	"nums.json":       "1E400 overflows to infinity",
	"nestintkey.yaml": "keys must be strings at every level",
	"omap.yaml":       "!!omap makes pairs, which JSON does not have",
	"surr.json":       "half a surrogate pair is no character",
}

// refusedStrictly are those that only DecodeLenient reads.
var refusedStrictly = map[string]string{
	"dup.yaml": "duplicate keys",
	"dup.json": "duplicate keys",
}

func TestParseVectors(t *testing.T) {
	t.Parallel()
	rows := vectorLines(t, "a-documents", "parse.jsonl")
	wantRows(t, rows, 51)
	for _, row := range rows {
		file := row.Get("file").Str()
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			data, err := hex.DecodeString(row.Get("bytesHex").Str())
			if err != nil {
				t.Fatal(err)
			}
			strict, strictErr := Decode(file, data)
			lenient, lenientErr := DecodeLenient(file, data)
			if row.Get("error") != nil || refused[file] != "" {
				for _, err := range []error{strictErr, lenientErr} {
					var e *Error
					if !errors.As(err, &e) || e.File != file || e.Message == "" {
						t.Errorf("want an *Error for %s, got %v", file, err)
					}
				}
				return
			}
			want := pythonValue(t, row.Get("valuePython").Str())
			if lenientErr != nil {
				t.Fatal(lenientErr)
			}
			if diff := cmp.Diff(outline(want), outline(lenient)); diff != "" {
				t.Errorf("lenient (-want +got):\n%s", diff)
			}
			if refusedStrictly[file] != "" {
				if strictErr == nil {
					t.Error("want an error from Decode")
				}
				return
			}
			if strictErr != nil {
				t.Fatal(strictErr)
			}
			if diff := cmp.Diff(outline(want), outline(strict)); diff != "" {
				t.Errorf("strict (-want +got):\n%s", diff)
			}
		})
	}
}

// pythonValue reads the subset of Python literals that the vectors use.
func pythonValue(t *testing.T, literal string) *Node {
	t.Helper()
	text := strings.NewReplacer("'", `"`, "True", "true", "False", "false", "None", "null").Replace(literal)
	n, err := Decode("value.json", []byte(text))
	if err != nil {
		t.Fatalf("%s: %v", literal, err)
	}
	return n
}

func TestJSONNumbersOfVectorWithoutOverflow(t *testing.T) {
	t.Parallel()
	for _, row := range vectorLines(t, "a-documents", "parse.jsonl") {
		if row.Get("file").Str() != "nums.json" {
			continue
		}
		data, err := hex.DecodeString(row.Get("bytesHex").Str())
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode("nums.json", bytes.Replace(data, []byte("1E400"), []byte("1E4"), 1))
		if err != nil {
			t.Fatal(err)
		}
		want := pythonValue(t, strings.Replace(row.Get("valuePython").Str(), "inf", "10000.0", 1))
		if diff := cmp.Diff(outline(want), outline(got)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		return
	}
	t.Fatal("no row nums.json")
}

func TestYAMLVectors(t *testing.T) {
	t.Parallel()
	for name, count := range map[string]int{"yaml-scalars.jsonl": 147, "documents.jsonl": 7, "yaml-random.jsonl": 2000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows := vectorLines(t, "a-documents", name)
			wantRows(t, rows, count)
			for i, row := range rows {
				value := row.Get("value")
				if name == "yaml-scalars.jsonl" {
					value = NewMap(F("k", value))
				}
				want := row.Get("yaml").Str()
				if diff := cmp.Diff(want, string(EncodeYAML(value))); diff != "" {
					t.Fatalf("row %d (-want +got):\n%s", i+1, diff)
				}
				checkReadBack(t, fmt.Sprintf("row %d", i+1), value, []byte(want))
			}
		})
	}
}

// checkReadBack checks that both YAML readers get the value back from what was written.
func checkReadBack(t *testing.T, what string, value *Node, written []byte) {
	t.Helper()
	if value.Get(schemaKey).Str() != "" {
		if want, got := value.Get(schemaKey).Str(), SchemaDirective(written); want != got {
			t.Fatalf("%s: want schema %q, got %q", what, want, got)
		}
		value = value.Without(schemaKey)
	}
	got, err := Decode("x.yaml", written)
	if err != nil {
		t.Fatalf("%s: %v\n%s", what, err, written)
	}
	if diff := cmp.Diff(outline(value), outline(got)); diff != "" {
		t.Fatalf("%s read back (-want +got):\n%s", what, diff)
	}
	full, _, err := decodeYAML("x.yaml", written, false)
	if err != nil {
		t.Fatalf("%s: full reader: %v\n%s", what, err, written)
	}
	if diff := cmp.Diff(outlineWithPositions(full), outlineWithPositions(got)); diff != "" {
		t.Fatalf("%s: full and fast reader differ (-full +fast):\n%s", what, diff)
	}
}

func TestDocumentVectorsAsJSON(t *testing.T) {
	t.Parallel()
	for i, row := range vectorLines(t, "a-documents", "documents.jsonl") {
		value := row.Get("value")
		if diff := cmp.Diff(row.Get("json").Str(), string(EncodeJSON(value))); diff != "" {
			t.Errorf("row %d JSON (-want +got):\n%s", i+1, diff)
		}
		if diff := cmp.Diff(row.Get("canonical").Str(), string(CanonicalJSON(value))); diff != "" {
			t.Errorf("row %d canonical (-want +got):\n%s", i+1, diff)
		}
		back, err := Decode("x.json", InspectionJSON(value))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(outline(value), outline(back)); diff != "" {
			t.Errorf("row %d inspection JSON keeps order (-want +got):\n%s", i+1, diff)
		}
	}
}

func TestCanonicalJSONVectors(t *testing.T) {
	t.Parallel()
	rows := vectorLines(t, "a-documents", "canonical-json.jsonl")
	wantRows(t, rows, 500)
	for i, row := range rows {
		value := row.Get("value")
		if diff := cmp.Diff(row.Get("canonical").Str(), string(CanonicalJSON(value))); diff != "" {
			t.Errorf("row %d (-want +got):\n%s", i+1, diff)
		}
		if want, got := "sha256:"+row.Get("sha256").Str(), Digest(value); want != got {
			t.Errorf("row %d: want digest %s, got %s", i+1, want, got)
		}
	}
}

func TestUIDVectors(t *testing.T) {
	t.Parallel()
	var rows []struct{ Case, Provenance, UID string }
	if err := json.Unmarshal(readVector(t, "a-documents", "uids.json"), &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) < 10 {
		t.Fatalf("only %d rows", len(rows))
	}
	for _, row := range rows {
		if got := UID(row.Provenance); got != row.UID {
			t.Errorf("%s: want %s, got %s", row.Case, row.UID, got)
		}
	}
}

// decodeVector reads a written document with its schema directive as the member that it stands for, appended.
func decodeVector(t *testing.T, name string) *Node {
	t.Helper()
	data := readVector(t, "a-documents", name)
	n, err := Decode(name, data)
	if err != nil {
		t.Fatal(err)
	}
	if schema := SchemaDirective(data); schema != "" {
		n = n.With(schemaKey, NewString(schema))
	}
	return n
}

// rewrites checks that a written document is reproduced byte for byte from what is read, in its own format, and that its
// blob id and the digest of its content are as recorded.
func rewrites(t *testing.T, name, blob, contentDigest string) {
	t.Helper()
	want := readVector(t, "a-documents", name)
	n := decodeVector(t, name)
	got, err := Encode(FormatOf(name), n)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
	if id := BlobID(got); id != blob {
		t.Errorf("%s: want blob %s, got %s", name, blob, id)
	}
	frozen := n.With("metadata", n.Get("metadata").Without("deletion"))
	if digest := Digest(frozen); digest != contentDigest {
		t.Errorf("%s: want content digest %s, got %s", name, contentDigest, digest)
	}
}

func TestDesiredDocumentVectors(t *testing.T) {
	t.Parallel()
	unit := decodeVector(t, "unit-digests.json")
	for _, f := range unit.Fields {
		if strings.HasPrefix(f.Key, "unit-") {
			rewrites(t, f.Key, f.Value.Str(), unit.Get("resourceContentDigest").Str())
		}
	}
	web := decodeVector(t, "unit-desired.yaml")
	binding := NewMap(F("spec", web.Get("spec")), F("name", web.Path("metadata", "name")), F("kind", web.Get("kind")), F("apiVersion", web.Get("apiVersion")))
	if want, got := unit.Get("bindingDigest").Str(), Digest(binding); want != got {
		t.Errorf("want binding digest %s, got %s", want, got)
	}

	files := 0
	for _, entry := range decodeVector(t, "stack-digests.json").Fields {
		for _, f := range entry.Value.Fields {
			if f.Value.Kind == Map {
				files++
				rewrites(t, f.Key, f.Value.Get("gitBlob").Str(), entry.Value.Get("resourceContentDigest").Str())
				if want, got := f.Value.Get("sha256").Str(), SHA256Hex(readVector(t, "a-documents", f.Key)); want != got {
					t.Errorf("%s: want %s, got %s", f.Key, want, got)
				}
			}
		}
	}
	if files != 10 {
		t.Errorf("want 10 files in stack-digests.json, got %d", files)
	}
}

func TestBothFormatsHoldTheSameValue(t *testing.T) {
	t.Parallel()
	for _, stem := range []string{"unit-desired", "stack-template-desired", "stack-desired", "stack-run/stack-alpha", "stack-run/stack-template-chain"} {
		y, j := decodeVector(t, stem+".yaml"), decodeVector(t, stem+".json")
		if diff := cmp.Diff(string(CanonicalJSON(y)), string(CanonicalJSON(j))); diff != "" {
			t.Errorf("%s (-yaml +json):\n%s", stem, diff)
		}
	}
}

func TestSampleRunBlobs(t *testing.T) {
	t.Parallel()
	lines := strings.Split(strings.TrimSpace(string(readVector(t, "a-documents", "sample-run/BLOBS"))), "\n")
	if len(lines) < 4 {
		t.Fatalf("only %d lines", len(lines))
	}
	for _, line := range lines {
		want, name, _ := strings.Cut(line, "  ")
		name = "sample-run/" + name
		data, err := Encode(FormatOf(name), decodeVector(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := BlobID(data); got != want {
			t.Errorf("%s: want blob %s, got %s", name, want, got)
		}
	}
}

// lenientIndexes are the rows of pointers.txt in which the reference reads an array index as its language reads numbers.
// Chapter B 5.3 has us refuse them.
var lenientIndexes = map[string]bool{"/a/00": true, "/a/01": true, "/a/-1": true, "/a/+1": true, "/a/ 1": true, "/a/٠": true, "/a/١": true}

func TestPointerVectors(t *testing.T) {
	t.Parallel()
	document, err := Decode("x.json", []byte(`{"a":[10,[20,21],{"b":1}],"":5,"x/y":6,"m~n":7," ":8,"0":9,"nul":null,"s":"text","-":3,"obj":{"":{"":1}},"\u00e9":2,"01":4}`))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(readVector(t, "b-apply-references", "pointers.txt"))), "\n")
	if len(lines) != 38 {
		t.Fatalf("want 38 rows, got %d", len(lines))
	}
	for _, line := range lines {
		end := strings.LastIndex(line, `"`)
		if arrow := strings.Index(line, " -> "); arrow > 0 {
			end = arrow - 1
		}
		pointer, outcome := line[1:end], strings.TrimSpace(line[end+1:])
		got, err := document.At(pointer)
		if outcome == "ERR" || lenientIndexes[pointer] {
			var e *PointerError
			if !errors.As(err, &e) || e.Pointer != pointer || e.Reason == "" {
				t.Errorf("%q: want a *PointerError, got %v, %v", pointer, got, err)
			}
			continue
		}
		if err != nil {
			t.Error(err)
			continue
		}
		want := strings.ReplaceAll(strings.TrimPrefix(outcome, "-> "), " ", "")
		if text := strings.ReplaceAll(string(compactJSON(got)), " ", ""); !strings.HasPrefix(text, want) {
			t.Errorf("%q: want %s, got %s", pointer, want, text)
		}
	}
}

// compactJSON writes n on one line in its own key order.
func compactJSON(n *Node) []byte {
	e := jsonEncoder{}
	e.value(n, 0)
	return e.out
}
