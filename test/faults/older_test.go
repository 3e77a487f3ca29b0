package faults

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// A run of an older commit that is still under way when a newer one was applied does not take that back: it tells that it is
// stale, and goes on with what the desired ref holds.
func TestOlderRunIsStale(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		newer func(*testing.T, *shop)
		want  []effect // of the Unit alone, finished
	}{
		"a change": {
			newer: func(t *testing.T, s *shop) {
				s.setUnit(t, "alone", "three")
				s.publish(t, "three")
				if r := s.run(t, "apply", "--environment", "dev", "--authored", "--source-revision", "HEAD"); r.code != 0 {
					t.Fatalf("apply ended with %d:\n%s", r.code, r.stderr)
				}
			},
			want: []effect{{"end", "alone", "one"}, {"end", "alone", "two"}, {"end", "alone", "three"}},
		},
		"a deletion": {
			newer: func(t *testing.T, s *shop) {
				s.removeUnit(t, "alone")
				if r := s.run(t, "delete", "unit", "--environment", "dev", "--name", "alone", "--uid", s.uid(t, "alone")); r.code != 0 {
					t.Fatalf("delete ended with %d:\n%s", r.code, r.stderr)
				}
			},
			want: []effect{{"end", "alone", "one"}, {"end", "alone", "two"}, {"end", "alone", "-"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, false, killShop)
			s.settle(t)
			s.changeAll(t)
			s.tool.mark(t, "hold-net", true)
			older := make(chan run)
			go func() { older <- s.converge(t, "--max-parallel", "2") }()
			s.await(t, "the Receipt of alone and the begin of net", func() bool {
				return slices.Contains(s.tool.log(t), effect{"begin", "net", "two"}) && slices.Contains(s.currentReceipts(t), "units/alone.yaml") &&
					slices.Contains(s.tool.log(t), effect{"end", "alone", "two"})
			})
			test.newer(t, s)
			s.tool.mark(t, "hold-net", false)
			if r := <-older; r.code != 0 || !strings.Contains(r.stderr, "STALE ") {
				t.Errorf("the older run ended with %d:\n%s", r.code, r.stderr)
			}
			s.settle(t)
			var got []effect
			for _, e := range s.tool.log(t) {
				if e.what == "end" && e.unit == "alone" {
					got = append(got, e)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("effects: want %v, got %v", test.want, got)
			}
		})
	}
}

// await waits until something has happened.
func (s *shop) await(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if happened() {
			return
		}
	}
	t.Fatalf("%s did not come", what)
}
