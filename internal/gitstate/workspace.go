package gitstate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/config"
)

// Root finds the top level of the worktree that dir lies in.
func Root(dir string) (string, error) {
	w, err := openWorkspace(dir)
	if err != nil {
		return "", err
	}
	return w.root, nil
}

// A workspace is the user's clone. It is only ever read.
type workspace struct {
	root       string   // top level of the worktree
	gitDir     string   // holds HEAD and index
	commonDir  string   // holds config, refs and objects; equals gitDir outside linked worktrees
	objectDirs []string // the clone's object directory and its alternates, each named "objects"
	environ    []string // for Git commands; nil means the process's own
	partial    bool     // objects may be missing because the clone was made with a filter
}

func openWorkspace(dir string) (*workspace, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("repository %s: %w", dir, err)
	}
	if resolved, err := filepath.EvalSymlinks(abs); err == nil {
		abs = resolved
	}
	for at := abs; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return newWorkspace(at)
		}
		if at == filepath.Dir(at) {
			return nil, fmt.Errorf("%s is not inside a Git worktree; run in a clone of the repository, or check it out first", dir)
		}
	}
}

func newWorkspace(root string) (*workspace, error) {
	w := &workspace{root: root, gitDir: filepath.Join(root, ".git")}
	info, err := os.Stat(w.gitDir)
	if err != nil {
		return nil, fmt.Errorf("repository %s: %w", root, err)
	}
	if !info.IsDir() { // linked worktree or submodule
		line, err := os.ReadFile(w.gitDir)
		if err != nil {
			return nil, fmt.Errorf("repository %s: %w", root, err)
		}
		target, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "gitdir:")
		if !ok {
			return nil, fmt.Errorf("repository %s: the file .git does not name a Git directory", root)
		}
		w.gitDir = absoluteFrom(root, strings.TrimSpace(target))
	}
	w.commonDir = w.gitDir
	switch common, err := os.ReadFile(filepath.Join(w.gitDir, "commondir")); {
	case err == nil:
		w.commonDir = absoluteFrom(w.gitDir, strings.TrimSpace(string(common)))
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("repository %s: %w", root, err)
	}
	if err := w.addObjectDir(filepath.Join(w.commonDir, "objects"), 0); err != nil {
		return nil, fmt.Errorf("repository %s: %w", root, err)
	}
	return w, nil
}

// maxAlternateDepth is Git's own limit on alternates of alternates.
const maxAlternateDepth = 5

// addObjectDir adds an object directory and, as Git does, those that its alternates file names.
func (w *workspace) addObjectDir(dir string, depth int) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil && depth == 0:
		return err
	case err != nil || !info.IsDir() || depth > maxAlternateDepth || filepath.Base(dir) != "objects":
		return nil // what is missing there is fetched from the remote
	}
	for _, known := range w.objectDirs {
		if known == dir {
			return nil
		}
	}
	w.objectDirs = append(w.objectDirs, dir)
	if promisors, err := filepath.Glob(filepath.Join(dir, "pack", "*.promisor")); err == nil && len(promisors) > 0 {
		w.partial = true
	}
	alternates, err := os.ReadFile(filepath.Join(dir, "info", "alternates"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	for line := range strings.Lines(string(alternates)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := w.addObjectDir(absoluteFrom(dir, line), depth+1); err != nil {
			return err
		}
	}
	return nil
}

func absoluteFrom(base, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// remoteURL is the URL of a remote with insteadOf rules applied: by Git when it is installed, since only Git knows the
// user's and the system's configuration, else from the clone's own configuration file.
func (w *workspace) remoteURL(ctx context.Context, name string) (string, error) {
	if out, err := w.git(ctx, nil, "remote", "get-url", "--", name); err == nil {
		if url := strings.TrimSpace(string(out)); url != "" {
			return url, nil
		}
	}
	file, err := os.Open(filepath.Join(w.commonDir, "config"))
	if err != nil {
		return "", fmt.Errorf("remote %q: %w", name, err)
	}
	defer func() { _ = file.Close() }()
	cfg, err := config.ReadConfig(file)
	if err != nil {
		return "", fmt.Errorf("remote %q: the clone's configuration cannot be read: %w", name, err)
	}
	r, ok := cfg.Remotes[name]
	if !ok || len(r.URLs) == 0 {
		return "", fmt.Errorf("the clone has no remote %q; add it with: git remote add %s URL", name, name)
	}
	return r.URLs[0], nil
}
