package engine

import (
	"cmp"
	"context"
	"fmt"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/report"
)

// A DeleteRequest asks to delete one root resource (chapter D, 7.1).
type DeleteRequest struct {
	Target
	// Kind is "Unit", "Stack" or "StackTemplate"; "" is a Unit.
	Kind string
	// Name is the resource's name, UID the incarnation that is meant.
	Name, UID string
	Dry       bool
	// TornDownByHand tells that people removed what the Unit made: it is recorded as torn down, no driver runs. The Unit
	// must be marked already.
	TornDownByHand bool
}

// Delete marks a resource and what it owns for deletion; converge and reconcile then tear the Units down and finalize all of
// it. Units that read from them are not looked at here: the teardown waits for them.
func (e *Engine) Delete(ctx context.Context, r DeleteRequest) (Outcome, error) {
	start := e.Now()
	s, err := e.open(r.Target)
	if err != nil {
		return Outcome{}, err
	}
	if err := s.checkGate("delete"); err != nil {
		return Outcome{}, err
	}
	e.emit(report.RunStarted{Operation: "delete", Environment: r.Environment, Unit: r.Name})
	p, err := e.fetch(ctx, s)
	if err != nil {
		return Outcome{}, err
	}
	if err := p.requireDesired(s); err != nil {
		return Outcome{}, err
	}
	run := e.newRun("delete", s, p)
	var publication Publication
	if r.TornDownByHand {
		err = e.deleteByHand(ctx, s, p, r)
	} else {
		publication, err = e.mark(ctx, s, p, r)
	}
	if err != nil {
		return Outcome{Run: e.failedRun(run, start)}, err
	}
	run.Result, run.DesiredRevision = report.RunUnchanged, p.desired.Revision()
	if publication.Revision != "" {
		run.Result = publication.result()
	}
	if p.state.Unit(r.Name) != nil {
		if run.Units, err = stateResults(p.state, []string{r.Name}); err != nil {
			return Outcome{}, err
		}
	}
	run.Duration = e.Now().Sub(start)
	e.emit(report.RunFinished{Run: run})
	return Outcome{Run: run, Publication: publication}, nil
}

// deletable finds the Unit that a request means.
func deletable(s *scope, p *planes, r DeleteRequest) (*observed.Unit, error) {
	u := p.state.Unit(r.Name)
	switch {
	case u == nil:
		return nil, fmt.Errorf("environment %s has no Unit %q on %s; it has %s", s.Environment, r.Name, s.refs.Desired, listOrNone(p.state.Names()))
	case u.Metadata.UID != r.UID:
		return nil, fmt.Errorf("Unit %s on %s has the UID %s, not %s: it is another Unit of that name; look at it, then name its UID", r.Name, s.refs.Desired, u.Metadata.UID, r.UID)
	case u.Metadata.Owner != nil:
		return nil, fmt.Errorf("Unit %s belongs to the %s %s; delete that, or take the Unit out of it", r.Name, u.Metadata.Owner.Kind, u.Metadata.Owner.Name)
	}
	return u, u.CheckMark()
}

// mark publishes the deletion mark, or proposes it behind a change gate. A Unit that has one is left alone.
func (e *Engine) mark(ctx context.Context, s *scope, p *planes, r DeleteRequest) (Publication, error) {
	kind := cmp.Or(r.Kind, "Unit")
	build := func() (*change, error) {
		edits, units, err := markEdits(s, p, r)
		if err != nil || len(edits) == 0 {
			return &change{}, err
		}
		return &change{
			operation: "delete",
			context: document.NewMap(
				document.F("kind", document.NewString(kind)), document.F("name", document.NewString(r.Name)), document.F("uid", document.NewString(r.UID))),
			message: "Mark " + kind + " " + r.Name + " for deletion", edits: edits, units: units,
		}, nil
	}
	if !r.Dry {
		return e.publishChange(ctx, s, p, build)
	}
	c, err := build()
	if err != nil {
		return Publication{}, err
	}
	text := fmt.Sprintf("%s is marked for deletion already", r.Name)
	if len(c.edits) > 0 {
		text = fmt.Sprintf("%s would be marked for deletion on %s", r.Name, s.refs.Desired)
		if blockers := deletionBlockers(p.state, r.Name); len(blockers) > 0 {
			text += "; its teardown would wait for " + join(blockers)
		}
	}
	e.emit(report.Note{Word: "DRY", Text: text})
	return Publication{}, nil
}

