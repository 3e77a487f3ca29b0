package faults

import "testing"

// deleteMatrix is every step of a deletion that others can see, and what a SIGKILL around it leaves; as killMatrix.
var deleteMatrix = []struct {
	step     string
	ref      string
	nth      int
	before   bool
	hook     string
	recover  bool
	effects  int  // how often the teardown was finished
	unleased bool // the step exists without leases too
}{
	{step: "before the lease push", ref: leaseRef, nth: 1, before: true, effects: 1},
	{step: "after the lease push", ref: leaseRef, nth: 1, recover: true, effects: 1},
	{step: "before the teardown", hook: "before-init", recover: true, effects: 1, unleased: true},
	{step: "after the teardown", hook: "after-destroy", recover: true, effects: 2, unleased: true},
	{step: "before the evidence push", ref: observedRef, nth: 1, before: true, recover: true, effects: 2, unleased: true},
	{step: "after the evidence push", ref: observedRef, nth: 1, effects: 1, unleased: true},
	{step: "before the push that finalizes", ref: desiredRef, nth: 1, before: true, effects: 1, unleased: true},
	{step: "after the push that finalizes", ref: desiredRef, nth: 1, effects: 1, unleased: true},
	{step: "before the lease release push", ref: leaseRef, nth: 2, before: true, effects: 1},
	{step: "after the lease release push", ref: leaseRef, nth: 2, effects: 1},
}

// A deletion that is killed at any step is finished by the next run: evidence is never made twice, and the Unit ends with a
// tombstone and without a lease.
func TestKillDeletion(t *testing.T) {
	t.Parallel()
	for _, leases := range []bool{true, false} {
		if !leases && !full {
			continue
		}
		undisturbed := deletingShop(t, leases)
		undisturbed.settle(t)
		want := undisturbed.outcome(t)
		for _, row := range deleteMatrix {
			if !full && row.before {
				continue
			}
			name, recovered := row.step, 0
			if row.recover && leases {
				recovered = 1
			}
			if !leases {
				if !row.unleased {
					continue
				}
				name += ", without leases"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := deletingShop(t, leases)
				done := s.tool.effects(t)["alone"]
				if row.hook != "" {
					s.tool.mark(t, "kill-"+row.hook+"-alone", true)
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
				if got := s.tool.effects(t)["alone"] - done; got != row.effects {
					t.Errorf("teardowns: want %d, got %d", row.effects, got)
				}
			})
		}
	}
}

// deletingShop is a converged shop whose Unit alone is marked for deletion.
func deletingShop(t *testing.T, leases bool) *shop {
	t.Helper()
	s := newShop(t, leases, killShop)
	if r := s.converge(t); r.code != 0 {
		t.Fatalf("converge ended with %d:\n%s", r.code, r.stderr)
	}
	s.removeUnit(t, "alone")
	if r := s.run(t, "delete", "unit", "--environment", "dev", "--name", "alone", "--uid", s.uid(t, "alone")); r.code != 0 {
		t.Fatalf("delete ended with %d:\n%s", r.code, r.stderr)
	}
	return s
}
