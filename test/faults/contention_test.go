package faults

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// Many processes converge the same environment at once, through one server. Every Unit gets a Receipt for its desired document;
// with leases its effect happens once, whoever is first, and the Receipts go out in groups.
func TestContention(t *testing.T) {
	const processes = 8
	count := 16
	if full {
		count = 200
	}
	units := map[string]string{}
	for i := range count {
		units[fmt.Sprintf("unit-%03d", i)] = fmt.Sprintf("input-%03d", i)
	}
	for _, leases := range []bool{true, false} {
		if !leases && !full {
			continue
		}
		t.Run(fmt.Sprintf("leases=%t", leases), func(t *testing.T) {
			s := newShop(t, leases, units)
			start := time.Now()
			runs := make([]run, processes)
			var all sync.WaitGroup
			for i := range runs {
				all.Go(func() { runs[i] = s.converge(t, "--max-parallel", "4") })
			}
			all.Wait()
			took := time.Since(start)
			for i, r := range runs {
				if r.code != 0 {
					t.Errorf("process %d ended with %d:\n%s", i, r.code, r.stderr)
				}
			}
			receipts := s.currentReceipts(t)
			if len(receipts) != count {
				t.Errorf("current Receipts: want %d, got %d", count, len(receipts))
			}
			effects := 0
			for unit, n := range s.tool.effects(t) {
				effects += n
				if leases && n != 1 {
					t.Errorf("effects of Unit %s: want 1, got %d", unit, n)
				}
			}
			if effects < count {
				t.Errorf("effects: want %d or more, got %d", count, effects)
			}
			if overlaps := overlapping(s.tool.log(t)); leases && len(overlaps) > 0 {
				t.Errorf("effects overlap in time: %v", overlaps)
			}
			pushes := s.remote.pushesOf(observedRef)
			if limit := count + 2*processes; leases && pushes > limit {
				t.Errorf("pushes of %s: want at most %d, got %d", observedRef, limit, pushes)
			}
			t.Logf("%d processes, %d Units in %s: %d effects; pushes: %d desired, %d observed, %d leases", processes, count,
				took.Round(100*time.Millisecond), effects, s.remote.pushesOf(desiredRef), pushes, s.remote.pushesOf(leaseRef))
			if r := s.converge(t); r.code != 0 || !strings.Contains(r.stderr, "no drivers ran") {
				t.Errorf("a run afterwards ended with %d:\n%s", r.code, r.stderr)
			}
		})
	}
}

// currentReceipts are the Units whose Receipts are for their present desired document.
func (s *shop) currentReceipts(t *testing.T) []string {
	t.Helper()
	blobs := map[string]string{}
	for _, f := range listTree(t, s.bare, desiredRef) {
		blobs[f.path] = f.blob
	}
	var out []string
	for _, f := range listTree(t, s.bare, observedRef) {
		if !strings.HasPrefix(f.path, "units/") {
			continue
		}
		var receipt struct {
			Spec struct {
				Desired struct {
					UnitBlob string `yaml:"unitBlob"`
				}
			}
		}
		if err := yaml.Unmarshal([]byte(git(t, s.bare, "cat-file", "blob", f.blob)), &receipt); err != nil {
			t.Fatalf("%s: %v", f.path, err)
		}
		if receipt.Spec.Desired.UnitBlob == blobs[f.path] {
			out = append(out, f.path)
		}
	}
	return out
}

// overlapping are the Units with two effects at the same time.
func overlapping(log []effect) []string {
	running := map[string]bool{}
	var out []string
	for _, e := range log {
		if e.what == "begin" && running[e.unit] {
			out = append(out, e.unit)
		}
		running[e.unit] = e.what == "begin"
	}
	return out
}
