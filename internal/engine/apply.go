package engine

import (
	"context"
	"fmt"

	"github.com/gitopsctr/gitopsctr/internal/desired"
	"github.com/gitopsctr/gitopsctr/internal/expression"
	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
	"github.com/gitopsctr/gitopsctr/internal/source"
)

// Apply builds the desired state from the given documents and publishes it (chapter B).
func (e *Engine) Apply(ctx context.Context, r ApplyRequest) (Outcome, error) {
	start := e.Now()
	s, err := e.open(r.Target)
	if err != nil {
		return Outcome{}, err
	}
	if err := s.checkGate("apply"); err != nil {
		return Outcome{}, err
	}
	e.emit(report.RunStarted{Operation: "apply", Environment: r.Environment})
	a, err := e.newApplier(ctx, s, r)
	if err != nil {
		return Outcome{}, err
	}
	p, err := e.fetch(ctx, s)
	if err != nil {
		return Outcome{}, err
	}
	e.emitRefs(s, p)
	run := e.newRun("apply", s, p)
	run.SourceRevision = a.inputs.revision
	candidate, publication, err := a.apply(ctx, p)
	if err != nil {
		return Outcome{Run: e.failedRun(run, start)}, err
	}
	run.Result = report.RunUnchanged
	if publication.Revision != "" {
		run.Result = publication.result()
	}
	run.DesiredRevision = p.desired.Revision()
	if run.Units, err = a.results(p, candidate); err != nil {
		return Outcome{}, err
	}
	markProposed(run.Units, candidate, publication)
	e.tellLineage(ctx, &run, p.desired)
	run.Duration = e.Now().Sub(start)
	e.emit(report.RunFinished{Run: run})
	return Outcome{Run: run, Publication: publication}, nil
}

// An applier builds and publishes candidates of one apply request, as often as new evidence asks for it.
type applier struct {
	engine   *Engine
	scope    *scope
	request  ApplyRequest
	inputs   *inputs
	purpose  purpose
	recorded recordedPromotion
	hasher   *source.Hasher
	hashes   *desired.InputHashes
	usable   map[string]bool
	told     map[string]string // Unit → the wait that was last told, so that repeats are not
	// foretold is what plans know of producers' results; nil outside of a plan.
	foretold func(unit string) (expression.Evidence, bool)
	// kept are the leased Units that the last publication left as they were, with who holds them; keepLeased leaves them
	// instead of refusing the whole publication.
	kept       map[string]string
	keepLeased bool
	// seen are the desired Units as this run saw or left them last, nil before it looked.
	seen map[string]seenUnit
}

func (e *Engine) newApplier(ctx context.Context, s *scope, r ApplyRequest) (*applier, error) {
	in, err := e.readInputs(ctx, s, r)
	if err != nil {
		return nil, err
	}
	return &applier{engine: e, scope: s, request: r, inputs: in, purpose: applyPurpose(s.Environment, in, r.Partition),
		recorded: newRecordedPromotion(in.documents), hasher: &source.Hasher{}, hashes: &desired.InputHashes{}, usable: map[string]bool{}, told: map[string]string{}}, nil
}

// build makes the candidate for the current planes.
func (a *applier) build(ctx context.Context, p *planes) (*desired.Candidate, error) {
	promotion := a.purpose.promoted
	if promotion == nil {
		var err error
		if promotion, err = a.recorded.load(ctx, a.engine, p.desired); err != nil {
			return nil, err
		}
	}
	candidate, err := desired.Build(ctx, desired.Input{
		Project:        a.scope.project.Project,
		Environment:    a.scope.environment,
		Documents:      a.inputs.documents,
		Source:         a.inputs.index,
		SourceRevision: a.inputs.revision,
		Hasher:         a.hasher,
		InputHashes:    a.hashes,
		State:          p.state,
		Usable:         a.revisionUsable,
		Partition:      a.request.Partition,
		Dry:            a.request.Dry,
		DryPlan:        a.request.Dry,
		Promotion:      promotion,
		Foretold:       a.foretold,
	})
	if err == nil {
		a.purpose.record(candidate, p.desired.Revision())
	}
	return candidate, err
}

// revisionUsable tells whether a Unit may stay pinned to revision (chapter B, 3.4 step 6).
func (a *applier) revisionUsable(ctx context.Context, revision string) (bool, error) {
	if revision == a.inputs.revision {
		return true, nil
	}
	if usable, known := a.usable[revision]; known {
		return usable, nil
	}
	var usable bool
	var err error
	if a.scope.project.SourceRevisionPolicy.UnavailableWhen == resource.Missing {
		_, resolveErr := a.engine.store.SourceSnapshot(ctx, revision)
		usable = resolveErr == nil
	} else {
		usable, err = a.engine.store.IsAncestor(ctx, revision, a.inputs.revision)
	}
	if err != nil {
		return false, err
	}
	a.usable[revision] = usable
	return usable, nil
}

