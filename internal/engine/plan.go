package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gitopsctr/gitopsctr/internal/desired"
	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/expression"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/report"
)

// A PlanRequest asks what a converge of the documents would do.
type PlanRequest struct {
	ApplyRequest
	// Units limits the plan to these Units and their producers; none means all.
	Units []string
	// Static forbids every driver: only documents are resolved and compared.
	Static bool
	// ReportDir is the directory for the drivers' plan files, "" for none.
	ReportDir string
}

// Plan shows what applying the documents and converging would change, and changes nothing: no ref is written and no driver
// is run for effect.
//
// It walks the way of a converge with plans in the place of effects. The desired candidate is built in memory with dry
// resolution; every Unit that would run is planned from its candidate document, producers first. What a producer's plan
// knows of its outputs stands in for the Receipt that it would get, so that its consumers are planned with the values that
// they will have; a consumer of a value that is not known before the apply is deferred, and the plan says which value.
func (e *Engine) Plan(ctx context.Context, r PlanRequest) (Outcome, error) {
	start := e.Now()
	s, err := e.open(r.Target)
	if err != nil {
		return Outcome{}, err
	}
	e.emit(report.RunStarted{Operation: "plan", Environment: r.Environment})
	r.Dry = true
	a, err := e.newApplier(ctx, s, r.ApplyRequest)
	if err != nil {
		return Outcome{}, err
	}
	planes, err := e.fetch(ctx, s)
	if err != nil {
		return Outcome{}, err
	}
	e.emitRefs(s, planes)
	p := &planning{
		engine: e, scope: s, request: r, applier: a, planes: planes,
		plans: map[string]*unitPlan{}, foretold: map[string]*document.Node{}, done: make(chan planned),
	}
	a.foretold = p.evidence
	run := e.newRun("plan", s, planes)
	run.SourceRevision = a.inputs.revision
	if err := p.run(ctx); err != nil {
		return Outcome{Run: e.failedRun(run, start)}, err
	}
	return p.outcome(run, start)
}

// planning is one Plan on its way.
type planning struct {
	engine  *Engine
	scope   *scope
	request PlanRequest
	applier *applier
	planes  *planes // as they are; they do not move
	work    *work

	candidate *desired.Candidate
	next      *observed.State // the candidate joined with the present evidence
	plans     map[string]*unitPlan
	foretold  map[string]*document.Node // Unit → the result that its plan foretells, as far as it is known
	ran       []string
	running   int
	done      chan planned
}

// unitPlan is what this run did with one Unit.
type unitPlan struct {
	running bool
	result  report.UnitResult
}

type planned struct {
	unit     string
	result   report.UnitResult
	foretold *document.Node
}

// run plans until there is nothing left to plan.
func (p *planning) run(ctx context.Context) (err error) {
	if err := p.rebuild(ctx); err != nil {
		return err
	}
	if err := p.checkUnits(); err != nil {
		return err
	}
	if p.work, err = p.engine.newWork(p.scope); err != nil {
		return err
	}
	for {
		startErr := p.startReady(ctx)
		err = errors.Join(err, startErr)
		if p.running == 0 {
			return errors.Join(err, ctx.Err())
		}
		news := p.settle(<-p.done)
		if err != nil || ctx.Err() != nil {
			for p.running > 0 {
				p.settle(<-p.done)
			}
			return errors.Join(err, ctx.Err())
		}
		if news {
			err = p.rebuild(ctx)
		}
	}
}

// rebuild makes the candidate with what is foretold by now.
func (p *planning) rebuild(ctx context.Context) error {
	candidate, err := p.applier.build(ctx, p.planes)
	if err != nil {
		return err
	}
	next, err := observed.Load(
		observed.Plane{Ref: p.scope.refs.Desired, Revision: p.planes.desired.Revision(), Tree: candidateTree{candidate, p.planes.desired}},
		p.planes.state.Observed, p.planes.cache)
	if err != nil {
		return err
	}
	p.candidate, p.next = candidate, next
	return nil
}

// checkUnits refuses Units that neither the documents nor the desired ref know.
func (p *planning) checkUnits() error {
	known := p.names()
	for _, name := range p.request.Units {
		if !slices.Contains(known, name) {
			return fmt.Errorf("environment %s has no Unit %q; the documents and %s have %s", p.scope.Environment, name, p.scope.refs.Desired, listOrNone(known))
		}
	}
	return nil
}

// settle takes in the end of one plan, and tells whether the candidate may look different now.
func (p *planning) settle(d planned) bool {
	p.running--
	plan := p.plans[d.unit]
	plan.running, plan.result = false, d.result
	if d.foretold == nil {
		return false
	}
	p.foretold[d.unit] = d.foretold
	return true
}

// foretoldBlob is the fingerprint of evidence that is only foretold: no Git blob has this id.
const foretoldBlob = "0000000000000000000000000000000000000000"

// evidence serves what plans foretell to references.
func (p *planning) evidence(unit string) (expression.Evidence, bool) {
	result := p.foretold[unit]
	return expression.Evidence{Document: result, Fingerprint: foretoldBlob}, result != nil
}

// outcome puts the report together.
func (p *planning) outcome(run report.Run, start time.Time) (Outcome, error) {
	e := p.engine
	var err error
	p.applier.tell(p.candidate)
	if run.Units, err = p.results(); err != nil {
		return Outcome{}, err
	}
	run.DriversRan = p.ran
	run.Result = report.RunClean
	for _, u := range run.Units {
		switch {
		case u.Outcome == report.Failed:
			run.Result = report.RunFailed
		case run.Result == report.RunFailed:
		case u.Outcome == report.Planned, u.Teardown():
			run.Result = report.RunPlanned
		case u.Outcome == report.Waiting && run.Result == report.RunClean:
			run.Result = report.RunWaiting
		}
	}
	e.emit(dryNote(p.candidate, p.scope))
	run.Duration = e.Now().Sub(start)
	e.emit(report.RunFinished{Run: run})
	if failed := report.Named(run, report.Failed); len(failed) > 0 {
		return Outcome{Run: run}, &DriverError{Units: failed}
	}
	return Outcome{Run: run}, nil
}
