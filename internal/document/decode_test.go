package document

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFaultsAreLocated(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file, text string
		// want is the start of the error, up to the fix.
		want string
	}{
		{"duplicate key", "u.yaml", "spec:\n  a: 1\n  b: 2\n  a: 3\n", `u.yaml:4:3: /spec/a: duplicate key "a"`},
		{"duplicate merge key", "u.yaml", "x: &x {a: 1}\ny:\n  <<: *x\n  <<: *x\n", `u.yaml:4:3: /y/<<: duplicate merge key <<`},
		{"not a number", "u.yaml", "a:\n- .nan\n", `u.yaml:2:3: /a/0: .nan is no finite number`},
		{"too large float", "u.yaml", "a: 1.0e+400\n", `u.yaml:1:4: /a: 1.0e+400 is no finite number`},
		{"boolean key", "u.yaml", "spec:\n  on: 1\n", `u.yaml:2:3: /spec: the key on is read as a boolean, keys must be strings; write 'on'`},
		{"integer key", "u.yaml", "a: {1: b}\n", `u.yaml:1:5: /a: the key 1 is read as an integer`},
		{"list as key", "u.yaml", "? [a]\n: b\n", `u.yaml:1:3: a key must be a string`},
		{"date", "u.yaml", "a~/b:\n  c: 2024-01-02\n", `u.yaml:2:6: /a~0~1b/c: plain 2024-01-02 is read as a date or time, which JSON does not have; write '2024-01-02' for a string`},
		{"equals sign", "u.yaml", "a: =\n", `u.yaml:1:4: /a: plain = is read as the value key`},
		{"merge sign as value", "u.yaml", "a: <<\n", `u.yaml:1:4: /a: plain << is read as a merge key`},
		{"merge of a scalar", "u.yaml", "<<: 1\n", `u.yaml:1:5: /<<: a merge key needs a mapping or a list of mappings, not an integer`},
		{"binary", "u.yaml", "a: !!binary aGk=\n", `u.yaml:1:4: /a: the tag !!binary makes a value that JSON does not have`},
		{"ordered map", "u.yaml", "a: !!omap [x: 1]\n", `u.yaml:1:4: /a: the tag !!omap makes a value that JSON does not have`},
		{"set", "u.yaml", "a: !!set {x}\n", `u.yaml:1:4: /a: the tag !!set makes`},
		{"unknown tag", "u.yaml", "a: !foo x\n", `u.yaml:1:4: /a: unknown tag !foo`},
		{"wrong tag", "u.yaml", "a: !!seq {b: 1}\n", `u.yaml:1:4: /a: the tag !!seq does not fit this value`},
		{"no integer", "u.yaml", "a: !!int x\n", `u.yaml:1:4: /a: "x" is not an integer`},
		{"no digits", "u.yaml", "a: 0x_\n", `u.yaml:1:4: /a: "0x_" is not an integer`},
		{"value that contains itself", "u.yaml", "a: &x\n  b: *x\n", `u.yaml:2:6: /a/b: the alias *x stands for a value that contains it`},
		{"anchor set twice", "u.yaml", "a: &x 1\nb: &x 2\n", `u.yaml:2:4: /b: the anchor &x is set twice`},
		{"second document", "u.yaml", "a: 1\n---\nb: 2\n", `u.yaml:3:1: a second document starts here`},
		{"empty", "u.yaml", "# nothing\n", `u.yaml: the document is empty`},
		{"list at the top", "u.yaml", "\n- 1\n", `u.yaml:2:1: a document must be a mapping, not a list`},
		{"syntax", "u.yaml", "a: 1\nb: [\n", `u.yaml:2: not valid YAML: `},
		{"not UTF-8", "u.yaml", "a: 1\nb: é\xe9\n", `u.yaml:2:5: byte 0xE9 is not UTF-8`},
		{"control character", "u.yaml", "a: x\x01\n", `u.yaml:1:5: character U+0001 is not allowed in YAML`},
		{"tab as separator", "u.yaml", "a: b\nc:\td\n", `u.yaml:2:3: a tab cannot separate or indent in YAML`},
		{"tab behind a comment sign in a word", "u.yaml", "a: b#c\td\n", `u.yaml:1:7: a tab cannot separate`},
		{"escape that YAML does not have", "u.yaml", `a: "it\'s"`, `u.yaml:1:7: \' is no escape in YAML`},
		{"colon at the end between brackets", "u.yaml", "a: [b:, c]\n", `u.yaml:1:5: /a/0: "b:" is ambiguous between brackets`},

		{"duplicate key", "u.json", "{\"a\": {\"b\": 1,\n \"b\": 2}}", `u.json:2:2: /a/b: duplicate key "b"`},
		{"infinity", "u.json", `{"a": [0, -Infinity]}`, `u.json:1:11: /a/1: -Infinity is no JSON value`},
		{"too large float", "u.json", `{"é": 1e400}`, `u.json:1:7: /é: the number is too large for a 64-bit float`},
		{"trailing comma", "u.json", `{"a": 1,}`, `u.json:1:9: '}' where a key in double quotes should be`},
		{"trailing comma in list", "u.json", `{"a": [1,]}`, `u.json:1:10: /a/1: ']' where a value should be`},
		{"leading zero", "u.json", `{"a": 01}`, `u.json:1:8: '1' where "," or "}" should be`},
		{"no fraction", "u.json", `{"a": 1.}`, `u.json:1:9: /a: '}' where a digit should be`},
		{"cut off", "u.json", `{"a": "x`, `u.json:1:9: /a: the document ends where the closing " should be`},
		{"half a pair", "u.json", `{"a": "\ud83d"}`, `u.json:1:14: /a: half a surrogate pair is no character`},
		{"raw control character", "u.json", "{\"a\": \"\t\"}", `u.json:1:8: /a: control character U+0009 in a string`},
		{"byte order mark", "u.json", "\ufeff{}", `u.json:1:1: the file starts with a byte order mark`},
		{"second document", "u.json", "{}\n{}", `u.json:2:1: text after the end of the document`},
		{"empty", "u.json", " \n", `u.json:2:1: the document is empty`},
		{"scalar at the top", "u.json", "1", `u.json:1:1: a document must be a mapping, not an integer`},
	}
	for _, test := range tests {
		t.Run(test.file+" "+test.name, func(t *testing.T) {
			t.Parallel()
			_, err := Decode(test.file, []byte(test.text))
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("want an *Error, got %v", err)
			}
			if !strings.HasPrefix(e.Error(), test.want) {
				t.Errorf("want %s…\ngot  %s", test.want, e)
			}
		})
	}
}

