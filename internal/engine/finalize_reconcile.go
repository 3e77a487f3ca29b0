package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// reconcileDeletion is reconcile for a Unit that is marked for deletion (chapter D, 3.1 step 6).
func (e *Engine) reconcileDeletion(ctx context.Context, s *scope, p *planes, r ReconcileRequest, head string) (report.UnitResult, bool, error) {
	u := p.state.Unit(r.Unit)
	blockers := deletionBlockers(p.state, r.Unit)
	waiting := report.UnitResult{
		Unit: u.Name, Kind: u.Kind, State: report.Wait, Outcome: report.Waiting, Producers: u.Producers(), Reason: pendingDeletion(u.Metadata, blockers),
	}
	if r.Plan && len(blockers) == 0 {
		waiting.Reason += "; reconcile without --plan tears it down"
	}
	if r.Plan || len(blockers) > 0 {
		e.emit(report.UnitState{Unit: r.Unit, State: report.Wait, Reason: waiting.Reason})
		return waiting, false, nil
	}
	if p.desired.Revision() != head {
		return report.UnitResult{}, false, fmt.Errorf("revision %s is not the head of %s: a deletion progresses only there; leave --desired-revision out", p.desired.Revision(), s.refs.Desired)
	}
	receipt, err := p.state.Receipt(r.Unit)
	if err != nil {
		return report.UnitResult{}, false, err
	}
	evidence, err := teardownEvidence(p.observed, u)
	if err != nil {
		return report.UnitResult{}, false, fmt.Errorf("read %s: %w", s.refs.Observed, err)
	}
	w, err := e.newWork(s)
	if err != nil {
		return report.UnitResult{}, false, err
	}
	result := e.runDeletion(ctx, w, task{unit: u, desiredRevision: p.desired.Revision(), receipt: receipt, evidence: evidence, reason: "marked for deletion"})
	return result, result.Outcome == report.Destroyed, failure(result)
}

// isFinalized tells whether a Unit of the name was deleted at some time.
func isFinalized(state *observed.State, name string) bool {
	return slices.ContainsFunc(resource.UnitKinds(), func(kind string) bool { return len(state.FinalizedUIDs(kind, name)) > 0 })
}

// reconcileFinalized is reconcile for a Unit of which only tombstones are left: it releases a lease that the teardown may
// have left behind (chapter D, 3.1 step 7). ok is false when the name is not that of such a Unit.
func (e *Engine) reconcileFinalized(ctx context.Context, s *scope, p *planes, r ReconcileRequest) (result report.UnitResult, released, ok bool, err error) {
	if p.state.Unit(r.Unit) != nil || !isFinalized(p.state, r.Unit) {
		return result, false, false, nil
	}
	if !r.Plan {
		if released, err = e.releaseEnded(ctx, s, p); err != nil {
			return result, false, true, err
		}
	}
	result = report.UnitResult{Unit: r.Unit, State: report.Wait, Outcome: report.Waiting, Reason: "its deletion is finalized; nothing is left to do"}
	e.emit(report.UnitState{Unit: r.Unit, State: report.Wait, Reason: result.Reason})
	return result, released, true, nil
}
