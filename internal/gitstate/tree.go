package gitstate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// A tree is one directory of a Git tree with everything below it. Trees are immutable and share unchanged
// subdirectories, so that a new version of a tree costs only the directories that an edit touches.
type tree struct {
	id      plumbing.Hash
	entries []entry // in Git's order: as if the names of directories ended in "/"
	// plain says that all files at any depth are regular and not executable, as published trees are.
	plain bool
}

type entry struct {
	name string
	mode filemode.FileMode
	id   plumbing.Hash
	dir  *tree // set when mode is Dir
}

// compareEntries orders two entries as Git does. Walking trees in this order visits file paths in byte order.
func compareEntries(a entry, bName string, bDir bool) int {
	n := min(len(a.name), len(bName))
	if c := strings.Compare(a.name[:n], bName[:n]); c != 0 {
		return c
	}
	return cmp.Compare(nameEnd(a.name, a.dir != nil, n), nameEnd(bName, bDir, n))
}

// nameEnd is the byte of name at n, or what Git takes for it when the name ends there.
func nameEnd(name string, dir bool, n int) byte {
	switch {
	case n < len(name):
		return name[n]
	case dir:
		return '/'
	}
	return 0
}

// position finds a name in t: its index when there is such an entry, of the given sort, else where it belongs.
func (t *tree) position(name string, dir bool) (int, bool) {
	return slices.BinarySearchFunc(t.entries, name, func(e entry, name string) int { return compareEntries(e, name, dir) })
}

// child finds the entry with a name, be it a file or a directory.
func (t *tree) child(name string) (entry, bool) {
	if i, ok := t.position(name, false); ok {
		return t.entries[i], true
	}
	if i, ok := t.position(name, true); ok {
		return t.entries[i], true
	}
	return entry{}, false
}

// find follows a slash-separated path. The path "." is the tree itself.
func (t *tree) find(path string) (entry, bool) {
	e := entry{name: ".", mode: filemode.Dir, id: t.id, dir: t}
	if path == "." {
		return e, true
	}
	for name := range strings.SplitSeq(path, "/") {
		if e.dir == nil {
			return entry{}, false
		}
		next, ok := e.dir.child(name)
		if !ok {
			return entry{}, false
		}
		e = next
	}
	return e, true
}

// walk calls visit for each entry below t that is no directory, in the byte order of paths. base is "" or ends in "/".
func (t *tree) walk(base string, visit func(path string, e entry)) {
	for _, e := range t.entries {
		if e.dir != nil {
			e.dir.walk(base+e.name+"/", visit)
		} else {
			visit(base+e.name, e)
		}
	}
}

// tree loads a tree with all its subdirectories.
func (o *objects) tree(id plumbing.Hash) (*tree, error) {
	return o.loadTree(id, 0)
}

// maxTreeDepth bounds recursion on hostile trees.
const maxTreeDepth = 256

func (o *objects) loadTree(id plumbing.Hash, depth int) (*tree, error) {
	if t := o.cachedTree(id); t != nil {
		return t, nil
	}
	if depth > maxTreeDepth {
		return nil, fmt.Errorf("directories are nested deeper than %d", maxTreeDepth)
	}
	encoded, err := o.EncodedObject(plumbing.TreeObject, id)
	if err != nil {
		return nil, fmt.Errorf("tree %s: %w", id, err)
	}
	var decoded object.Tree
	if err := decoded.Decode(encoded); err != nil {
		return nil, fmt.Errorf("tree %s: %w", id, err)
	}
	t := &tree{id: id, entries: make([]entry, len(decoded.Entries)), plain: true}
	for i, d := range decoded.Entries {
		if err := checkName(d.Name); err != nil {
			return nil, fmt.Errorf("tree %s: %w", id, err)
		}
		e := entry{name: d.Name, mode: d.Mode, id: d.Hash}
		if d.Mode == filemode.Dir {
			if e.dir, err = o.loadTree(d.Hash, depth+1); err != nil {
				return nil, err
			}
		}
		t.plain = t.plain && isPlain(e)
		t.entries[i] = e
	}
	o.cacheTree(t)
	return t, nil
}

func isPlain(e entry) bool {
	if e.dir != nil {
		return e.dir.plain
	}
	return e.mode == filemode.Regular
}

// withEntries makes and stores the tree with these entries, which must be in Git's order.
func (o *objects) withEntries(entries []entry) (*tree, error) {
	t := &tree{entries: entries, plain: true}
	raw := object.Tree{Entries: make([]object.TreeEntry, len(entries))}
	for i, e := range entries {
		raw.Entries[i] = object.TreeEntry{Name: e.name, Mode: e.mode, Hash: e.id}
		t.plain = t.plain && isPlain(e)
	}
	encoded := &plumbing.MemoryObject{}
	if err := raw.Encode(encoded); err != nil {
		return nil, fmt.Errorf("write tree: %w", err)
	}
	t.id = o.create(encoded)
	o.cacheTree(t)
	return t, nil
}

// errUnsafeName marks names that must never become a path on disk.
var errUnsafeName = errors.New("unsafe file name")

// checkName checks one component of a path.
func checkName(name string) error {
	if name == "" || name == "." || name == ".." || strings.EqualFold(name, ".git") || strings.ContainsAny(name, "/\x00") {
		return fmt.Errorf("%w %q", errUnsafeName, name)
	}
	return nil
}
