package engine

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/driver"
	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

func TestEffectUnknown(t *testing.T) {
	t.Parallel()
	killed := &driver.Error{Op: "terraform apply", EffectUnknown: true}
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"none":                {nil, false},
		"an ordinary failure": {&driver.Error{Op: "terraform apply"}, false},
		"killed":              {killed, true},
		"killed, wrapped":     {fmt.Errorf("Unit app: %w", killed), true},
		"killed, beside another failure of a driver": {errors.Join(&driver.Error{Op: "terraform output"}, killed), true},
		"killed, behind one":                         {&driver.Error{Op: "converge", Err: killed}, true},
		"unsupported":                                {driver.ErrUnsupported, false},
	} {
		if got := effectUnknown(c.err); got != c.want {
			t.Errorf("%s: want %v, got %v", name, c.want, got)
		}
	}
}

func TestEditedUnits(t *testing.T) {
	t.Parallel()
	var edits []gitstate.Edit
	for _, path := range []string{
		"units/net.yaml", "units/core/db.json", ".gitopsctr/cleanup/units/old.yml", "materialized/app/a.yaml", ".gitopsctr/transition-blocks.json", "units/net.json", "stacks/core.yaml",
	} {
		edits = append(edits, gitstate.Edit{Path: path})
	}
	if diff := cmp.Diff([]string{"core/db", "net", "old"}, editedUnits(edits)); diff != "" {
		t.Errorf("Units (-want +got):\n%s", diff)
	}
}

func TestHolderOfALease(t *testing.T) {
	t.Parallel()
	over := func(_ context.Context, run int64, attempt int) (bool, error) {
		switch {
		case run == 9001 && attempt == 2:
			return true, nil
		case run == 9002:
			return false, nil
		}
		return false, errors.New("the token may not read actions")
	}
	e := &Engine{Config: Config{LeaseOwner: "9009-1-host-7", RunEnded: over}}
	s := &scope{Target: Target{Environment: "dev"}}
	const command = ": gitopsctr recover-effect-lease --environment dev --unit app --uid d1-1 --token lease-1 --confirm-stopped"
	for owner, want := range map[string]string{
		"9001-2-host-7": "leased by 9001-2-host-7, a workflow run that is over; when nothing of it runs any more" + command,
		"9002-1-host-7": "leased by 9002-1-host-7; if that run is over and nothing of it runs any more" + command,
		"9003-1-host-7": "leased by 9003-1-host-7; if that run is over and nothing of it runs any more" + command,
		"9009-1-host-8": "leased by 9009-1-host-8; if that run is over and nothing of it runs any more" + command,
		"someone":       "leased by someone; if that run is over and nothing of it runs any more" + command,
	} {
		l := &resource.EffectLease{Name: "app", QualifiedName: "app", UID: "d1-1", Token: "lease-1", Owner: owner}
		if diff := cmp.Diff(want, e.heldReason(t.Context(), s, l, "d1-1")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", owner, diff)
		}
	}
}

func TestLocalLock(t *testing.T) {
	t.Parallel()
	if got, want := localLockName("/srv/gitopsctr/repo", "qa", "core/db"), "gitopsctr-effect-7252889ca1593d79bb4eee74db5fc5dd4ec875b1378d0c5e68c54465c538e9cd.lock"; got != want {
		t.Errorf("want the recorded name %s, got %s", want, got)
	}
	e := &Engine{Config: Config{LockDir: t.TempDir()}, root: "/repo"}
	s := &scope{Target: Target{Environment: "dev"}}
	first, waited, err := e.lockLocally(t.Context(), s, "app")
	if err != nil || waited {
		t.Fatalf("first: waited %v, %v", waited, err)
	}
	other, waited, err := e.lockLocally(t.Context(), s, "net")
	if err != nil || waited {
		t.Fatalf("another Unit: waited %v, %v", waited, err)
	}
	other()
	over, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("told to stop"))
	if _, _, err := e.lockLocally(over, s, "app"); err == nil || err.Error() != "told to stop" {
		t.Errorf("cancelled: got %v", err)
	}
	second := make(chan bool)
	go func() {
		unlock, waited, err := e.lockLocally(t.Context(), s, "app")
		if err == nil {
			unlock()
		}
		second <- err == nil && waited
	}()
	time.Sleep(50 * time.Millisecond)
	first()
	if !<-second {
		t.Error("want the second to wait for the first, then to have the lock")
	}
}
