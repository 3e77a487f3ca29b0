package expression_test

import (
	"bufio"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/expression"
	"github.com/google/go-cmp/cmp"
)

func parse(t *testing.T, text string) *document.Node {
	t.Helper()
	n, err := document.Decode("t.json", []byte(`{"v":`+text+`}`))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return n.Get("v")
}

func written(n *document.Node) string {
	if n == nil {
		return "<nil>"
	}
	return string(document.CanonicalJSON(n))
}

// Our own deviations from the recorded vectors, each allowed by the chapter.
var stricter = map[string]string{
	`{"fromReceipt": {"unit": 1}}`: "a non-string unit is refused (chapter B, 5.1)",
}

func TestVectors(t *testing.T) {
	t.Parallel()
	f, err := os.Open("../../testdata/vectors/b-apply-references/expressions.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	ok, refused := 0, 0
	for lines.Scan() {
		line := lines.Text()
		verdict, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimSpace(rest)
		if strings.Contains(rest, "NaN") || strings.Contains(rest, "Infinity") {
			continue // not JSON: the reader refuses it before any expression is looked at
		}
		input, want, _ := strings.Cut(rest, " -> ")
		node := parse(t, input)
		got, err := expression.Normal(node, false)
		var found []string
		if err == nil {
			err = expression.Walk("", node, func(r *expression.Reference) error {
				found = append(found, string(r.Kind))
				return nil
			})
		}
		if verdict == "ERR" || stricter[input] != "" {
			refused++
			var positioned *document.Error
			if !errors.As(err, &positioned) || positioned.Line == 0 {
				t.Errorf("%s: want a positioned error, got %v", input, err)
			}
			continue
		}
		ok++
		if err != nil {
			t.Errorf("%s: %v", input, err)
			continue
		}
		at := strings.LastIndex(want, " [")
		if diff := cmp.Diff(written(parse(t, want[:at])), written(got)); diff != "" {
			t.Errorf("%s: normal form (-want +got):\n%s", input, diff)
		}
		var wantKinds []string
		for _, name := range strings.Split(strings.Trim(want[at+1:], "[]"), ",") {
			switch strings.Trim(name, " '") {
			case "ReceiptReference":
				wantKinds = append(wantKinds, "fromReceipt")
			case "ArtifactReference":
				wantKinds = append(wantKinds, "fromArtifact")
			case "PromotionReference":
				wantKinds = append(wantKinds, "fromPromotion")
			}
		}
		var gotKinds []string // the recorded scan lists only references to evidence
		for _, k := range found {
			if k != "fromEnvironment" && k != "fromParameter" {
				gotKinds = append(gotKinds, k)
			}
		}
		if diff := cmp.Diff(wantKinds, gotKinds); diff != "" {
			t.Errorf("%s: references found (-want +got):\n%s", input, diff)
		}
	}
	if ok != 25 || refused != 39 {
		t.Errorf("read %d valid and %d invalid vectors, want 25 and 39", ok, refused)
	}
}

func TestParseErrorsSayWhereAndHow(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ in, want string }{
		"sibling key":    {`{"fromReceipt":{"unit":"a"},"x":1}`, `:1:6: /spec/v: fromReceipt stands beside "x", but a reference must be the only key of its mapping; move the other keys out of this mapping`},
		"unknown field":  {`{"fromReceipt":{"unit":"a","point":"/x"}}`, `:1:33: /spec/v/fromReceipt/point: fromReceipt has no field "point"; its fields are unit, pointer, dryFallback`},
		"missing unit":   {`{"fromReceipt":{}}`, `:1:21: /spec/v/fromReceipt: fromReceipt needs the field "unit"`},
		"null target":    {`{"fromPromotion":null}`, `:1:23: /spec/v/fromPromotion: fromPromotion must be a mapping, not null; write its fields: unit, pointer, dryFallback`},
		"nested invalid": {`{"fromReceipt":{"unit":"a","dryFallback":{"k":{"fromReceipt":{}}}}}`, `:1:67: /spec/v/k/fromReceipt: fromReceipt needs the field "unit"`},
		"number":         {`{"fromReceipt":{"unit":7}}`, `:1:29: /spec/v/fromReceipt/unit: unit must be a string, not integer; quote the value`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := expression.Walk("/v", parse(t, test.in), func(*expression.Reference) error { return nil })
			var e *document.Error
			if !errors.As(err, &e) {
				t.Fatalf("want a *document.Error, got %v", err)
			}
			named := *e
			named.File = "unit.yaml"
			got := strings.TrimPrefix(named.Error(), "unit.yaml")
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
