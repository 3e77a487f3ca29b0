package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/gitopsctr/gitopsctr/internal/desired"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/report"
)

// Converge runs what is not clean until nothing is left to do (chapter D, section 8): with documents it applies first, and
// again whenever new evidence lets a waiting Unit go on.
//
// The loop is level-triggered: it looks at the state of all Units, starts every ready one whose producers are settled, up
// to the limit of parallel drivers, waits for one to end, and looks again. A Unit that fails holds back its consumers only.
func (e *Engine) Converge(ctx context.Context, r ConvergeRequest) (Outcome, error) {
	start := e.Now()
	s, err := e.open(r.Target)
	if err != nil {
		return Outcome{}, err
	}
	if len(r.Files) > 0 || r.Authored {
		if err := s.checkGate("apply"); err != nil {
			return Outcome{}, err
		}
	}
	if r.MaxSteps < 0 {
		return Outcome{}, &UsageError{Message: "--max-steps must be 1 or more"}
	}
	e.emit(report.RunStarted{Operation: "converge", Environment: r.Environment})
	c := &convergence{engine: e, scope: s, request: r, ran: map[string]*runRecord{}, destroyed: map[string]report.UnitResult{}, done: make(chan completion)}
	if err := c.read(ctx); err != nil {
		return Outcome{}, err
	}
	e.emitRefs(s, c.planes)
	c.run = e.newRun("converge", s, c.planes)
	err = c.converge(ctx)
	c.finish(err)
	if err == nil {
		e.tellLineage(ctx, &c.run, c.planes.desired)
	}
	c.run.Duration = e.Now().Sub(start)
	e.emit(report.RunFinished{Run: c.run})
	if err == nil {
		err = c.failed()
	}
	moved := c.run.DesiredBefore != c.run.DesiredRevision || c.progressed
	return Outcome{Run: c.run, Publication: c.publication, Reconciled: &moved}, err
}

// read reads the documents and, at the same time, the two refs. Faults of the documents are told before those of the refs.
func (c *convergence) read(ctx context.Context) error {
	var group errgroup.Group
	group.Go(func() (err error) {
		c.planes, err = c.engine.fetch(ctx, c.scope)
		return err
	})
	if len(c.request.Files) > 0 || c.request.Authored {
		applier, err := c.engine.newApplier(ctx, c.scope, c.request.ApplyRequest)
		if err != nil {
			_ = group.Wait() // the fault of the documents comes first
			return err
		}
		c.applier = applier
		c.applier.keepLeased = true
	}
	return group.Wait()
}

// convergence is one Converge on its way.
type convergence struct {
	engine      *Engine
	scope       *scope
	request     ConvergeRequest
	applier     *applier // nil without documents
	candidate   *desired.Candidate
	planes      *planes
	work        *work
	run         report.Run
	publication Publication

	targets    []string // the Units that this run is about, with their producers; nil is all
	ran        map[string]*runRecord
	destroyed  map[string]report.UnitResult // the Units that this run tore down and finalized
	running    int
	steps      int
	progressed bool
	contended  bool // another run works on the same Units
	superseded bool // another run has applied a newer commit
	done       chan completion
}

// runRecord is what this run did with one Unit.
type runRecord struct {
	blob    string // of the desired document that ran last
	times   int
	running bool
	result  report.UnitResult
}

type completion struct {
	unit   string
	result report.UnitResult
}

