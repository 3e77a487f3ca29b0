package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/report"
)

// A RollbackRequest asks to publish an earlier desired state again, whole or for some Units (chapter F, section 4).
type RollbackRequest struct {
	Target
	// ToDesiredRevision is a commit in the history of the desired ref.
	ToDesiredRevision string
	// Reason is recorded in the commit.
	Reason string
	// Units are qualified names; none rolls back everything.
	Units []string
	Dry   bool
}

// Rollback publishes a proven historic state as a new commit on top of the present one. No ref moves backwards.
func (e *Engine) Rollback(ctx context.Context, r RollbackRequest) (Outcome, error) {
	start := e.Now()
	reason, err := rollbackReason(r.Reason)
	if err != nil {
		return Outcome{}, err
	}
	if e.Masker.String(reason) != reason {
		return Outcome{}, &UsageError{Message: "the reason contains a secret of this run, and the commit would record it for ever; write it without"}
	}
	r.Reason = reason
	s, err := e.open(r.Target)
	if err != nil {
		return Outcome{}, err
	}
	if err := s.checkGate("rollback"); err != nil {
		return Outcome{}, err
	}
	e.emit(report.RunStarted{Operation: "rollback", Environment: r.Environment})
	p, err := e.fetch(ctx, s)
	if err != nil {
		return Outcome{}, err
	}
	if err := p.requireDesired(s); err != nil {
		return Outcome{}, err
	}
	e.emitRefs(s, p)
	run := e.newRun("rollback", s, p)
	base := p.desired
	var b *rollback
	var c *change
	build := func() (_ *change, err error) {
		if b, err = e.prepareRollback(ctx, s, p, r); err != nil {
			return nil, err
		}
		if c, err = b.change(); err != nil {
			return nil, err
		}
		return c, e.checkChange(ctx, s, p, c)
	}
	outcome := Outcome{}
	if r.Dry {
		_, err = build()
	} else {
		outcome.Publication, err = e.publishChange(ctx, s, p, build)
	}
	if err != nil {
		return Outcome{Run: e.failedRun(run, start)}, err
	}
	outcome.Provenance = document.EncodeJSON(b.provenance())
	run.DesiredRevision = p.desired.Revision()
	run.Result = report.RunUnchanged
	switch {
	case r.Dry:
		units := changedUnits(base, c.edits)
		e.emitDiffs(units)
		e.emit(report.Note{Word: "DRY", Text: fmt.Sprintf("%s would go back to %s: %s", s.refs.Desired, report.Abbreviate(b.target.Revision()), describeUnits(units))})
		run.Result = report.RunPlanned
	case outcome.Publication.Revision != "":
		run.Result = outcome.Publication.result()
	default:
		outcome.Publication = Publication{Revision: p.desired.Revision(), TargetRef: s.refs.Desired, Status: "published"}
	}
	if run.Units, err = stateResults(p.state, p.state.Names()); err != nil {
		return Outcome{}, err
	}
	run.Duration = e.Now().Sub(start)
	e.emit(report.RunFinished{Run: run})
	outcome.Run = run
	return outcome, nil
}

// maxReason bounds a rollback's reason, in characters.
const maxReason = 1000

