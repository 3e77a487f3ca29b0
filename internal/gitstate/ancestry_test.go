package gitstate_test

import (
	"strings"
	"testing"

	"github.com/gitopsctr/gitopsctr/internal/gitstate"
)

func TestIsAncestorDeepensPrivately(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	remote, ids := sourceRemote(t, 80)
	side := git(t, remote, "commit-tree", "-m", "side", "-p", ids[40], ids[3]+"^{tree}")
	git(t, remote, "update-ref", "refs/heads/side", side)
	for name, config := range map[string]map[string]string{
		"server gives any commit, without files": {"uploadpack.allowReachableSHA1InWant": "true", "uploadpack.allowFilter": "true"},
		"server gives any commit":                {"uploadpack.allowReachableSHA1InWant": "true", "uploadpack.allowFilter": "false"},
		"server gives heads only":                {"uploadpack.allowReachableSHA1InWant": "false", "uploadpack.allowFilter": "false"},
	} {
		for key, value := range config {
			git(t, remote, "config", key, value)
		}
		for _, c := range []struct {
			title                string
			ancestor, descendant string
			want                 bool
		}{
			{"itself", ids[79], ids[79], true},
			{"near", ids[70], ids[79], true},
			{"root", ids[0], ids[79], true},
			{"reversed", ids[79], ids[70], false},
			{"side branch", side, ids[79], false},
			{"of side branch", ids[40], side, true},
			{"not of side branch", ids[41], side, false},
			{"unknown commit", strings.Repeat("ab", 20), ids[79], false},
		} {
			// From a shallow clone, and from nothing.
			for place, s := range map[string]*gitstate.Store{
				"clone":  open(t, gitstate.Options{Workspace: shallowClone(t, remote)}),
				"remote": open(t, gitstate.Options{RemoteURL: remote}),
			} {
				if got, err := s.IsAncestor(ctx, c.ancestor, c.descendant); err != nil || got != c.want {
					t.Errorf("%s, %s, %s: IsAncestor = %v, %v; want %v", name, place, c.title, got, err, c.want)
				}
			}
		}
	}
}

func TestFilesAreReadAfterDeepening(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	remote, ids := sourceRemote(t, 4)
	git(t, remote, "config", "uploadpack.allowFilter", "true")
	git(t, remote, "config", "uploadpack.allowReachableSHA1InWant", "true")
	s := open(t, gitstate.Options{RemoteURL: remote})
	if ok, err := s.IsAncestor(ctx, ids[0], ids[3]); err != nil || !ok {
		t.Fatalf("IsAncestor = %v, %v", ok, err)
	}
	snapshot, err := s.SourceSnapshot(ctx, ids[1]) // so far known as a commit without files
	if err != nil {
		t.Fatal(err)
	}
	if data, err := snapshot.ReadFile("n"); err != nil || string(data) != "1\n" {
		t.Errorf("n = %q, %v", data, err)
	}
	if data, err := fetch(t, s, "main").ReadFile("n"); err != nil || string(data) != "3\n" {
		t.Errorf("n of main = %q, %v", data, err)
	}
}

func TestIsAncestorWithoutAnswer(t *testing.T) {
	t.Parallel()
	remote, ids := sourceRemote(t, 2)
	s := open(t, gitstate.Options{RemoteURL: remote})
	if _, err := s.IsAncestor(t.Context(), ids[0], strings.Repeat("cd", 20)); err == nil {
		t.Error("descendant unknown to everybody: want an error")
	}
	if _, err := s.IsAncestor(t.Context(), "main", ids[0]); err == nil {
		t.Error("no full id: want an error")
	}
}