// markEdits are the marks of the resource and of what it owns, none when it has one already; units are those marked.
func markEdits(s *scope, p *planes, r DeleteRequest) (edits []gitstate.Edit, units []string, err error) {
	if r.Kind != "" && r.Kind != "Unit" {
		return markRoot(s, p, r)
	}
	if p.state.Unit(r.Name) == nil && p.state.OpaqueRoot(r.Name) {
		return markOpaque(s, p, r)
	}
	u, err := deletable(s, p, r)
	if err != nil || u.Metadata.Deletion != nil {
		return nil, nil, err
	}
	edit, err := markUnit(u)
	return []gitstate.Edit{edit}, []string{u.Name}, err
}

func markUnit(u *observed.Unit) (gitstate.Edit, error) {
	data, err := u.Marked().Encode(document.FormatOf(u.Path))
	if err != nil {
		err = fmt.Errorf("mark Unit %s for deletion: %w", u.Name, err)
	}
	return gitstate.Edit{Path: u.Path, Content: data}, err
}

// refuseLeased refuses edits of Units that somebody holds.
func (e *Engine) refuseLeased(ctx context.Context, s *scope, p *planes, edits []gitstate.Edit) error {
	leases, err := e.leasesOver(ctx, s, p.desired, p.observed, editedUnits(edits))
	if err != nil || len(leases) == 0 {
		return err
	}
	refusal := &LeasedError{Ref: s.refs.Desired, Reasons: map[string]string{}}
	for name, l := range leases {
		refusal.Reasons[name] = e.heldReason(ctx, s, l, "")
	}
	return refusal
}

// deleteByHand finishes the deletion of a marked Unit that people tore down: the evidence says so.
func (e *Engine) deleteByHand(ctx context.Context, s *scope, p *planes, r DeleteRequest) error {
	u, err := deletable(s, p, r)
	if err != nil {
		return err
	}
	if err := s.requireLiveDesired(); err != nil {
		return err
	}
	if u.Metadata.Deletion == nil {
		return fmt.Errorf("Unit %s is not marked for deletion; run gitopsctr delete unit without --torn-down-by-hand first", r.Name)
	}
	if blockers := deletionBlockers(p.state, r.Name); len(blockers) > 0 {
		return fmt.Errorf("Unit %s is still needed by %s; delete that first, or change what it reads", r.Name, join(blockers))
	}
	evidence, err := teardownEvidence(p.observed, u)
	if err != nil {
		return fmt.Errorf("read %s: %w", s.refs.Observed, err)
	}
	if r.Dry {
		e.emit(report.Note{Word: "DRY", Text: fmt.Sprintf("%s would be recorded as torn down and be finalized", r.Name)})
		return nil
	}
	t := task{unit: u, desiredRevision: p.desired.Revision(), evidence: evidence}
	held, refused, ok := e.take(ctx, s, &t, true)
	if !ok {
		return fmt.Errorf("Unit %s: %s%s", r.Name, refused.Reason, refused.Err)
	}
	defer e.drop(ctx, s, held)
	if err := e.finishDeletion(ctx, s, t, document.NewMap(document.F("tornDownByHand", document.NewBool(true)))); err != nil {
		return err
	}
	heads, err := e.store.Fetch(ctx, s.refs.Desired)
	if head := heads[s.refs.Desired]; err == nil && head != nil {
		err = e.refetch(ctx, s, p, head)
	}
	return err
}
