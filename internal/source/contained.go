package source

import (
	"bytes"
	"strings"
)

// SelfContained tells whether nothing at or below sourcePath mentions a path that goes up ("../", "/..", or a quoted "..")
// or links out of it, so that a tool that works there needs no other file of the tree. It reads every file there, and
// errs on the side of false. Writing a few files for such a Unit instead of a whole repository saves most of the time of a
// short driver run.
func (x *Index) SelfContained(sourcePath string) (bool, error) {
	at, err := x.unitSource(sourcePath)
	if err != nil {
		return false, err
	}
	return x.contained(at, at)
}

func (x *Index) contained(within, e *entry) (bool, error) {
	switch e.file.Mode {
	case ModeDir:
		for _, name := range e.names {
			if ok, err := x.contained(within, e.children[name]); !ok {
				return false, err
			}
		}
		return true, nil
	case ModeSubmodule:
		return true, nil
	case ModeSymlink:
		target, err := x.follow(e)
		return target != nil && target.below(within), err
	}
	data, err := x.tree.ReadFile(e.file.Path)
	if err != nil {
		return false, err
	}
	for _, up := range []string{"../", "/..", `".."`, "'..'"} {
		if bytes.Contains(data, []byte(up)) {
			return false, nil
		}
	}
	return true, nil
}

func (e *entry) below(dir *entry) bool {
	return e == dir || dir.parent == nil || strings.HasPrefix(e.file.Path, dir.file.Path+"/")
}
