package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// repository has files of every mode, and links that lead out.
func repository() map[string]memoryFile {
	return map[string]memoryFile{
		"u/main.tf": file("m"), "u/run.sh": executable("#!"), "u/module": link("../modules/x"), "u/gone": link("nowhere"),
		"modules/x/x.tf": file("x"), "vendor": {mode: ModeSubmodule}, "lib": link("modules"),
		"bad/abs": link("/etc/passwd"), "bad/up": link("../../etc"), "bad/x.tf": file("b"), "top": file(""),
	}
}

// onDisk lists a directory: "mode content" by path.
func onDisk(t *testing.T, dir string) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		switch {
		case e.IsDir():
			got[name] = "directory"
		case e.Type()&fs.ModeSymlink != 0:
			text, err := os.Readlink(path)
			got[name] = "link " + text
			return err
		default:
			data, err := os.ReadFile(path)
			got[name] = fmt.Sprintf("%t %s", info.Mode()&0o100 != 0, data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

var wholeTree = map[string]string{
	"u": "directory", "u/main.tf": "false m", "u/run.sh": "true #!", "u/module": "link ../modules/x", "u/gone": "link nowhere",
	"modules": "directory", "modules/x": "directory", "modules/x/x.tf": "false x", "vendor": "directory",
	"lib": "link modules", "bad": "directory", "bad/x.tf": "false b", "top": "false ",
}

func TestCheckoutWritesTheTreeWithoutLeavingLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := index(t, repository()).Checkout(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wholeTree, onDisk(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCheckoutUnit(t *testing.T) {
	t.Parallel()
	x := index(t, repository())
	for name, tc := range map[string]struct {
		path  string
		whole bool
		want  map[string]string
		err   error
	}{
		"whole":                {"u", true, wholeTree, nil},
		"directory":            {"./modules/x/", false, map[string]string{"modules": "directory", "modules/x": "directory", "modules/x/x.tf": "false x"}, nil},
		"file":                 {"u/main.tf", false, map[string]string{"u": "directory", "u/main.tf": "false m"}, nil},
		"root file":            {"top", false, map[string]string{"top": "false "}, nil},
		"behind a link: whole": {"lib/x", false, wholeTree, nil},
		"leaving link below":   {"bad", true, map[string]string{}, ErrLeavesTree},
		"leaving link itself":  {"bad/up", false, map[string]string{}, ErrLeavesTree},
		"missing":              {"w", true, map[string]string{}, ErrMissing},
		"unsafe":               {"../w", true, map[string]string{}, ErrUnsafePath},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := x.CheckoutUnit(t.Context(), dir, tc.path, tc.whole); !errors.Is(err, tc.err) {
				t.Fatalf("want error %v, got %v", tc.err, err)
			}
			if diff := cmp.Diff(tc.want, onDisk(t, dir)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckoutNeverWritesThroughWhatIsThere(t *testing.T) {
	t.Parallel()
	outside, dir := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "u")); err != nil {
		t.Fatal(err)
	}
	err := index(t, map[string]memoryFile{"u/main.tf": file("m")}).Checkout(t.Context(), dir)
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("want %v, got %v", fs.ErrExist, err)
	}
	if diff := cmp.Diff(map[string]string{}, onDisk(t, outside)); diff != "" {
		t.Errorf("written outside (-want +got):\n%s", diff)
	}
}

func TestCheckoutsReadARevisionOnceAndKeepUnitsApart(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	var opened atomic.Int64
	c := NewCheckouts(base, func(_ context.Context, revision string) (*Index, error) {
		opened.Add(1)
		if revision != "r1" {
			return nil, fs.ErrNotExist
		}
		return NewIndex(newTree(repository()))
	})
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			dir, cleanup, err := c.Private(t.Context(), "r1", "u")
			if err != nil {
				t.Error(err)
				return
			}
			if diff := cmp.Diff(wholeTree, onDisk(t, dir)); diff != "" {
				t.Errorf("private (-want +got):\n%s", diff)
			}
			if err := os.WriteFile(filepath.Join(dir, "u/main.tf"), []byte("spoiled"), 0o644); err != nil {
				t.Error(err)
			}
			if err := cleanup(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	part, cleanup, err := c.PrivatePart(t.Context(), "r1", "modules/x")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"modules": "directory", "modules/x": "directory", "modules/x/x.tf": "false x"}
	if diff := cmp.Diff(want, onDisk(t, part)); diff != "" {
		t.Errorf("part (-want +got):\n%s", diff)
	}
	if err := cleanup(); err != nil {
		t.Error(err)
	}
	shared, err := c.Get(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wholeTree, onDisk(t, shared)); diff != "" {
		t.Errorf("shared (-want +got):\n%s", diff)
	}
	if want, got := int64(1), opened.Load(); want != got {
		t.Errorf("opened: want %d, got %d", want, got)
	}
	if _, _, err := c.Private(t.Context(), "r1", "bad"); !errors.Is(err, ErrLeavesTree) {
		t.Errorf("want %v, got %v", ErrLeavesTree, err)
	}
	if _, err := c.Get(t.Context(), "r2"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("want %v, got %v", fs.ErrNotExist, err)
	}
	if left, err := os.ReadDir(base); err != nil || len(left) != 1 {
		t.Errorf("want only the shared tree left, got %v, %v", left, err)
	}
}

func TestCheckoutsTryAgainAfterCancellation(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	c := NewCheckouts(base, func(context.Context, string) (*Index, error) { return NewIndex(newTree(repository())) })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Get(ctx, "r"); !errors.Is(err, context.Canceled) {
		t.Fatalf("want %v, got %v", context.Canceled, err)
	}
	if left, err := os.ReadDir(base); err != nil || len(left) != 0 {
		t.Errorf("want nothing left, got %v, %v", left, err)
	}
	dir, err := c.Get(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wholeTree, onDisk(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDiskIsTheTreeThatWasCheckedOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := index(t, vectorTree()).Checkout(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	disk, err := NewDisk(root)
	if err != nil {
		t.Fatal(err)
	}
	hashes := func(tree Tree) []InputFile {
		x, err := NewIndex(tree)
		if err != nil {
			t.Fatal(err)
		}
		inputs, err := x.Select("s", []string{"**"}, true)
		if err != nil {
			t.Fatal(err)
		}
		files, err := new(Hasher).Hash(t.Context(), x, inputs)
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	if diff := cmp.Diff(hashes(newTree(vectorTree())), hashes(disk)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var below []string
	for _, f := range disk.Files("s/sub/deep") {
		below = append(below, f.Path)
	}
	if diff := cmp.Diff([]string{"s/sub/deep", "s/sub/deep/c.tf"}, below); diff != "" {
		t.Errorf("below (-want +got):\n%s", diff)
	}
}

func BenchmarkPrivate(b *testing.B) {
	entries := map[string]memoryFile{}
	for i := range 2000 {
		entries[fmt.Sprintf("units/u%d/m%d/main.tf", i/20, i%20)] = file(fmt.Sprintf("resource %d {}\n", i))
	}
	x := index(b, entries)
	c := NewCheckouts(b.TempDir(), func(context.Context, string) (*Index, error) { return x, nil })
	for b.Loop() {
		_, cleanup, err := c.Private(b.Context(), "r", "units/u1")
		if err != nil {
			b.Fatal(err)
		}
		if err := cleanup(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSelectAndHash(b *testing.B) {
	entries := map[string]memoryFile{}
	for i := range 2000 {
		entries[fmt.Sprintf("units/u%d/%d.tf", i/2, i%2)] = file(fmt.Sprintf("resource %d {}\n", i%50))
	}
	tree := newTree(entries)
	for b.Loop() {
		x, err := NewIndex(tree)
		if err != nil {
			b.Fatal(err)
		}
		var hasher Hasher
		for u := range 1000 {
			inputs, err := x.Select(fmt.Sprintf("units/u%d", u), []string{"**/*.tf"}, true)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := hasher.Hash(b.Context(), x, inputs); err != nil {
				b.Fatal(err)
			}
		}
	}
}
