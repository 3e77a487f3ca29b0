package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/desired"
	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/lease"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// A LeasedError refuses to change the desired documents of Units whose effects may be under way (chapter D, 6.7).
type LeasedError struct {
	Ref     string
	Reasons map[string]string // Unit → who holds it, and how to recover
}

func (e *LeasedError) Error() string {
	var lines []string
	for _, name := range sortedKeys(e.Reasons) {
		lines = append(lines, fmt.Sprintf("Unit %s cannot be changed on %s now: %s", name, e.Ref, e.Reasons[name]))
	}
	return strings.Join(lines, "\n")
}

// leasesOver finds the leases that forbid to change the named Units, by Unit. A lease counts when its holder works on this
// environment: a branch may serve several, whose Units have the same names and even the same UIDs, so that only the
// history of the desired branch tells whose lease it is. Leases of other environments never block (chapter D, 6.7, quirk).
func (e *Engine) leasesOver(ctx context.Context, s *scope, current, observed *gitstate.Snapshot, changed []string) (map[string]*resource.EffectLease, error) {
	if s.leases == nil || len(changed) == 0 || current.Revision() == "" {
		return nil, nil
	}
	heads, err := e.store.Fetch(ctx, s.leases.Ref())
	if err != nil {
		return nil, err
	}
	branch := heads[s.leases.Ref()]
	if branch == nil {
		return nil, nil
	}
	out := map[string]*resource.EffectLease{}
	for _, name := range changed {
		l, err := lease.Find(branch, name)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", s.leases.Ref(), err)
		}
		if l == nil {
			continue
		}
		ours, err := e.takenHere(ctx, current, l)
		if err != nil {
			return nil, err
		}
		ended, err := e.endedByReceipt(ctx, current, observed, l)
		if err != nil {
			return nil, err
		}
		if ours && !ended {
			out[name] = l
		}
	}
	return out, nil
}

// takenHere tells whether the lease was taken for the environment with this desired branch.
func (e *Engine) takenHere(ctx context.Context, desired *gitstate.Snapshot, l *resource.EffectLease) (bool, error) {
	if l.DesiredRevision == desired.Revision() {
		return true, nil
	}
	return e.store.IsAncestor(ctx, l.DesiredRevision, desired.Revision())
}

// effectEnded tells whether it is recorded that the effect behind a lease has ended, so that a run which was stopped before
// it released the lease needs nobody's help: the Receipt's controller carries the lease's token, or the Unit has a
// tombstone (chapter D, 7.6 and 13.3).
func (e *Engine) effectEnded(ctx context.Context, desired *gitstate.Snapshot, controller *document.Node, l *resource.EffectLease) (bool, error) {
	if controller.Get("lease").Str() == l.Token {
		return true, nil
	}
	if l.Snapshot == nil || l.Snapshot.GVK.Kind == "" {
		return false, nil
	}
	grave := &resource.Tombstone{GVK: l.Snapshot.GVK, QualifiedName: l.QualifiedName, UID: l.UID}
	if blobAt(desired, grave.Path()) == "" {
		return false, nil
	}
	return e.takenHere(ctx, desired, l)
}

// endedByReceipt is effectEnded with the Receipt that the observed branch holds for the lease's Unit.
func (e *Engine) endedByReceipt(ctx context.Context, desired, observed *gitstate.Snapshot, l *resource.EffectLease) (bool, error) {
	receipt, err := existingReceipt(observed, l.QualifiedName)
	if err != nil {
		return false, err
	}
	return e.effectEnded(ctx, desired, controllerOf(receipt), l)
}

// controllerOf is status.controller of a Receipt, nil without one.
func controllerOf(r *resource.Receipt) *document.Node {
	if r == nil {
		return nil
	}
	return r.Controller
}

// besideLeases takes the leased Units out of what a candidate changes. A plain apply is refused then: its caller asked for
// all of it. A convergence publishes the rest and reports those Units as waiting; its next run changes them.
func (a *applier) besideLeases(ctx context.Context, p *planes, current *gitstate.Snapshot, c *desired.Candidate) ([]gitstate.Edit, error) {
	a.kept = map[string]string{}
	edits := c.Edits()
	leases, err := a.engine.leasesOver(ctx, a.scope, current, p.observed, editedUnits(edits))
	if err != nil || len(leases) == 0 {
		return edits, err
	}
	for name, l := range leases {
		a.kept[name] = a.engine.heldReason(ctx, a.scope, l, "")
		if a.keepLeased {
			c.Keep(name)
		}
	}
	if !a.keepLeased {
		return nil, &LeasedError{Ref: a.scope.refs.Desired, Reasons: a.kept}
	}
	return c.Edits(), nil
}

// editedUnits are the qualified names of the Units whose documents the edits touch, sorted.
func editedUnits(edits []gitstate.Edit) []string {
	var out []string
	for _, edit := range edits {
		for _, collection := range []string{resource.UnitsPath, resource.CleanupPath} {
			if name, ok := resource.QualifiedNameOf(edit.Path, collection); ok {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// releaseEnded releases the leases that runs left behind although their effects have ended on record. It tells whether it
// released any.
func (e *Engine) releaseEnded(ctx context.Context, s *scope, p *planes) (bool, error) {
	leases, err := e.allLeases(ctx, s)
	if err != nil {
		return false, err
	}
	released := false
	for _, l := range leases {
		ended, err := e.endedByReceipt(ctx, p.desired, p.observed, l)
		if err != nil {
			return released, err
		}
		if !ended {
			continue
		}
		if err := s.leases.Release(ctx, l); err != nil {
			var other *lease.MismatchError
			if errors.As(err, &other) { // somebody else released it and took it anew
				continue
			}
			return released, err
		}
		released = true
		e.emit(report.Note{Word: "RELEASED", Text: fmt.Sprintf("%s: the lease that %s left behind; its effect had ended", l.QualifiedName, l.Owner)})
	}
	return released, nil
}

// allLeases reads the environment's lease branch; none when leases are off.
func (e *Engine) allLeases(ctx context.Context, s *scope) ([]*resource.EffectLease, error) {
	if s.leases == nil {
		return nil, nil
	}
	heads, err := e.store.Fetch(ctx, s.leases.Ref())
	if err != nil || heads[s.leases.Ref()] == nil {
		return nil, err
	}
	leases, err := lease.All(heads[s.leases.Ref()])
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", s.leases.Ref(), err)
	}
	return leases, nil
}

// tellLeases notes who holds which Unit of the environment, and how an abandoned lease is recovered.
func (e *Engine) tellLeases(ctx context.Context, s *scope, p *planes) error {
	leases, err := e.allLeases(ctx, s)
	if err != nil {
		return err
	}
	for _, l := range leases {
		ours, err := e.takenHere(ctx, p.desired, l)
		if err != nil {
			return err
		}
		if !ours {
			continue
		}
		ended, err := e.endedByReceipt(ctx, p.desired, p.observed, l)
		if err != nil {
			return err
		}
		text := e.heldReason(ctx, s, l, "")
		if ended {
			text = fmt.Sprintf("by %s, which left it behind although its effect had ended; the next converge releases it", l.Owner)
		}
		e.emit(report.Note{Word: "LEASED", Text: l.QualifiedName + ": " + text})
	}
	return nil
}
