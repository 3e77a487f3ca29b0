package engine

import (
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/desired"
	"github.com/gitopsctr/gitopsctr/internal/gitstate"
)

// candidateTree is a candidate as the tree that the desired ref would have, so that Units are classified in it by the same
// rules as on the ref itself. It is never published.
type candidateTree struct {
	candidate *desired.Candidate
	current   *gitstate.Snapshot
}

// Files implements observed.Tree. All files of a desired ref are regular.
func (t candidateTree) Files(prefix string) []gitstate.File {
	prefix = strings.TrimSuffix(prefix, "/")
	var out []gitstate.File
	for _, path := range slices.Sorted(maps.Keys(t.candidate.Files)) {
		if prefix == "" || path == prefix || strings.HasPrefix(path, prefix+"/") {
			out = append(out, gitstate.File{Path: path, Mode: 0o644, Blob: t.candidate.Files[path].Blob})
		}
	}
	return out
}

// ReadFile implements observed.Tree.
func (t candidateTree) ReadFile(path string) ([]byte, error) {
	f, ok := t.candidate.Files[path]
	switch {
	case !ok:
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	case f.Content != nil:
		return f.Content, nil
	}
	return t.current.ReadBlob(f.Blob)
}
