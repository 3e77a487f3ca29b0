package gitstate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// A Worktree is the non-ignored part of the clone's working directory: tracked files, and untracked files that no ignore
// rule covers; what is deleted is left out. The list of files is as it was when the Worktree was made, content is read
// when it is asked for. Nothing outside the working directory is read, whatever symbolic links say.
type Worktree struct {
	files
	dir *os.Root
}

var (
	_ fs.ReadFileFS = (*Worktree)(nil)
	_ fs.ReadDirFS  = (*Worktree)(nil)
	_ fs.StatFS     = (*Worktree)(nil)
)

// Close releases the working directory.
func (w *Worktree) Close() error { return w.dir.Close() }

var errNoWorkspace = errors.New("there is no clone to read the working directory of")

// WorktreeFiles lists the clone's working directory. The caller must close the result.
func (s *Store) WorktreeFiles(ctx context.Context) (_ *Worktree, err error) {
	if s.workspace == nil {
		return nil, errNoWorkspace
	}
	paths, err := s.workspace.listFiles(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the working directory: %w", err)
	}
	dir, err := os.OpenRoot(s.workspace.root)
	if err != nil {
		return nil, fmt.Errorf("open the working directory: %w", err)
	}
	root, real := &tree{}, map[string]bool{".": true}
	for _, p := range paths {
		if !isRealDirectory(dir, path.Dir(p), real) {
			continue // deleted: something else took the place of its directory
		}
		info, err := dir.Lstat(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, errors.Join(err, dir.Close())
		}
		root.insert(strings.Split(p, "/"), worktreeMode(info.Mode()))
	}
	return &Worktree{files: files{root: root, content: disk{dir}}, dir: dir}, nil
}

// isRealDirectory says whether a path is a directory without symbolic links in it. It remembers answers in known.
func isRealDirectory(root *os.Root, dir string, known map[string]bool) bool {
	answer, ok := known[dir]
	if !ok {
		info, err := root.Lstat(dir)
		answer = err == nil && info.IsDir() && isRealDirectory(root, path.Dir(dir), known)
		known[dir] = answer
	}
	return answer
}

// insert adds a file to a tree that is still being built. Paths must come in byte order.
func (t *tree) insert(names []string, mode filemode.FileMode) {
	name := names[0]
	if len(names) == 1 {
		if at, exists := t.position(name, false); !exists {
			t.entries = slices.Insert(t.entries, at, entry{name: name, mode: mode})
		}
		return
	}
	at, exists := t.position(name, true)
	if !exists {
		t.entries = slices.Insert(t.entries, at, entry{name: name, mode: filemode.Dir, dir: &tree{}})
	}
	t.entries[at].dir.insert(names[1:], mode)
}

func worktreeMode(m fs.FileMode) filemode.FileMode {
	switch {
	case m&fs.ModeSymlink != 0:
		return filemode.Symlink
	case !m.IsRegular(): // a submodule's directory, or a device
		return filemode.Submodule
	case m&0o111 != 0:
		return filemode.Executable
	default:
		return filemode.Regular
	}
}

// disk reads content from the working directory.
type disk struct{ root *os.Root }

func (d disk) read(name string, _ entry) ([]byte, error) {
	if _, err := d.size(name, entry{}); err != nil {
		return nil, err
	}
	return d.root.ReadFile(name)
}

// size fails for what is no regular file any more.
func (d disk) size(name string, _ entry) (int64, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, errNotRegular
	}
	return info.Size(), nil
}

// listFiles lists tracked and untracked, not ignored paths, sorted. Paths need not exist.
func (w *workspace) listFiles(ctx context.Context) ([]string, error) {
	out, err := w.git(ctx, nil, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if errors.Is(err, exec.ErrNotFound) {
		return w.listFilesWithoutGit(ctx)
	} else if err != nil {
		return nil, err
	}
	var paths []string
	for p := range bytes.SplitSeq(out, []byte{0}) {
		// A path that ends in a slash is a repository of its own inside the working directory.
		if len(p) > 0 && p[len(p)-1] != '/' {
			paths = append(paths, string(p))
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// Dirty says whether the working directory differs from HEAD, in the index or in files, untracked ones included.
func (s *Store) Dirty(ctx context.Context) (bool, error) {
	if s.workspace == nil {
		return false, errNoWorkspace
	}
	out, err := s.workspace.git(ctx, nil, "status", "--porcelain", "-z", "--untracked-files=normal")
	if errors.Is(err, exec.ErrNotFound) {
		return s.dirtyWithoutGit(ctx)
	} else if err != nil {
		return false, fmt.Errorf("compare the working directory with HEAD: %w", err)
	}
	return len(out) > 0, nil
}
