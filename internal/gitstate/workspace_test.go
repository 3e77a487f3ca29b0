package gitstate_test

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/gitstate"
)

// fingerprint describes every file below a directory.
func fingerprint(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		line := info.Mode().String() + info.ModTime().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(data)
			line += string(sum[:])
		}
		out[p] = line
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCloneIsNeverWritten(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	remote, ids := sourceRemote(t, 6)
	clone := shallowClone(t, remote)
	write(t, filepath.Join(clone, "untracked"), "u")
	before := fingerprint(t, clone)

	s := open(t, gitstate.Options{Workspace: filepath.Join(clone, "dir")})
	if got, err := s.Resolve(ctx, "HEAD"); err != nil || got != ids[5] {
		t.Fatalf("HEAD = %s, %v; want %s", got, err, ids[5])
	}
	source, err := s.SourceSnapshot(ctx, ids[5])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"dir/stable": "stable\n", "n": "5\n"}, contents(t, source)); diff != "" {
		t.Errorf("source (-want +got):\n%s", diff)
	}
	if _, err := s.SourceSnapshot(ctx, ids[2]); err != nil {
		t.Fatal(err)
	}
	if got, err := s.IsAncestor(ctx, ids[0], ids[5]); err != nil || !got {
		t.Errorf("IsAncestor = %v, %v; want true", got, err)
	}
	publish(t, s, "gitopsctr/desired/dev", "m", map[string]string{"f": "1"})
	publish(t, s, "gitopsctr/desired/dev", "m", map[string]string{"f": "2"})
	w, err := s.WorktreeFiles(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if dirty, err := s.Dirty(ctx); err != nil || !dirty {
		t.Errorf("Dirty = %v, %v; want true", dirty, err)
	}
	if diff := cmp.Diff(before, fingerprint(t, clone)); diff != "" {
		t.Errorf("the clone changed (-before +after):\n%s", diff)
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	remote, ids := sourceRemote(t, 3)
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, ".", "clone", "--quiet", remote, clone)
	git(t, clone, "tag", "--annotate", "--message=t", "v1", ids[1])
	git(t, clone, "branch", "feature/x", ids[0])
	git(t, clone, "branch", ids[2][:6], ids[0]) // refs go before abbreviations
	git(t, clone, "pack-refs", "--all")
	linked := filepath.Join(t.TempDir(), "linked")
	git(t, clone, "worktree", "add", "--quiet", "--detach", linked, ids[0])

	s := open(t, gitstate.Options{Workspace: clone})
	for revision, want := range map[string]string{
		"HEAD": ids[2], "main": ids[2], "origin/main": ids[2], "refs/heads/feature/x": ids[0], "feature/x": ids[0],
		"v1": ids[1], ids[1]: ids[1], ids[1][:10]: ids[1], ids[1][:7]: ids[1], ids[2][:6]: ids[0], ids[2][:8]: ids[2], "HEAD~1": ids[1], "HEAD^": ids[1],
		strings.ToUpper(ids[0]): ids[0],
	} {
		if got, err := s.Resolve(ctx, revision); err != nil || got != want {
			t.Errorf("Resolve(%q) = %s, %v; want %s", revision, got, err, want)
		}
	}
	for _, revision := range []string{"", "nothing", "-x", "main:n", ids[1][:3], git(t, clone, "rev-parse", "HEAD:n"), strings.Repeat("1", 40)} {
		if got, err := s.Resolve(ctx, revision); err == nil {
			t.Errorf("Resolve(%q) = %s, want an error", revision, got)
		}
	}
	if got, err := open(t, gitstate.Options{Workspace: linked}).Resolve(ctx, "HEAD"); err != nil || got != ids[0] {
		t.Errorf("HEAD of a linked worktree = %s, %v; want %s", got, err, ids[0])
	}
	// A commit made while the store is open.
	write(t, filepath.Join(clone, "late"), "l")
	git(t, clone, "add", "late")
	git(t, clone, "commit", "--quiet", "--message=late")
	if got, err := s.Resolve(ctx, "HEAD"); err != nil || got != git(t, clone, "rev-parse", "HEAD") {
		t.Errorf("HEAD after a commit = %s, %v", got, err)
	}
}

