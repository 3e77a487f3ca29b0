package resource

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/google/go-cmp/cmp"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name                 string
		local, uid, qualifed bool
	}{
		{"a", true, true, true},
		{"0-a-", true, true, true},
		{strings.Repeat("a", 63), true, true, true},
		{strings.Repeat("a", 64), true, false, true},
		{"a/b", false, false, true},
		{"a/b/c", false, false, true},
		{"", false, false, false},
		{"-a", false, false, false},
		{"A", false, false, false},
		{"a_b", false, false, false},
		{"a.b", false, false, false},
		{"a\n", false, false, false},
		{"é", false, false, false},
		{"a/", false, false, false},
		{"/a", false, false, false},
		{"a//b", false, false, false},
		{"..", false, false, false},
	} {
		got := []bool{CheckName(tt.name) == nil, CheckUID(tt.name) == nil, CheckQualifiedName(tt.name) == nil}
		if diff := cmp.Diff([]bool{tt.local, tt.uid, tt.qualifed}, got); diff != "" {
			t.Errorf("%q as local name, UID, qualified name (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	want := []string{"units/shop/web.yaml", "units/web.json", "artifacts/shop/img/containers.json"}
	got := []string{UnitPath("shop/web", document.YAML), ReceiptPath("web", document.JSON), ArtifactPath("shop/img", "containers", document.JSON)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
	for path, want := range map[string]string{
		"units/web.yaml": "web", "units/shop/web.yml": "shop/web", "units/web.json": "web",
		"units/web.YAML": "", "units/web.txt": "", "unitsx/web.yaml": "", "units/.web.yaml": "", "units/Web.yaml": "", "units/.yaml": "", "stacks/web.yaml": "",
	} {
		name, ok := QualifiedNameOf(path, UnitsPath)
		if ok != (want != "") || ok && name != want {
			t.Errorf("QualifiedNameOf(%q): want %q, got %q, %v", path, want, name, ok)
		}
	}
	if got := []string{LocalName("shop/web"), LocalName("web"), StackOf("shop/web"), StackOf("web")}; !cmp.Equal([]string{"web", "web", "shop", ""}, got) {
		t.Errorf("parts of qualified names: got %q", got)
	}
}

func TestRepresentations(t *testing.T) {
	t.Parallel()
	exists := func(paths ...string) func(string) bool {
		return func(p string) bool { return slices.Contains(paths, p) }
	}
	for _, tt := range []struct {
		name  string
		paths []string
		want  string
		err   string
	}{
		{"none", nil, "", ""},
		{"one", []string{"units/a.yml"}, "units/a.yml", ""},
		{"two", []string{"units/a.yml", "units/a.json"}, "", "one document in several files: units/a.json, units/a.yml; remove all but one"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Representation("units/a", exists(tt.paths...))
			if got != tt.want || message(err) != tt.err {
				t.Errorf("want %q, %q, got %q, %q", tt.want, tt.err, got, message(err))
			}
			var duplicate *DuplicateRepresentationError
			if tt.err != "" && !errors.As(err, &duplicate) {
				t.Errorf("want a *DuplicateRepresentationError, got %T", err)
			}
		})
	}
}

func TestIndex(t *testing.T) {
	t.Parallel()
	got, err := Index([]string{"units/a.yaml", "units/s/b.json", "stacks/s.yaml", "units/README.md"}, UnitsPath)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a": "units/a.yaml", "s/b": "units/s/b.json"}, got); diff != "" {
		t.Errorf("index (-want +got):\n%s", diff)
	}
	_, err = Index([]string{"units/a.yml", "units/a.json"}, UnitsPath)
	var duplicate *DuplicateRepresentationError
	if !errors.As(err, &duplicate) || !cmp.Equal([]string{"units/a.json", "units/a.yml"}, duplicate.Paths) {
		t.Errorf("want both paths of the duplicate, got %v", err)
	}
	_, err = Index([]string{"units/Web.yaml"}, UnitsPath)
	if want := `units/Web.yaml: "Web" is not a qualified name such as "app" or "stack/app"; rename or remove the file`; message(err) != want {
		t.Errorf("want %q, got %q", want, message(err))
	}
}

func TestCheckPath(t *testing.T) {
	t.Parallel()
	if err := CheckPath("units/s/a.yaml", "s/a", "a"); err != nil {
		t.Error(err)
	}
	const want = `units/s/a.yaml: /metadata/name: must be "a", the name of the file, not "b"`
	if got := message(CheckPath("units/s/a.yaml", "s/a", "b")); got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}
