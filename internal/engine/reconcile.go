package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// A DriverError is the failure of one or more drivers; the run's results hold the details.
type DriverError struct{ Units []string }

func (e *DriverError) Error() string {
	if len(e.Units) == 1 {
		return fmt.Sprintf("Unit %s failed", e.Units[0])
	}
	return fmt.Sprintf("%d Units failed: %s", len(e.Units), join(e.Units))
}

// Reconcile runs one Unit's driver unless its Receipt is current (chapter D, section 3).
func (e *Engine) Reconcile(ctx context.Context, r ReconcileRequest) (Outcome, error) {
	start := e.Now()
	s, err := e.open(r.Target)
	if err != nil {
		return Outcome{}, err
	}
	e.emit(report.RunStarted{Operation: "reconcile", Environment: r.Environment, Unit: r.Unit})
	p, err := e.fetch(ctx, s)
	if err != nil {
		return Outcome{}, err
	}
	head := p.desired.Revision()
	if err := e.selectDesired(ctx, s, p, r.DesiredRevision); err != nil {
		return Outcome{}, err
	}
	if err := e.checkMerged(ctx, s, p.desired); err != nil {
		return Outcome{}, err
	}
	e.emitRefs(s, p)
	run := e.newRun("reconcile", s, p)
	result, reconciled, err := e.reconcileUnit(ctx, s, p, r, head)
	run.Duration = e.Now().Sub(start)
	if result.Unit != "" {
		run.Units = []report.UnitResult{result}
	}
	if result.Action == report.Apply {
		run.DriversRan = []string{result.Unit}
		if result.ReceiptRevision != "" {
			run.ObservedRevision = result.ReceiptRevision
		}
	}
	if err != nil {
		run.Result = report.RunFailed
		e.emit(report.RunFinished{Run: run})
		return Outcome{Run: run}, err
	}
	switch result.Outcome {
	case report.Waiting:
		run.Result = report.RunWaiting
	case report.Planned:
		run.Result = report.RunPlanned
	case report.Applied:
		run.Result = report.RunClean
	default:
		run.Result = report.RunUnchanged
	}
	e.emit(report.RunFinished{Run: run})
	return Outcome{Run: run, Reconciled: &reconciled}, nil
}

// selectDesired moves p to another commit of the desired ref's history, if one is asked for.
func (e *Engine) selectDesired(ctx context.Context, s *scope, p *planes, revision string) error {
	if err := p.requireDesired(s); err != nil || revision == "" {
		return err
	}
	full, err := e.resolveIn(ctx, s.refs.Desired, p.desired.Revision(), revision)
	if err != nil {
		return err
	}
	if full == p.desired.Revision() {
		return nil
	}
	if p.desired, err = e.store.SourceSnapshot(ctx, full); err != nil {
		return err
	}
	return p.load(s)
}

// resolveIn finds the full id of a commit that must be head or in its history.
func (e *Engine) resolveIn(ctx context.Context, ref, head, revision string) (string, error) {
	full, err := e.store.Resolve(ctx, revision)
	if err != nil {
		return "", fmt.Errorf("revision %s of %s: %w", revision, ref, err)
	}
	within, err := e.store.IsAncestor(ctx, full, head)
	if err != nil {
		return "", err
	}
	if !within {
		return "", fmt.Errorf("revision %s is not in the history of %s", revision, ref)
	}
	return full, nil
}