func TestResolveNeedsPushedCommit(t *testing.T) {
	t.Parallel()
	remote, _ := sourceRemote(t, 1)
	s := open(t, gitstate.Options{Workspace: shallowClone(t, remote)})
	_, err := s.Resolve(t.Context(), strings.Repeat("ab", 20))
	if err == nil || !strings.Contains(err.Error(), "push it first") {
		t.Errorf("error = %v, want one that says to push the commit", err)
	}
}

func TestObjectsOfAlternatesAreRead(t *testing.T) {
	t.Parallel()
	remote, ids := sourceRemote(t, 2)
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, ".", "clone", "--quiet", "--shared", remote, clone)
	s := open(t, gitstate.Options{Workspace: clone, RemoteURL: filepath.Join(t.TempDir(), "nowhere")})
	snapshot, err := s.SourceSnapshot(t.Context(), ids[0])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"dir/stable": "stable\n", "n": "0\n"}, contents(t, snapshot)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRootAndRemoteURL(t *testing.T) {
	t.Parallel()
	remote, _ := sourceRemote(t, 1)
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, ".", "clone", "--quiet", remote, clone)
	git(t, clone, "config", "url."+filepath.Dir(remote)+"/.insteadOf", "short:")
	git(t, clone, "remote", "set-url", "origin", "short:remote.git")
	git(t, clone, "remote", "add", "secret", "https://me:hunter2@git.example.com/x.git")
	want, err := filepath.EvalSymlinks(clone)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := gitstate.Root(filepath.Join(clone, "dir")); err != nil || got != want {
		t.Errorf("Root = %s, %v; want %s", got, err, want)
	}
	s := open(t, gitstate.Options{Workspace: clone})
	if got := s.RemoteURL(); got != remote {
		t.Errorf("RemoteURL = %s, want %s", got, remote)
	}
	fetch(t, s, "main")
	if got := open(t, gitstate.Options{Workspace: clone, RemoteName: "secret"}).RemoteURL(); got != "https://git.example.com/x.git" {
		t.Errorf("RemoteURL = %s, want it without user and password", got)
	}
	if _, err := gitstate.Root(t.TempDir()); err == nil {
		t.Error("Root outside a clone: want an error")
	}
	_, err = gitstate.Open(t.Context(), gitstate.Options{Workspace: clone, RemoteName: "upstream"})
	if err == nil || !strings.Contains(err.Error(), "upstream") {
		t.Errorf("unknown remote: error = %v", err)
	}
}

func TestRelativeRemoteURL(t *testing.T) {
	t.Parallel()
	remote, ids := sourceRemote(t, 1)
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, ".", "clone", "--quiet", remote, clone)
	relative, err := filepath.Rel(clone, remote)
	if err != nil {
		t.Fatal(err)
	}
	git(t, clone, "remote", "set-url", "origin", relative)
	if got := fetch(t, open(t, gitstate.Options{Workspace: clone}), "main").Revision(); got != ids[0] {
		t.Errorf("want %s, got %s", ids[0], got)
	}
}

