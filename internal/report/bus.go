package report

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// A Bus is a Sink that many goroutines may send to at once: it passes every event to all its sinks, one at a time and in
// the same order. It also knows which drivers run, so that it can tell that long ones are still alive.
type Bus struct {
	now func() time.Time

	mu      sync.Mutex
	sinks   []Sink
	started map[string]time.Time // running Units
}

// Serial returns a Bus in front of the sinks.
func Serial(sinks ...Sink) *Bus {
	return &Bus{now: time.Now, sinks: sinks, started: map[string]time.Time{}}
}

// Event passes the event on. It is safe for concurrent use.
func (b *Bus) Event(e Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := e.(type) {
	case UnitStarted:
		b.started[e.Unit] = b.now()
	case UnitFinished:
		delete(b.started, e.Result.Unit)
	}
	b.send(e)
}

// Beat sends a UnitRunning event for every running Unit, sorted by name.
func (b *Bus) Beat() {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	for _, unit := range slices.Sorted(maps.Keys(b.started)) {
		b.send(UnitRunning{Unit: unit, Elapsed: now.Sub(b.started[unit])})
	}
}

// Heartbeat beats at every interval until the context ends or the returned function is called; that function returns
// after the last beat.
func (b *Bus) Heartbeat(ctx context.Context, every time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				b.Beat()
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

func (b *Bus) send(e Event) {
	for _, s := range b.sinks {
		s.Event(e)
	}
}
