package report

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// recorder keeps events; it relies on the Bus for exclusion, so that the race detector checks the Bus.
type recorder struct{ events []Event }

func (r *recorder) Event(e Event) { r.events = append(r.events, e) }

func TestBusSerializes(t *testing.T) {
	t.Parallel()
	first, second := &recorder{}, &recorder{}
	bus := Serial(first, second)
	var group sync.WaitGroup
	for i := range 20 {
		unit := strconv.Itoa(i)
		group.Go(func() {
			bus.Event(UnitStarted{Unit: unit})
			bus.Event(UnitOutput{Unit: unit})
			bus.Event(UnitFinished{UnitResult{Unit: unit}})
		})
	}
	group.Wait()
	if len(first.events) != 60 {
		t.Errorf("got %d events, want 60", len(first.events))
	}
	if diff := cmp.Diff(first.events, second.events); diff != "" {
		t.Errorf("the sinks saw different events (-first +second):\n%s", diff)
	}
}

func TestHeartbeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sink := &recorder{}
		bus := Serial(sink)
		stop := bus.Heartbeat(context.Background(), 30*time.Second)
		bus.Event(UnitStarted{Unit: "b"})
		bus.Event(UnitStarted{Unit: "a"})
		time.Sleep(45 * time.Second)
		bus.Event(UnitFinished{UnitResult{Unit: "b"}})
		time.Sleep(30 * time.Second)
		stop()
		time.Sleep(time.Hour)
		want := []Event{
			UnitStarted{Unit: "b"}, UnitStarted{Unit: "a"},
			UnitRunning{"a", 30 * time.Second}, UnitRunning{"b", 30 * time.Second},
			UnitFinished{UnitResult{Unit: "b"}},
			UnitRunning{"a", 60 * time.Second},
		}
		if diff := cmp.Diff(want, sink.events); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}
