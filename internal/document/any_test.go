package document

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAnyKeepsIntegersAndFloatsApart(t *testing.T) {
	t.Parallel()
	n, err := Decode("x.json", []byte(`{"b":[1,2.0,1e16,12345678901234567890],"a":{"x":null,"y":true,"z":"s"}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"b": []any{json.Number("1"), json.Number("2.0"), json.Number("1e+16"), json.Number("12345678901234567890")},
		"a": map[string]any{"x": nil, "y": true, "z": "s"},
	}
	if diff := cmp.Diff(want, n.Any()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	back, err := FromAny(n.Any())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"a":{"x":null,"y":true,"z":"s"},"b":[1,2.0,1e+16,12345678901234567890]}`, string(compactJSON(back))); diff != "" {
		t.Errorf("FromAny sorts keys (-want +got):\n%s", diff)
	}
}

func TestFromAnyTakesGoValues(t *testing.T) {
	t.Parallel()
	n, err := FromAny(map[string]any{"f": 2.0, "i": 3, "l": int64(4), "s": []string{"x"}, "n": NewBool(true)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"f":2.0,"i":3,"l":4,"n":true,"s":["x"]}`, string(compactJSON(n))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, bad := range []any{math.NaN(), math.Inf(1), json.Number("1x"), json.Number(""), json.Number("-"), struct{}{}, []any{[]any{map[string]any{"a": make(chan int)}}}} {
		if n, err := FromAny(bad); err == nil {
			t.Errorf("%v: want an error, got %v", bad, n)
		}
	}
}

func TestLocate(t *testing.T) {
	t.Parallel()
	n, err := Decode("x.yaml", []byte("spec:\n  list:\n  - a\n  - b: 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	n = n.With("added", NewMap())
	for pointer, want := range map[string][2]int{
		"":                   {1, 1},
		"/spec":              {1, 1},
		"/spec/list":         {2, 3},
		"/spec/list/1":       {4, 5},
		"/spec/list/1/b":     {4, 5},
		"/spec/list/7":       {2, 3},
		"/spec/missing/deep": {1, 1},
		"/added":             {1, 1},
		"malformed":          {1, 1},
	} {
		line, column := n.Locate(pointer)
		if got := [2]int{line, column}; got != want {
			t.Errorf("%q: want %v, got %v", pointer, want, got)
		}
	}
	if line, column := (*Node)(nil).Locate("/a"); line != 0 || column != 0 {
		t.Errorf("want 0:0, got %d:%d", line, column)
	}
}

func TestPointerErrorNamesTheToken(t *testing.T) {
	t.Parallel()
	n := NewMap(F("a", NewList(NewString("x"))))
	for pointer, want := range map[string]string{
		"a":                          `JSON Pointer "a": must be empty or start with "/"`,
		"/a/~2":                      `JSON Pointer "/a/~2": token "~2": "~" must be followed by "0" or "1"`,
		"/b":                         `JSON Pointer "/b": token "b": no such key`,
		"/a/1":                       `JSON Pointer "/a/1": token "1": the list has 1 items`,
		"/a/-":                       `JSON Pointer "/a/-": token "-": not a list index (0, 1, 2, …)`,
		"/a/0/x":                     `JSON Pointer "/a/0/x": token "x": cannot step into a string`,
		"/a/99999999999999999999999": `JSON Pointer "/a/99999999999999999999999": token "99999999999999999999999": the list has 1 items`,
	} {
		_, err := n.At(pointer)
		if err == nil || err.Error() != want {
			t.Errorf("want %s\ngot  %v", want, err)
		}
	}
}
