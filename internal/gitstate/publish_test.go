package gitstate_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/gitstate"
)

// next commits files on top of a snapshot without publishing.
func next(t testing.TB, s *gitstate.Store, base *gitstate.Snapshot, files map[string]string) *gitstate.Snapshot {
	t.Helper()
	tree, err := s.BuildTree(base, edits(files))
	if err != nil {
		t.Fatal(err)
	}
	var parents []string
	if base.Revision() != "" {
		parents = []string{base.Revision()}
	}
	c, err := s.Commit(t.Context(), tree, parents, "m")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func hook(t testing.TB, remote, name, script string) {
	t.Helper()
	path := filepath.Join(remote, "hooks", name)
	write(t, path, "#!/bin/sh\n"+script)
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestPublishCreatesAndExtends(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	remote, ids := sourceRemote(t, 1)
	s := open(t, gitstate.Options{RemoteURL: remote})
	first := next(t, s, gitstate.EmptySnapshot(), map[string]string{"f": "1"})
	got, err := s.Publish(ctx, "gitopsctr/desired/dev", first.Revision(), "")
	if err != nil || got != first.Revision() {
		t.Fatalf("Publish = %s, %v; want %s", got, err, first.Revision())
	}
	second := next(t, s, first, map[string]string{"f": "2"})
	third := next(t, s, second, map[string]string{"g": "3"})
	if _, err := s.Publish(ctx, "gitopsctr/desired/dev", third.Revision(), first.Revision()); err != nil {
		t.Fatal(err)
	}
	want := third.Revision() + "\n" + second.Revision() + "\n" + first.Revision()
	if got := git(t, remote, "rev-list", "gitopsctr/desired/dev"); got != want {
		t.Errorf("history: want\n%s\ngot\n%s", want, got)
	}
	if got := git(t, remote, "rev-parse", "main"); got != ids[0] {
		t.Error("another branch was touched")
	}
	git(t, remote, "fsck", "--strict", "--full")
}

func TestPublishSendsOnlyMissingObjects(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	files := map[string]string{}
	for i := range 200 {
		files[fmt.Sprintf("units/%d/u%d.yaml", i%10, i)] = fmt.Sprintln("unit", i)
	}
	publish(t, open(t, gitstate.Options{RemoteURL: remote}), "b", "many", files)

	// A store that knows the head at depth 1 only.
	git(t, remote, "config", "receive.unpackLimit", "1")
	s := open(t, gitstate.Options{RemoteURL: remote})
	before := git(t, remote, "count-objects", "-v")
	publish(t, s, "b", "one", map[string]string{"units/3/u3.yaml": "changed"})
	after := git(t, remote, "count-objects", "-v")
	// A commit, three trees and a blob.
	if want, got := inPack(t, before)+5, inPack(t, after); want != got {
		t.Errorf("objects in packs: want %d, got %d", want, got)
	}
}

func inPack(t *testing.T, counted string) int {
	t.Helper()
	for line := range strings.Lines(counted) {
		var n int
		if _, err := fmt.Sscanf(line, "in-pack: %d", &n); err == nil {
			return n
		}
	}
	t.Fatalf("no in-pack line in %q", counted)
	return 0
}

func TestPublishRefusesMovedRef(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	remote := bareRemote(t)
	s := open(t, gitstate.Options{RemoteURL: remote})
	first := publish(t, s, "b", "m", map[string]string{"f": "1"}).After
	publish(t, open(t, gitstate.Options{RemoteURL: remote}), "b", "other", map[string]string{"g": "1"})
	head := git(t, remote, "rev-parse", "b")

	for name, expected := range map[string]string{"elsewhere": first.Revision(), "exists already": ""} {
		base := first
		if expected == "" {
			base = gitstate.EmptySnapshot()
		}
		_, err := s.Publish(ctx, "b", next(t, s, base, map[string]string{"f": name}).Revision(), expected)
		var refusal *gitstate.PushError
		if !errors.As(err, &refusal) || refusal.Kind != gitstate.Moved || refusal.Ref != "b" || refusal.Fix == "" {
			t.Errorf("%s: error = %#v, want Moved", name, err)
		}
	}
	if got := git(t, remote, "rev-parse", "b"); got != head {
		t.Errorf("the branch moved: want %s, got %s", head, got)
	}
}

// The head moves after the server has told where it is: the comparison that counts is the server's own.
func TestPublishIsComparedByServer(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"moved":   "git update-ref refs/heads/b $OTHER",
		"created": "git update-ref refs/heads/new $OTHER",
		"locked":  "touch refs/heads/b.lock",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			remote := bareRemote(t)
			s := open(t, gitstate.Options{RemoteURL: remote})
			first := publish(t, s, "b", "m", map[string]string{"f": "1"}).After
			other := publish(t, s, "c", "m", map[string]string{"g": "1"}).After
			git(t, remote, "config", "receive.unpackLimit", "1")
			hook(t, remote, "pre-receive", "unset GIT_QUARANTINE_PATH\n"+strings.ReplaceAll(script, "$OTHER", other.Revision()))
			ref, expected := "b", first
			if name == "created" {
				ref, expected = "new", gitstate.EmptySnapshot()
			}
			_, err := s.Publish(t.Context(), ref, next(t, s, expected, map[string]string{"f": "2"}).Revision(), expected.Revision())
			var refusal *gitstate.PushError
			if !errors.As(err, &refusal) || refusal.Kind != gitstate.Moved {
				t.Errorf("error = %v, want Moved", err)
			}
		})
	}
}

