package faults

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// killShop has a producer, its consumer, and a Unit that stands alone; they run one after the other: alone, net, app.
var killShop = map[string]string{"alone": "one", "net": "one", "app": "@net"}

// killMatrix is every step of a convergence that others can see, and what a SIGKILL right before and right after it
// leaves. In each case the next run converges; recover tells that it first asks to recover the lease of the Unit that was
// being run, since nobody can know whether its effect has ended, and effects is how often that Unit's effect was finished.
var killMatrix = []struct {
	step string
	// By a request: the process is gone before the server sees it, or when it has carried it out.
	ref          string
	nth          int
	before       bool
	hook         string // by the tool
	recover      bool
	unit         string
	effects      int
	withoutLease int // effects when leases are off; 0 when the step does not exist then
}{
	{step: "before the first desired push", ref: desiredRef, nth: 1, before: true, unit: "alone", effects: 1, withoutLease: 1},
	{step: "after the first desired push", ref: desiredRef, nth: 1, unit: "alone", effects: 1, withoutLease: 1},
	{step: "before the lease push", ref: leaseRef, nth: 1, before: true, unit: "alone", effects: 1},
	{step: "after the lease push", ref: leaseRef, nth: 1, recover: true, unit: "alone", effects: 1},
	{step: "at the start of the driver", hook: "before-init", recover: true, unit: "alone", effects: 1, withoutLease: 1},
	{step: "before the effect", hook: "before-apply", recover: true, unit: "alone", effects: 1, withoutLease: 1},
	{step: "in the middle of the effect", hook: "during-apply", recover: true, unit: "alone", effects: 1, withoutLease: 1},
	{step: "after the effect", hook: "after-apply", recover: true, unit: "alone", effects: 2, withoutLease: 2},
	{step: "at the end of the driver", hook: "after-output", recover: true, unit: "alone", effects: 2, withoutLease: 2},
	{step: "before the Receipt push", ref: observedRef, nth: 1, before: true, recover: true, unit: "alone", effects: 2, withoutLease: 2},
	{step: "after the Receipt push", ref: observedRef, nth: 1, unit: "alone", effects: 1, withoutLease: 1},
	{step: "before the lease release push", ref: leaseRef, nth: 2, before: true, unit: "alone", effects: 1},
	{step: "after the lease release push", ref: leaseRef, nth: 2, unit: "alone", effects: 1},
	{step: "before the desired push that resolves the consumer", ref: desiredRef, nth: 2, before: true, unit: "net", effects: 1, withoutLease: 1},
	{step: "after the desired push that resolves the consumer", ref: desiredRef, nth: 2, unit: "net", effects: 1, withoutLease: 1},
	{step: "after the effect of the consumer", hook: "after-apply", recover: true, unit: "app", effects: 2, withoutLease: 2},
	{step: "before the last Receipt push", ref: observedRef, nth: 3, before: true, recover: true, unit: "app", effects: 2, withoutLease: 2},
	{step: "after the last Receipt push", ref: observedRef, nth: 3, unit: "app", effects: 1, withoutLease: 1},
	{step: "before the last lease release push", ref: leaseRef, nth: 6, before: true, unit: "app", effects: 1},
	{step: "after the last lease release push", ref: leaseRef, nth: 6, unit: "app", effects: 1},
}

// A process that is killed at any step leaves refs from which the next run converges to the same state, with the help of
// one command when it was killed while a driver worked.
func TestKill(t *testing.T) {
	t.Parallel()
	for _, leases := range []bool{true, false} {
		if !leases && !full {
			continue
		}
		want := undisturbed(t, leases, killShop)
		for _, row := range killMatrix {
			if !full && row.unit != "alone" {
				continue
			}
			name, effects, recovered := row.step, row.effects, 0
			if row.recover && leases {
				recovered = 1
			}
			if !leases {
				if row.withoutLease == 0 {
					continue
				}
				name, effects = name+", without leases", row.withoutLease
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newShop(t, leases, killShop)
				if row.hook != "" {
					s.tool.mark(t, "kill-"+row.hook+"-"+row.unit, true)
				} else {
					s.remote.disturb(fault{on: push, ref: row.ref, nth: row.nth, do: s.killAround(row.before)})
				}
				if r := s.converge(t, "--max-parallel", "1"); r.code != -1 {
					t.Fatalf("the run was not killed but ended with %d:\n%s", r.code, r.stderr)
				}
				if got := s.settle(t); got != recovered {
					t.Errorf("leases to recover: want %d, got %d", recovered, got)
				}
				sameOutcome(t, want, s.outcome(t))
				got := s.tool.effects(t)
				for unit := range killShop {
					want := 1
					if unit == row.unit {
						want = effects
					}
					if got[unit] != want {
						t.Errorf("effects of Unit %s: want %d, got %d", unit, want, got[unit])
					}
				}
			})
		}
	}
}

// killAround is the mishap that the process which sent a request is killed before or after it is carried out.
func (s *shop) killAround(before bool) mishap {
	return func(_ http.ResponseWriter, r *http.Request, next http.Handler) {
		if before {
			s.kill()
		} else {
			next.ServeHTTP(httptest.NewRecorder(), r)
			s.kill()
		}
		panic(http.ErrAbortHandler)
	}
}
