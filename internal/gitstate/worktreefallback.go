package gitstate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
	"github.com/go-git/go-git/v5/plumbing/format/index"
)

// listFilesWithoutGit does with go-git what listFiles does with Git. The user's and the system's ignore files are not
// read.
func (w *workspace) listFilesWithoutGit(ctx context.Context) ([]string, error) {
	tracked, err := w.index()
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, e := range tracked.Entries {
		paths = append(paths, e.Name)
	}
	patterns, err := gitignore.ReadPatterns(osfs.New(w.root), nil)
	if err != nil {
		return nil, fmt.Errorf("ignore files: %w", err)
	}
	ignore := gitignore.NewMatcher(append(w.excludes(), patterns...))
	err = filepath.WalkDir(w.root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == w.root {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		relative, err := filepath.Rel(w.root, p)
		if err != nil {
			return err
		}
		relative = filepath.ToSlash(relative)
		switch {
		case d.Name() == ".git" || ignore.Match(strings.Split(relative, "/"), d.IsDir()):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			if _, err := os.Lstat(filepath.Join(p, ".git")); err == nil {
				return fs.SkipDir // a repository of its own
			}
			return nil
		}
		paths = append(paths, relative)
		return nil
	})
	slices.Sort(paths)
	return slices.Compact(paths), err
}

// excludes are the patterns of the clone's info/exclude file.
func (w *workspace) excludes() []gitignore.Pattern {
	data, err := os.ReadFile(filepath.Join(w.commonDir, "info", "exclude"))
	if err != nil {
		return nil
	}
	var out []gitignore.Pattern
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimRight(line, "\r\n"); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, gitignore.ParsePattern(line, nil))
		}
	}
	return out
}

func (w *workspace) index() (*index.Index, error) {
	idx := &index.Index{}
	file, err := os.Open(filepath.Join(w.gitDir, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		return idx, nil
	} else if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if err := index.NewDecoder(file).Decode(idx); err != nil {
		return nil, fmt.Errorf("the clone's index cannot be read without Git; install it: %w", err)
	}
	return idx, nil
}

// dirtyWithoutGit compares the content and the mode of every file with HEAD's, and the index too.
func (s *Store) dirtyWithoutGit(ctx context.Context) (bool, error) {
	revision, err := s.Resolve(ctx, "HEAD")
	if err != nil {
		return false, err
	}
	head, err := s.SourceSnapshot(ctx, revision)
	if err != nil {
		return false, err
	}
	idx, err := s.workspace.index()
	if err != nil {
		return false, err
	}
	committed := head.Files("")
	if len(committed) != len(idx.Entries) {
		return true, nil
	}
	for _, e := range idx.Entries {
		if id, ok := head.Blob(e.Name); !ok || id != e.Hash.String() {
			return true, nil
		}
	}
	work, err := s.WorktreeFiles(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = work.Close() }()
	present := work.Files("")
	if len(present) != len(committed) {
		return true, nil
	}
	for i, f := range present {
		if f.Path != committed[i].Path || f.Mode != committed[i].Mode {
			return true, nil
		}
		data, err := contentOf(work, f)
		if err != nil {
			return false, err
		}
		if data != nil && plumbing.ComputeHash(plumbing.BlobObject, data).String() != committed[i].Blob {
			return true, nil
		}
	}
	return false, nil
}

// contentOf reads what Git would store for a file; nil for submodules.
func contentOf(w *Worktree, f File) ([]byte, error) {
	switch {
	case f.Mode&fs.ModeSymlink != 0:
		target, err := w.dir.Readlink(f.Path)
		return []byte(target), err
	case f.Mode.IsRegular():
		return w.ReadFile(f.Path)
	}
	return nil, nil
}
