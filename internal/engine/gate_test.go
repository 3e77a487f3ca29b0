package engine

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

const promotionVectors = "../../testdata/vectors/f-promotion"

// stagingFiles are an environment behind a gate, with nothing else.
var stagingFiles = map[string]string{
	"gitopsctr.yaml": "apiVersion: gitopsctr.io/v1\nkind: Project\nmetadata: {name: shop}\nspec: {effectLease: null}\n",
	"deployment/environments/staging/environment.yaml": "apiVersion: gitopsctr.io/v1\nkind: Environment\nmetadata: {name: staging}\nspec: {changeGate: pullRequest}\n",
}

// gateFixture is an engine on a fresh clone of a fresh remote, with a clock that stands where the test puts it.
type gateFixture struct {
	*Engine
	remote string
	now    time.Time
	events []report.Event
}

func (f *gateFixture) Event(e report.Event) { f.events = append(f.events, e) }

func newGateFixture(t testing.TB, files map[string]string, openForge func(string, string) (Forge, error)) *gateFixture {
	t.Helper()
	dir := t.TempDir()
	f := &gateFixture{remote: filepath.Join(dir, "remote.git"), now: time.Unix(1796009304, 0).UTC()}
	clone := filepath.Join(dir, "clone")
	for name, text := range files {
		path := filepath.Join(clone, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f.git(t, "init", "--quiet", "--bare", "--initial-branch=main", f.remote)
	f.git(t, "init", "--quiet", "--initial-branch=main", clone)
	f.git(t, "-C", clone, "remote", "add", "origin", f.remote)
	temp := filepath.Join(dir, "temp")
	if err := os.Mkdir(temp, 0o755); err != nil {
		t.Fatal(err)
	}
	e, err := Open(t.Context(), Config{Repository: clone, Directory: clone, Temp: temp, Sink: f, OpenForge: openForge, Now: func() time.Time { return f.now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	f.Engine = e
	return f
}

func (f *gateFixture) git(t testing.TB, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "git", args...)
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.test",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.test"}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// open reads the scope and the planes of staging.
func (f *gateFixture) open(t testing.TB, candidateRef string) (*scope, *planes) {
	t.Helper()
	s, err := f.Engine.open(Target{Environment: "staging", CandidateRef: candidateRef})
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.fetch(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return s, p
}

// vectorChange is the recorded promotion of dev to staging.
func vectorChange(t testing.TB, head *gitstate.Snapshot) *change {
	t.Helper()
	promotion, err := resource.DecodePromotion("promotion.yaml", readVector(t, "promotion-candidate/tree/promotion.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	edits := []gitstate.Edit{
		{Path: "promotion.yaml", Content: readVector(t, "promotion-candidate/tree/promotion.yaml")},
		{Path: "units/app.yaml", Content: readVector(t, "promotion-candidate/tree/units/app.yaml")},
	}
	if _, ok := head.Blob("environment.yaml"); ok {
		edits = append(edits, gitstate.Edit{Path: "environment.yaml", Delete: true})
	}
	return &change{operation: "promotion", context: promotion.CandidateContext(), edits: edits,
		message: "Promote dev to staging from " + promotion.DesiredRevision, review: &PullRequest{Title: "Promote dev to staging", Body: "body"}}
}

func readVector(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(promotionVectors, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestProposalHasTheRecordedCommits makes the recorded promotion again, at the recorded times: both commit ids and the
// candidate id must come out, and so every byte of the trees, the messages and the identity.
func TestProposalHasTheRecordedCommits(t *testing.T) {
	t.Parallel()
	f := newGateFixture(t, stagingFiles, nil)
	s, p := f.open(t, "")
	publication, err := f.propose(t.Context(), s, p, func() (*change, error) {
		if p.desired.Revision() != "" {
			f.now = time.Unix(1796009310, 0).UTC()
		}
		return vectorChange(t, p.desired), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := Publication{Revision: "70c0363aee6a8dbd7febf33a7a0ad9cb0eee7f66", TargetRef: "gitopsctr/desired/staging",
		CandidateRef: "gitopsctr/candidates/staging/06bdab300621", Status: "manual"}
	if diff := cmp.Diff(want, publication); diff != "" {
		t.Errorf("publication (-want +got):\n%s", diff)
	}
	if want, got := "0f79196d10da98bb5df182880eabafa41d4fbf71", f.git(t, "--git-dir", f.remote, "rev-parse", "gitopsctr/desired/staging"); want != got {
		t.Errorf("the first commit of the desired ref is %s, want %s", got, want)
	}
}

// TestRerunsFindTheirCandidate shows that a proposal is used again only when it is the same in content, base and message.
func TestRerunsFindTheirCandidate(t *testing.T) {
	t.Parallel()
	f := newGateFixture(t, stagingFiles, nil)
	s, p := f.open(t, "review/one")
	propose := func(message string) (Publication, error) {
		return f.propose(t.Context(), s, p, func() (*change, error) {
			c := vectorChange(t, p.desired)
			if message != "" {
				c.message = message
			}
			return c, nil
		})
	}
	first, err := propose("")
	if err != nil {
		t.Fatal(err)
	}
	f.now = f.now.Add(time.Hour)
	second, err := propose("")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("the second proposal (-first +second):\n%s", diff)
	}
	_, err = propose("Promote something else")
	var taken *CandidateError
	if !errors.As(err, &taken) {
		t.Fatalf("another message on the same ref: got the error %v, want a CandidateError", err)
	}
	if want := (&CandidateError{Ref: "review/one", Revision: first.Revision, Subject: "Promote dev to staging from 09ec65d8dba33c953d6e1436a8a9a3da166981c1", Want: "Promote something else"}); !cmp.Equal(want, taken) {
		t.Errorf("got %#v, want %#v", taken, want)
	}
	if got := f.git(t, "--git-dir", f.remote, "rev-parse", "review/one"); got != first.Revision {
		t.Errorf("the candidate ref moved to %s, want it at %s", got, first.Revision)
	}
}

// TestProposalFollowsItsBase shows that a candidate is built again when the desired ref moves while it is made.
func TestProposalFollowsItsBase(t *testing.T) {
	t.Parallel()
	f := newGateFixture(t, stagingFiles, nil)
	s, p := f.open(t, "")
	if err := f.initialize(t.Context(), s, p); err != nil {
		t.Fatal(err)
	}
	moved := ""
	publication, err := f.propose(t.Context(), s, p, func() (*change, error) {
		c := vectorChange(t, p.desired)
		if moved == "" {
			result, err := f.store.Update(context.Background(), s.refs.Desired, func(*gitstate.Snapshot) ([]gitstate.Change, error) {
				return []gitstate.Change{{Message: "somebody else", Edits: []gitstate.Edit{{Path: "other.txt", Content: []byte("x\n")}}}}, nil
			})
			if err != nil {
				return nil, err
			}
			moved = result.After.Revision()
		}
		return c, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := f.git(t, "--git-dir", f.remote, "log", "-1", "--format=%P", publication.Revision); got != moved {
		t.Errorf("the candidate stands on %s, want the new head %s", got, moved)
	}
	refs := f.git(t, "--git-dir", f.remote, "for-each-ref", "--format=%(refname:short)", "refs/heads/gitopsctr/candidates")
	if refs != publication.CandidateRef {
		t.Errorf("candidates are %q, want %q alone", refs, publication.CandidateRef)
	}
}

type fakeForge struct {
	url     string
	created bool
	err     error
	asked   []PullRequest
}

func (f *fakeForge) EnsurePullRequest(_ context.Context, p PullRequest) (string, bool, error) {
	f.asked = append(f.asked, p)
	return f.url, f.created, f.err
}

func TestForgeDecidesTheStatus(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		forge       *fakeForge
		review      bool
		status, url string
		warning     string
	}{
		{name: "created", forge: &fakeForge{url: "https://forge.test/1", created: true}, review: true, status: "created", url: "https://forge.test/1"},
		{name: "open already", forge: &fakeForge{url: "https://forge.test/1"}, review: true, status: "existing", url: "https://forge.test/1"},
		{name: "a forge that fails fails nothing", forge: &fakeForge{err: errors.New("403 Resource not accessible")}, review: true, status: "manual",
			warning: "no pull request was opened for review/one: 403 Resource not accessible"},
		{name: "without an address", forge: &fakeForge{}, review: true, status: "manual"},
		{name: "the operation opens none", forge: &fakeForge{url: "https://forge.test/1"}, status: "manual"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newGateFixture(t, stagingFiles, func(string, string) (Forge, error) { return tt.forge, nil })
			s, p := f.open(t, "review/one")
			publication, err := f.propose(t.Context(), s, p, func() (*change, error) {
				c := vectorChange(t, p.desired)
				if !tt.review {
					c.review = nil
				}
				return c, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if publication.Status != tt.status || publication.URL != tt.url {
				t.Errorf("got status %q and address %q, want %q and %q", publication.Status, publication.URL, tt.status, tt.url)
			}
			want := []PullRequest{{Head: "review/one", Base: "gitopsctr/desired/staging", Title: "Promote dev to staging", Body: "body"}}
			if !tt.review {
				want = nil
			}
			if diff := cmp.Diff(want, tt.forge.asked); diff != "" {
				t.Errorf("asked of the forge (-want +got):\n%s", diff)
			}
			i := slices.IndexFunc(f.events, func(e report.Event) bool { _, ok := e.(report.Problem); return ok })
			if got := i >= 0; got != (tt.warning != "") {
				t.Fatalf("a warning was given: %v, want %v", got, tt.warning != "")
			}
			if i >= 0 {
				if got, _ := f.events[i].(report.Problem); got.Message != tt.warning {
					t.Errorf("warning %q, want %q", got.Message, tt.warning)
				}
			}
		})
	}
}