// rollbackReason makes one line of the reason. The commit message carries it as a trailer: a line of its own could pass for
// another trailer (chapter F, "Do better" 7).
func rollbackReason(reason string) (string, error) {
	if !utf8.ValidString(reason) {
		return "", fmt.Errorf("the reason is not valid UTF-8 text; write it again")
	}
	folded := strings.Join(strings.FieldsFunc(reason, func(r rune) bool { return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' }), " ")
	folded = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, folded))
	switch n := utf8.RuneCountInString(folded); {
	case n == 0:
		return "", fmt.Errorf("the reason is blank; say why the environment is rolled back, the commit records it")
	case n > maxReason:
		return "", fmt.Errorf("the reason has %d characters, and the limit is %d; put the details elsewhere and refer to them", n, maxReason)
	}
	return folded, nil
}

// A rollback is everything that one is made from: the present state, the historic one, and the evidence for it.
type rollback struct {
	engine  *Engine
	scope   *scope
	request RollbackRequest
	// head is the present desired state, target the historic one.
	head, target      *gitstate.Snapshot
	current, historic *observed.State
	// materialized are the Units whose documents are taken from history, sorted.
	materialized []string
	// proof is the observed commit under which the target was clean as a whole, "" when nothing of it is ever observed.
	proof string
}

// prepareRollback makes all the checks, in the order of chapter F, 4.1.
func (e *Engine) prepareRollback(ctx context.Context, s *scope, p *planes, r RollbackRequest) (*rollback, error) {
	b := &rollback{engine: e, scope: s, request: r, head: p.desired, current: p.state}
	for _, name := range r.Units {
		if p.state.Unit(name) == nil {
			return nil, fmt.Errorf("environment %s has no Unit %q on %s; it has %s", s.Environment, name, s.refs.Desired, listOrNone(p.state.Names()))
		}
	}
	if err := b.checkLeases(ctx, p); err != nil {
		return nil, err
	}
	if err := b.openTarget(ctx, p); err != nil {
		return nil, err
	}
	if len(r.Units) == 0 {
		if err := b.checkAggregates(); err != nil {
			return nil, err
		}
	}
	if err := checkInventory(b.historic, "the state to go back to"); err != nil {
		return nil, err
	}
	if len(r.Units) > 0 {
		if err := checkInventory(b.current, "the present state"); err != nil {
			return nil, err
		}
	}
	if err := b.selectUnits(); err != nil {
		return nil, err
	}
	return b, b.prove(ctx, p)
}

// openTarget finds the commit to go back to in the history of the desired ref.
func (b *rollback) openTarget(ctx context.Context, p *planes) error {
	e, s := b.engine, b.scope
	full, err := e.store.ResolveIn(ctx, b.head.Revision(), b.request.ToDesiredRevision)
	if err != nil {
		return fmt.Errorf("the revision to roll back to: %w; choose a commit of %s", err, s.refs.Desired)
	}
	if full == b.head.Revision() {
		return fmt.Errorf("%s is the present head of %s: there is nothing to roll back; choose an earlier commit", report.Abbreviate(full), s.refs.Desired)
	}
	if b.target, err = e.store.SourceSnapshot(ctx, full); err != nil {
		return err
	}
	b.historic, err = observed.Load(observed.Plane{Ref: s.refs.Desired, Revision: full, Tree: b.target}, p.state.Observed, p.cache)
	return err
}

// prove finds the observed commit that proves the target: every Unit of it that is ever observed has a valid Receipt of
// exactly its document (4.1 step 8). The whole target counts, for some Units too.
func (b *rollback) prove(ctx context.Context, p *planes) error {
	var reconciled []string
	for _, name := range b.historic.Names() {
		if u := b.historic.Unit(name); reconciles(u) {
			reconciled = append(reconciled, name)
		}
	}
	if len(reconciled) == 0 {
		return nil
	}
	unproven := ""
	if p.observed.Revision() != "" {
		proof, err := b.engine.provenAt(ctx, p.observed, func(at *gitstate.Snapshot) (observed.Status, error) {
			unit, err := b.unprovenAt(at, reconciled, p.cache)
			if unit != "" && unproven == "" {
				unproven = unit
			}
			return observed.Status{Unit: unit}, err
		})
		if err != nil {
			return err
		}
		if proof != nil {
			b.proof = proof.Revision()
			return nil
		}
	}
	if unproven == "" {
		unproven = reconciled[0]
	}
	return fmt.Errorf("the desired state %s was never observed as a whole: no commit of %s holds Receipts for all of its Units (missing first: %s); choose a revision that was fully reconciled",
		report.Abbreviate(b.target.Revision()), b.scope.refs.Observed, unproven)
}

// unprovenAt returns a Unit of the target that the observed commit at does not prove, "" when it proves all.
func (b *rollback) unprovenAt(at *gitstate.Snapshot, reconciled []string, cache *observed.Cache) (string, error) {
	state, err := observed.Load(b.historic.Desired, observed.Plane{Ref: b.scope.refs.Observed, Revision: at.Revision(), Tree: at}, cache)
	if err != nil {
		return "", err
	}
	for _, name := range reconciled {
		u := state.Unit(name)
		receipt, err := state.Receipt(name)
		if err != nil || receipt == nil || receipt.UnitBlob != u.Blob {
			return name, nil //nolint:nilerr // a Receipt of old that cannot be read proves nothing
		}
		if state.CheckArtifacts(u, receipt) != nil {
			return name, nil
		}
	}
	return "", nil
}

// requested are the Units of the request as provenance has them.
func (b *rollback) requested() []string {
	names := slices.Clone(b.request.Units)
	slices.Sort(names)
	return slices.Compact(names)
}
