package faults

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

var faultShop = map[string]string{"alone": "one", "net": "one", "app": "@net"}

// requests are the requests at which something goes wrong, each at its first and at a later time. They are those of a
// first run, or of a second one after a change.
var requests = []struct {
	name   string
	second bool
	on     operation
	ref    string
	nth    []int
	// quick are the troubles that the short form shows.
	quick []string
}{
	{"reading refs", false, readRefs, "", []int{1, 4}, []string{"request dropped", "429 Too Many Requests"}},
	{"downloading", true, download, "", []int{1}, []string{"answer cut", "answer halved"}},
	{"reading refs for a push", false, pushRefs, "", []int{1, 3}, []string{"answer halved", "503 Service Unavailable"}},
	{"pushing the desired ref", false, push, desiredRef, []int{1, 2}, []string{"pack cut", "answer lost"}},
	{"pushing the lease ref", false, push, leaseRef, []int{1, 3}, []string{"request dropped", "answer lost"}},
	{"pushing the observed ref", false, push, observedRef, []int{1, 3}, []string{"pack cut", "answer lost", "answer cut", "403 Forbidden"}},
}

// A trouble is a mishap by name. A run gets over what a server or a network does now and then. What a person has to repair
// ends the run, which names the remedy.
type trouble struct {
	name    string
	do      mishap
	onPush  bool // makes sense for pushes only
	refuses bool // is for a person to repair
}

var troubles = []trouble{
	{name: "request dropped", do: dropRequest},
	{name: "answer lost", do: loseAnswer},
	{name: "answer cut", do: cutAnswer},
	{name: "answer halved", do: halfAnswer},
	{name: "late", do: delay(2 * time.Second)},
	{name: "pack cut", do: cutRequest, onPush: true},
	{name: "502 Bad Gateway after the push", do: gatewayLosesAnswer, onPush: true},
	{name: "500 Internal Server Error", do: answer(http.StatusInternalServerError)},
	{name: "503 Service Unavailable", do: answer(http.StatusServiceUnavailable)},
	{name: "429 Too Many Requests", do: answer(http.StatusTooManyRequests)},
	{name: "403 Forbidden", do: answer(http.StatusForbidden), refuses: true},
}

// changeAll gives the Units of a shop that read no other new inputs, so that all of them run again.
func (s *shop) changeAll(t *testing.T) {
	t.Helper()
	for _, name := range []string{"alone", "net"} {
		s.setUnit(t, name, "two")
	}
	s.publish(t, "change")
}

// Whatever goes wrong once with one request, the run converges all the same, or ends saying what to do; then the next one
// converges. No effect is repeated unless its Receipt could not be published.
func TestFaults(t *testing.T) {
	t.Parallel()
	want := map[bool]outcome{false: undisturbed(t, true, faultShop), true: undisturbedChange(t)}
	for _, q := range requests {
		for _, trouble := range troubles {
			if trouble.onPush && q.on != push || !full && !slices.Contains(q.quick, trouble.name) {
				continue
			}
			for i, nth := range q.nth {
				if !full && i > 0 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%d", q.name, trouble.name, nth), func(t *testing.T) {
					t.Parallel()
					s := newShop(t, true, faultShop)
					effects := len(faultShop)
					if q.second {
						effects *= 2
						s.settle(t)
						s.changeAll(t)
					}
					hit := false
					s.remote.disturb(fault{on: q.on, ref: q.ref, nth: nth, do: func(w http.ResponseWriter, r *http.Request, next http.Handler) {
						hit = true
						trouble.do(w, r, next)
					}})
					r := s.converge(t, "--max-parallel", "1")
					if !hit {
						t.Fatalf("the run makes no such request:\n%s", r.stderr)
					}
					if trouble.refuses {
						explained(t, r)
					} else if r.code != 0 {
						t.Errorf("the run ended with %d:\n%s", r.code, r.stderr)
					}
					if strings.Contains(r.stderr, "its Receipt was not published") && trouble.refuses {
						effects++
					}
					if got := s.settle(t); got != 0 {
						t.Errorf("%d leases had to be recovered after:\n%s", got, r.stderr)
					}
					sameOutcome(t, want[q.second], s.outcome(t))
					got := 0
					for _, n := range s.tool.effects(t) {
						got += n
					}
					if got != effects {
						t.Errorf("effects: want %d, got %d after:\n%s", effects, got, r.stderr)
					}
				})
			}
		}
	}
}

// undisturbedChange is the outcome of two runs, with a change between them, in which nothing goes wrong.
func undisturbedChange(t *testing.T) outcome {
	t.Helper()
	s := newShop(t, true, faultShop)
	s.settle(t)
	s.changeAll(t)
	s.settle(t)
	return s.outcome(t)
}

// A server that refuses all requests of one sort for the whole run, or is away, ends the run soon, with what to do; nothing is
// lost by that.
func TestOutage(t *testing.T) {
	t.Parallel()
	want := undisturbed(t, true, faultShop)
	for _, q := range requests {
		for _, trouble := range troubles {
			away := full && trouble.name == "503 Service Unavailable" && (q.on == readRefs || q.ref == observedRef)
			if q.second || !trouble.refuses && !away {
				continue
			}
			t.Run(q.name+"/"+trouble.name, func(t *testing.T) {
				t.Parallel()
				s := newShop(t, true, faultShop)
				s.remote.disturb(fault{on: q.on, ref: q.ref, do: trouble.do})
				explained(t, s.converge(t, "--max-parallel", "1"))
				s.settle(t)
				sameOutcome(t, want, s.outcome(t))
			})
		}
	}
}

// explained fails unless a run ended with an error that says what to do.
func explained(t *testing.T, r run) {
	t.Helper()
	if r.code <= 0 {
		t.Errorf("the run ended with %d, want a failure:\n%s", r.code, r.stderr)
	}
	for _, remedy := range []string{"run again", "permissions: contents:", "check the"} {
		if strings.Contains(r.stderr, remedy) {
			return
		}
	}
	t.Errorf("the run does not say what to do:\n%s", r.stderr)
}
