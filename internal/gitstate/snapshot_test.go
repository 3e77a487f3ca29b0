package gitstate_test

import (
	"io/fs"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/gitstate"
)

func TestFetchReadsHeads(t *testing.T) {
	t.Parallel()
	remote, ids := sourceRemote(t, 2)
	s := open(t, gitstate.Options{RemoteURL: remote})

	heads, err := s.Fetch(t.Context(), "main", "absent")
	if err != nil {
		t.Fatal(err)
	}
	if len(heads) != 1 || heads["main"] == nil {
		t.Fatalf("heads = %v, want only main", heads)
	}
	main := heads["main"]
	if want, got := ids[1], main.Revision(); want != got {
		t.Errorf("revision: want %s, got %s", want, got)
	}
	if want, got := "commit 1", main.Subject(); want != got {
		t.Errorf("subject: want %q, got %q", want, got)
	}
	if diff := cmp.Diff([]string{ids[0]}, main.Parents()); diff != "" {
		t.Errorf("parents (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"dir/stable": "stable\n", "n": "1\n"}, contents(t, main)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if err := fstest.TestFS(main, "dir/stable", "n"); err != nil {
		t.Error(err)
	}
}

func TestFetchFromEmptyRemote(t *testing.T) {
	t.Parallel()
	s := open(t, gitstate.Options{RemoteURL: bareRemote(t)})
	heads, err := s.Fetch(t.Context(), "main")
	if err != nil || len(heads) != 0 {
		t.Errorf("Fetch = %v, %v; want nothing", heads, err)
	}
	if _, ok, err := s.Head(t.Context(), "main"); ok || err != nil {
		t.Errorf("Head = %v, %v; want absent", ok, err)
	}
}

func TestHeadIsFresh(t *testing.T) {
	t.Parallel()
	remote, ids := sourceRemote(t, 2)
	s := open(t, gitstate.Options{RemoteURL: remote})
	for _, want := range []string{ids[1], ids[0]} {
		git(t, remote, "update-ref", "refs/heads/main", want)
		got, ok, err := s.Head(t.Context(), "main")
		if err != nil || !ok || got != want {
			t.Errorf("Head = %s, %v, %v; want %s", got, ok, err, want)
		}
	}
	git(t, remote, "update-ref", "refs/heads/gitopsctr/desired/dev", ids[0])
	heads, err := s.Heads(t.Context(), "gitopsctr/")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"gitopsctr/desired/dev": ids[0]}, heads); diff != "" {
		t.Errorf("Heads (-want +got):\n%s", diff)
	}
}

func TestSnapshotListsInPathOrder(t *testing.T) {
	t.Parallel()
	s := open(t, gitstate.Options{RemoteURL: bareRemote(t)})
	snapshot := publish(t, s, "b", "m", map[string]string{
		"a/x": "1", "a-b": "2", "a.c": "3", "a0": "4", "units/b.yaml": "5", "units/a/z": "6", "unitsx": "7",
	}).After
	paths := func(prefix string) (out []string) {
		for _, f := range snapshot.Files(prefix) {
			out = append(out, f.Path)
		}
		return out
	}
	for prefix, want := range map[string][]string{
		"":             {"a-b", "a.c", "a/x", "a0", "units/a/z", "units/b.yaml", "unitsx"},
		"units":        {"units/a/z", "units/b.yaml"},
		"units/":       {"units/a/z", "units/b.yaml"},
		"units/b.yaml": {"units/b.yaml"},
		"nothing":      nil,
		"../units":     nil,
	} {
		if diff := cmp.Diff(want, paths(prefix)); diff != "" {
			t.Errorf("Files(%q) (-want +got):\n%s", prefix, diff)
		}
	}
	for path, want := range map[string]bool{"a-b": true, "a/x": true, "a0": true, "a": false, "a/": false, "b": false} {
		if id, ok := snapshot.Blob(path); ok != want {
			t.Errorf("Blob(%q) = %q, %v; want %v", path, id, ok, want)
		}
	}
}

func TestSnapshotIsImmutable(t *testing.T) {
	t.Parallel()
	s := open(t, gitstate.Options{RemoteURL: bareRemote(t)})
	snapshot := publish(t, s, "b", "m", map[string]string{"f": "old"}).After
	data, err := snapshot.ReadFile("f")
	if err != nil {
		t.Fatal(err)
	}
	copy(data, "NEW")
	publish(t, s, "b", "m", map[string]string{"f": "next"})
	if diff := cmp.Diff(map[string]string{"f": "old"}, contents(t, snapshot)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEmptySnapshot(t *testing.T) {
	t.Parallel()
	e := gitstate.EmptySnapshot()
	if e.Revision() != "" || e.TreeID() != "" || len(e.Files("")) != 0 {
		t.Errorf("not empty: %q %q %v", e.Revision(), e.TreeID(), e.Files(""))
	}
	if err := fstest.TestFS(e); err != nil {
		t.Error(err)
	}
}

func TestSnapshotReportsLinksAndSubmodules(t *testing.T) {
	t.Parallel()
	remote, ids := sourceRemote(t, 1)
	link := git(t, remote, "rev-parse", "main:n")
	tree := gitInput(t, remote, "120000 blob "+link+"\tlink\n160000 commit "+ids[0]+"\tmodule\n100755 blob "+link+"\trun\n", "mktree")
	git(t, remote, "update-ref", "refs/heads/odd", git(t, remote, "commit-tree", "-m", "odd", tree))
	s := open(t, gitstate.Options{RemoteURL: remote})
	odd := fetch(t, s, "odd")
	got := map[string]fs.FileMode{}
	for _, f := range odd.Files("") {
		got[f.Path] = f.Mode
	}
	want := map[string]fs.FileMode{"link": fs.ModeSymlink | 0o777, "module": fs.ModeIrregular, "run": 0o755}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := odd.ReadFile("link"); err == nil {
		t.Error("a symbolic link was read as a file")
	}
	if _, err := s.BuildTree(odd, []gitstate.Edit{{Path: "x"}}); err == nil {
		t.Error("a tree with a symbolic link was accepted for publication")
	}
}

func TestSourceSnapshotOfCommitMissingFromShallowClone(t *testing.T) {
	t.Parallel()
	for _, allowed := range []string{"true", "false"} {
		remote, ids := sourceRemote(t, 5)
		git(t, remote, "config", "uploadpack.allowReachableSHA1InWant", allowed)
		clone := shallowClone(t, remote)
		s := open(t, gitstate.Options{Workspace: clone})
		got, err := s.Resolve(t.Context(), ids[1])
		if err != nil || got != ids[1] {
			t.Fatalf("allowed=%s: Resolve = %s, %v; want %s", allowed, got, err, ids[1])
		}
		old, err := s.SourceSnapshot(t.Context(), ids[1])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]string{"dir/stable": "stable\n", "n": "1\n"}, contents(t, old)); diff != "" {
			t.Errorf("allowed=%s (-want +got):\n%s", allowed, diff)
		}
	}
}

func TestSourceSnapshotOfPartialClone(t *testing.T) {
	t.Parallel()
	remote, ids := sourceRemote(t, 3)
	git(t, remote, "config", "uploadpack.allowFilter", "true")
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, ".", "clone", "--quiet", "--no-checkout", "--filter=blob:none", "file://"+remote, clone)
	s := open(t, gitstate.Options{Workspace: clone})
	snapshot, err := s.SourceSnapshot(t.Context(), ids[2])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"dir/stable": "stable\n", "n": "2\n"}, contents(t, snapshot)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