// apply brings the desired ref to the candidate. It moves p forward to what it published; the publication is empty for a
// no-op and for a dry run. When somebody else publishes in between, the candidate is built anew on the new head.
func (a *applier) apply(ctx context.Context, p *planes) (*desired.Candidate, Publication, error) {
	e, s := a.engine, a.scope
	if err := a.checkSuperseded(ctx, p); err != nil {
		return nil, Publication{}, err
	}
	candidate, err := a.build(ctx, p)
	if err != nil {
		return nil, Publication{}, err
	}
	a.tell(candidate)
	a.kept = nil
	if a.request.Dry {
		e.emit(dryNote(candidate, s))
		return candidate, Publication{}, nil
	}
	if len(candidate.Edits()) == 0 {
		e.emit(report.RefKept{Plane: "desired", Ref: s.refs.Desired, Revision: p.desired.Revision()})
		return candidate, Publication{}, nil
	}
	if s.environment.ChangeGate == resource.PullRequestGate {
		return a.publishCandidate(ctx, p, candidate)
	}
	message := a.purpose.message
	result, err := e.store.Update(ctx, s.refs.Desired, func(current *gitstate.Snapshot) ([]gitstate.Change, error) {
		if current.Revision() != p.desired.Revision() {
			e.emit(report.Note{Word: "RETRY", Text: s.refs.Desired + " moved; building the desired state again on its new head"})
			if err := e.refetch(ctx, s, p, current); err != nil {
				return nil, err
			}
			if err := a.checkSuperseded(ctx, p); err != nil {
				return nil, err
			}
			if candidate, err = a.build(ctx, p); err != nil {
				return nil, err
			}
			a.tell(candidate)
		}
		edits, err := a.besideLeases(ctx, p, current, candidate)
		if err != nil || len(edits) == 0 {
			return nil, err
		}
		return []gitstate.Change{{Message: message, Edits: edits}}, nil
	})
	if err != nil {
		return nil, Publication{}, err
	}
	changed := candidate.ChangedUnits()
	old := p.desired.Revision()
	p.desired = result.After
	if err := p.load(s); err != nil {
		return nil, Publication{}, err
	}
	a.see(p)
	if len(result.Commits) == 0 {
		e.emit(report.RefKept{Plane: "desired", Ref: s.refs.Desired, Revision: p.desired.Revision()})
		return candidate, Publication{}, nil
	}
	e.emit(report.RefUpdated{Plane: "desired", Ref: s.refs.Desired, Old: old, New: p.desired.Revision(), Message: message, Units: changed})
	return candidate, Publication{Revision: p.desired.Revision(), TargetRef: s.refs.Desired, Status: "published"}, nil
}

// refetch moves p to a newer desired head and to the present observed head.
func (e *Engine) refetch(ctx context.Context, s *scope, p *planes, desiredHead *gitstate.Snapshot) error {
	heads, err := e.store.Fetch(ctx, s.refs.Observed)
	if err != nil {
		return err
	}
	p.desired = desiredHead
	if o := heads[s.refs.Observed]; o != nil {
		p.observed = o
	}
	return p.load(s)
}

// tell emits what waits and why, each wait once.
func (a *applier) tell(c *desired.Candidate) {
	for _, d := range c.Decisions {
		if d.Reason == "" {
			delete(a.told, d.Unit)
			continue
		}
		if d.Disposition == desired.Untouched || a.told[d.Unit] == d.Reason {
			continue
		}
		a.told[d.Unit] = d.Reason
		a.engine.emit(report.UnitState{Unit: d.Unit, State: report.Wait, Reason: waitReason(d), Position: position(d)})
	}
	for _, d := range c.Decisions {
		for _, r := range d.Fallbacks {
			a.engine.emit(report.Note{Word: "DRY", Text: fmt.Sprintf("%s: /spec%s is the dryFallback of %s", d.Unit, r.At, r)})
		}
	}
}

func dryNote(c *desired.Candidate, s *scope) report.Event {
	edits := c.Edits()
	if len(edits) == 0 {
		return report.Note{Word: "DRY", Text: fmt.Sprintf("%s would not change", s.refs.Desired)}
	}
	return report.Note{Word: "DRY", Text: fmt.Sprintf("%s would change: %s", s.refs.Desired, describeEdits(c))}
}
