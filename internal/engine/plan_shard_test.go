package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestShardsOfComponents(t *testing.T) {
	t.Parallel()
	producers := map[string][]string{"a": nil, "b": {"a"}, "c": {"b"}, "d": nil, "e": {"d"}, "f": nil, "g": {"gone"}}
	for n, want := range map[int][][]string{
		1: {{"a", "b", "c", "d", "e", "f", "g"}},
		2: {{"a", "b", "c", "g"}, {"d", "e", "f"}},
		3: {{"a", "b", "c"}, {"d", "e"}, {"f", "g"}},
		9: {{"a", "b", "c"}, {"d", "e"}, {"f"}, {"g"}},
	} {
		if diff := cmp.Diff(want, balance(components(producers), n)); diff != "" {
			t.Errorf("%d shards (-want +got):\n%s", n, diff)
		}
	}
	if got := balance(components(nil), 3); len(got) != 0 {
		t.Errorf("no Units: want no shards, got %v", got)
	}
}

// Whatever the graph, every Unit is in one shard, no edge leaves a shard, and a shard is larger than the smallest by at
// most its largest component.
func TestShardsShareNothing(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		producers := map[string][]string{}
		units := 1 + random.IntN(60)
		for i := range units {
			name := fmt.Sprintf("u%d", i)
			producers[name] = nil
			if i > 0 && random.IntN(2) == 0 {
				producers[name] = []string{fmt.Sprintf("u%d", random.IntN(i))}
			}
		}
		groups := balance(components(producers), 1+random.IntN(8))
		shard := map[string]int{}
		sizes := make([]int, len(groups))
		for i, group := range groups {
			sizes[i] = len(group)
			for _, name := range group {
				if _, twice := shard[name]; twice {
					t.Fatalf("%s is in two shards", name)
				}
				shard[name] = i
			}
		}
		if len(shard) != units {
			t.Fatalf("want %d Units, got %d", units, len(shard))
		}
		largest := 0
		for _, component := range components(producers) {
			largest = max(largest, len(component))
		}
		if slices.Max(sizes)-slices.Min(sizes) > largest {
			t.Errorf("sizes %v with a largest component of %d", sizes, largest)
		}
		for name, from := range producers {
			for _, p := range from {
				if shard[name] != shard[p] {
					t.Errorf("the edge from %s to %s leaves its shard", name, p)
				}
			}
		}
	}
}