func TestPublishCountsEqualCommitAsOurs(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	remote := bareRemote(t)
	a := open(t, gitstate.Options{RemoteURL: remote, Now: at(1000)})
	b := open(t, gitstate.Options{RemoteURL: remote, Now: at(2000)})
	base := publish(t, a, "b", "m", map[string]string{"f": "1"}).After
	fetch(t, b, "b")
	files := map[string]string{"g": "same"}
	theirs := next(t, a, base, files)
	if _, err := a.Publish(ctx, "b", theirs.Revision(), base.Revision()); err != nil {
		t.Fatal(err)
	}
	ours := next(t, b, base, files)
	if ours.Revision() == theirs.Revision() {
		t.Fatal("the commits do not differ")
	}
	got, err := b.Publish(ctx, "b", ours.Revision(), base.Revision())
	if err != nil || got != theirs.Revision() {
		t.Errorf("Publish = %s, %v; want the published %s", got, err, theirs.Revision())
	}
}

func TestPublishRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		want   gitstate.Kind
		detail string
	}{
		"hook":       {"echo 'no deployments on Friday' >&2; exit 1", gitstate.HookDeclined, "no deployments on Friday"},
		"protection": {"echo 'error: GH006: Protected branch update failed for refs/heads/b.' >&2; exit 1", gitstate.Protected, "GH006"},
		"ruleset":    {"echo 'error: GH013: Repository rule violations found for refs/heads/b.' >&2; exit 1", gitstate.Protected, "GH013"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			remote := bareRemote(t)
			hook(t, remote, "pre-receive", "echo run >> calls\n"+c.script)
			s := open(t, gitstate.Options{RemoteURL: remote})
			_, err := s.Update(t.Context(), "b", put("m", map[string]string{"f": "1"}))
			var refusal *gitstate.PushError
			if !errors.As(err, &refusal) || refusal.Kind != c.want {
				t.Fatalf("error = %v, want %s", err, c.want)
			}
			if !strings.Contains(refusal.Detail, c.detail) || refusal.Fix == "" {
				t.Errorf("error = %q, want it to quote %q and to have a remedy", err, c.detail)
			}
			calls, err := os.ReadFile(filepath.Join(remote, "calls"))
			if err != nil || string(calls) != "run\n" {
				t.Errorf("the hook ran %q times (%v), want once: refusals are not retried", calls, err)
			}
		})
	}
}

func TestPublishToRefBelowAnother(t *testing.T) {
	t.Parallel()
	s := open(t, gitstate.Options{RemoteURL: bareRemote(t)})
	publish(t, s, "state", "m", map[string]string{"f": "1"})
	_, err := s.Update(t.Context(), "state/dev", put("m", map[string]string{"f": "1"}))
	var refusal *gitstate.PushError
	if !errors.As(err, &refusal) || refusal.Kind != gitstate.Other || !strings.Contains(refusal.Fix, "rename") {
		t.Errorf("error = %v, want Other with the remedy to rename", err)
	}
}

