package engine

import (
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/graph"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/report"
)

// schedule is what a convergence may start now.
type schedule struct {
	order     []string // the scope, producers first
	status    map[string]observed.Status
	startable []string          // in that order
	heldBy    map[string]string // ready Unit → the failed producer that holds it back
	waitsFor  map[string]string // ready Unit → the producer that another run holds
}

// schedule classifies the Units in scope. A ready Unit may start when none of its producers, direct or not, is about to
// change: ready itself, running, or failed in this run.
func (c *convergence) schedule() (*schedule, error) {
	names := c.inScope()
	s := &schedule{status: map[string]observed.Status{}, heldBy: map[string]string{}, waitsFor: map[string]string{}}
	producers := map[string][]string{}
	for _, name := range names {
		status, err := c.planes.state.Status(name)
		if err != nil {
			return nil, err
		}
		s.status[name] = status
		producers[name] = slices.DeleteFunc(c.producers(name), func(p string) bool {
			_, covered := slices.BinarySearch(names, p) // names are sorted
			return !covered
		})
	}
	s.order = graphOf(producers).Order()
	unsettled := map[string]bool{} // ready, running or failed, or behind one that is
	failedAt := map[string]string{}
	leasedAt := map[string]string{}
	for _, name := range s.order {
		held := false
		for _, p := range producers[name] {
			if by := failedAt[p]; by != "" && failedAt[name] == "" {
				failedAt[name] = by
			}
			held = held || unsettled[p]
			if by := leasedAt[p]; by != "" && leasedAt[name] == "" {
				leasedAt[name] = by
			}
		}
		record := c.ran[name]
		ready := s.status[name].Condition == observed.Ready
		switch {
		case record != nil && record.running:
			unsettled[name] = true
			continue
		case record != nil && record.result.Outcome == report.Failed && (!ready || record.blob == c.blob(name)):
			unsettled[name], failedAt[name] = true, name
			continue
		case ready && record != nil && record.result.Outcome == report.Waiting && record.blob == c.blob(name):
			unsettled[name], leasedAt[name] = true, name
			continue
		case ready && failedAt[name] != "":
			s.heldBy[name] = failedAt[name]
		case ready && leasedAt[name] != "":
			s.waitsFor[name] = leasedAt[name]
		case ready && !held:
			s.startable = append(s.startable, name)
		}
		unsettled[name] = ready || held
	}
	return s, nil
}

// graphOf is the graph of the nodes and their producers.
func graphOf(producers map[string][]string) *graph.Graph {
	g := &graph.Graph{}
	for node, from := range producers {
		g.Add(node, from...)
	}
	return g
}

func (c *convergence) blob(name string) string {
	if u := c.planes.state.Unit(name); u != nil {
		return u.Blob
	}
	return ""
}

// finish fills in the run's results: every Unit in scope with what it came to.
func (c *convergence) finish(err error) {
	c.run.DesiredRevision = c.planes.desired.Revision()
	if c.applier != nil {
		c.run.SourceRevision = c.applier.inputs.revision
	}
	if c.run.ObservedRevision == c.run.ObservedBefore {
		c.run.ObservedRevision = c.planes.observed.Revision()
	}
	schedule, scheduleErr := c.schedule()
	if scheduleErr != nil {
		c.run.Result = report.RunFailed
		return
	}
	results, stateErr := c.results(schedule.order)
	if stateErr != nil {
		c.run.Result = report.RunFailed
		return
	}
	waiting, failed := false, err != nil
	for i := range results {
		r := &results[i]
		record := c.ran[r.Unit]
		switch {
		case record != nil:
			state, reason := r.State, r.Reason
			producers, position := r.Producers, r.Position
			*r = record.result
			r.State, r.Producers, r.Position = state, producers, position
			if r.Outcome == report.Applied && state == report.Wait {
				r.Reason += "; now waits: " + reason
			}
		case c.keptReason(r.Unit) != "":
			r.Outcome, r.Reason = report.Waiting, "its new desired document is not published: "+c.keptReason(r.Unit)
		case schedule.waitsFor[r.Unit] != "":
			r.Outcome, r.Reason = report.Waiting, "its producer "+schedule.waitsFor[r.Unit]+" is leased by another run"
		case c.deleting(r.Unit):
			r.Reason = c.deletionReason(r.Unit)
		case schedule.heldBy[r.Unit] != "":
			r.Outcome, r.Reason = report.Skipped, "its producer "+schedule.heldBy[r.Unit]+" failed"
		case r.State == report.Ready:
			r.Outcome, r.Reason = report.Skipped, "the run ended before it started"
		}
		waiting = waiting || r.State == report.Wait || r.Outcome == report.Waiting
		failed = failed || r.Outcome == report.Failed || r.Outcome == report.Skipped
	}
	c.run.Units = c.withDestroyed(results)
	c.tellWaiting()
	switch {
	case failed:
		c.run.Result = report.RunFailed
	case waiting:
		c.run.Result = report.RunWaiting
	default:
		c.run.Result = report.RunClean
	}
}

func (c *convergence) results(names []string) ([]report.UnitResult, error) {
	var results []report.UnitResult
	var err error
	if c.applier != nil && c.candidate != nil {
		results, err = c.applier.results(c.planes, c.candidate)
	} else {
		results, err = stateResults(c.planes.state, names)
	}
	if err != nil {
		return nil, err
	}
	markProposed(results, c.candidate, c.publication)
	covered := map[string]bool{}
	for _, name := range names {
		covered[name] = true
	}
	results = slices.DeleteFunc(results, func(r report.UnitResult) bool { return !covered[r.Unit] })
	slices.SortFunc(results, func(a, b report.UnitResult) int { return strings.Compare(a.Unit, b.Unit) })
	return results, nil
}