func (e *Engine) reconcileUnit(ctx context.Context, s *scope, p *planes, r ReconcileRequest, head string) (report.UnitResult, bool, error) {
	none := report.UnitResult{}
	if p.state.Blocks[r.Unit] == "" {
		if result, released, finalized, err := e.reconcileFinalized(ctx, s, p, r); finalized {
			return result, released, err
		}
	}
	if _, blocked := p.state.Blocks[r.Unit]; !blocked && p.state.Unit(r.Unit) == nil && !p.state.OpaqueRoot(r.Unit) {
		return none, false, fmt.Errorf("environment %s has no Unit %q on %s; it has %s", s.Environment, r.Unit, s.refs.Desired, listOrNone(p.state.Names()))
	}
	if u := p.state.Unit(r.Unit); u != nil && u.Metadata.Deletion != nil {
		return e.reconcileDeletion(ctx, s, p, r, head)
	}
	if err := noReferences(p.state); err != nil {
		return none, false, err
	}
	status, err := p.state.Status(r.Unit)
	if err != nil {
		return none, false, err
	}
	results, err := stateResults(p.state, []string{r.Unit})
	if err != nil {
		return none, false, err
	}
	result := results[slices.IndexFunc(results, func(u report.UnitResult) bool { return u.Unit == r.Unit })]
	receipt, err := p.state.Receipt(r.Unit)
	if err != nil {
		return none, false, err
	}
	u := p.state.Unit(r.Unit)
	kind := resource.UnitKind{}
	if u != nil {
		kind, _ = resource.UnitKindOf(u.Kind)
	}
	clean := status.Condition == observed.Clean
	switch {
	case status.Condition == observed.Wait, status.Condition == observed.Materialized,
		clean && !r.Reapply && (!r.Plan || len(kind.Artifacts) > 0):
		e.emit(report.UnitState{Unit: r.Unit, State: report.State(status.Condition), Reason: status.Reason})
		return result, false, nil
	}
	w, err := e.newWork(s)
	if err != nil {
		return none, false, err
	}
	t := task{unit: u, desiredRevision: p.desired.Revision(), receipt: receipt, reportDir: e.reportDirectory(r.ReportDir), reason: runReason(status, r), reapply: r.Reapply}
	if r.Plan {
		result = w.plan(ctx, t)
		return result, false, failure(result)
	}
	if p.desired.Revision() != head {
		return none, false, fmt.Errorf("revision %s is not the head of %s, which is %s: only the newest desired state may be made true; leave --desired-revision out, or plan with --plan",
			p.desired.Revision(), s.refs.Desired, head)
	}
	result = e.runUnit(ctx, w, t)
	return result, result.Outcome == report.Applied, failure(result)
}

// runUnit runs a Unit's driver and publishes its Receipt.
func (e *Engine) runUnit(ctx context.Context, w *work, t task) report.UnitResult {
	held, result, ok := e.take(ctx, w.scope, &t, false)
	if !ok {
		e.emit(report.UnitFinished{Result: result})
		return result
	}
	result, evidence, effect := w.reconcile(ctx, t)
	if result.Outcome == report.Applied {
		rec, err := e.record(ctx, w.scope, t, evidence)
		if err != nil {
			result.Outcome = report.Failed
			result.Err = e.Masker.String(fmt.Sprintf("the driver succeeded, but its Receipt was not published: %s", err))
			var conflict *ConflictError
			if errors.As(err, &conflict) {
				result.Err = conflict.Error()
			}
		} else {
			result.State, result.Receipt, result.ReceiptRevision = report.Clean, rec.path, rec.revision
			if rec.moved {
				result.State = report.Ready
				result.Reason += "; its desired document changed while the driver ran, so it will run again"
			}
		}
	}
	e.giveBack(ctx, w.scope, held, effect, &result)
	e.emit(report.UnitFinished{Result: result})
	return result
}

// failure is the error of a run whose only Unit failed.
func failure(r report.UnitResult) error {
	if r.Outcome != report.Failed {
		return nil
	}
	return &DriverError{Units: []string{r.Unit}}
}

func runReason(status observed.Status, r ReconcileRequest) string {
	switch {
	case r.Plan:
		return "plan requested"
	case r.Reapply && status.Condition == observed.Clean:
		return "reapply requested"
	}
	return status.Reason
}

// noReferences is an error when a desired Unit still holds a reference: such a ref was not written by a controller.
func noReferences(state *observed.State) error {
	for _, name := range state.Names() {
		if u := state.Unit(name); u.HasReferences() {
			return fmt.Errorf("%s on %s holds a reference expression; apply the Unit again", u.Path, state.Desired.Ref)
		}
	}
	return nil
}
