package source

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
)

// Checkout writes the whole tree into a directory, which must exist and be empty: content, execute bits and symbolic
// links. A link that leads out of the tree is left out, and a submodule becomes an empty directory. Nothing is written
// outside dir.
func (x *Index) Checkout(ctx context.Context, dir string) error {
	return x.checkout(ctx, dir, ".", x.root)
}

// CheckoutUnit writes what a Unit works on: the whole tree, because a Unit may reach beside its source (terraform modules
// in "../modules"), or without whole only what is at and below sourcePath. Unlike Checkout it refuses a link at or below
// sourcePath that leads out of the tree, with an *InputError.
func (x *Index) CheckoutUnit(ctx context.Context, dir, sourcePath string, whole bool) error {
	at, err := x.unitSource(sourcePath)
	if err != nil {
		return err
	}
	// Behind a link the source is elsewhere, and the path to it would be missing.
	if whole || at.file.Path != path.Clean(sourcePath) {
		return x.checkout(ctx, dir, ".", x.root)
	}
	if !at.dir() {
		return x.checkout(ctx, dir, path.Dir(at.file.Path), only(at))
	}
	return x.checkout(ctx, dir, at.file.Path, at)
}

// only returns a directory with a single entry.
func only(e *entry) *entry {
	name := path.Base(e.file.Path)
	return &entry{file: e.parent.file, children: map[string]*entry{name: e}, names: []string{name}}
}

// unitSource finds sourcePath and checks that no link at or below it leads out of the tree.
func (x *Index) unitSource(sourcePath string) (*entry, error) {
	if err := CheckPath(sourcePath); err != nil {
		return nil, err
	}
	at, err := x.lookup(sourcePath)
	if err == nil && at == nil {
		err = ErrMissing
	}
	if err == nil {
		err = x.checkLinks(at)
	}
	if err != nil {
		return nil, inputError(sourcePath, err)
	}
	return at, nil
}

func (x *Index) checkLinks(e *entry) error {
	if _, err := x.follow(e); err != nil {
		return err
	}
	for _, name := range e.names {
		if err := x.checkLinks(e.children[name]); err != nil {
			return err
		}
	}
	return nil
}

func (x *Index) checkout(ctx context.Context, dir, below string, e *entry) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("check out the source: %w", err)
	}
	defer func() { _ = root.Close() }()
	if below != "." {
		if err := root.MkdirAll(below, 0o755); err != nil {
			return fmt.Errorf("check out the source: %w", err)
		}
	}
	return x.writeBelow(ctx, root, below, e)
}

func (x *Index) writeBelow(ctx context.Context, parent *os.Root, name string, e *entry) error {
	dir, err := parent.OpenRoot(name)
	if err != nil {
		return fmt.Errorf("check out %s: %w", e.file.Path, err)
	}
	defer func() { _ = dir.Close() }()
	for _, name := range e.names {
		child := e.children[name]
		if err := ctx.Err(); err != nil {
			return err
		}
		if child.dir() {
			if err := dir.Mkdir(name, 0o755); err != nil {
				return fmt.Errorf("check out %s: %w", child.file.Path, err)
			}
			if err := x.writeBelow(ctx, dir, name, child); err != nil {
				return err
			}
			continue
		}
		if err := x.write(dir, name, child); err != nil {
			return fmt.Errorf("check out %s: %w", child.file.Path, err)
		}
	}
	return nil
}

// write makes one file that is not a directory. The name has no slash and must not exist, so that no link is followed.
func (x *Index) write(dir *os.Root, name string, e *entry) error {
	switch e.file.Mode {
	case ModeSubmodule:
		return dir.Mkdir(name, 0o755)
	case ModeSymlink:
		if _, err := x.follow(e); errors.Is(err, ErrLeavesTree) {
			return nil
		} else if err != nil {
			return err
		}
		text, err := x.linkText(e.file.Path)
		if err != nil {
			return err
		}
		return dir.Symlink(text, name)
	}
	data, err := x.tree.ReadFile(e.file.Path)
	if err != nil {
		return err
	}
	perm := os.FileMode(0o644)
	if e.file.Mode&0o111 != 0 {
		perm = 0o755
	}
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
