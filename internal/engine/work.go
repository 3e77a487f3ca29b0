package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/driver"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
	"github.com/gitopsctr/gitopsctr/internal/source"
)

// work prepares what drivers need: the Unit's source at its pinned revision, private directories, a transcript.
type work struct {
	engine    *Engine
	scope     *scope
	checkouts *source.Checkouts
}

func (e *Engine) newWork(s *scope) (*work, error) {
	dir, err := e.tempDir("sources-")
	if err != nil {
		return nil, err
	}
	w := &work{engine: e, scope: s}
	w.checkouts = source.NewCheckouts(dir, func(ctx context.Context, revision string) (*source.Index, error) {
		snapshot, err := e.store.SourceSnapshot(ctx, revision)
		if err != nil {
			return nil, err
		}
		return source.NewIndex(snapshotSource{snapshot})
	})
	return w, nil
}

// task is one driver call on one desired Unit.
type task struct {
	unit *observed.Unit
	// desiredRevision is the commit of the desired ref that holds the Unit.
	desiredRevision string
	receipt         *observed.Receipt // the last one, nil for none
	reportDir       string
	reason          string
	reapply         bool   // run although the Receipt is current
	contended       bool   // other runs work on the same Units: look before the lease is asked for
	lease           string // token of the effect lease that is held, "" without
	// evidence is that of a teardown which is done already, nil for none.
	evidence *resource.TeardownEvidence
}

// controller is what the last Receipt says of the run that wrote it, nil without one.
func (t task) controller() *document.Node {
	if t.receipt == nil {
		return nil
	}
	return t.receipt.Controller
}

// do prepares the Unit's directories, calls the driver through call, and removes the directories again.
func (w *work) do(ctx context.Context, t task, action report.Action, call func(context.Context, driver.Driver, driver.Unit) error) (result report.UnitResult) {
	e := w.engine
	start := e.Now()
	result = report.UnitResult{Unit: t.unit.Name, Kind: t.unit.Kind, State: report.Ready, Action: action, Reason: t.reason, Producers: t.unit.Producers()}
	e.emit(report.UnitStarted{Unit: t.unit.Name, Kind: t.unit.Kind, Action: action, Reason: t.reason})
	err := w.call(ctx, t, call)
	result.Duration = e.Now().Sub(start)
	if err != nil {
		result.Outcome, result.Err = report.Failed, e.Masker.String(err.Error())
	}
	return result
}

