package gitstate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// A Change is one commit to make: its message and its edits to what comes before it.
type Change struct {
	Message string
	Edits   []Edit
}

// An UpdateResult says what an [Store.Update] did.
type UpdateResult struct {
	// Before and After are the branch's head as it was read, and as it was left. Before has the revision "" when the
	// branch did not exist. They are the same snapshot when nothing was to do.
	Before, After *Snapshot
	// Commits are the full ids of the commits made of this call's changes, oldest first. A change that changes no file
	// makes none; so does one that an earlier attempt published without our coming to know it.
	Commits []string
	// Attempts is how many pushes were tried; 0 when nothing was to do.
	Attempts int
}

// Update changes a branch, whatever others do to it meanwhile: it reads the head, lets build say what to change, commits
// and publishes, and begins again from the new head when somebody else was faster. The branch is created if need be.
//
// build gets the newest tree, an empty snapshot if there is none, and may be called several times, from another
// goroutine too. No changes mean that nothing is to do. Its error ends the update as it is.
//
// Updates of one branch that come in while another is under way are published together, in one push.
func (s *Store) Update(ctx context.Context, ref string, build func(current *Snapshot) ([]Change, error)) (UpdateResult, error) {
	u := &update{ctx: ctx, build: build, done: make(chan struct{})}
	q := s.queue(ref)
	q.add(u)
	select {
	case <-u.done:
	case q.turn <- struct{}{}:
		if !u.finished() {
			s.publishTogether(ref, q.take())
		}
		<-q.turn
	case <-ctx.Done():
		if q.withdraw(u) {
			return UpdateResult{}, fmt.Errorf("publish %s: %w", ref, ctx.Err())
		}
		<-u.done
	}
	return u.result, u.err
}

// A queue holds the updates of one branch that wait for their turn. Whoever has the turn publishes all of them.
type queue struct {
	turn chan struct{} // capacity 1; full while somebody publishes

	mu      sync.Mutex
	waiting []*update
}

type update struct {
	ctx    context.Context
	build  func(*Snapshot) ([]Change, error)
	done   chan struct{} // closed when result and err are set
	result UpdateResult
	err    error
}

func (s *Store) queue(ref string) *queue {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queues[ref]
	if q == nil {
		q = &queue{turn: make(chan struct{}, 1)}
		s.queues[ref] = q
	}
	return q
}

func (q *queue) add(u *update) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, u)
}

func (q *queue) take() []*update {
	q.mu.Lock()
	defer q.mu.Unlock()
	taken := q.waiting
	q.waiting = nil
	return taken
}

// withdraw removes an update that nobody has taken yet.
func (q *queue) withdraw(u *update) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, w := range q.waiting {
		if w == u {
			q.waiting = append(q.waiting[:i:i], q.waiting[i+1:]...)
			return true
		}
	}
	return false
}

func (u *update) finished() bool {
	select {
	case <-u.done:
		return true
	default:
		return false
	}
}

func (u *update) finish(err error) {
	u.err = err
	close(u.done)
}

// publishTogether carries out updates until each is published or has failed. It is cancelled when all of them are.
func (s *Store) publishTogether(ref string, updates []*update) {
	ctx, cancel := joinContexts(updates)
	defer cancel()
	end := time.Now().Add(s.retry.Window)
	var failed failures
	for attempt := 1; ; attempt++ {
		var err error
		updates, err = s.tryTogether(ctx, ref, updates, attempt)
		if len(updates) == 0 {
			return
		}
		if ctx.Err() == nil && time.Now().Before(end) && s.again(ctx, err, &failed) {
			continue
		}
		for _, u := range updates {
			u.finish(err)
		}
		return
	}
}

// failures count the attempts that came to nothing.
type failures struct {
	races   int // somebody else was faster
	outages int
}

