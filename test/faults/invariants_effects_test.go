package faults

import (
	"maps"
	"slices"
	"testing"
)

// inspectEffects checks that effects of a Unit never overlap, and that none is repeated for the same desired document.
func (i *inspector) inspectEffects(t *testing.T) {
	t.Helper()
	log := i.shop.tool.log(t)
	for _, unit := range overlapping(log) {
		i.fault("no double effect: two effects of Unit %s overlap", unit)
	}
	finished := map[effect]int{}
	for _, e := range log {
		if e.what == "end" && e.input != "-" {
			finished[e]++
		}
	}
	surplus := map[string]int{}
	for e, n := range finished {
		documents := 0
		for _, input := range i.desired["units/"+e.unit+".yaml"] {
			if input == e.input {
				documents++
			}
		}
		surplus[e.unit] += max(0, n-documents)
	}
	for _, unit := range slices.Sorted(maps.Keys(surplus)) {
		if surplus[unit] > i.repeats[unit] {
			i.fault("no double effect: %d effects of Unit %s were repeated, %d had a reason", surplus[unit], unit, i.repeats[unit])
		}
	}
}
