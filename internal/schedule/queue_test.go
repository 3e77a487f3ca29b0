package schedule

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var errBroken = errors.New("broken")

// edges makes the producers function of Walk.
func edges(m map[string][]string) func(string) []string {
	return func(n string) []string { return m[n] }
}

func TestWalk(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		nodes     []string
		producers map[string][]string
		fails     []string
		started   []string // with limit 1
		results   []Result
	}{
		"nothing": {results: []Result{}},
		"producers first, else the given order": {
			nodes: []string{"c", "z", "b", "a"}, producers: map[string][]string{"c": {"a", "b"}, "b": {"a"}},
			started: []string{"z", "a", "b", "c"},
			results: []Result{{Node: "c", State: Succeeded}, {Node: "z", State: Succeeded}, {Node: "b", State: Succeeded}, {Node: "a", State: Succeeded}},
		},
		"a producer that is not in the queue is not waited for": {
			nodes: []string{"a"}, producers: map[string][]string{"a": {"elsewhere"}},
			started: []string{"a"}, results: []Result{{Node: "a", State: Succeeded}},
		},
		"a failure stops its consumers only": {
			nodes:     []string{"net", "db", "app", "web", "job"},
			producers: map[string][]string{"db": {"net"}, "app": {"db"}, "web": {"app", "job"}},
			fails:     []string{"db"}, started: []string{"net", "db", "job"},
			results: []Result{
				{Node: "net", State: Succeeded}, {Node: "db", State: Failed, Err: errBroken},
				{Node: "app", State: Skipped, Because: "db", WaitsFor: []string{"db"}},
				{Node: "web", State: Skipped, Because: "db", WaitsFor: []string{"app"}},
				{Node: "job", State: Succeeded},
			},
		},
		"the first failure is the cause": {
			nodes: []string{"web", "b", "a"}, producers: map[string][]string{"web": {"a", "b"}}, fails: []string{"a", "b"},
			started: []string{"b", "a"},
			results: []Result{
				{Node: "web", State: Skipped, Because: "b", WaitsFor: []string{"a", "b"}},
				{Node: "b", State: Failed, Err: errBroken}, {Node: "a", State: Failed, Err: errBroken},
			},
		},
		"circles are stuck, the rest runs": {
			nodes: []string{"a", "b", "self", "behind", "ok"}, producers: map[string][]string{"a": {"b"}, "b": {"a", "ok"}, "self": {"self"}, "behind": {"a"}},
			started: []string{"ok"},
			results: []Result{
				{Node: "a", State: Stuck, WaitsFor: []string{"b"}}, {Node: "b", State: Stuck, WaitsFor: []string{"a"}},
				{Node: "self", State: Stuck, WaitsFor: []string{"self"}}, {Node: "behind", State: Stuck, WaitsFor: []string{"a"}},
				{Node: "ok", State: Succeeded},
			},
		},
	} {
		for _, limit := range []int{0, 1, 3} {
			t.Run(fmt.Sprintf("%s, limit %d", name, limit), func(t *testing.T) {
				t.Parallel()
				got := Walk(t.Context(), tc.nodes, edges(tc.producers), limit, func(_ context.Context, n string) error {
					if slices.Contains(tc.fails, n) {
						return errBroken
					}
					return nil
				})
				if diff := cmp.Diff(tc.results, got.Results, cmpopts.EquateErrors()); diff != "" {
					t.Errorf("results (-want +got):\n%s", diff)
				}
				want := slices.Clone(tc.started)
				if limit > 1 {
					slices.Sort(want)
					slices.Sort(got.Started)
				}
				if diff := cmp.Diff(want, got.Started, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("started (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestCancellationWaitsForRunningNodesAndStartsNoMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var finished atomic.Int64
		got := Walk(ctx, []string{"a", "b", "c", "d"}, edges(map[string][]string{"d": {"a"}}), 2, func(ctx context.Context, n string) error {
			if n == "b" {
				cancel()
				return nil
			}
			<-ctx.Done()
			time.Sleep(time.Minute) // the time that a tool needs to stop
			finished.Add(1)
			return ctx.Err()
		})
		want := Report{
			Started: []string{"a", "b"},
			Results: []Result{
				{Node: "a", State: Failed, Err: context.Canceled}, {Node: "b", State: Succeeded},
				{Node: "c", State: NotStarted}, {Node: "d", State: Skipped, Because: "a", WaitsFor: []string{"a"}},
			},
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateErrors()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if finished.Load() != 1 {
			t.Error("Walk returned before a running node")
		}
	})
}

func TestNodesRunInParallelUpToTheLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var active, most atomic.Int64
		nodes := []string{"a", "b", "c", "d", "e", "f", "g"}
		Walk(t.Context(), nodes, edges(nil), 3, func(context.Context, string) error {
			most.Store(max(most.Load(), active.Add(1)))
			time.Sleep(time.Second)
			active.Add(-1)
			return nil
		})
		if want, got := int64(3), most.Load(); want != got {
			t.Errorf("at once: want %d, got %d", want, got)
		}
	})
}

func TestAddedWorkStartsWhileOthersRun(t *testing.T) {
	t.Parallel()
	var q Queue
	q.Add("long")
	began := make(chan struct{})
	got := q.Run(t.Context(), 2, func(_ context.Context, n string) error {
		if n == "long" {
			q.Add("new")
			<-began // would wait for ever if the new node had to wait for this one
			return nil
		}
		close(began)
		return nil
	})
	if diff := cmp.Diff([]string{"long", "new"}, got.Started); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAddAgain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		work    func(q *Queue, run int, n string) error // run counts the node's runs from 1
		started []string
		results []Result
	}{
		"while it runs": {
			func(q *Queue, run int, n string) error {
				if n == "a" && run < 3 {
					q.Add("a")
				}
				return nil
			},
			[]string{"a", "a", "a", "b"},
			[]Result{{Node: "a", State: Succeeded}, {Node: "b", State: Succeeded}},
		},
		"the last run counts": {
			func(q *Queue, run int, n string) error {
				if n == "a" && run == 1 {
					q.Add("a")
					return errBroken
				}
				return nil
			},
			[]string{"a", "a", "b"},
			[]Result{{Node: "a", State: Succeeded}, {Node: "b", State: Succeeded}},
		},
		"with a new producer": {
			func(q *Queue, run int, n string) error {
				if n == "a" && run == 1 {
					q.Add("new")
					q.Add("a", "new")
				}
				return nil
			},
			[]string{"a", "new", "a", "b"},
			[]Result{{Node: "a", State: Succeeded}, {Node: "b", State: Succeeded}, {Node: "new", State: Succeeded}},
		},
		"ended ones": {
			func(q *Queue, run int, n string) error {
				if n == "b" && run == 1 {
					q.Add("a")
				}
				return nil
			},
			[]string{"a", "b", "a"},
			[]Result{{Node: "a", State: Succeeded}, {Node: "b", State: Succeeded}},
		},
		"ready ones once": {
			func(q *Queue, run int, n string) error {
				if n == "a" {
					q.Add("b")
					q.Add("b")
				}
				return nil
			},
			[]string{"a", "b"},
			[]Result{{Node: "a", State: Succeeded}, {Node: "b", State: Succeeded}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var q Queue
			q.Add("a")
			q.Add("b", "a")
			runs := map[string]int{}
			got := q.Run(t.Context(), 1, func(_ context.Context, n string) error {
				runs[n]++
				return tc.work(&q, runs[n], n)
			})
			if diff := cmp.Diff(Report{Started: tc.started, Results: tc.results}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAddingAFailedNodeGivesItsConsumersAnotherChance(t *testing.T) {
	t.Parallel()
	var q Queue
	q.Add("a")
	q.Add("b", "a")
	q.Add("mender")
	tries := 0
	got := q.Run(t.Context(), 1, func(_ context.Context, n string) error {
		switch n {
		case "a":
			if tries++; tries == 1 {
				return errBroken
			}
		case "mender":
			q.Add("a")
		}
		return nil
	})
	want := Report{
		Started: []string{"a", "mender", "a", "b"},
		Results: []Result{{Node: "a", State: Succeeded}, {Node: "b", State: Succeeded}, {Node: "mender", State: Succeeded}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRandomGraphs checks on many graphs: no node starts before its producers have succeeded, each runs at most once, and
// the report says what happened.
func TestRandomGraphs(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		producers := map[string][]string{}
		fails := map[string]bool{}
		var nodes []string
		for i := range 1 + random.IntN(30) {
			n := fmt.Sprint(i)
			nodes = append(nodes, n)
			fails[n] = random.IntN(8) == 0
			for range random.IntN(4) {
				if i > 0 {
					producers[n] = append(producers[n], fmt.Sprint(random.IntN(i)))
				}
			}
		}
		random.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
		var mu sync.Mutex
		done := map[string]bool{}
		report := Walk(t.Context(), nodes, edges(producers), 1+random.IntN(5), func(_ context.Context, n string) error {
			mu.Lock()
			for _, p := range producers[n] {
				if !done[p] {
					t.Errorf("%s started before %s had succeeded", n, p)
				}
			}
			mu.Unlock()
			runtime.Gosched()
			if fails[n] {
				return errBroken
			}
			mu.Lock()
			defer mu.Unlock()
			done[n] = true
			return nil
		})
		state := map[string]State{}
		for _, r := range report.Results {
			state[r.Node] = r.State
		}
		for i := range len(nodes) {
			n, want := fmt.Sprint(i), Succeeded
			if fails[n] {
				want = Failed
			}
			for _, p := range producers[n] {
				if state[p] != Succeeded {
					want = Skipped
				}
			}
			if state[n] != want {
				t.Fatalf("%s: want %s, got %s", n, want, state[n])
			}
		}
		if started := slices.Sorted(slices.Values(report.Started)); len(slices.Compact(started)) != len(report.Started) {
			t.Fatalf("started twice: %v", report.Started)
		}
	}
}

func BenchmarkWalk2000(b *testing.B) {
	producers := map[string][]string{}
	var nodes []string
	for i := range 2000 {
		n := fmt.Sprint(i)
		nodes = append(nodes, n)
		if i > 0 {
			producers[n] = []string{fmt.Sprint(i / 2), fmt.Sprint(i / 3)}
		}
	}
	slices.Reverse(nodes)
	for b.Loop() {
		Walk(b.Context(), nodes, edges(producers), 8, func(context.Context, string) error { return nil })
	}
}