// again says whether to try again after err, and waits for the right time. A lost race is no sign that anything is wrong:
// who backs off from it for long only loses against those who come later, so these delays stay short.
func (s *Store) again(ctx context.Context, err error, failed *failures) bool {
	switch kind := kindOf(err); {
	case kind == Moved:
		failed.races++
		return failed.races < s.retry.Races && s.backOff(ctx, failed.races, maxRaceDelay)
	case kind.transient():
		failed.outages++
		return failed.outages < s.retry.Attempts && s.backOff(ctx, failed.outages, maxDelay)
	}
	return false
}

// kindOf is the kind of a failure of the remote, "" for any other error.
func kindOf(err error) Kind {
	var push *PushError
	var fetch *FetchError
	switch {
	case errors.As(err, &push):
		return push.Kind
	case errors.As(err, &fetch):
		return fetch.Kind
	}
	return ""
}

// tryTogether makes one attempt. It returns the updates that are not finished, and why.
func (s *Store) tryTogether(ctx context.Context, ref string, updates []*update, attempt int) ([]*update, error) {
	heads, err := s.Fetch(ctx, ref)
	if err != nil {
		return updates, err
	}
	before := heads[ref]
	if before == nil {
		before = EmptySnapshot()
	}
	head := before
	var open []*update
	for _, u := range updates {
		next, err := s.commitUpdate(u, head)
		if err != nil {
			u.finish(err)
			continue
		}
		head = next
		open = append(open, u)
	}
	if len(open) == 0 {
		return nil, nil
	}
	after := head
	if head != before {
		revision, err := s.Publish(ctx, ref, head.Revision(), before.Revision())
		if err != nil {
			return open, err
		}
		if revision != head.Revision() { // somebody published the very same
			for _, u := range open {
				if n := len(u.result.Commits); n > 0 && u.result.Commits[n-1] == head.Revision() {
					u.result.Commits[n-1] = revision
				}
			}
			if heads, err = s.Fetch(ctx, ref); err != nil {
				return open, err
			}
			if h := heads[ref]; h != nil {
				after = h
			}
		}
	}
	for _, u := range open {
		u.result.Before, u.result.After = before, after
		if len(u.result.Commits) > 0 {
			u.result.Attempts = attempt
		}
		u.finish(nil)
	}
	return nil, nil
}

// commitUpdate commits one update's changes on top of head, and returns the new head.
func (s *Store) commitUpdate(u *update, head *Snapshot) (*Snapshot, error) {
	u.result = UpdateResult{}
	if err := u.ctx.Err(); err != nil {
		return nil, err
	}
	changes, err := u.build(head)
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		if head.revision == "" && len(c.Edits) == 0 {
			continue
		}
		t, err := s.BuildTree(head, c.Edits)
		if err != nil {
			return nil, err
		}
		if t.ID() == head.TreeID() {
			continue
		}
		var parents []string
		if head.revision != "" {
			parents = []string{head.revision}
		}
		if head, err = s.Commit(u.ctx, t, parents, c.Message); err != nil {
			return nil, err
		}
		u.result.Commits = append(u.result.Commits, head.revision)
	}
	return head, nil
}

// These bound the mean delay between attempts.
const (
	maxDelay     = 2 * time.Second
	maxRaceDelay = 300 * time.Millisecond
)

// backOff waits before the next attempt: between half and one and a half times a delay that doubles each time up to a
// limit. It is false when the context ended meanwhile.
func (s *Store) backOff(ctx context.Context, attempt int, limit time.Duration) bool {
	delay := s.retry.Delay
	for i := 1; i < attempt && delay < limit; i++ {
		delay *= 2
	}
	return sleep(ctx, min(delay, limit), s.rand())
}

// joinContexts returns a context that ends when all the updates' contexts have ended.
func joinContexts(updates []*update) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(updates[0].ctx))
	var mu sync.Mutex
	running := len(updates)
	stops := make([]func() bool, len(updates))
	for i, u := range updates {
		stops[i] = context.AfterFunc(u.ctx, func() {
			mu.Lock()
			defer mu.Unlock()
			if running--; running == 0 {
				cancel()
			}
		})
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}
