package inspect

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/graph"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	candidates := []string{"anchor", "buoy", "gull", "north/crane", "units", "stacktemplates"}
	for typed, want := range map[string]string{
		"ancor": "anchor", "bouy": "buoy", "gul": "gull", "north/cran": "north/crane", "unitz": "units", "stacktemplats": "stacktemplates",
		"x": "", "heron": "", "": "", "zzzzzzzz": "",
	} {
		if got := Nearest(typed, candidates); got != want {
			t.Errorf("%q: want %q, got %q", typed, want, got)
		}
	}
}

func TestRepositoryCellsHaveNoCredentials(t *testing.T) {
	t.Parallel()
	for repository, want := range map[string]string{
		".":                                    ".",
		"https://user:secret@host.test:8443/p": "https://host.test:8443/p",
		"https://host.test/a@b?q=x@y#z":        "https://host.test/a@b?q=x@y#z",
		"https://token@host.test":              "https://host.test",
		"https://a@b@host.test/p":              "https://host.test/p",
		"git@host.test:team/repository.git":    "host.test:team/repository.git",
		"user:secret@host":                     "host",
		"ssh://git@host.test/team/repository":  "ssh://host.test/team/repository",
	} {
		if got := withoutCredentials(repository); got != want {
			t.Errorf("%s: want %s, got %s", repository, want, got)
		}
	}
}

func TestAcquisitionCells(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ acquisition, want string }{
		"input": {`{"documentDigest": "sha256:1", "requestedSource": {"fromInput": {}}, "resolvedSource": {"fromInput": {}}}`, "input(document=sha256:1)"},
		"git": {`{"documentDigest": "sha256:1", "requestedSource": {"fromGit": {"repository": "https://u:p@h/r", "revision": "main", "path": "a.yaml"}},
"resolvedSource": {"fromGit": {"repository": "", "revision": "abc"}}}`, "git(repository=https://h/r;requested=main;resolved=abc;path=a.yaml;document=sha256:1)"},
		"promotion": {`{"documentDigest": "sha256:1", "requestedSource": {"fromPromotion": {"stack": "north"}}, "resolvedSource": {"fromPromotion":
{"environment": "dev", "desiredRef": "d", "desiredRevision": "r", "template": "t", "templateUid": "u"}}}`,
			"promotion(requested=north;resolved=dev/d@r;template=t@u;document=sha256:1)"},
		"nothing known": {`{}`, "input(document=-)"},
		"half known":    {`{"resolvedSource": {"fromGit": {"repository": "r"}}}`, "git(repository=r;requested=-;resolved=-;path=-;document=-)"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, err := document.Decode("a.json", []byte(test.acquisition))
			if err != nil {
				t.Fatal(err)
			}
			if got := acquisition(n); got != test.want {
				t.Errorf("want %s\ngot  %s", test.want, got)
			}
		})
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	writeTable(&b, []string{"NAME", "STATE", "REASON"}, [][]string{{"grün", "-", "waits\nfor \x1b[31mwell"}, {"a", "LONGER", ""}})
	want := "NAME  STATE   REASON\ngrün  -       waits for  [31mwell\na     LONGER\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestDependencies(t *testing.T) {
	t.Parallel()
	all := graph.New(map[string][]string{"app": {"db", "net"}, "db": {"net"}, "net": nil, "a": {"b"}, "b": {"a"}, "lost": {"nowhere"}})
	plain := func(s string) string { return s }
	tests := map[string]struct {
		targets []string
		depth   int
		want    string
	}{
		"shared producer":  {[]string{"app"}, graph.All, "app\n├── db\n│   └── net\n└── net\n"},
		"one hop":          {[]string{"app"}, 1, "app\n├── db\n└── net\n"},
		"targets only":     {[]string{"app"}, 0, "app\n"},
		"several, sorted":  {[]string{"net", "db", "net"}, graph.All, "db\n└── net\n\nnet\n"},
		"cycle":            {[]string{"a"}, graph.All, "a\n└── b\n    └── a [cycle]\n"},
		"deep enough only": {[]string{"app", "db"}, 1, "app\n├── db\n└── net\n\ndb\n└── net\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := Dependencies{Environment: "dev"}.Select(all, test.targets, test.depth)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, d.Tree(plain)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if _, err := (Dependencies{Environment: "dev"}).Select(all, []string{"lost"}, graph.All); err == nil || !strings.Contains(err.Error(), `unit lost needs "nowhere"`) {
		t.Errorf("want an error about nowhere, got %v", err)
	}
	if _, err := (Dependencies{Environment: "dev"}).Select(all, []string{"lost"}, 0); err != nil {
		t.Errorf("its producers were not asked for, got %v", err)
	}
}
