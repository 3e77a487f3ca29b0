package engine

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/desired"
	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/source"
)

// sourceTree is a source.Tree over the worktree or a commit.
type sourceTree interface{ source.Tree }

// snapshotSource is a commit as a source tree.
type snapshotSource struct{ *gitstate.Snapshot }

func (s snapshotSource) Files(prefix string) []source.File {
	return sourceFiles(s.Snapshot.Files(prefix))
}

// ReadFile returns the text of a symbolic link for its content, as source.Tree wants it.
func (s snapshotSource) ReadFile(name string) ([]byte, error) {
	if files := s.Snapshot.Files(name); len(files) == 1 && files[0].Path == name && files[0].Mode&fs.ModeSymlink != 0 {
		return s.ReadBlob(files[0].Blob)
	}
	return s.Snapshot.ReadFile(name)
}

// worktreeSource is the worktree as a source tree.
type worktreeSource struct {
	*gitstate.Worktree
	root string
}

// ReadFile returns the text of a symbolic link for its content, as source.Tree wants it.
func (w worktreeSource) ReadFile(name string) ([]byte, error) {
	files := w.Worktree.Files(name)
	if len(files) != 1 || files[0].Path != name || files[0].Mode&fs.ModeSymlink == 0 {
		return w.Worktree.ReadFile(name)
	}
	root, err := os.OpenRoot(w.root)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	text, err := root.Readlink(name)
	return []byte(text), err
}

func (w worktreeSource) Files(prefix string) []source.File {
	return sourceFiles(w.Worktree.Files(prefix))
}

func sourceFiles(files []gitstate.File) []source.File {
	out := make([]source.File, len(files))
	for i, f := range files {
		out[i] = source.File{Path: f.Path, Blob: f.Blob, Mode: sourceMode(f.Mode)}
	}
	return out
}

func sourceMode(mode fs.FileMode) uint32 {
	switch {
	case mode&fs.ModeSymlink != 0:
		return source.ModeSymlink
	case mode&fs.ModeIrregular != 0:
		return source.ModeSubmodule
	case mode&0o111 != 0:
		return source.ModeExecutable
	}
	return source.ModeFile
}

// overlay is a source tree in which some files are taken out and some put in.
type overlay struct {
	sourceTree
	files []source.File
	added map[string]*document.Node // encoded when they are read: few sources hold the authored documents
}

// overlaySource is the tree that an apply hashes: the source without the environment's authored units and stacks and
// without StackTemplates, with each explicit document in their place (chapter B, 2.2).
func overlaySource(tree sourceTree, s *scope, documents []desired.Document) *overlay {
	o := &overlay{sourceTree: tree, added: map[string]*document.Node{}}
	environment := path.Join(s.project.EnvironmentsPath, s.Environment)
	removed := []string{environment + "/units/", environment + "/stacks/", s.project.StackTemplatesPath + "/"}
	for _, f := range tree.Files("") {
		if !slices.ContainsFunc(removed, func(prefix string) bool { return strings.HasPrefix(f.Path, prefix) }) {
			o.files = append(o.files, f)
		}
	}
	for _, d := range documents {
		p := environment + "/units/" + d.Name() + ".yaml"
		if _, twice := o.added[p]; twice {
			continue // reported where documents are admitted
		}
		o.added[p] = d.Node
		o.files = append(o.files, source.File{Path: p, Mode: source.ModeFile})
	}
	return o
}

func (o *overlay) Files(prefix string) []source.File {
	if prefix == "" {
		return o.files
	}
	var out []source.File
	for _, f := range o.files {
		if f.Path == prefix || strings.HasPrefix(f.Path, strings.TrimSuffix(prefix, "/")+"/") {
			out = append(out, f)
		}
	}
	return out
}

func (o *overlay) ReadFile(name string) ([]byte, error) {
	if n, ok := o.added[name]; ok {
		return document.Encode(document.YAML, n)
	}
	return o.sourceTree.ReadFile(name)
}
