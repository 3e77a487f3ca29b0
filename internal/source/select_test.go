package source

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSelectWithoutInputsNamesFilesFromTheRoot(t *testing.T) {
	t.Parallel()
	x := index(t, vectorTree())
	for _, path := range []string{"s/sub", "s/./sub/", "s/su[b]"} {
		got, err := x.Select(path, nil, false)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		want := []string{"s/sub/.b.tf", "s/sub/a.tf", "s/sub/deep/c.tf", "s/sub/etc", "s/sub/run.sh"}
		if diff := cmp.Diff(want, inputPaths(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

func TestSelectEmptyInputsNeedsNoPath(t *testing.T) {
	t.Parallel()
	got, err := index(t, vectorTree()).Select("nowhere", []string{}, true)
	if err != nil || len(got) != 0 {
		t.Errorf("want nothing, got %v, %v", got, err)
	}
}

func TestSelectReadsBehindLinks(t *testing.T) {
	t.Parallel()
	got, err := index(t, vectorTree()).Select("s/linkdir", []string{"etc/*"}, true)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Path != "etc/c.tf" || got[0].File.Path != "s/sub/deep/c.tf" {
		t.Errorf("want etc/c.tf from s/sub/deep/c.tf, got %+v", got)
	}
}

func TestSelectErrors(t *testing.T) {
	t.Parallel()
	tree := map[string]memoryFile{
		"u/main.tf": file(""), "u/in": link("../shared/x"), "shared/x": file(""), "u/gone": link("../nowhere/../y"),
		"u/bad/abs": link("/etc/passwd"), "u/bad/up": link("../../../etc"), "u/bad/sly": link("hop/../../../x"),
		"u/bad/hop": link("../../shared"), "u/bad/deep/chain": link("../up/passwd"), "u/bad/gone": link("nowhere/../../../../y"),
		"u/mod": {mode: ModeSubmodule}, "u/loop": link("loop"),
	}
	x := index(t, tree)
	for name, tc := range map[string]struct {
		path    string
		inputs  []string
		err     error // nil means none
		pointer string
		file    string
	}{
		"link inside the tree":           {"u", []string{"in"}, nil, "", ""},
		"dangling link inside":           {"u", []string{"gone"}, nil, "", ""},
		"link to itself":                 {"u", []string{"loop"}, nil, "", ""},
		"path with parent":               {"../u", []string{"*"}, ErrUnsafePath, "/source/path", ""},
		"absolute pattern":               {"u", []string{"main.tf", "/x"}, ErrUnsafePath, "/source/inputs/1", ""},
		"missing path":                   {"v", []string{"*"}, ErrMissing, "/source/path", ""},
		"missing path, no inputs":        {"v", nil, ErrMissing, "/source/path", ""},
		"path without match":             {"v*", nil, ErrNoMatch, "/source/path", ""},
		"missing file":                   {"u", []string{"main.tf", "x"}, ErrMissing, "/source/inputs/1", ""},
		"pattern without match":          {"u", []string{"main.tf", "*.x"}, ErrNoMatch, "/source/inputs/1", ""},
		"absolute link":                  {"u", []string{"bad/abs"}, ErrLeavesTree, "/source/inputs/0", "u/bad/abs"},
		"link above the root":            {"u", []string{"main.tf", "bad/u*"}, ErrLeavesTree, "/source/inputs/1", "u/bad/up"},
		"link that leaves by a detour":   {"u", []string{"bad/sly"}, ErrLeavesTree, "/source/inputs/0", "u/bad/sly"},
		"link over a link that leaves":   {"u", []string{"bad/deep"}, ErrLeavesTree, "/source/inputs/0", "u/bad/up"},
		"dangling link that would leave": {"u", []string{"bad/gone"}, ErrLeavesTree, "/source/inputs/0", "u/bad/gone"},
		"directory behind a leaving link": {
			"u", []string{"bad/up/passwd"}, ErrLeavesTree, "/source/inputs/0", "u/bad/up",
		},
		"glob behind a leaving link": {"u", []string{"bad/up/*"}, ErrLeavesTree, "/source/inputs/0", "u/bad/up"},
		"path is a leaving link":     {"u/bad/up", []string{"*"}, ErrLeavesTree, "/source/path", "u/bad/up"},
		"leaving link in the tree":   {"u/bad", nil, ErrLeavesTree, "/source/path", "u/bad/abs"},
		"submodule":                  {"u", []string{"m*"}, ErrSubmodule, "/source/inputs/0", "u/mod"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := x.Select(tc.path, tc.inputs, tc.inputs != nil)
			if tc.err == nil {
				if err != nil {
					t.Fatalf("want no error, got %v", err)
				}
				return
			}
			var e *InputError
			if !errors.Is(err, tc.err) || !errors.As(err, &e) {
				t.Fatalf("want %v, got %v", tc.err, err)
			}
			if diff := cmp.Diff([]string{tc.pointer, tc.file}, []string{e.Pointer(), e.File}); diff != "" {
				t.Errorf("pointer, file (-want +got):\n%s\nof %v", diff, err)
			}
		})
	}
}

func TestInputErrorSaysWhatToDo(t *testing.T) {
	t.Parallel()
	err := &InputError{Index: 2, Pattern: "*.tf", File: "u/x.tf", Err: ErrLeavesTree}
	want := `"*.tf": "u/x.tf": symbolic link leads out of the source tree; replace the link by the file that it means, or leave it out of the inputs`
	if got := err.Error(); got != want {
		t.Errorf("\nwant %s\ngot  %s", want, got)
	}
}

func inputPaths(inputs []Input) []string {
	var paths []string
	for _, in := range inputs {
		paths = append(paths, in.Path)
	}
	return paths
}

// FuzzSelect: whatever the pattern, Select does not panic, every input is a file of the tree, its path stays below
// source.path, and the result is sorted and without doubles.
func FuzzSelect(f *testing.F) {
	for _, seed := range []string{"**/*.tf", "[!]]*/", "self/*/*", "sub/**/../x", "[a-", "**", "linkdir/deep", "\xff*", "a//./?"} {
		f.Add("s", seed, true)
		f.Add(seed, "", false)
	}
	tree := vectorTree()
	tree["s/self"], tree["s/out"], tree["other"] = link("."), link("../../x"), file("")
	x := index(f, tree)
	f.Fuzz(func(t *testing.T, path, pattern string, hasInputs bool) {
		inputs, err := x.Select(path, []string{pattern}, hasInputs)
		if err != nil {
			var e *InputError
			if !errors.As(err, &e) || e.Err == nil {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		for i, in := range inputs {
			if in.Path == "" || strings.HasPrefix(in.Path, "/") || slices.Contains(strings.Split(in.Path, "/"), "..") {
				t.Errorf("%q leaves the source path", in.Path)
			}
			if entry, ok := tree[in.File.Path]; !ok || entry.mode != in.File.Mode || in.File.Mode == ModeDir {
				t.Errorf("%+v is no file of the tree", in)
			}
			if i > 0 && inputs[i-1].Path >= in.Path {
				t.Errorf("%q comes before %q", inputs[i-1].Path, in.Path)
			}
		}
	})
}