func (c *convergence) converge(ctx context.Context) (err error) {
	if c.work, err = c.engine.newWork(c.scope); err != nil {
		return err
	}
	if err := c.makeWay(ctx); err != nil {
		return err
	}
	if err := c.begin(ctx); err != nil {
		return err
	}
	if err := c.planes.requireDesired(c.scope); err != nil {
		return err
	}
	if err := c.cleanUpLeases(ctx); err != nil {
		return err
	}
	if err := c.selectTargets(); err != nil {
		return err
	}
	if err := c.finalizeRoots(ctx); err != nil {
		return err
	}
	for {
		startErr := c.startReady(ctx)
		err = errors.Join(err, startErr)
		if c.running == 0 {
			if err = errors.Join(err, ctx.Err()); err == nil && c.gated() {
				err = c.advance(ctx)
			}
			return err
		}
		c.settle(<-c.done)
		for more := true; more; {
			select {
			case d := <-c.done:
				c.settle(d)
			default:
				more = false
			}
		}
		if err != nil || ctx.Err() != nil {
			for c.running > 0 {
				c.settle(<-c.done)
			}
			return errors.Join(err, ctx.Err())
		}
		if err = c.refresh(ctx); err != nil {
			for c.running > 0 {
				c.settle(<-c.done)
			}
			return err
		}
	}
}

// advance applies the documents to the present evidence.
func (c *convergence) advance(ctx context.Context) error {
	if c.applier == nil || c.superseded {
		return nil
	}
	candidate, publication, err := c.applier.apply(ctx, c.planes)
	if err != nil {
		if c.supersededBy(err) {
			return nil
		}
		return err
	}
	c.candidate = candidate
	if publication.Revision != "" {
		c.publication = publication
	}
	return nil
}

// refresh reads the heads again after Receipts were published, and applies again when a waiting Unit may go on.
func (c *convergence) refresh(ctx context.Context) error {
	heads, err := c.engine.store.Fetch(ctx, c.scope.refs.Desired, c.scope.refs.Observed)
	if err != nil {
		return err
	}
	if d := heads[c.scope.refs.Desired]; d != nil {
		c.planes.desired = d
	}
	if o := heads[c.scope.refs.Observed]; o != nil {
		c.planes.observed = o
	}
	if err := c.planes.load(c.scope); err != nil {
		return err
	}
	if err := c.engine.checkMerged(ctx, c.scope, c.planes.desired); err != nil || c.gated() {
		return err
	}
	return c.advance(ctx)
}

// settle takes in the end of one driver run.
func (c *convergence) settle(d completion) {
	c.running--
	record := c.ran[d.unit]
	record.running, record.result = false, d.result
	if d.result.Action == "" { // no driver ran: the Unit is held, or done by another run
		c.notRun(d.unit, record)
	}
	if d.result.Outcome == report.Destroyed {
		c.progressed = true
		c.destroyed[d.unit] = d.result
		delete(c.ran, d.unit) // a later Unit of this name is another one
	}
	if d.result.Outcome == report.Applied {
		c.progressed = true
		if d.result.ReceiptRevision != "" {
			c.run.ObservedRevision = d.result.ReceiptRevision
		}
	}
}

// selectTargets resolves --unit and --partition once, against the state at the start.
func (c *convergence) selectTargets() error {
	state := c.planes.state
	known := c.names()
	switch {
	case len(c.request.Units) > 0:
		for _, name := range c.request.Units {
			if !slices.Contains(known, name) && !isFinalized(state, name) {
				return fmt.Errorf("environment %s has no Unit %q on %s; it has %s", c.scope.Environment, name, c.scope.refs.Desired, listOrNone(known))
			}
		}
		c.targets = slices.Clone(c.request.Units)
	case c.request.Partition != "":
		c.targets = []string{}
		for _, name := range state.Names() {
			if partitionOf(state, state.Unit(name)) == c.request.Partition {
				c.targets = append(c.targets, name)
			}
		}
		if len(c.targets) == 0 && c.applier == nil {
			return fmt.Errorf("environment %s has no Unit in partition %q on %s", c.scope.Environment, c.request.Partition, c.scope.refs.Desired)
		}
	}
	return nil
}

// names are all Units that are known: desired, blocked or among the documents; sorted.
func (c *convergence) names() []string {
	var names []string
	if c.applier != nil {
		names = unitNames(c.planes.state, c.applier.inputs.documents)
	} else {
		names = c.planes.state.Names()
	}
	names = append(names, c.planes.state.Blocks.Units()...)
	slices.Sort(names)
	return slices.Compact(names)
}

