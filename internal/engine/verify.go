package engine

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/gitopsctr/gitopsctr/internal/driver"
	"github.com/gitopsctr/gitopsctr/internal/report"
)

// A DriftError tells that Units differ from the world.
type DriftError struct{ Units []string }

func (e *DriftError) Error() string { return "drift: " + join(e.Units) }

// Verify compares the world with the desired Units; nothing is written (chapter D, 9.1). Units are checked in parallel, in
// no particular order: none changes anything.
func (e *Engine) Verify(ctx context.Context, r VerifyRequest) (Outcome, error) {
	start := e.Now()
	s, err := e.open(r.Target)
	if err != nil {
		return Outcome{}, err
	}
	e.emit(report.RunStarted{Operation: "verify", Environment: r.Environment})
	p, err := e.fetch(ctx, s)
	if err != nil {
		return Outcome{}, err
	}
	if err := p.requireDesired(s); err != nil {
		return Outcome{}, err
	}
	e.emitRefs(s, p)
	names, err := e.verifiable(s, p, r.Units, r.Able)
	if err != nil {
		return Outcome{}, err
	}
	w, err := e.newWork(s)
	if err != nil {
		return Outcome{}, err
	}
	run := e.newRun("verify", s, p)
	run.Units = make([]report.UnitResult, len(names))
	var group errgroup.Group
	group.SetLimit(e.MaxParallel)
	for i, name := range names {
		if ctx.Err() != nil {
			run.Units[i] = report.UnitResult{Unit: name, Kind: p.state.Unit(name).Kind, Outcome: report.Skipped, Reason: "the run was cancelled"}
			continue
		}
		run.DriversRan = append(run.DriversRan, name)
		group.Go(func() error {
			run.Units[i] = w.verify(ctx, task{unit: p.state.Unit(name), desiredRevision: p.desired.Revision()})
			return nil
		})
	}
	_ = group.Wait() // the functions return no error
	run.Duration = e.Now().Sub(start)
	var failed, drifted []string
	for i, u := range run.Units {
		switch u.Outcome {
		case report.Failed, report.Skipped:
			failed = append(failed, u.Unit)
		case report.Drifted:
			drifted = append(drifted, u.Unit)
		case report.Verified:
			run.Units[i].State = report.Clean
		}
		if file := e.authoredFile(s, u.Unit); file != "" {
			run.Units[i].Position = report.Position{File: file, Line: 1}
		}
		receipt, err := p.state.Receipt(u.Unit)
		if err != nil {
			return Outcome{}, err
		}
		if receipt != nil {
			run.Units[i].Receipt, run.Units[i].ReceiptRevision = receipt.Path, p.observed.Revision()
		}
	}
	run.Result = report.RunClean
	switch {
	case len(failed) > 0:
		run.Result, err = report.RunFailed, &DriverError{Units: failed}
	case len(drifted) > 0:
		run.Result, err = report.RunDrifted, &DriftError{Units: drifted}
	}
	e.emit(report.RunFinished{Run: run})
	return Outcome{Run: run}, err
}

// verifiable checks all selected Units before the first driver runs: known, resolved, of a kind that can be verified.
func (e *Engine) verifiable(s *scope, p *planes, units []string, able bool) ([]string, error) {
	if err := noReferences(p.state); err != nil {
		return nil, err
	}
	names := slices.Clone(units)
	if len(names) == 0 {
		names = p.state.Names()
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if able {
		names = slices.DeleteFunc(names, func(name string) bool {
			u := p.state.Unit(name)
			if u == nil {
				return false
			}
			_, ok := e.Drivers[u.Kind].(driver.Verifier)
			return !ok
		})
	}
	for _, name := range names {
		u := p.state.Unit(name)
		if u == nil {
			return nil, fmt.Errorf("environment %s has no Unit %q on %s; it has %s", s.Environment, name, s.refs.Desired, listOrNone(p.state.Names()))
		}
		if _, ok := e.Drivers[u.Kind].(driver.Verifier); !ok {
			return nil, fmt.Errorf("Unit %s cannot be verified: kind %s has no verify; name the Units to verify with --unit", name, u.Kind)
		}
	}
	return names, nil
}
