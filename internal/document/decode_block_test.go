package document

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// checkBlock checks that what the fast reader returns is what the full reader returns, without warnings.
func checkBlock(t *testing.T, data []byte) (fast *Node) {
	t.Helper()
	fast = decodeBlock(data)
	if fast == nil {
		return nil
	}
	full, warnings, err := decodeYAML("x.yaml", data, false)
	if err != nil {
		t.Fatalf("the fast reader accepts what the full one refuses: %v\n%q", err, data)
	}
	if diff := cmp.Diff(outlineWithPositions(full), outlineWithPositions(fast)); diff != "" {
		t.Fatalf("(-full +fast):\n%s\n%q", diff, data)
	}
	if len(warnings) > 0 {
		t.Fatalf("the fast reader loses warnings %v\n%q", warnings, data)
	}
	return fast
}

func TestFastReaderEqualsFullReader(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		// full is true when the fast reader has to leave the document to the full one.
		full bool
	}{
		{name: "nested", text: "a:\n  b: 1\n  c:\n  - x\n  - y: 2\n    z: 3\nd: {}\ne: []\n"},
		{name: "indented list", text: "a:\n  - x\n  - y\nb: 1\n"},
		{name: "list in list", text: "a:\n- - 1\n  - 2\n- - x: 1\n    y: 2\n"},
		{name: "scalars", text: "a: null\nb: ~\nc: true\nd: -5\ne: 1.5e+3\nf: 0x1F\ng: text with spaces\nh: 1_000\n"},
		{name: "folded plain", text: "a: one\n  two\n  - three\nb: 1\n"},
		{name: "folded plain in list", text: "a:\n- one\n  two\n- three\n"},
		{name: "single quotes over lines", text: "a: 'it''s\n\n  two  \n\n\n  three'\nb: ''\n"},
		{name: "double quotes over lines", text: "a: \"one\\\n  \\ two \\u00e9\\x41\\U0001F600\n  three\"\n"},
		{name: "quoted keys", text: "'on': 1\n\"\\xE9\": 2\n'it''s': 3\n"},
		{name: "colon and hash inside words", text: "a: b:c#d\nurl: https://x/y#z\n"},
		{name: "directive comment", text: "# yaml-language-server: $schema=x\na: 1\n"},
		{name: "comment", text: "a: 1 # x\n", full: true},
		{name: "blank line", text: "a: 1\n\nb: 2\n", full: true},
		{name: "anchor", text: "a: &x 1\n", full: true},
		{name: "tag", text: "a: !!str 1\n", full: true},
		{name: "flow", text: "a: [1]\n", full: true},
		{name: "block scalar", text: "a: |\n  x\n", full: true},
		{name: "duplicate key", text: "a: 1\na: 2\n", full: true},
		{name: "surprise", text: "a: on\n", full: true},
		{name: "date", text: "a: 2024-01-02\n", full: true},
		{name: "boolean key", text: "on: 1\n", full: true},
		{name: "no value", text: "a:\nb: 1\n", full: true},
		{name: "complex key", text: "? ''\n: 1\n", full: true},
		{name: "document marker", text: "---\na: 1\n", full: true},
		{name: "marker in quotes", text: "a: 'x\n--- y'\n", full: true},
		{name: "wrong indent", text: "a: 1\n b: 2\n", full: true},
		{name: "spaces after the dash", text: "a:\n-  b: 1\n", full: true},
		{name: "list item among keys", text: "a:\n- b: 1\n  - c\n", full: true},
		{name: "key among list items", text: "a:\n  - b\n  c: 1\n", full: true},
		{name: "top-level list", text: "- 1\n", full: true},
		{name: "no final line feed", text: "a: 1", full: true},
		{name: "non-ASCII", text: "a: é\n", full: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := checkBlock(t, []byte(test.text))
			if (got == nil) != test.full {
				t.Errorf("want left to the full reader: %t, got %t", test.full, got == nil)
			}
		})
	}
}

func TestFastReaderTakesWrittenDocuments(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"unit-desired.yaml", "unit-deleting.yaml", "stack-desired.yaml", "stack-template-desired.yaml", "sample-run/desired/app.yaml", "sample-run/observed/app.yaml"} {
		if checkBlock(t, readVector(t, "a-documents", name)) == nil {
			t.Errorf("%s is left to the full reader", name)
		}
	}
}

func FuzzBlock(f *testing.F) {
	for _, seed := range []string{
		"a: 1\n", "a:\n- b: 'c'\n  d: \"e\\n\"\n- - f\n  - {}\n", "# x\n'k': v\n  w\n", "a: \"x\\\n  \\ y\"\nb: 'p\n\n  q'\n",
		"a:\n  b:\n    c: 1.5\n  d: [ ]\n", "a: - b\n", "- a\n", "a: b: c\n", "a:\n  - b\n  c: d\n", "a: '\n--- b'\n", "a: \" \n b \"\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkBlock(t, []byte(text))
		checkBlock(t, []byte(strings.ReplaceAll(text, "; ", "\n")))
	})
}

func BenchmarkDecode(b *testing.B) {
	unit := NewMap()
	for _, section := range []string{"metadata", "spec", "source", "terraform", "resolvedInputs"} {
		unit = unit.With(section, NewMap(
			F("name", NewString("web")), F("revision", NewString("1111111111111111111111111111111111111111")),
			F("inputs", NewStrings([]string{"**/*.tf", "mod", "a longer text of several words"})),
			F("count", NewInt(3)), F("checks", NewNull()), F("ratio", NewFloat(1.5)),
			F("nested", NewMap(F("path", NewString("infra/web")), F("on", NewBool(true)))),
		))
	}
	written := EncodeYAML(unit)
	b.Run("fast", func(b *testing.B) {
		b.SetBytes(int64(len(written)))
		b.ReportAllocs()
		for b.Loop() {
			if decodeBlock(written) == nil {
				b.Fatal("left to the full reader")
			}
		}
	})
	b.Run("full", func(b *testing.B) {
		b.SetBytes(int64(len(written)))
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := decodeYAML("x.yaml", written, false); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("json", func(b *testing.B) {
		text := EncodeJSON(unit)
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Decode("x.json", text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encode", func(b *testing.B) {
		b.SetBytes(int64(len(written)))
		b.ReportAllocs()
		for b.Loop() {
			EncodeYAML(unit)
		}
	})
}
