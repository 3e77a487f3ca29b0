// Package schedule runs the nodes of a dependency graph in parallel, within a limit, producers before consumers.
//
// # Algorithm
//
// A Queue holds entries, one per node, in the order in which they were first added. An entry is
//
//   - pending: it waits until every one of its producers in the queue has succeeded;
//   - ready: nothing stands in its way, a place within the limit does;
//   - running: its function is called in a goroutine of its own;
//   - ended: it succeeded or failed.
//
// One loop does everything: start ready entries while there are places, in the order of the entries; else wait for a running
// one to end. An entry that succeeds makes those consumers ready that wait for nothing else. An entry that fails makes
// nothing ready, so just what depends on it stays pending, and all else goes on. When nothing is ready and nothing runs,
// the loop ends, and what is still pending is told apart then: it depends on a failure (Skipped), or the context ended
// (NotStarted), or it waits for itself in a circle (Stuck).
//
// Work may be added at any time, also by a running function: a new node, or one that is there already. The latter is run
// again, after its present run if it is running. Nothing is remembered of why: whoever adds looks at the level of things,
// not at the edge. Pending consumers wait for the new run; ended ones are not run again unless added. A node that failed
// and is added again gives its consumers another chance.
//
// When the context ends nothing more is started, running functions are waited for, and no goroutine outlives Run.
//
// The package knows names and functions only: no Units, no time limits, no retries.
package schedule

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// A Func does the work of one node. Its error makes the node Failed. It should end soon after its context does. It may add
// to the queue that runs it.
type Func func(ctx context.Context, node string) error

// A Queue is a set of nodes to run. Add and Run may be called from several goroutines, Run once.
type Queue struct {
	mu      sync.Mutex
	entries map[string]*entry
	order   []*entry // as first added
	waiting map[string]map[*entry]bool
	ready   []*entry // in the order of the entries
	started []string
	wake    chan struct{} // tells Run that there may be new work; nil before
}

type phase int

const (
	pending phase = iota
	ready
	running
	succeeded
	failed
)

type entry struct {
	node      string
	index     int
	producers []string
	phase     phase
	again     bool // added while running
	err       error
}

// Add adds a node and the producers that it waits for, or lets a node run again with these producers instead of its
// former ones. A producer that is not in the queue when the node could start is not waited for: add producers first, or
// all before Run.
func (q *Queue) Add(node string, producers ...string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.entries == nil {
		q.entries, q.waiting = map[string]*entry{}, map[string]map[*entry]bool{}
	}
	e := q.entries[node]
	if e == nil {
		e = &entry{node: node, index: len(q.order)}
		q.entries[node] = e
		q.order = append(q.order, e)
	}
	for _, p := range e.producers {
		delete(q.waiting[p], e)
	}
	e.producers = slices.Clone(producers)
	for _, p := range e.producers {
		if q.waiting[p] == nil {
			q.waiting[p] = map[*entry]bool{}
		}
		q.waiting[p][e] = true
	}
	switch e.phase {
	case running:
		e.again = true
	case ready:
		// It is looked at again when its turn comes.
	default:
		q.renew(e)
	}
	select {
	case q.wake <- struct{}{}:
	default: // Run is not waiting, or has been told already.
	}
}

// renew makes an entry pending, or ready if it may start.
func (q *Queue) renew(e *entry) {
	e.phase, e.err, e.again = pending, nil, false
	if q.free(e) {
		q.makeReady(e)
	}
}

func (q *Queue) makeReady(e *entry) {
	e.phase = ready
	at, _ := slices.BinarySearchFunc(q.ready, e, func(a, b *entry) int { return cmp.Compare(a.index, b.index) })
	q.ready = slices.Insert(q.ready, at, e)
}

// free tells whether nothing holds an entry back.
func (q *Queue) free(e *entry) bool {
	for _, p := range e.producers {
		if producer := q.entries[p]; producer != nil && producer.phase != succeeded {
			return false
		}
	}
	return true
}

// next takes the first ready entry and marks it running; nil when there is none.
func (q *Queue) next() *entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.ready) > 0 {
		e := q.ready[0]
		q.ready = q.ready[1:]
		// A producer may have been added, or added again, since the entry became ready.
		if !q.free(e) {
			e.phase = pending
			continue
		}
		e.phase = running
		q.started = append(q.started, e.node)
		return e
	}
	return nil
}

// end records how a run ended and makes ready what waited for it.
func (q *Queue) end(e *entry, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if e.again {
		q.renew(e)
		return
	}
	e.phase, e.err = succeeded, err
	if err != nil {
		e.phase = failed
		return
	}
	for consumer := range q.waiting[e.node] {
		if consumer.phase == pending && q.free(consumer) {
			q.makeReady(consumer)
		}
	}
}

// Run runs the nodes, at most limit at a time and at least one, until nothing is left that can run or the context ends. It
// returns when the last function has returned.
func (q *Queue) Run(ctx context.Context, limit int, work Func) Report {
	limit = max(limit, 1)
	type end struct {
		entry *entry
		err   error
	}
	ended := make(chan end)
	wake := q.listen()
	for active := 0; ; {
		for active < limit && ctx.Err() == nil {
			e := q.next()
			if e == nil {
				break
			}
			active++
			go func() { ended <- end{e, work(ctx, e.node)} }()
		}
		if active == 0 {
			return q.report(ctx)
		}
		select {
		case end := <-ended:
			q.end(end.entry, end.err)
			active--
		case <-wake:
		}
	}
}

func (q *Queue) listen() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.wake = make(chan struct{}, 1)
	return q.wake
}

// Walk runs every node once, producers before consumers, in the given order where that leaves a choice.
func Walk(ctx context.Context, nodes []string, producers func(node string) []string, limit int, work Func) Report {
	var q Queue
	for _, n := range nodes {
		q.Add(n, producers(n)...)
	}
	return q.Run(ctx, limit, work)
}