func TestLenientTakesLastValueAtFirstPlace(t *testing.T) {
	t.Parallel()
	for file, text := range map[string]string{
		"x.yaml": "a: 1\nb: 2\na: 3\n",
		"x.json": `{"a":1,"b":2,"a":3}`,
	} {
		got, err := DecodeLenient(file, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(`{"a":3,"b":2}`, string(compactJSON(got))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
}

func TestManyKeysStayDistinct(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, "key%d: %d\n", i, i)
	}
	n, err := Decode("x.yaml", []byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	if len(n.Fields) != 100 || n.Get("key99").Text != "99" {
		t.Errorf("got %d fields, key99 = %v", len(n.Fields), n.Get("key99"))
	}
	if _, err := Decode("x.yaml", []byte(text.String()+"key50: again\n")); err == nil {
		t.Error("want an error for the duplicate of key50")
	}
}

func TestYAMLMeaning(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"merge list, earlier wins, own overrides", "x: &x {a: 1, b: 1}\ny: &y {b: 2, c: 2}\nz:\n  d: 3\n  <<: [*x, *y]\n  c: 3\n", `{"x":{"a":1,"b":1},"y":{"b":2,"c":2},"z":{"b":1,"c":3,"a":1,"d":3}}`},
		{"alias as key", "a: &k name\nb: {*k : 1}\n", `{"a":"name","b":{"name":1}}`},
		{"base 60", "a: 1:30\nb: -1:30\nc: 1:30.5\nd: 1:60\n", `{"a":90,"b":-90,"c":90.5,"d":"1:60"}`},
		{"big integers", "a: 0xFFFFFFFFFFFFFFFFFFFF\nb: -0777\nc: -0b11\nd: 0_\n", `{"a":1208925819614629174706175,"b":-511,"c":-3,"d":0}`},
		{"tags", "a: !!str 5\nb: !!float 5\nc: !!int '5'\nd: !!null x\ne: !!bool 'On'\nf: !!map {}\n", `{"a":"5","b":5.0,"c":5,"d":null,"e":true,"f":{}}`},
		{"slash escape", `a: "\/ \\/ \/"` + "\nb: x\\/y\n", `{"a":"/ \\/ /","b":"x\\/y"}`},
		{"slash escape beside its stand-ins", `a: "\/ \a \v \f"`, `{"a":"/ \u0007 \u000b \f"}`},
		{"any version 1", "%YAML 1.13\n---\na: 1\n", `{"a":1}`},
		{"tabs where they may stand", "# \t\na: 'x\ty' # \tz\nb: |\n  x\ty\nc: \"\t\"\n", `{"a":"x\ty","b":"x\ty\n","c":"\t"}`},
		{"tab in quotes behind a byte order mark", "\ufeff'a\tb': 1\n", `{"a\tb":1}`},
		{"no value", "a:\nb: ''\n", `{"a":null,"b":""}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n, err := Decode("x.yaml", []byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(compactJSON(n))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWarningsAboutSurprises(t *testing.T) {
	t.Parallel()
	text := "a: on\nb: true\nc: 017\nd: [1:30, '1:30']\ne: 1e5\nf: 1:30.5\ng: 'no'\nh: 0x1F\ni: 12\nj: no-thing\n"
	n, warnings, err := DecodeAuthored("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range warnings {
		got = append(got, w.Error())
	}
	want := []string{
		"x.yaml:1:4: /a: plain on is read as the boolean true; write true, or 'on' for a string",
		"x.yaml:3:4: /c: plain 017 is read as an octal number; write 15, or '017' for a string",
		"x.yaml:4:5: /d/0: plain 1:30 is read as a base 60 number; write 90, or '1:30' for a string",
		"x.yaml:5:4: /e: plain 1e5 is read as a string, since the exponent of a number needs a sign and the number a point; write '1e5' if that is meant",
		"x.yaml:6:4: /f: plain 1:30.5 is read as a base 60 number; write 90.5, or '1:30.5' for a string",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	same, err := Decode("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(outlineWithPositions(same), outlineWithPositions(n)); diff != "" {
		t.Errorf("warnings change the value (-want +got):\n%s", diff)
	}
}

func TestPositions(t *testing.T) {
	t.Parallel()
	want := ` mapping key 0:0 value 1:1
/a string "x" key 1:1 value 1:4
/é list key 2:1 value 3:1
/é/0 integer "1" key 0:0 value 3:3
/é/1 mapping key 0:0 value 4:3
/é/1/b null key 4:3 value 4:6
`
	for file, text := range map[string]string{
		"x.yaml": "a: x\n\"é\":\n- 1\n- b: null\n",
		"y.yaml": "a: 'x'\né:\n- 1\n- b: ~\n",
	} {
		n, err := Decode(file, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, outlineWithPositions(n)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
	n, err := Decode("x.json", []byte("{\"é\": [1,\n  {\"b\": null}]}"))
	if err != nil {
		t.Fatal(err)
	}
	want = ` mapping key 0:0 value 1:1
/é list key 1:2 value 1:7
/é/0 integer "1" key 0:0 value 1:8
/é/1 mapping key 0:0 value 2:3
/é/1/b null key 2:4 value 2:9
`
	if diff := cmp.Diff(want, outlineWithPositions(n)); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
}

func TestHostileDocumentsAreRefused(t *testing.T) {
	t.Parallel()
	laughs := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 12 {
		laughs += fmt.Sprintf("a%d: &a%d [%s*a%d]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), i)
	}
	chain := "a0: &a0 " + strings.Repeat("[", 900) + strings.Repeat("]", 900) + "\n" +
		"a1: " + strings.Repeat("[", 900) + "*a0" + strings.Repeat("]", 900) + "\n"
	block := ""
	for i := range maxDepth + 5 {
		block += strings.Repeat(" ", i) + "k:\n"
	}
	tests := []struct{ name, file, text, want string }{
		{"aliases of aliases", "x.yaml", laughs, "stand for more than"},
		{"aliases that nest", "x.yaml", chain, "through aliases"},
		{"deep lists", "x.yaml", "a: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "nest deeper"},
		{"very deep lists", "x.yaml", "a: " + strings.Repeat("[", 50000), "not valid YAML"},
		{"deep mappings", "x.yaml", block, "nest deeper"},
		{"deep JSON", "x.json", `{"a":` + strings.Repeat("[", 100000), "nest deeper"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := Decode(test.file, []byte(test.text))
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(e.Message, test.want) {
				t.Errorf("want an *Error with %q, got %.200v", test.want, err)
			}
		})
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	text := "# first\na: 1\n---\n# empty\n---\nnull\n---\n# second\nb: on\n...\n---\n{c: 3}\n"
	parts, err := DecodeStream([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range parts {
		got = append(got, string(compactJSON(p.Node))+" "+text[p.Offset:p.End])
	}
	second := strings.Index(text, "b: on")
	third := strings.Index(text, "{c")
	want := []string{`{"a":1} ` + text[:second], `{"b":true} ` + text[second:third], `{"c":3} ` + text[third:]}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(parts[1].Warnings) != 1 || parts[1].Warnings[0].Line != 9 {
		t.Errorf("want one warning for line 9, got %v", parts[1].Warnings)
	}
	if parts, err := DecodeStream([]byte("# nothing\n---\n")); err != nil || len(parts) != 0 {
		t.Errorf("want no documents, got %v, %v", parts, err)
	}
	_, err = DecodeStream([]byte("a: 1\n---\n- 2\n"))
	if err == nil || !strings.HasPrefix(err.Error(), "-:3:1: a document must be a mapping") {
		t.Errorf("want the error at line 3, got %v", err)
	}
}

func TestSchemaDirective(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"# yaml-language-server: $schema=urn:x\na: 1\n":   "urn:x",
		"# yaml-language-server: $schema=urn:x\r\na: 1\n": "urn:x",
		"a: 1\n# yaml-language-server: $schema=urn:x\n":   "",
		"": "",
	} {
		if got := SchemaDirective([]byte(text)); got != want {
			t.Errorf("%q: want %q, got %q", text, want, got)
		}
	}
}

func TestEncodeRefusesWhatCannotBeReadBack(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{"x\ny: 1", "x\r", "x\u0085", "x\u2028", "x\x00"} {
		for _, format := range []Format{YAML, JSON} {
			_, err := Encode(format, NewMap(F("a", NewInt(1)), F(schemaKey, NewString(schema))))
			var e *Error
			if !errors.As(err, &e) || e.Pointer != "/$schema" {
				t.Errorf("%q: want an *Error at /$schema, got %v", schema, err)
			}
		}
	}
	_, err := Encode(JSON, NewMap(F("a", NewList(NewInt(1), NewFloat(math.Inf(-1))))))
	if err == nil || err.Error() != "/a/1: a number must be finite" {
		t.Errorf("want an error for infinity, got %v", err)
	}
	if _, err := Encode(YAML, NewList()); err == nil {
		t.Error("want an error for a list as document")
	}
	if _, err := Encode("toml", NewMap()); err == nil {
		t.Error("want an error for an unknown format")
	}
	got, err := Encode(YAML, NewMap(F(schemaKey, NewString("urn:x"))))
	if want := "# yaml-language-server: $schema=urn:x\n{}\n"; err != nil || string(got) != want {
		t.Errorf("want %q, got %q, %v", want, got, err)
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]Format{"a.json": JSON, "a.JSON": JSON, "b/a.yaml": YAML, "a.YML": YAML, "json": YAML, "a.json/b": YAML, ".json": JSON} {
		if got := FormatOf(file); got != want {
			t.Errorf("%s: want %s, got %s", file, want, got)
		}
	}
	if YAML.Suffix() != ".yaml" || JSON.Suffix() != ".json" {
		t.Errorf("got suffixes %q and %q", YAML.Suffix(), JSON.Suffix())
	}
}

func TestInspectionYAMLKeepsSchemaAsKey(t *testing.T) {
	t.Parallel()
	n := NewMap(F(schemaKey, NewString("urn:x")), F("a", NewList()))
	if diff := cmp.Diff("$schema: urn:x\na: []\n", string(InspectionYAML(n))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if bytes.Contains(EncodeYAML(n), []byte("\n$schema")) {
		t.Error("the stored form must not have $schema as a key")
	}
}
