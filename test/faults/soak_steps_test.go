package faults

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// change gives some Units a new input.
func (g *generator) change(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(g.authored)) {
		if soakUnits[name] == "" && g.chance.IntN(2) == 0 {
			g.version++
			g.shop.setUnit(t, name, fmt.Sprintf("v%d", g.version))
		}
	}
	g.shop.publish(t, fmt.Sprintf("change %d", g.version))
}

// apply may be refused when a run that was killed has left a Unit leased.
func (g *generator) apply(t *testing.T) {
	r := g.run(t, false, "apply", "--environment", "dev", "--authored", "--source-revision", "HEAD")
	if r.code != 0 && !strings.Contains(r.stderr, "recover-effect-lease") && !strings.Contains(r.stderr, "deletion") {
		t.Errorf("apply ended with %d", r.code)
	}
}

// kill stops a convergence at a random request or step of a driver, if it gets there.
func (g *generator) kill(t *testing.T) {
	if g.chance.IntN(2) == 0 {
		hooks := []string{"before-init", "before-apply", "during-apply", "after-apply", "after-output", "after-destroy"}
		names := slices.Sorted(maps.Keys(soakUnits))
		hook := "kill-" + hooks[g.chance.IntN(len(hooks))] + "-" + names[g.chance.IntN(len(names))]
		g.note("  %s", hook)
		g.shop.tool.mark(t, hook, true)
		defer g.shop.tool.mark(t, hook, false)
	} else {
		ref := []string{desiredRef, observedRef, leaseRef}[g.chance.IntN(3)]
		f := fault{on: push, ref: ref, nth: 1 + g.chance.IntN(3), do: g.shop.killAround(g.chance.IntN(2) == 0)}
		g.note("  push %d of %s", f.nth, f.ref)
		g.shop.remote.disturb(f)
	}
	if r := g.run(t, false, g.convergeArgs()...); r.code > 0 && !held(r) {
		t.Errorf("converge ended with %d", r.code)
	}
}

// fault disturbs a convergence once.
func (g *generator) fault(t *testing.T) {
	trouble := troubles[g.chance.IntN(len(troubles))]
	q := requests[g.chance.IntN(len(requests))]
	if trouble.onPush {
		q.on, q.ref = push, observedRef
	}
	f := fault{on: q.on, ref: q.ref, nth: 1 + g.chance.IntN(4), do: trouble.do}
	g.note("  %s at %s %s, %d", trouble.name, f.on, f.ref, f.nth)
	g.shop.remote.disturb(f)
	g.converge(t, !trouble.refuses)
}

// interrupt cancels a convergence as a person or a platform does.
func (g *generator) interrupt(t *testing.T) {
	timer := time.AfterFunc(time.Duration(100+g.chance.IntN(600))*time.Millisecond, func() {
		g.shop.mu.Lock()
		defer g.shop.mu.Unlock()
		if g.shop.victim != nil {
			_ = g.shop.victim.Signal(os.Interrupt) // it may have ended by itself
		}
	})
	defer timer.Stop()
	g.converge(t, false)
}

// together runs two convergences at once, with changing the author changes the source and applies it meanwhile.
func (g *generator) together(t *testing.T, changing bool) {
	var all sync.WaitGroup
	var runs [2]run
	args := [2][]string{g.convergeArgs(), g.convergeArgs()}
	for i := range runs {
		all.Go(func() { runs[i] = g.shop.run(t, args[i]...) })
	}
	if changing {
		time.Sleep(time.Duration(g.chance.IntN(300)) * time.Millisecond)
		g.change(t)
		g.apply(t)
	}
	all.Wait()
	for i, r := range runs {
		g.heard(t, r, true, args[i])
	}
}

// remove takes a Unit that nothing reads out of the source and marks it for deletion.
func (g *generator) remove(t *testing.T) {
	var free []string
	for name := range g.authored {
		read := false
		for other, producer := range soakUnits {
			read = read || producer == name && g.authored[other]
		}
		if !read {
			free = append(free, name)
		}
	}
	if len(free) < 2 {
		return
	}
	slices.Sort(free)
	name := free[g.chance.IntN(len(free))]
	delete(g.authored, name)
	g.shop.removeUnit(t, name)
	g.mark(t, name, false)
}

// mark marks a Unit for deletion, if it is there and not marked; it may be refused while the Unit is leased.
func (g *generator) mark(t *testing.T, name string, must bool) {
	if g.shop.head(t, desiredRef) == "" || git(t, g.shop.bare, "ls-tree", desiredRef, "units/"+name+".yaml") == "" {
		return
	}
	r := g.run(t, false, "delete", "unit", "--environment", "dev", "--name", name, "--uid", g.shop.uid(t, name))
	if r.code != 0 && (must || !strings.Contains(r.stderr, "recover-effect-lease")) {
		t.Errorf("delete ended with %d", r.code)
	}
}

// add brings back a Unit that was removed, if what it reads is there.
func (g *generator) add(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(soakUnits)) {
		producer := soakUnits[name]
		if g.authored[name] || producer != "" && !g.authored[producer] {
			continue
		}
		input := "@" + producer
		if producer == "" {
			g.version++
			input = fmt.Sprintf("v%d", g.version)
		}
		g.authored[name] = true
		g.shop.setUnit(t, name, input)
		g.shop.publish(t, "add "+name)
		return
	}
}

// calm lets everything settle: leases are recovered as runs ask for it, and then every authored Unit is clean, every other one
// gone, no lease left, and a further run moves nothing.
func (g *generator) calm(t *testing.T) {
	var last run
	for round := 0; ; round++ {
		last = g.run(t, true, g.convergeArgs()...)
		for _, args := range recoveries(last.stderr) {
			g.run(t, true, args...)
			g.inspector.repeats[args[4]]++
			g.recovered++
		}
		for name := range soakUnits {
			if !g.authored[name] && len(recoveries(last.stderr)) == 0 {
				g.mark(t, name, true)
			}
		}
		if strings.Contains(last.stderr, "nothing to do") || t.Failed() {
			break
		}
		if round == 6 {
			t.Errorf("convergence: after %d runs there is still something to do", round)
			return
		}
	}
	if t.Failed() {
		return
	}
	var want []string
	for name := range g.authored {
		want = append(want, "units/"+name+".yaml")
	}
	slices.Sort(want)
	if got := g.shop.currentReceipts(t); !slices.Equal(got, want) {
		t.Errorf("convergence: current Receipts: want %v, got %v", want, got)
	}
	for _, f := range listTree(t, g.shop.bare, leaseRef) {
		if strings.HasPrefix(f.path, ".gitopsctr/effect-leases/units/") {
			t.Errorf("leases: %s is left, and no run told of it", f.path)
		}
	}
	refs := git(t, g.shop.bare, "for-each-ref")
	g.run(t, true, "status", "--environment", "dev")
	g.run(t, true, "verify", "--environment", "dev")
	if got := git(t, g.shop.bare, "for-each-ref"); got != refs {
		t.Errorf("dry is dry: the refs moved from\n%s\nto\n%s", refs, got)
	}
}

func (g *generator) commits(t *testing.T, ref string) string {
	t.Helper()
	if g.shop.head(t, ref) == "" {
		return "0"
	}
	return git(t, g.shop.bare, "rev-list", "--count", ref)
}

// graves counts the tombstones.
func (g *generator) graves(t *testing.T) int {
	t.Helper()
	if g.shop.head(t, desiredRef) == "" {
		return 0
	}
	return len(strings.Fields(git(t, g.shop.bare, "ls-tree", "-r", "--name-only", desiredRef, ".gitopsctr/incarnations/")))
}