func (w *work) call(ctx context.Context, t task, call func(context.Context, driver.Driver, driver.Unit) error) (err error) {
	e := w.engine
	d := e.Drivers[t.unit.Kind]
	if d == nil {
		return fmt.Errorf("this version of gitopsctr has no driver for Units of kind %s; leave the Unit to a version that has one", t.unit.Kind)
	}
	kind, _ := resource.UnitKindOf(t.unit.Kind)
	src := t.unit.Source()
	if src != nil && src.DriverVersion != 0 && src.DriverVersion != int64(kind.DriverVersion) {
		return fmt.Errorf("the desired Unit was made for version %d of driver %s, but this program has version %d; apply the Unit again", src.DriverVersion, kind.Driver, kind.DriverVersion)
	}
	temp, err := e.tempDir("unit-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	log := &lineLog{emit: func(line string) { e.emit(report.UnitOutput{Unit: t.unit.Name, Line: line}) }}
	defer log.flush()
	u := driver.Unit{
		Environment: w.scope.Environment, Name: t.unit.Metadata.Name, QualifiedName: t.unit.Name, Kind: t.unit.Kind, UID: t.unit.Metadata.UID,
		Spec: t.unit.Spec, DesiredRevision: t.desiredRevision, TempDir: temp, ReportDir: t.reportDir, Log: e.Masker.Writer(log),
	}
	if t.receipt != nil {
		u.Previous = t.receipt.Result
	}
	if t.unit.Metadata.Deletion != nil {
		u.DeletionGeneration = t.unit.Metadata.Deletion.Generation
	}
	if src != nil {
		dir, cleanup, err := w.checkout(ctx, t.unit.Kind, src)
		if err != nil {
			return fmt.Errorf("check out its source: %w", err)
		}
		defer func() { _ = cleanup() }() // the run's directory is removed as a whole in the end
		u.SourceDir = dir
	}
	return call(ctx, d, u)
}

// checkout makes the Unit's private source tree: the whole tree of its revision, or for a Terraform Unit whose files never
// look above themselves only what is at and below its path.
func (w *work) checkout(ctx context.Context, kind string, src *resource.Source) (dir string, cleanup func() error, err error) {
	if kind == "Terraform" {
		index, err := w.checkouts.Index(ctx, src.Revision)
		if err != nil {
			return "", nil, err
		}
		if alone, err := index.SelfContained(src.Path); err != nil || alone {
			if err != nil {
				return "", nil, err
			}
			return w.checkouts.PrivatePart(ctx, src.Revision, src.Path)
		}
	}
	return w.checkouts.Private(ctx, src.Revision, src.Path)
}

// plan asks the driver what it would do.
func (w *work) plan(ctx context.Context, t task) report.UnitResult {
	var plan driver.Plan
	result := w.do(ctx, t, report.Plan, func(ctx context.Context, d driver.Driver, u driver.Unit) (err error) {
		planner, ok := d.(driver.Planner)
		if !ok {
			return fmt.Errorf("plan: %w", driver.ErrUnsupported)
		}
		plan, err = planner.Plan(ctx, u)
		return err
	})
	if result.Outcome == "" {
		result.Outcome, result.Changes, result.PlanText = report.Planned, plan.Changes, plan.Text
	}
	w.engine.emit(report.UnitFinished{Result: result})
	return result
}

// verify asks the driver whether the world is as the Unit says.
func (w *work) verify(ctx context.Context, t task) report.UnitResult {
	var drift driver.Drift
	result := w.do(ctx, t, report.Verify, func(ctx context.Context, d driver.Driver, u driver.Unit) (err error) {
		verifier, ok := d.(driver.Verifier)
		if !ok {
			return fmt.Errorf("verify: %w", driver.ErrUnsupported)
		}
		drift, err = verifier.Verify(ctx, u)
		return err
	})
	if result.Outcome == "" {
		result.Outcome, result.Changes, result.PlanText = report.Verified, drift.Changes, drift.Text
		if drift.Drifted {
			result.Outcome, result.Reason = report.Drifted, "the world differs from the desired Unit: "+drift.Changes.String()
		}
	}
	w.engine.emit(report.UnitFinished{Result: result})
	return result
}

// reconcile runs the driver for effect. It does not publish: the evidence is returned with the result, and the driver's
// error for what it says of the effect.
func (w *work) reconcile(ctx context.Context, t task) (report.UnitResult, driver.Result, error) {
	var evidence driver.Result
	var failure error
	result := w.do(ctx, t, report.Apply, func(ctx context.Context, d driver.Driver, u driver.Unit) (err error) {
		reconciler, ok := d.(driver.Reconciler)
		if !ok {
			return fmt.Errorf("reconcile: %w", driver.ErrUnsupported)
		}
		evidence, failure = reconciler.Reconcile(ctx, u)
		return failure
	})
	if result.Outcome == "" {
		result.Outcome, result.Changes = report.Applied, evidence.Changes
	}
	return result, evidence, failure
}

// lineLog turns what a driver writes into events, line by line.
type lineLog struct {
	mu   sync.Mutex
	part bytes.Buffer
	emit func(line string)
}

func (l *lineLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		l.part.Write(line)
		if !ended {
			break
		}
		l.emit(l.part.String())
		l.part.Reset()
		rest = after
	}
	return len(p), nil
}

func (l *lineLog) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.part.Len() > 0 {
		l.emit(l.part.String())
		l.part.Reset()
	}
}

var _ io.Writer = (*lineLog)(nil)

// reportDirectory is the absolute form of the directory that the user named, "" for none.
func (e *Engine) reportDirectory(dir string) string {
	if dir == "" || filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(e.Directory, dir)
}

// publishTimeout is how long the publication of a Receipt may take after the run was cancelled: the effect happened, so
// its evidence is worth a moment, but the platform kills a cancelled job soon.
const publishTimeout = 20 * time.Second
