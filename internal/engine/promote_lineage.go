package engine

import (
	"context"
	"fmt"

	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// countedCommits bounds how far back the source's history is read to say how far it is ahead.
const countedCommits = 50

// lineage tells which promotion a desired state came from and how far its source has moved on, nil for a state that was not
// promoted. It is for people: what cannot be found out is no error.
func (e *Engine) lineage(ctx context.Context, environment string, head *gitstate.Snapshot) *report.Lineage {
	file, _, err := promotionFile(head)
	if err != nil || file == "" {
		return nil
	}
	data, err := head.ReadFile(file)
	if err != nil {
		return nil
	}
	p, err := resource.DecodePromotion(file, data)
	if err != nil {
		return nil
	}
	l := &report.Lineage{Environment: environment, Source: p.Environment, SourceRevision: p.DesiredRevision, SpecificationRevision: p.SpecificationRevision}
	heads, err := e.store.Fetch(ctx, p.DesiredRef)
	if err != nil {
		return nil
	}
	source := heads[p.DesiredRef]
	if source == nil {
		return l
	}
	l.SourceHead = source.Revision()
	if l.Behind, l.AtLeast, err = e.commitsSince(ctx, source.Revision(), p.DesiredRevision); err != nil {
		return nil
	}
	return l
}

// commitsSince counts the commits of a history that are newer than one of it; -1 when that one is not in it.
func (e *Engine) commitsSince(ctx context.Context, head, since string) (n int, atLeast bool, err error) {
	if head == since {
		return 0, false, nil
	}
	within, err := e.store.IsAncestor(ctx, since, head)
	if err != nil {
		return 0, false, err
	}
	if !within {
		return -1, false, nil
	}
	found := false
	err = e.store.History(ctx, head, func(at *gitstate.Snapshot) (bool, error) {
		if at.Revision() == since {
			found = true
			return false, nil
		}
		n++
		return n < countedCommits, nil
	})
	return n, !found, err
}

// tellLineage puts the lineage into a run and into the log.
func (e *Engine) tellLineage(ctx context.Context, run *report.Run, head *gitstate.Snapshot) {
	if run.Lineage = e.lineage(ctx, run.Environment, head); run.Lineage != nil {
		e.emit(report.Note{Word: "LINEAGE", Text: fmt.Sprint(run.Lineage)})
	}
}