// messyClone is a clone with every sort of file in its working directory, and the files that count.
func messyClone(t *testing.T) (clone string, want map[string]fs.FileMode) {
	t.Helper()
	remote, _ := sourceRemote(t, 1)
	clone = filepath.Join(t.TempDir(), "clone")
	git(t, ".", "clone", "--quiet", remote, clone)
	write(t, filepath.Join(clone, ".gitignore"), "*.log\n/build/\n")
	write(t, filepath.Join(clone, "deleted"), "")
	write(t, filepath.Join(clone, "tracked.log"), "t")
	write(t, filepath.Join(clone, "gone/below"), "")
	git(t, clone, "add", "--force", "--all")
	git(t, clone, "commit", "--quiet", "--message=more")
	for _, p := range []string{"deleted", "gone"} {
		if err := os.RemoveAll(filepath.Join(clone, p)); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(t.TempDir(), "secret")
	write(t, outside, "secret")
	for name, target := range map[string]string{"link": outside, "gone": filepath.Dir(outside), "inner": "n"} {
		if err := os.Symlink(target, filepath.Join(clone, name)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(clone, "a.log"), "")
	write(t, filepath.Join(clone, "build/out"), "")
	write(t, filepath.Join(clone, "new/ü\"x"), "new")
	write(t, filepath.Join(clone, "run.sh"), "")
	write(t, filepath.Join(clone, "n"), "changed\n")
	if err := os.Chmod(filepath.Join(clone, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, ".", "init", "--quiet", filepath.Join(clone, "nested"))
	write(t, filepath.Join(clone, "nested/file"), "")
	link := fs.ModeSymlink | 0o777
	return clone, map[string]fs.FileMode{
		".gitignore": 0o644, "dir/stable": 0o644, "gone": link, "inner": link, "link": link, "n": 0o644,
		"new/ü\"x": 0o644, "run.sh": 0o755, "tracked.log": 0o644,
	}
}

func checkWorktree(t *testing.T, s *gitstate.Store, want map[string]fs.FileMode) {
	t.Helper()
	w, err := s.WorktreeFiles(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	got := map[string]fs.FileMode{}
	for _, f := range w.Files("") {
		got[f.Path] = f.Mode
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if data, err := fs.ReadFile(w, "n"); err != nil || string(data) != "changed\n" {
		t.Errorf("n = %q, %v", data, err)
	}
	if info, err := fs.Stat(w, "n"); err != nil || info.Size() != 8 {
		t.Errorf("Stat(n) = %v, %v", info, err)
	}
	for _, p := range []string{"link", "inner", "gone/below", "gone/secret", "build/out", ".git/config", "deleted"} {
		if data, err := w.ReadFile(p); err == nil {
			t.Errorf("ReadFile(%q) = %q, want an error", p, data)
		}
	}
	if _, err := w.ReadFile("deleted"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadFile of a deleted file: %v, want fs.ErrNotExist", err)
	}
}

func TestWorktreeFiles(t *testing.T) {
	t.Parallel()
	clone, want := messyClone(t)
	s := open(t, gitstate.Options{Workspace: clone})
	checkWorktree(t, s, want)
	if dirty, err := s.Dirty(t.Context()); err != nil || !dirty {
		t.Errorf("Dirty = %v, %v; want true", dirty, err)
	}
}

func TestDirty(t *testing.T) {
	t.Parallel()
	remote, _ := sourceRemote(t, 1)
	for name, change := range map[string]func(clone string){
		"": func(string) {},
		"ignored": func(clone string) {
			write(t, filepath.Join(clone, ".git/info/exclude"), "x\n")
			write(t, filepath.Join(clone, "x"), "")
		},
		"untracked": func(clone string) { write(t, filepath.Join(clone, "x"), "") },
		"changed":   func(clone string) { write(t, filepath.Join(clone, "n"), "9\n") },
		"mode":      func(clone string) { _ = os.Chmod(filepath.Join(clone, "n"), 0o755) },
		"deleted":   func(clone string) { _ = os.Remove(filepath.Join(clone, "n")) },
		"staged": func(clone string) {
			write(t, filepath.Join(clone, "n"), "9\n")
			git(t, clone, "add", "n")
			write(t, filepath.Join(clone, "n"), "0\n")
		},
	} {
		clone := filepath.Join(t.TempDir(), "clone")
		git(t, ".", "clone", "--quiet", remote, clone)
		change(clone)
		s := open(t, gitstate.Options{Workspace: clone})
		want := name != "" && name != "ignored"
		if got, err := s.Dirty(t.Context()); err != nil || got != want {
			t.Errorf("%q: Dirty = %v, %v; want %v", name, got, err, want)
		}
		if got, err := gitstate.DirtyWithoutGit(t.Context(), s); err != nil || got != want {
			t.Errorf("%q: Dirty without Git = %v, %v; want %v", name, got, err, want)
		}
	}
}

func TestWorktreeListWithoutGit(t *testing.T) {
	t.Parallel()
	clone, want := messyClone(t)
	s := open(t, gitstate.Options{Workspace: clone})
	paths, err := gitstate.ListFilesWithoutGit(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, p := range paths {
		got[p] = true
	}
	wantPaths := map[string]bool{"deleted": true, "gone/below": true} // tracked; left out later, as they do not exist
	for p := range want {
		wantPaths[p] = true
	}
	if diff := cmp.Diff(wantPaths, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
