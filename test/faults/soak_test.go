package faults

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

var (
	soakTime = flag.Duration("soak", 0, "how long the soak test runs (default: 5s, or 60s with the build tag faults)")
	soakSeed = flag.Uint64("seed", 0, "seed of the soak test's operations (default: the time)")
)

// TestSoak does to one environment whatever users, other jobs and bad luck do, in a random order, and checks all invariants
// after each step. Now and then everything must settle.
func TestSoak(t *testing.T) {
	t.Parallel()
	duration, seed := *soakTime, *soakSeed
	if duration == 0 {
		duration = 5 * time.Second
		if full {
			duration = time.Minute
		}
	}
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	g := newGenerator(t, seed)
	counts := map[string]int{}
	defer func() {
		if t.Failed() {
			t.Logf("seed %d; the last steps:\n%s", seed, strings.Join(g.history, "\n"))
		}
	}()
	for end := time.Now().Add(duration); time.Now().Before(end) && !t.Failed(); {
		counts[g.step(t)]++
	}
	if !t.Failed() {
		g.note("calm at the end")
		g.calm(t)
		g.inspect(t)
	}
	steps := 0
	for _, n := range counts {
		steps += n
	}
	t.Logf("seed %d: %d steps in %s: %v; %d effects, %s desired and %s observed commits, %d leases recovered, %d Units finalized", seed, steps, duration, counts,
		len(g.shop.tool.log(t))/2, g.commits(t, desiredRef), g.commits(t, observedRef), g.recovered, g.graves(t))
}

// soakUnits are the Units of the environment, with the Unit that each reads, "" for none.
var soakUnits = map[string]string{"a": "", "b": "", "c": "a", "d": "c", "e": "", "f": "e"}

// A generator makes up the steps.
type generator struct {
	chance    *rand.Rand
	shop      *shop
	inspector *inspector
	authored  map[string]bool
	version   int
	recovered int
	history   []string // what was done lately
}

func newGenerator(t *testing.T, seed uint64) *generator {
	t.Helper()
	units, authored := map[string]string{}, map[string]bool{}
	for name, producer := range soakUnits {
		authored[name] = true
		units[name] = "v0"
		if producer != "" {
			units[name] = "@" + producer
		}
	}
	s := newShop(t, true, units)
	s.tool.mark(t, "slow", true)
	return &generator{chance: rand.New(rand.NewPCG(seed, 0)), shop: s, inspector: newInspector(s), authored: authored}
}

// step does something and returns its name. The more a thing happens in real life, the more it does here.
func (g *generator) step(t *testing.T) string {
	t.Helper()
	steps := []struct {
		weight int
		name   string
		do     func(*testing.T)
	}{
		{4, "change", g.change},
		{2, "apply", g.apply},
		{4, "converge", func(t *testing.T) { g.converge(t, true) }},
		{3, "kill", g.kill},
		{3, "fault", g.fault},
		{1, "interrupt", g.interrupt},
		{2, "two at once", func(t *testing.T) { g.together(t, false) }},
		{1, "change under way", func(t *testing.T) { g.together(t, true) }},
		{2, "delete", g.remove},
		{2, "add", g.add},
		{1, "calm", g.calm},
	}
	total := 0
	for _, s := range steps {
		total += s.weight
	}
	pick := g.chance.IntN(total)
	for _, s := range steps {
		if pick -= s.weight; pick < 0 {
			g.note("%s", s.name)
			s.do(t)
			g.shop.remote.disturb()
			g.shop.tool.quiet(t)
			g.inspect(t)
			return s.name
		}
	}
	return ""
}

func (g *generator) note(format string, args ...any) {
	g.history = append(g.history, fmt.Sprintf(format, args...))
	if len(g.history) > 12 {
		g.history = g.history[1:]
	}
}

func (g *generator) inspect(t *testing.T) {
	t.Helper()
	for _, fault := range g.inspector.inspect(t) {
		t.Error(fault)
	}
}

// run runs the program, hears what it tells, and with fine set fails when it fails.
func (g *generator) run(t *testing.T, fine bool, args ...string) run {
	t.Helper()
	r := g.shop.run(t, args...)
	g.heard(t, r, fine, args)
	return r
}

func (g *generator) heard(t *testing.T, r run, fine bool, args []string) {
	t.Helper()
	g.inspector.hear(t, r)
	g.note("  %s: %d\n%s", strings.Join(args, " "), r.code, r.stderr)
	if fine && r.code != 0 && !held(r) {
		t.Errorf("%s ended with %d", strings.Join(args, " "), r.code)
	}
}

// held tells whether a run failed since a killed one has left a Unit leased whose deletion stands in the way of making it
// anew. It says how to recover the lease.
func held(r run) bool {
	return strings.Contains(r.stderr, "is being deleted") && len(recoveries(r.stderr)) > 0
}

func (g *generator) convergeArgs() []string {
	return []string{"converge", "--environment", "dev", "--authored", "--source-revision", "HEAD", "--yes",
		"--max-parallel", fmt.Sprint(1 + g.chance.IntN(3)), "--output", "json"}
}

func (g *generator) converge(t *testing.T, fine bool) { g.run(t, fine, g.convergeArgs()...) }
