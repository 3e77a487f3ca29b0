package document

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// checkIdentity checks that a decoded document survives each written form.
func checkIdentity(t *testing.T, n *Node) {
	t.Helper()
	for file, data := range map[string][]byte{"x.yaml": InspectionYAML(n), "x.json": InspectionJSON(n)} {
		back, err := Decode(file, data)
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		if diff := cmp.Diff(outline(n), outline(back)); diff != "" {
			t.Fatalf("%s (-want +got):\n%s\n%s", file, diff, data)
		}
	}
	sorted, err := Decode("x.json", EncodeJSON(n))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(CanonicalJSON(n)), string(CanonicalJSON(sorted))); diff != "" {
		t.Fatalf("canonical form (-want +got):\n%s", diff)
	}
	same, err := FromAny(n.Any())
	if err != nil || !Equal(n, same) {
		t.Fatalf("FromAny(Any()) changes the value or fails: %v", err)
	}
}

// checkError checks that a refusal is one that users can be shown.
func checkError(t *testing.T, err error) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Message == "" || e.File == "" {
		t.Fatalf("not an *Error with file and message: %v", err)
	}
}

func FuzzDecodeYAML(f *testing.F) {
	for _, seed := range []string{
		"a: 1\n", "a: &x {k: [1]}\nb: *x\n", "b:\n  <<: {a: 1}\n  c: |\n    x\n", "a: \"\\/\\'\"\n", "%YAML 1.3\n---\na: '\tb'\n",
		"? a\n: b\n", "a: !!float 5\nb: 1:30.5\nc: 0b1\n", "a: {b:}\n", "a: &x [*x]\n", "\ufeffa: \u0085b\n", "a: >+1\n  x\n\n", "'': 1\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := Decode("x.yaml", data)
		if err != nil {
			checkError(t, err)
		} else {
			checkIdentity(t, n)
			lenient, err := DecodeLenient("x.yaml", data)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(outlineWithPositions(n), outlineWithPositions(lenient)); diff != "" {
				t.Fatalf("(-strict +lenient):\n%s", diff)
			}
		}
		parts, err := DecodeStream(data)
		if err != nil {
			checkError(t, err)
		}
		offset := 0
		for _, part := range parts {
			if part.Offset != offset || part.End < part.Offset {
				t.Fatalf("parts are not contiguous: want offset %d, got %d to %d", offset, part.Offset, part.End)
			}
			offset = part.End
		}
		if len(parts) > 0 && offset != len(data) {
			t.Fatalf("the last part ends at %d of %d", offset, len(data))
		}
	})
}

func FuzzDecodeJSON(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":[1,-0,1.5e3,true,null,"\ud83d\ude00\n"]}`, `{"a":1,"a":2}`, `{"a":NaN}`, `[1]`, `{"a":{"b":[[]]}} `} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := Decode("x.json", data)
		if err != nil {
			checkError(t, err)
			return
		}
		checkIdentity(t, n)
	})
}

func FuzzPointer(f *testing.F) {
	f.Add("", "a", 1)
	f.Add("/a/0", "x/y", 3)
	f.Add("/x~1y/~0", "~0", 0)
	f.Fuzz(func(t *testing.T, pointer, key string, index int) {
		inner := NewString("found")
		document := NewMap(F(key, NewList(NewNull(), NewMap(F(key, inner)))))
		got, err := document.At("/" + PointerToken(key) + "/1/" + PointerToken(key))
		if err != nil || got != inner {
			t.Fatalf("want the inner node, got %v, %v", got, err)
		}
		if _, err := document.At(pointer); err != nil {
			var e *PointerError
			if !errors.As(err, &e) || e.Pointer != pointer {
				t.Fatalf("want a *PointerError, got %v", err)
			}
		}
		document.Locate(pointer)
		tokens, err := ParsePointer(pointer)
		if err != nil {
			return
		}
		back := ""
		for _, token := range tokens {
			back += "/" + PointerToken(token)
		}
		if back != pointer {
			t.Fatalf("want %q, got %q", pointer, back)
		}
	})
}

// FuzzEmit builds trees from texts and checks that what is written is read back, by the fast reader as by the full one.
func FuzzEmit(f *testing.F) {
	f.Add("key", "value", "other text", 1.5, 2)
	f.Add("", "a\nb", " x ", 1e300, 0)
	f.Add("on", "017", "- a: b # c", math.Copysign(0, -1), 3)
	f.Fuzz(func(t *testing.T, key, a, b string, number float64, shape int) {
		if math.IsNaN(number) || math.IsInf(number, 0) {
			return
		}
		a, b, key = string([]rune(a)), string([]rune(b)), string([]rune(key))
		value := NewList(NewString(a), NewMap(F(key, NewString(b)), F(key+"2", NewFloat(number))), NewList(NewString(b)))
		for range shape % 8 {
			value = NewMap(F(key, NewList(value, NewString(a))), F(a, NewMap(F(b, NewString(key+b)))))
			if a == key {
				value = value.With(key, NewNull()).With(a, NewNull())
				value.Fields = value.Fields[:1]
			}
		}
		document := NewMap(F("k", value), F("k"+key, NewString(a+" "+b)), F("k"+a+"2", NewInt(int64(shape))))
		if len(document.Fields) != 3 || document.Fields[1].Key == document.Fields[2].Key || key == "" {
			return
		}
		checkReadBack(t, "document", document, EncodeYAML(document))
		checkIdentity(t, document)
	})
}