func TestPushIsAtomic(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	remote := bareRemote(t)
	s := open(t, gitstate.Options{RemoteURL: remote})
	a := publish(t, s, "a", "m", map[string]string{"f": "1"}).After
	b := publish(t, s, "b", "m", map[string]string{"f": "2"}).After
	a2 := next(t, s, a, map[string]string{"f": "3"})

	err := s.Push(ctx, []gitstate.RefUpdate{
		{Ref: "a", New: a2.Revision(), Expected: a.Revision()},
		{Ref: "b", New: b.Revision(), Expected: a.Revision()},
	})
	var refusal *gitstate.PushError
	if !errors.As(err, &refusal) || refusal.Kind != gitstate.Moved {
		t.Errorf("a fence in the wrong place: error = %v, want Moved", err)
	}
	if got := git(t, remote, "rev-parse", "a"); got != a.Revision() {
		t.Errorf("a moved to %s although the fence failed", got)
	}

	if err := s.Push(ctx, []gitstate.RefUpdate{
		{Ref: "a", New: a2.Revision(), Expected: a.Revision()},
		{Ref: "b", Expected: b.Revision()},
		{Ref: "c", New: b.Revision()},
	}); err != nil {
		t.Fatal(err)
	}
	want := "refs/heads/a " + a2.Revision() + "\nrefs/heads/c " + b.Revision()
	if diff := cmp.Diff(want, git(t, remote, "for-each-ref", "--format=%(refname) %(objectname)")); diff != "" {
		t.Errorf("refs (-want +got):\n%s", diff)
	}
}

// Eight stores publish receipts to one ref at once. All survive, and every push that won is one commit.
func TestConcurrentPublishers(t *testing.T) {
	t.Parallel()
	const stores, receipts = 8, 4
	remote := bareRemote(t)
	hook(t, remote, "post-receive", "cat >> pushes")
	var wg sync.WaitGroup
	want := map[string]string{}
	for i := range stores {
		s := open(t, gitstate.Options{RemoteURL: remote, Retry: gitstate.Retry{Races: 200}})
		for j := range receipts {
			want[fmt.Sprintf("units/u%d-%d.yaml", i, j)] = fmt.Sprintln(i, j)
		}
		wg.Go(func() {
			for j := range receipts {
				path := fmt.Sprintf("units/u%d-%d.yaml", i, j)
				if _, err := s.Update(t.Context(), "gitopsctr/observed/dev", put("Observe", map[string]string{path: fmt.Sprintln(i, j)})); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	got := contents(t, fetch(t, open(t, gitstate.Options{RemoteURL: remote}), "gitopsctr/observed/dev"))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("receipts (-want +got):\n%s", diff)
	}
	if got := git(t, remote, "rev-list", "--count", "gitopsctr/observed/dev"); got != fmt.Sprint(stores*receipts) {
		t.Errorf("commits: want %d, got %s", stores*receipts, got)
	}
	pushes, err := os.ReadFile(filepath.Join(remote, "pushes"))
	if n := strings.Count(string(pushes), "\n"); err != nil || n != stores*receipts {
		t.Errorf("pushes that won: want %d, got %d (%v)", stores*receipts, n, err)
	}
	git(t, remote, "fsck", "--strict", "--full")
}

func TestPublishNeverDropsHistory(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	s := open(t, gitstate.Options{RemoteURL: remote})
	head := publish(t, s, "b", "m", map[string]string{"f": "1"}).After
	orphan := next(t, s, gitstate.EmptySnapshot(), map[string]string{"f": "2"})
	if _, err := s.Publish(t.Context(), "b", orphan.Revision(), head.Revision()); err == nil {
		t.Error("a commit that is not built on the head was published")
	}
	if got := git(t, remote, "rev-parse", "b"); got != head.Revision() {
		t.Errorf("the branch moved to %s", got)
	}
}

func TestTemporaryRepositoryIsRemoved(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	s, err := gitstate.Open(t.Context(), gitstate.Options{RemoteURL: bareRemote(t)})
	if err != nil {
		t.Fatal(err)
	}
	publish(t, s, "b", "m", map[string]string{"f": "1"})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(temp)
	for _, e := range left {
		if strings.HasPrefix(e.Name(), "gitopsctr-") {
			t.Errorf("left behind: %s", e.Name())
		}
	}
	if err != nil {
		t.Error(err)
	}
}
