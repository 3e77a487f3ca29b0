package gitstate

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// An Edit changes one path of a tree. Exactly one of Content, Blob and Delete says how; the zero Content is an empty file.
type Edit struct {
	// Path is slash-separated and relative to the root, without "." and ".." components.
	Path string
	// Content is the new content of the file.
	Content []byte
	// Blob is the Git id of a blob to put there, instead of Content: one that a snapshot of the same Store has.
	Blob string
	// Delete removes the file, or the directory with everything below it. What does not exist is deleted already.
	Delete bool
}

// A Tree is what a commit will contain. Two trees with the same files have the same ID.
type Tree struct{ root *tree }

// ID is the Git id of the tree, 40 hexadecimal digits.
func (t Tree) ID() string { return t.root.id.String() }

// BuildTree applies edits, in order, to the tree of a snapshot; nil or the empty snapshot is the tree without files.
// All files become regular and not executable (chapter F, 6.3). It refuses unsafe paths, symbolic links and submodules
// in the base, files where directories are and the reverse, and a result without files.
func (s *Store) BuildTree(base *Snapshot, edits []Edit) (Tree, error) {
	root := EmptySnapshot().root
	if base != nil {
		root = base.root
	}
	root, err := s.objects.plainTree(root, "")
	if err != nil {
		return Tree{}, err
	}
	for _, e := range edits {
		if root, err = s.objects.apply(root, e); err != nil {
			return Tree{}, fmt.Errorf("file %q: %w", e.Path, err)
		}
	}
	if root == nil || len(root.entries) == 0 {
		return Tree{}, errors.New("the new tree has no files; a published tree must have one at least")
	}
	if root.id.IsZero() {
		return Tree{}, errors.New("there is nothing to publish: no base and no edits")
	}
	return Tree{root}, nil
}

// plainTree returns t with all files regular and not executable.
func (o *objects) plainTree(t *tree, base string) (*tree, error) {
	if t.plain {
		return t, nil
	}
	entries := slices.Clone(t.entries)
	for i, e := range entries {
		switch e.mode {
		case filemode.Dir:
			dir, err := o.plainTree(e.dir, base+e.name+"/")
			if err != nil {
				return nil, err
			}
			entries[i].dir, entries[i].id = dir, dir.id
		case filemode.Symlink:
			return nil, fmt.Errorf("file %q is a symbolic link; replace it by a regular file", base+e.name)
		case filemode.Submodule:
			return nil, fmt.Errorf("file %q is a submodule; remove it", base+e.name)
		default:
			entries[i].mode = filemode.Regular
		}
	}
	return o.withEntries(entries)
}

func (o *objects) apply(root *tree, e Edit) (*tree, error) {
	if e.Path == "" || path.Clean(e.Path) != e.Path {
		return nil, fmt.Errorf("%w: the path is not in its shortest form", errUnsafeName)
	}
	names := strings.Split(e.Path, "/")
	for _, name := range names {
		if err := checkName(name); err != nil {
			return nil, err
		}
	}
	if e.Delete {
		if e.Blob != "" || e.Content != nil {
			return nil, errors.New("an edit cannot both delete and write")
		}
		return o.without(root, names)
	}
	var id plumbing.Hash
	switch {
	case e.Blob == "":
		id = o.createBlob(e.Content)
	case e.Content != nil || !plumbing.IsHash(e.Blob):
		return nil, fmt.Errorf("an edit needs either content or a blob id, not %q", e.Blob)
	default:
		id = plumbing.NewHash(e.Blob)
		if _, err := o.EncodedObject(plumbing.BlobObject, id); err != nil {
			return nil, fmt.Errorf("blob %s: %w", id, err)
		}
	}
	return o.with(root, names, id)
}

// with returns t with a file at names.
func (o *objects) with(t *tree, names []string, id plumbing.Hash) (*tree, error) {
	name, isFile := names[0], len(names) == 1
	if t == nil {
		t = &tree{plain: true}
	}
	if _, clash := t.position(name, isFile); clash {
		if isFile {
			return nil, errors.New("there is a directory of that name; delete it first")
		}
		return nil, fmt.Errorf("there is a file %q where a directory is needed; delete it first", name)
	}
	at, exists := t.position(name, !isFile)
	e := entry{name: name, mode: filemode.Regular, id: id}
	if !isFile {
		var old *tree
		if exists {
			old = t.entries[at].dir
		}
		dir, err := o.with(old, names[1:], id)
		if err != nil {
			return nil, err
		}
		e = entry{name: name, mode: filemode.Dir, id: dir.id, dir: dir}
	}
	if exists && t.entries[at].id == e.id {
		return t, nil
	}
	entries := slices.Clone(t.entries)
	if exists {
		entries[at] = e
	} else {
		entries = slices.Insert(entries, at, e)
	}
	return o.withEntries(entries)
}

// without returns t without what is at names. A directory that becomes empty vanishes; a whole tree becomes empty.
func (o *objects) without(t *tree, names []string) (*tree, error) {
	name := names[0]
	at, isDir := t.position(name, true)
	if !isDir {
		var isFile bool
		if at, isFile = t.position(name, false); !isFile || len(names) > 1 {
			return t, nil
		}
	}
	entries := slices.Clone(t.entries)
	if isDir && len(names) > 1 {
		dir, err := o.without(t.entries[at].dir, names[1:])
		if err != nil || dir == t.entries[at].dir {
			return t, err
		}
		if len(dir.entries) > 0 {
			entries[at].dir, entries[at].id = dir, dir.id
			return o.withEntries(entries)
		}
	}
	return o.withEntries(slices.Delete(entries, at, at+1))
}
