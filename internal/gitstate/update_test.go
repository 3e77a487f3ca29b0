package gitstate_test

import (
	"context"
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

func TestUpdateChainsChangesInOnePush(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	hook(t, remote, "post-receive", "cat >> pushes")
	s := open(t, gitstate.Options{RemoteURL: remote})
	r, err := s.Update(t.Context(), "b", func(current *gitstate.Snapshot) ([]gitstate.Change, error) {
		if current.Revision() != "" {
			t.Errorf("current = %s, want the empty snapshot", current.Revision())
		}
		return []gitstate.Change{
			{Message: "one", Edits: edits(map[string]string{"a": "1"})},
			{Message: "same again", Edits: edits(map[string]string{"a": "1"})},
			{Message: "two", Edits: edits(map[string]string{"b": "2"})},
		}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := git(t, remote, "log", "--format=%H %s", "b"); got != r.Commits[1]+" two\n"+r.Commits[0]+" one" {
		t.Errorf("history = %q, commits = %v", got, r.Commits)
	}
	if len(r.Commits) != 2 || r.After.Revision() != r.Commits[1] || r.Before.Revision() != "" || r.Attempts != 1 {
		t.Errorf("result = %+v", r)
	}
	if diff := cmp.Diff(map[string]string{"a": "1", "b": "2"}, contents(t, r.After)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	pushes, err := os.ReadFile(filepath.Join(remote, "pushes"))
	if n := strings.Count(string(pushes), "\n"); err != nil || n != 1 {
		t.Errorf("pushes: want 1, got %d (%v)", n, err)
	}
}

func TestUpdateWithNothingToDo(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	s := open(t, gitstate.Options{RemoteURL: remote})
	for name, build := range map[string]func(*gitstate.Snapshot) ([]gitstate.Change, error){
		"no changes": func(*gitstate.Snapshot) ([]gitstate.Change, error) { return nil, nil },
		"no edits":   put("m", nil),
	} {
		r, err := s.Update(t.Context(), "absent", build)
		if err != nil || r.Before != r.After || len(r.Commits) != 0 || r.Attempts != 0 {
			t.Errorf("%s: Update = %+v, %v", name, r, err)
		}
	}
	first := publish(t, s, "b", "m", map[string]string{"f": "1"}).After
	r := publish(t, s, "b", "again", map[string]string{"f": "1"})
	if r.After.Revision() != first.Revision() || len(r.Commits) != 0 {
		t.Errorf("equal content made %v", r.Commits)
	}
	if got := git(t, remote, "for-each-ref", "--format=%(refname) %(objectname)"); got != "refs/heads/b "+first.Revision() {
		t.Errorf("refs = %q", got)
	}
}

func TestUpdateBuildsAnewAfterLostRace(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	s := open(t, gitstate.Options{RemoteURL: remote})
	other := open(t, gitstate.Options{RemoteURL: remote})
	publish(t, s, "b", "m", map[string]string{"f": "0"})
	var seen []string
	r, err := s.Update(t.Context(), "b", func(current *gitstate.Snapshot) ([]gitstate.Change, error) {
		data, err := current.ReadFile("f")
		if err != nil {
			return nil, err
		}
		seen = append(seen, string(data))
		if len(seen) <= 3 { // somebody else is faster three times
			publish(t, other, "b", "theirs", map[string]string{"f": fmt.Sprint(len(seen))})
		}
		return []gitstate.Change{{Message: "ours", Edits: edits(map[string]string{"seen": string(data)})}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"0", "1", "2", "3"}, seen); diff != "" {
		t.Errorf("builds saw (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"f": "3", "seen": "3"}, contents(t, r.After)); diff != "" || r.Attempts != 4 {
		t.Errorf("attempts %d, files (-want +got):\n%s", r.Attempts, diff)
	}
}

func TestUpdateGivesUp(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	s := open(t, gitstate.Options{RemoteURL: remote, Retry: gitstate.Retry{Races: 3}})
	other := open(t, gitstate.Options{RemoteURL: remote})
	builds := 0
	_, err := s.Update(t.Context(), "b", func(*gitstate.Snapshot) ([]gitstate.Change, error) {
		builds++
		publish(t, other, "b", "theirs", map[string]string{"f": fmt.Sprint(builds)})
		return []gitstate.Change{{Message: "ours", Edits: edits(map[string]string{"g": "1"})}}, nil
	})
	var refusal *gitstate.PushError
	if !errors.As(err, &refusal) || refusal.Kind != gitstate.Moved || builds != 3 {
		t.Errorf("error after %d builds = %v, want Moved after 3", builds, err)
	}
}

func TestUpdateReturnsBuildError(t *testing.T) {
	t.Parallel()
	s := open(t, gitstate.Options{RemoteURL: bareRemote(t)})
	want := errors.New("no")
	if _, err := s.Update(t.Context(), "b", func(*gitstate.Snapshot) ([]gitstate.Change, error) {
		return nil, want
	}); !errors.Is(err, want) {
		t.Errorf("error = %v, want %v", err, want)
	}
}

// Updates that come in while one is under way are published by one push; one that fails does not disturb the others.
func TestUpdatesOfOneStoreArePublishedTogether(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	hook(t, remote, "post-receive", "cat >> pushes")
	s := open(t, gitstate.Options{RemoteURL: remote})
	started, proceed := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var first, others sync.WaitGroup
	first.Go(func() {
		_, err := s.Update(t.Context(), "b", func(*gitstate.Snapshot) ([]gitstate.Change, error) {
			once.Do(func() { close(started) })
			<-proceed
			return []gitstate.Change{{Message: "first", Edits: edits(map[string]string{"first": "1"})}}, nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-started
	want := map[string]string{"first": "1"}
	results := make([]gitstate.UpdateResult, 20)
	for i := range results {
		path := fmt.Sprintf("u%d", i)
		if i != 7 {
			want[path] = "x"
		}
		others.Go(func() {
			r, err := s.Update(t.Context(), "b", func(*gitstate.Snapshot) ([]gitstate.Change, error) {
				if i == 7 {
					return nil, errors.New("seven")
				}
				return []gitstate.Change{{Message: path, Edits: edits(map[string]string{path: "x"})}}, nil
			})
			results[i] = r
			if i == 7 != (err != nil) {
				t.Errorf("update %d: %v", i, err)
			}
		})
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Update(cancelled, "b", put("no", map[string]string{"no": ""})); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled update: %v", err)
	}
	close(proceed)
	first.Wait()
	others.Wait()
	if diff := cmp.Diff(want, contents(t, fetch(t, s, "b"))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for i, r := range results {
		if i == 7 {
			continue
		}
		if len(r.Commits) != 1 || git(t, remote, "log", "-1", "--format=%s", r.Commits[0]) != fmt.Sprintf("u%d", i) {
			t.Errorf("update %d: commits %v", i, r.Commits)
		}
	}
	pushes, err := os.ReadFile(filepath.Join(remote, "pushes"))
	// All that queued up before the first one ended make one push; stragglers may make a few more.
	if n := strings.Count(string(pushes), "\n"); err != nil || n > 10 {
		t.Errorf("pushes: %d for 20 updates (%v)", n, err)
	}
}
