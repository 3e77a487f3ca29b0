package gitstate_test

import (
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/gitstate"
)

func TestHistory(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	remote, ids := sourceRemote(t, 60)
	want := slices.Clone(ids)
	slices.Reverse(want)
	for _, allowed := range []string{"true", "false"} {
		git(t, remote, "config", "uploadpack.allowReachableSHA1InWant", allowed)
		git(t, remote, "config", "uploadpack.allowFilter", allowed)
		s := open(t, gitstate.Options{RemoteURL: remote})
		head := fetch(t, s, "main")
		// Commits known without their files are no hindrance.
		if ok, err := s.IsAncestor(ctx, ids[30], head.Revision()); err != nil || !ok {
			t.Fatalf("IsAncestor = %v, %v", ok, err)
		}
		var got, files []string
		err := s.History(ctx, head.Revision(), func(c *gitstate.Snapshot) (bool, error) {
			data, err := c.ReadFile("n")
			got, files = append(got, c.Revision()), append(files, strings.TrimSpace(string(data)))
			return true, err
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("commits (-want +got):\n%s", diff)
		}
		if files[0] != "59" || files[59] != "0" {
			t.Errorf("files = %v", files)
		}
	}
	s := open(t, gitstate.Options{RemoteURL: remote})
	visits, stop := 0, errors.New("stop")
	visit := func(more bool, err error) func(*gitstate.Snapshot) (bool, error) {
		return func(*gitstate.Snapshot) (bool, error) { visits++; return more, err }
	}
	if err := s.History(ctx, ids[59], visit(false, nil)); err != nil || visits != 1 {
		t.Errorf("stopped: %d visits, %v; want 1", visits, err)
	}
	if err := s.History(ctx, ids[59], visit(true, stop)); !errors.Is(err, stop) || visits != 2 {
		t.Errorf("failed: %d visits, %v", visits, err)
	}
	if err := s.History(ctx, strings.Repeat("ab", 20), visit(true, nil)); err == nil {
		t.Error("unknown commit: want an error")
	}
}

// In a clone without files, history is fetched in growing steps and not commit by commit.
func TestHistoryOfPartialClone(t *testing.T) {
	t.Parallel()
	remote, ids := sourceRemote(t, 60)
	git(t, remote, "config", "uploadpack.allowFilter", "true")
	git(t, remote, "config", "uploadpack.allowReachableSHA1InWant", "true")
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, ".", "clone", "--quiet", "--no-checkout", "--filter=blob:none", "file://"+remote, clone)
	var downloads atomic.Int32
	url := serve(t, remote, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodPost {
			downloads.Add(1)
		}
		next.ServeHTTP(w, r)
	})
	s := open(t, gitstate.Options{Workspace: clone, RemoteURL: url, Credentials: tokenFor(url)})
	visits := 0
	err := s.History(t.Context(), ids[59], func(c *gitstate.Snapshot) (bool, error) {
		visits++
		_, err := c.ReadFile("n")
		return true, err
	})
	if err != nil || visits != 60 || downloads.Load() != 3 {
		t.Errorf("%d visits, %d downloads, %v; want 60 and 3 (of 16, 32 and 64 commits)", visits, downloads.Load(), err)
	}
}

func TestResolveIn(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	remote, ids := sourceRemote(t, 5)
	side := git(t, remote, "commit-tree", "-m", "side", ids[0]+"^{tree}")
	git(t, remote, "update-ref", "refs/heads/side", side)
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, ".", "clone", "--quiet", remote, clone)
	git(t, clone, "branch", "old", ids[1])
	for place, s := range map[string]*gitstate.Store{
		"clone": open(t, gitstate.Options{Workspace: clone}), "remote": open(t, gitstate.Options{RemoteURL: remote}),
	} {
		for revision, want := range map[string]string{ids[2]: ids[2], ids[2][:8]: ids[2], ids[4][:12]: ids[4], side: "", side[:8]: "", "nothing": ""} {
			got, err := s.ResolveIn(ctx, ids[4], revision)
			if got != want || (err == nil) != (want != "") {
				t.Errorf("%s: ResolveIn(%q) = %q, %v; want %q", place, revision, got, err, want)
			}
		}
	}
	if got, err := open(t, gitstate.Options{Workspace: clone}).ResolveIn(ctx, ids[4], "old"); err != nil || got != ids[1] {
		t.Errorf("branch: %q, %v; want %q", got, err, ids[1])
	}
	if got, err := open(t, gitstate.Options{Workspace: clone}).ResolveIn(ctx, ids[0], "old"); err == nil {
		t.Errorf("branch ahead of the head: %q, want an error", got)
	}
}