// producers are the Units that a Unit reads from, by its desired document and by its authored one.
func (c *convergence) producers(name string) []string {
	var out []string
	if u := c.planes.state.Unit(name); u != nil {
		out = u.Producers()
	}
	if c.applier != nil {
		out = append(out, c.applier.inputs.producers[name]...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// inScope are the Units that this run covers: the targets and, transitively, their producers unless the request leaves
// them out; sorted.
func (c *convergence) inScope() []string {
	all := c.names()
	if c.targets == nil {
		return all
	}
	seen := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if _, known := slices.BinarySearch(all, name); !known || seen[name] {
			return
		}
		seen[name] = true
		if c.request.WithoutDependencies {
			return
		}
		for _, p := range c.producers(name) {
			visit(p)
		}
	}
	for _, name := range c.targets {
		visit(name)
	}
	return slices.DeleteFunc(all, func(name string) bool { return !seen[name] })
}

// startReady starts the ready Units that nothing holds back, in dependency order, as far as the limits allow.
func (c *convergence) startReady(ctx context.Context) error {
	if ctx.Err() != nil || c.running >= c.engine.MaxParallel {
		return nil
	}
	if err := c.startDeletions(ctx, c.deletions()); err != nil {
		return err
	}
	schedule, err := c.schedule()
	if err != nil {
		return err
	}
	for _, name := range c.spread(schedule.startable) {
		if c.running >= c.engine.MaxParallel {
			return nil
		}
		if err := c.start(ctx, name, schedule.status[name]); err != nil {
			return err
		}
	}
	return nil
}

func (c *convergence) start(ctx context.Context, name string, status observed.Status) error {
	u := c.planes.state.Unit(name)
	record := c.ran[name]
	switch {
	case record == nil:
		record = &runRecord{}
		c.ran[name] = record
	case record.blob == u.Blob:
		return fmt.Errorf("Unit %s is to run again for the document that was just applied: its Receipt did not stay on %s; look for another writer of that branch", name, c.scope.refs.Observed)
	case c.request.FailOnRepeat && record.times > 0:
		return fmt.Errorf("Unit %s is to run a second time in this run, and --fail-on-repeat is set", name)
	case record.times > len(c.names()):
		return fmt.Errorf("Unit %s ran %d times without settling: what it reads changes with each run; look for a cycle through %s", name, record.times, listOrNone(c.producers(name)))
	}
	if err := c.withinLimit(name); err != nil {
		return err
	}
	if c.engine.Approve != nil {
		approved, err := c.engine.Approve(name)
		if err != nil {
			return err
		}
		if !approved {
			return fmt.Errorf("the run of Unit %s was not approved; nothing further was started (use --yes to approve everything)", name)
		}
	}
	receipt, err := c.planes.state.Receipt(name)
	if err != nil {
		return err
	}
	record.blob, record.running = u.Blob, true
	record.times++
	c.steps++
	c.running++
	c.run.DriversRan = append(c.run.DriversRan, name)
	t := task{unit: u, desiredRevision: c.planes.desired.Revision(), receipt: receipt, reason: c.reason(name, status), contended: c.contended}
	go func() { c.done <- completion{unit: name, result: c.engine.runUnit(ctx, c.work, t)} }()
	return nil
}

// reason says why a Unit runs: the causes that the apply found, else its state.
func (c *convergence) reason(name string, status observed.Status) string {
	if c.candidate != nil {
		if d, ok := c.candidate.Decision(name); ok && len(d.Causes) > 0 {
			return strings.Join(d.Causes, ", ")
		}
	}
	return status.Reason
}

// failed is the error of a run in which drivers failed.
func (c *convergence) failed() error {
	var names []string
	for _, u := range c.run.Units {
		if u.Outcome == report.Failed {
			names = append(names, u.Unit)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return &DriverError{Units: names}
}
