package source

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const vectors = "../../testdata/vectors/"

// vectorTree is the tree of globs.txt, below s/ as its README tells.
func vectorTree() map[string]memoryFile {
	return map[string]memoryFile{
		"s/main.tf": file("m"), "s/.hidden.tf": file("h"), "s/sub/a.tf": file("a"), "s/sub/.b.tf": file("b"),
		"s/sub/deep/c.tf": file("c"), "s/.dotdir/d.tf": file("d"), "s/x[1].tf": file("x"), "s/UP.TF": file("u"),
		"s/sub/run.sh": executable("r"), "s/empty/": {},
		"s/link.tf": link("main.tf"), "s/linkdir": link("sub"), "s/dangling": link("nowhere"), "s/sub/etc": link("deep"),
	}
}

// TestSelectVectors runs every row of globs.txt as source.inputs of a Unit at s.
func TestSelectVectors(t *testing.T) {
	t.Parallel()
	x := index(t, vectorTree())
	kinds := map[string]error{"no match": ErrNoMatch, "missing": ErrMissing, "path safety": ErrUnsafePath}
	rows := 0
	for line := range lines(t, vectors+"b-apply-references/globs.txt") {
		rows++
		var inputs []string
		rest := decodeFirst(t, line, &inputs)
		got, err := x.Select("s", inputs, true)
		if kind, isErr := strings.CutPrefix(rest, "ERR "); isErr {
			var e *InputError
			if !errors.Is(err, kinds[kind]) || !errors.As(err, &e) || e.Index != 0 {
				t.Errorf("%q: want %s at index 0, got %v, %v", inputs, kind, got, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", inputs, err)
			continue
		}
		var want, paths []string
		for _, pair := range strings.Split(strings.Trim(rest, "[]"), "), (") {
			if pair = strings.Trim(pair, "()'"); pair != "" {
				want = append(want, pair)
			}
		}
		for _, in := range got {
			paths = append(paths, in.Path+"', '"+hashMode(in.File.Mode))
		}
		if diff := cmp.Diff(want, paths); diff != "" {
			t.Errorf("%q (-want +got):\n%s", inputs, diff)
		}
	}
	if rows < 50 {
		t.Errorf("globs.txt has %d rows only", rows)
	}
}

// TestGlobVectors runs the glob rows of the drivers' probe2.txt: patterns of plain manifests, where a link is an error
// and a directory is passed over.
func TestGlobVectors(t *testing.T) {
	t.Parallel()
	x := index(t, map[string]memoryFile{
		"p/a.yaml": file(""), "p/.hidden.yaml": file(""), "p/sub/b.yaml": file(""), "p/sub/.dot/c.yaml": file(""),
		"p/sub/deep/d.yml": file(""), "p/x.json": file(""), "p/Sub.YAML": file(""), "p/b[1].yaml": file(""), "p/lnk": link("sub"),
	})
	rows, section := 0, ""
	for line := range lines(t, vectors+"g-drivers/probe2.txt") {
		if strings.HasPrefix(line, "## ") {
			section = line
		}
		if section != "## globs" || strings.HasPrefix(line, "## ") {
			continue
		}
		rows++
		var patterns []string
		rest := decodeFirst(t, line, &patterns)
		refused := strings.HasPrefix(rest, "ERR")
		var want []string
		if !refused {
			decodeFirst(t, strings.ReplaceAll(rest, "'", `"`), &want)
		}
		got, err := plainFiles(x, patterns)
		if (err != nil) != refused {
			t.Errorf("%q: want error %t, got %v, %v", patterns, refused, got, err)
		}
		if diff := cmp.Diff(strings.Join(want, "\n"), strings.Join(got, "\n")); diff != "" && !refused {
			t.Errorf("%q (-want +got):\n%s", patterns, diff)
		}
	}
	if rows < 25 {
		t.Errorf("probe2.txt has %d glob rows only", rows)
	}
}

func plainFiles(x *Index, patterns []string) ([]string, error) {
	found := map[string]bool{}
	var paths []string
	for _, pattern := range patterns {
		matches, err := x.Glob("p", pattern)
		if err != nil {
			return nil, err
		}
		for _, m := range matches {
			switch {
			case m.File.Symlink(), pattern == ".":
				return nil, errors.New("refused by the driver")
			case m.File.Mode != ModeDir && !found[m.Path]:
				found[m.Path] = true
				paths = append(paths, m.Path)
			}
		}
	}
	slices.Sort(paths)
	return paths, nil
}

func TestGlobBeyondTheVectors(t *testing.T) {
	t.Parallel()
	tree := vectorTree()
	tree["s/out"], tree["s/abs"] = link("../../etc"), link("/etc")
	tree["s/loop"], tree["s/self"] = link("loop"), link(".")
	x := index(t, tree)
	for _, tc := range []struct {
		pattern string
		want    []string
	}{
		{"**/", []string{".", ".dotdir", "empty", "sub", "sub/deep"}},
		{"main.tf/**", nil},
		{"main.tf/", nil},
		{"sub/", []string{"sub"}},
		{".", []string{"."}},
		{"**/etc/c.tf", []string{"sub/etc/c.tf"}},
		{"**/**/c.tf", []string{"sub/deep/c.tf"}},
		{"l*/deep/*", []string{"linkdir/deep/c.tf"}},
		{"self/self/main.tf", []string{"self/self/main.tf"}},
		{"loop/*", nil},
		{"[]x]*", []string{"x[1].tf"}},
		{"[!]a-z]*", []string{".dotdir", ".hidden.tf", "UP.TF"}},
		{"[a-c-e]mpty", []string{"empty"}},
		{"[z-a]mpty", nil},
		{"[!z-a]mpty", []string{"empty"}},
		{"[w-]*", []string{}},
		{"*a*n*.t?", []string{"main.tf"}},
		{"*/main.tf", []string{"self/main.tf"}}, // out and abs are passed over
	} {
		t.Run(tc.pattern, func(t *testing.T) {
			t.Parallel()
			matches, err := x.Glob("s", tc.pattern)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range matches {
				got = append(got, m.Path)
			}
			if diff := cmp.Diff(strings.Join(tc.want, "\n"), strings.Join(got, "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestGlobThatCirclesIsStopped(t *testing.T) {
	t.Parallel()
	tree := map[string]memoryFile{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"} {
		tree[name] = link(".")
	}
	_, err := index(t, tree).Glob(".", strings.Repeat("*/", 12)+"*")
	if !errors.Is(err, ErrTooBroad) {
		t.Errorf("want %v, got %v", ErrTooBroad, err)
	}
}

// decodeFirst reads the JSON value that a line starts with and returns what follows it.
func decodeFirst(t *testing.T, line string, value any) string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(line))
	if err := d.Decode(value); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return strings.TrimSpace(line[d.InputOffset():])
}

// lines yields the lines of a file.
func lines(t *testing.T, path string) func(yield func(string) bool) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(string) bool) {
		s := bufio.NewScanner(strings.NewReader(string(data)))
		for s.Scan() {
			if !yield(s.Text()) {
				return
			}
		}
	}
}
