package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/gitopsctr/gitopsctr/internal/driver"
	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/lease"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// openLeases returns the environment's lease store, nil when the Project has leases off (chapter D, 6.1).
func (e *Engine) openLeases(p project, environment string, refs resource.Refs) (*lease.Store, error) {
	ref, err := p.LeaseRef(environment)
	if err != nil || ref == "" {
		return nil, err
	}
	return lease.New(e.store, ref, refs, e.LeaseOwner)
}

// A hold keeps others from running a Unit: by its lease, or without leases by the lock of this machine.
type hold struct {
	lease  *resource.EffectLease // nil without leases
	unlock func()
}

// take gets hold of the Unit and then looks again whether there is anything to do: its document must still be the desired
// one, and nobody may have made it true meanwhile. When the effect must not start, ok is false and the result says why. The
// task learns the lease's token.
func (e *Engine) take(ctx context.Context, s *scope, t *task, destroy bool) (h *hold, result report.UnitResult, ok bool) {
	result = report.UnitResult{Unit: t.unit.Name, Kind: t.unit.Kind, State: report.Ready, Outcome: report.Waiting, Producers: t.unit.Producers()}
	if destroy {
		result.State = report.Wait
	}
	reason, done, waited := "", false, false
	var err error
	if t.contended {
		reason, done, err = e.recheck(ctx, s, *t, destroy)
	}
	if err == nil && reason == "" {
		h, waited, err = e.hold(ctx, s, t, destroy)
	}
	var held *lease.HeldError
	if errors.As(err, &held) {
		result.Reason = e.heldReason(ctx, s, held.Lease, t.unit.Metadata.UID)
		return nil, result, false
	}
	if err == nil && h != nil && (waited || destroy) {
		if reason, done, err = e.recheck(ctx, s, *t, destroy); err != nil || reason != "" {
			e.drop(ctx, s, h)
		}
	}
	switch {
	case err != nil:
		result.Outcome, result.Err = report.Failed, e.Masker.String(fmt.Sprintf("nothing was run: %s", err))
		return nil, result, false
	case done:
		result.State, result.Outcome = report.Clean, report.Unchanged
	}
	result.Reason = reason
	return h, result, reason == ""
}

// hold acquires the lease, or without leases the lock of this machine. waited tells that time has passed since the state was
// read, so that it has to be read again.
func (e *Engine) hold(ctx context.Context, s *scope, t *task, destroy bool) (h *hold, waited bool, err error) {
	if s.leases == nil {
		unlock, waited, err := e.lockLocally(ctx, s, t.unit.Name)
		return &hold{unlock: unlock}, waited, err
	}
	l, err := e.acquire(ctx, s, t, destroy)
	var held *lease.HeldError
	if err != nil {
		if !errors.As(err, &held) { // it may be there nevertheless
			e.release(ctx, s, l)
		}
		return nil, false, err
	}
	t.lease = l.Token
	return &hold{lease: l, unlock: func() {}}, true, nil
}

// drop lets go of a Unit.
func (e *Engine) drop(ctx context.Context, s *scope, h *hold) {
	e.release(ctx, s, h.lease)
	h.unlock()
}

// acquire takes the lease for what the Unit is at the task's desired revision.
func (e *Engine) acquire(ctx context.Context, s *scope, t *task, destroy bool) (*resource.EffectLease, error) {
	desired, err := e.store.SourceSnapshot(ctx, t.desiredRevision)
	if err != nil {
		return nil, err
	}
	snapshot, err := lease.SnapshotOf(desired, t.unit.Name)
	if err != nil {
		return nil, err
	}
	return s.leases.Acquire(ctx, lease.Claim{
		Unit: t.unit.Name, UID: t.unit.Metadata.UID, DesiredRevision: t.desiredRevision, Snapshot: snapshot,
		Resume: destroy && t.evidence != nil,
		Ended: func(held *resource.EffectLease) (bool, error) {
			return e.effectEnded(ctx, desired, t.controller(), held)
		},
	})
}

// recheck reads the heads after the lease was acquired. A reason means that the effect must not start; done, that another
// run has done it.
func (e *Engine) recheck(ctx context.Context, s *scope, t task, destroy bool) (reason string, done bool, err error) {
	heads, err := e.store.Fetch(ctx, s.refs.Desired, s.refs.Observed)
	if err != nil {
		return "", false, err
	}
	d, o := heads[s.refs.Desired], heads[s.refs.Observed]
	if d == nil || blobAt(d, t.unit.Path) != t.unit.Blob {
		return fmt.Sprintf("its desired document changed on %s before its driver started; the next run works on the new one", s.refs.Desired), false, nil
	}
	if destroy && d.Revision() != t.desiredRevision {
		state, err := loadDesired(s, d)
		if err != nil {
			return "", false, err
		}
		if blockers := deletionBlockers(state, t.unit.Name); len(blockers) > 0 {
			return pendingDeletion(t.unit.Metadata, blockers), false, nil
		}
	}
	if o == nil || t.reapply || destroy {
		return "", false, nil
	}
	receipt, err := existingReceipt(o, t.unit.Name)
	if err != nil || receipt == nil || receipt.UnitBlob != t.unit.Blob {
		return "", false, err
	}
	return "another run has just made it true", true, nil
}

func blobAt(tree *gitstate.Snapshot, path string) string {
	id, _ := tree.Blob(path)
	return id
}

// giveBack lets go of a Unit after an effect: a definite end releases it, success or failure alike. When the tool was killed
// nobody knows what it did, or still does elsewhere; then the lease stays and the result says how to recover it (chapter D,
// 6.6 and specification README, decision 7).
func (e *Engine) giveBack(ctx context.Context, s *scope, h *hold, effect error, result *report.UnitResult) {
	if h.lease != nil && effectUnknown(effect) {
		result.Err += fmt.Sprintf("\nNobody knows what it changed, so the Unit stays leased. When you are sure that nothing of it runs any more: %s", recoverCommand(s.Environment, h.lease))
		h.unlock()
		return
	}
	e.drop(ctx, s, h)
}

// release gives a lease back; a failure is a warning, since the effect's outcome stands.
func (e *Engine) release(ctx context.Context, s *scope, l *resource.EffectLease) {
	if l == nil {
		return
	}
	ctx, cancel := e.afterEffect(ctx)
	defer cancel()
	if err := s.leases.Release(ctx, l); err != nil {
		e.emit(report.Problem{Severity: report.Warning, Unit: l.QualifiedName, Message: "its lease was not released: " + e.Masker.String(err.Error()),
			Fix: "run " + recoverCommand(s.Environment, l)})
	}
}

// effectUnknown tells whether any error in err's tree is a tool that was killed.
func effectUnknown(err error) bool {
	if known, ok := err.(*driver.Error); ok && known.EffectUnknown { //nolint:errorlint // the whole tree is walked below
		return true
	}
	switch e := err.(type) { //nolint:errorlint // walks the tree itself
	case interface{ Unwrap() error }:
		return effectUnknown(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if effectUnknown(inner) {
				return true
			}
		}
	}
	return false
}
