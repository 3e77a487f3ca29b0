package lease_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/lease"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

const branch = "gitopsctr/leases"

var refs = resource.Refs{Desired: "gitopsctr/desired/dev", Observed: "gitopsctr/observed/dev"}

// remote is a bare repository whose lease branch the stores of a test share.
type remote struct{ dir string }

func newRemote(t *testing.T) remote {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "remote.git")
	if out, err := exec.Command("git", "init", "--quiet", "--bare", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	return remote{dir}
}

func (r remote) git(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"--git-dir", r.dir}, args...)...).Output()
	if err != nil {
		t.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}

// open makes the store of one run.
func (r remote) open(t *testing.T, owner string) *lease.Store {
	t.Helper()
	git, err := gitstate.Open(t.Context(), gitstate.Options{RemoteURL: r.dir, Dir: filepath.Join(t.TempDir(), "store.git")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := git.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := lease.New(git, branch, refs, owner)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func claim(unit string) lease.Claim {
	return lease.Claim{
		Unit: unit, UID: "d1-1", DesiredRevision: strings.Repeat("c", 40),
		Snapshot: &resource.LeaseSnapshot{
			UnitPath: "units/" + unit + ".yaml", UnitBlob: strings.Repeat("d", 40), GVK: resource.GVK{APIVersion: resource.UnitAPI, Kind: "Terraform"},
			Driver: "terraform", SourceRevision: strings.Repeat("1", 40),
		},
	}
}

func (r remote) subjects(t *testing.T) string {
	t.Helper()
	return regexp.MustCompile(`[0-9a-f]{64}`).ReplaceAllString(r.git(t, "log", "--reverse", "--format=%s", branch), "X")
}

func TestOneRunHoldsAUnit(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	first, second := r.open(t, "9001-2-runnerhost-77"), r.open(t, "9002-1-runnerhost-78")
	l, err := first.Acquire(t.Context(), claim("core/db"))
	if err != nil {
		t.Fatal(err)
	}

	// The document is that of the vector, token aside.
	vector, err := os.ReadFile("../../testdata/vectors/d-reconcile/effect-lease.json")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(string(vector), "lease-"+strings.Repeat("e", 64), l.Token)
	want = strings.ReplaceAll(want, "d1-00000000000000000000000000000000", "d1-1")
	if diff := cmp.Diff(strings.TrimSpace(want), r.git(t, "show", branch+":.gitopsctr/effect-leases/units/core/db.json")); diff != "" {
		t.Errorf("lease (-want +got):\n%s", diff)
	}
	if !regexp.MustCompile(`^lease-[0-9a-f]{64}$`).MatchString(l.Token) {
		t.Errorf("token %q", l.Token)
	}

	var held *lease.HeldError
	if _, err := second.Acquire(t.Context(), claim("core/db")); !errors.As(err, &held) || held.Lease.Owner != "9001-2-runnerhost-77" {
		t.Errorf("want the lease held by the first run, got %v", err)
	}
	if _, err := first.Acquire(t.Context(), claim("core/db")); !errors.As(err, &held) {
		t.Errorf("want the lease held for its own holder too, got %v", err)
	}
	other, err := second.Acquire(t.Context(), claim("app"))
	if err != nil {
		t.Fatal(err)
	}
	for _, release := range []error{first.Release(t.Context(), l), second.Release(t.Context(), other), first.Release(t.Context(), l)} {
		if release != nil {
			t.Error(release)
		}
	}
	wantLog := "Acquire effect lease for core/db (lease-X)\nAcquire effect lease for app (lease-X)\nRelease effect lease for core/db\nRelease effect lease for app"
	if diff := cmp.Diff(wantLog, r.subjects(t)); diff != "" {
		t.Errorf("commits (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(".gitopsctr/effect-leases/.store", r.git(t, "ls-tree", "-r", "--name-only", branch)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if got := r.git(t, "cat-file", "-p", branch+":.gitopsctr/effect-leases/.store"); got != "branch" {
		t.Errorf("store file %q", got)
	}
}

func TestConcurrentClaimsHaveOneWinner(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	const runs = 4
	won := make([]int, runs)
	var group sync.WaitGroup
	for i := range runs {
		s := r.open(t, fmt.Sprintf("run-%d", i))
		for _, unit := range []string{"a", "b", "c"} {
			group.Go(func() {
				_, err := s.Acquire(t.Context(), claim(unit))
				var held *lease.HeldError
				switch {
				case err == nil && unit == "a":
					won[i]++
				case err != nil && !errors.As(err, &held):
					t.Error(err)
				}
			})
		}
	}
	group.Wait()
	total := 0
	for _, n := range won {
		total += n
	}
	if total != 1 {
		t.Errorf("want one winner for the Unit, got %d", total)
	}
	if got := len(strings.Split(r.subjects(t), "\n")); got != 3 {
		t.Errorf("want 3 commits, got %d", got)
	}
}

func TestResumeAndEndedEffects(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	s := r.open(t, "first")
	old, err := s.Acquire(t.Context(), claim("app"))
	if err != nil {
		t.Fatal(err)
	}
	next := r.open(t, "second")

	resume := claim("app")
	resume.Resume = true
	got, err := next.Acquire(t.Context(), resume)
	if err != nil || got.Token != old.Token {
		t.Errorf("resume: want the lease adopted, got %v, %v", got, err)
	}
	resume.Snapshot.UnitBlob = strings.Repeat("a", 40)
	var held *lease.HeldError
	if _, err := next.Acquire(t.Context(), resume); !errors.As(err, &held) {
		t.Errorf("resume with another snapshot: want it held, got %v", err)
	}

	ended := claim("app")
	ended.Ended = func(l *resource.EffectLease) (bool, error) { return l.Token == old.Token, nil }
	got, err = next.Acquire(t.Context(), ended)
	if err != nil || got.Token == old.Token {
		t.Errorf("ended: want a new lease, got %v, %v", got, err)
	}
	want := "Acquire effect lease for app (lease-X)\nRelease effect lease for app\nAcquire effect lease for app (lease-X)"
	if diff := cmp.Diff(want, r.subjects(t)); diff != "" {
		t.Errorf("commits (-want +got):\n%s", diff)
	}
	var other *lease.MismatchError
	if err := s.Release(t.Context(), old); !errors.As(err, &other) || other.What != "token" {
		t.Errorf("release of a lease that was replaced: got %v", err)
	}
}

func TestRecover(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	s := r.open(t, "gone")
	if revision, err := s.Recover(t.Context(), "app", "d1-1", "lease-1"); err != nil || revision != "" {
		t.Errorf("without a lease: got %q, %v", revision, err)
	}
	l, err := s.Acquire(t.Context(), claim("app"))
	if err != nil {
		t.Fatal(err)
	}
	for what, try := range map[string][2]string{"UID": {"d1-2", l.Token}, "token": {"d1-1", "lease-1"}} {
		var other *lease.MismatchError
		if _, err := s.Recover(t.Context(), "app", try[0], try[1]); !errors.As(err, &other) || other.What != what {
			t.Errorf("another %s: got %v", what, err)
		}
	}
	revision, err := s.Recover(t.Context(), "app", "d1-1", l.Token)
	if err != nil || revision != r.git(t, "rev-parse", branch) {
		t.Errorf("got %q, %v", revision, err)
	}
	if got := r.git(t, "log", "-1", "--format=%B", branch); got != "Recover abandoned effect lease for app" {
		t.Errorf("message %q", got)
	}
}

func TestReadsForeignLeases(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	git, err := gitstate.Open(t.Context(), gitstate.Options{RemoteURL: r.dir, Dir: filepath.Join(t.TempDir(), "store.git")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = git.Close() })
	yaml := "schema: 1\nkind: UnitEffectLease\nunitName: app\nqualifiedName: app\nuid: d1-1\ntoken: lease-1\nowner: someone\ndesiredRevision: " + strings.Repeat("c", 40) + "\n"
	publish := func(files map[string]string) *gitstate.Snapshot {
		result, err := git.Update(t.Context(), branch, func(*gitstate.Snapshot) ([]gitstate.Change, error) {
			c := gitstate.Change{Message: "x"}
			for path, content := range files {
				c.Edits = append(c.Edits, gitstate.Edit{Path: ".gitopsctr/effect-leases/units/" + path, Content: []byte(content)})
			}
			return []gitstate.Change{c}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return result.After
	}
	all, err := lease.All(publish(map[string]string{"app.yaml": yaml}))
	if err != nil || len(all) != 1 || all[0].Owner != "someone" || all[0].Snapshot != nil {
		t.Errorf("got %v, %v", all, err)
	}
	var twice *resource.DuplicateRepresentationError
	if _, err := lease.Find(publish(map[string]string{"app.yml": yaml}), "app"); !errors.As(err, &twice) {
		t.Errorf("two formats: got %v", err)
	}
	tree := publish(map[string]string{"db.yaml": yaml})
	if _, err := lease.Find(tree, "db"); err == nil || !strings.Contains(err.Error(), `names "app", but the file is the lease of "db"`) {
		t.Errorf("another name: got %v", err)
	}
	if l, err := lease.Find(tree, "net"); l != nil || err != nil {
		t.Errorf("no lease: got %v, %v", l, err)
	}
}

func TestSharedBranchIsRefused(t *testing.T) {
	t.Parallel()
	for role, ref := range map[string]string{"desired": refs.Desired, "observed": refs.Observed} {
		var shared *lease.SharedBranchError
		if _, err := lease.New(nil, ref, refs, "x"); !errors.As(err, &shared) || shared.Role != role {
			t.Errorf("%s: got %v", role, err)
		}
	}
}
