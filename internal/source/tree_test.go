package source

import (
	"crypto/sha1"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// A memoryTree is a Tree for tests. Keys are paths; a key with a final slash is an empty directory.
type memoryTree struct {
	entries map[string]memoryFile
	reads   atomic.Int64
}

type memoryFile struct {
	mode uint32
	data string
}

func file(data string) memoryFile       { return memoryFile{ModeFile, data} }
func executable(data string) memoryFile { return memoryFile{ModeExecutable, data} }
func link(text string) memoryFile       { return memoryFile{ModeSymlink, text} }

func newTree(entries map[string]memoryFile) *memoryTree { return &memoryTree{entries: entries} }

func (t *memoryTree) Files(prefix string) []File {
	var files []File
	for path, f := range t.entries {
		if prefix != "" && path != prefix && !strings.HasPrefix(path, prefix+"/") {
			continue
		}
		blob := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(f.data), f.data))
		file := File{Path: strings.TrimSuffix(path, "/"), Mode: f.mode, Blob: fmt.Sprintf("%x", blob)}
		if strings.HasSuffix(path, "/") {
			file.Mode = ModeDir
		}
		files = append(files, file)
	}
	return files
}

func (t *memoryTree) ReadFile(path string) ([]byte, error) {
	f, ok := t.entries[path]
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	}
	t.reads.Add(1)
	return []byte(f.data), nil
}

func index(t testing.TB, entries map[string]memoryFile) *Index {
	t.Helper()
	x, err := NewIndex(newTree(entries))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestNewIndexRefusesUnsafeTrees(t *testing.T) {
	t.Parallel()
	for name, paths := range map[string][]string{
		"parent":            {"a/../b"},
		"absolute":          {"/a"},
		"empty":             {""},
		"dot":               {"./a"},
		"git directory":     {"a/.git/hooks/post-checkout"},
		"git in capitals":   {".GIT/config"},
		"file as directory": {"a", "a/b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entries := map[string]memoryFile{}
			for _, p := range paths {
				entries[p] = file("")
			}
			if _, err := NewIndex(newTree(entries)); err == nil {
				t.Errorf("NewIndex accepts %q", paths)
			}
		})
	}
}

func TestComparePathsByComponent(t *testing.T) {
	t.Parallel()
	want := []string{"a/b.yaml", "a-b.yaml", "a.yaml", "sub/b.yml", "sub-a", "ü.yaml"}
	got := slices.Clone(want)
	slices.Sort(got)
	slices.SortFunc(got, ComparePaths)
	if !slices.Equal(want, got) {
		t.Errorf("order: want %q, got %q", want, got)
	}
}
