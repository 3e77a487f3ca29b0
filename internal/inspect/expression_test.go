package inspect

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

func TestExpressions(t *testing.T) {
	t.Parallel()
	n, err := document.Decode("x.yaml", []byte(`
metadata: {name: app, labels: {gitopsctr.io/partition: port}}
spec: {version: 2, ratio: 0.5, big: 123456789012345678901, list: [a, b, c], none: null, yes1: true}
`))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]string{
		"jsonpath={.metadata.name}":                                 "app",
		"jsonpath=.metadata.name":                                   "app",
		"jsonpath=metadata.name":                                    "app",
		"jsonpath={.spec.list[1]} {.spec.list[-1:]}":                "b c",
		`jsonpath={.metadata.labels.gitopsctr\.io/partition}`:       "port",
		"jsonpath={.spec.version}{\"\\n\"}":                         "2\n",
		"jsonpath={.spec.ratio}|{.spec.yes1}|{.spec.none}|{.no.no}": "0.5|true|null|",
		"jsonpath={.spec.list[7]}":                                  "error",
		"jsonpath={.spec.list[?(@.x > 1)]}":                         "",
		"jsonpath={.spec[?(@ == 2)]}":                               "error",
		"jsonpath={range .spec.list[*]}[{@}]{end}":                  "[a][b][c]",
		"go-template={{.metadata.name}}":                            "app",
		"go-template={{range .spec.list}}{{.}},{{end}}":             "a,b,c,",
		"go-template={{.nothing}}":                                  "<no value>",
		"go-template={{index .spec.list 7}}":                        "error",
		"go-template={{.spec.version.x}}":                           "error",
	}
	got := map[string]string{}
	for text := range tests {
		var q Query
		if err := q.ParseOutput(text); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		out, err := q.evaluate(n)
		got[text] = string(out)
		if err != nil {
			got[text] = "error"
		}
	}
	if diff := cmp.Diff(tests, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FuzzExpression: whatever is typed behind -o, the answer is text or an error.
func FuzzExpression(f *testing.F) {
	for _, seed := range []string{"{.a}", "{range .items[*]}{end}", "{.a[?(@.b==1)]}", "{.a[1:2:3]}", "{..}", "{'a'}", "{", "a.b", "{.[-1]}"} {
		f.Add(seed)
	}
	n := document.NewMap(document.F("a", document.NewList(document.NewInt(1), document.NewMap(document.F("b", document.NewInt(1))))))
	f.Fuzz(func(t *testing.T, expression string) {
		q := Query{Output: JSONPath, Expression: expression}
		if _, err := q.path(); err != nil {
			return
		}
		_, _ = q.evaluate(n)
	})
}
