// Package source chooses the files that a Unit is made of, hashes them, and checks them out (specification, chapter B,
// section 3).
//
// Its central idea: a Unit's inputs are a function of one immutable tree of files. An Index of that tree answers which
// files a path and its patterns select, a Hasher turns them into the entries of the input hash, and a checkout writes
// the same tree to a disk. Nothing here reads outside the tree: symbolic links are followed in the tree only.
//
// The package knows no git, no documents and no drivers; whoever has files offers them as a Tree.
package source

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"
)

// Modes of files, as git writes them.
const (
	ModeDir        uint32 = 0o040000
	ModeFile       uint32 = 0o100644
	ModeExecutable uint32 = 0o100755
	ModeSymlink    uint32 = 0o120000
	ModeSubmodule  uint32 = 0o160000
)

// A File is one entry of a Tree.
type File struct {
	// Path is relative to the root of the tree, with slashes.
	Path string
	// Mode is one of the Mode constants. Directories need no entry; ModeDir is for an empty one, which git has not but a
	// disk has.
	Mode uint32
	// Blob is the git blob id, "" when unknown. It names the content: equal ids are hashed once.
	Blob string
}

// Symlink tells whether the file is a symbolic link.
func (f File) Symlink() bool { return f.Mode == ModeSymlink }

// A Tree is an immutable set of files.
type Tree interface {
	// Files lists the entries at and below prefix, "" for all, in any order.
	Files(prefix string) []File
	// ReadFile returns the content of a listed file; the content of a symbolic link is its text. It must be safe for
	// concurrent use.
	ReadFile(path string) ([]byte, error)
}

// ComparePaths orders paths component by component, so that "a/b" comes before "a-b". It is the order of a
// materialized payload's digest (chapter B, section 8); input hashes use the plain order of strings instead.
func ComparePaths(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "/"), strings.Split(b, "/"), cmp.Compare[string])
}

// validTreePath tells whether a path may stand in a tree that we trust with a disk: relative, clean, and never into a
// .git directory, whose hooks and configuration would be run by tools.
func validTreePath(path string) bool {
	if !fs.ValidPath(path) || path == "." {
		return false
	}
	for part := range strings.SplitSeq(path, "/") {
		if strings.EqualFold(part, ".git") {
			return false
		}
	}
	return true
}
