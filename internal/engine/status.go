package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/gitopsctr/gitopsctr/internal/inspect"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// Status tells every Unit's state (chapters D, section 2, and H, section 6). It writes nothing.
func (e *Engine) Status(ctx context.Context, r StatusRequest) (Outcome, error) {
	start := e.Now()
	s, err := e.open(r.Target)
	if err != nil {
		return Outcome{}, err
	}
	p, err := e.fetch(ctx, s)
	if err != nil {
		return Outcome{}, err
	}
	if r.DesiredRevision != "" {
		if err := e.selectDesired(ctx, s, p, r.DesiredRevision); err != nil {
			return Outcome{}, err
		}
	}
	e.emit(report.RunStarted{Operation: "status", Environment: r.Environment, Unit: r.Unit})
	e.emitRefs(s, p)
	if err := p.state.CheckGraph(); err != nil {
		return Outcome{}, err
	}
	authored, err := e.authoredNames(s)
	if err != nil {
		return Outcome{}, err
	}
	names := append(p.state.Names(), authored...)
	slices.Sort(names)
	names = slices.Compact(names)
	results, err := stateResults(p.state, names)
	if err != nil {
		return Outcome{}, err
	}
	statuses, err := p.state.Statuses(names)
	if err != nil {
		return Outcome{}, err
	}
	run := e.newRun("status", s, p)
	run.Result = report.RunClean
	explainer := e.newExplainer(s, p, r.Verbose)
	for _, status := range statuses {
		if r.Unit != "" && status.Unit != r.Unit {
			continue
		}
		i := slices.IndexFunc(results, func(u report.UnitResult) bool { return u.Unit == status.Unit })
		unit := results[i]
		unit.Position.File = e.authoredFile(s, status.Unit)
		details, err := explainer.explain(ctx, status)
		if err != nil {
			return Outcome{}, err
		}
		unit.Details = details
		run.Units = append(run.Units, unit)
		e.emit(report.UnitState{Unit: status.Unit, State: report.State(status.Condition), Reason: status.Reason, Details: details})
		if unit.State == report.Wait {
			run.Result = report.RunWaiting
		}
	}
	if r.Unit != "" && len(run.Units) == 0 {
		return Outcome{}, &inspect.NotFoundError{Family: observed.UnitFamily, Name: r.Unit, Where: "environment " + s.Environment, Known: names}
	}
	if err := e.tellLeases(ctx, s, p); err != nil {
		return Outcome{}, err
	}
	run.Duration = e.Now().Sub(start)
	e.emit(report.RunFinished{Run: run})
	return Outcome{Run: run}, nil
}

// authoredNames are the Units of the environment in the worktree, by the stems of their files.
func (e *Engine) authoredNames(s *scope) ([]string, error) {
	dir := path.Join(s.project.EnvironmentsPath, s.Environment, "units")
	entries, err := fs.ReadDir(e.work, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	var names []string
	for _, entry := range entries {
		if name, ok := resource.QualifiedNameOf("units/"+entry.Name(), "units"); ok && !entry.IsDir() {
			names = append(names, name)
		}
	}
	return names, nil
}

// authoredFile is the file of an authored Unit in the worktree, "" when there is none.
func (e *Engine) authoredFile(s *scope, name string) string {
	for _, file := range resource.Representations(path.Join(s.project.EnvironmentsPath, s.Environment, "units", name)) {
		if _, err := fs.Stat(e.work, file); err == nil {
			return file
		}
	}
	return ""
}

// ResolveDesired finds the commit of a desired ref: its head, or one in its history.
func (e *Engine) ResolveDesired(ctx context.Context, t Target, revision string) (Outcome, error) {
	ref := t.DesiredRef
	if ref == "" {
		s, err := e.open(t)
		if err != nil {
			return Outcome{}, err
		}
		ref = s.refs.Desired
	}
	ref, err := resource.CanonicalRef(ref)
	if err != nil {
		return Outcome{}, err
	}
	head, ok, err := e.store.Head(ctx, ref)
	if err != nil {
		return Outcome{}, err
	}
	if !ok {
		return Outcome{}, &MissingRefError{Ref: ref}
	}
	if revision != "" {
		if head, err = e.resolveIn(ctx, ref, head, revision); err != nil {
			return Outcome{}, err
		}
	}
	return Outcome{Revision: head}, nil
}

// A MissingRefError tells that a branch does not exist on the remote.
type MissingRefError struct{ Ref string }

func (e *MissingRefError) Error() string {
	return fmt.Sprintf("the branch %s does not exist on the remote", e.Ref)
}
