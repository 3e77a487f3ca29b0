package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gitopsctr/gitopsctr/internal/desired"
	"github.com/gitopsctr/gitopsctr/internal/expression"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

func (e *Engine) newRun(operation string, s *scope, p *planes) report.Run {
	return report.Run{
		Operation: operation, Environment: s.Environment,
		DesiredRef: s.refs.Desired, DesiredBefore: p.desired.Revision(), DesiredRevision: p.desired.Revision(),
		ObservedRef: s.refs.Observed, ObservedBefore: p.observed.Revision(), ObservedRevision: p.observed.Revision(),
	}
}

func (e *Engine) failedRun(run report.Run, start time.Time) report.Run {
	run.Result, run.Duration = report.RunFailed, e.Now().Sub(start)
	e.emit(report.RunFinished{Run: run})
	return run
}

// results are the Units of an apply as a report shows them: what the planes say after it, and what the candidate decided.
func (a *applier) results(p *planes, c *desired.Candidate) ([]report.UnitResult, error) {
	out, err := stateResults(p.state, unitNames(p.state, a.inputs.documents))
	if err != nil {
		return nil, err
	}
	decisions := map[string]desired.Decision{}
	for _, d := range c.Decisions {
		decisions[d.Unit] = d
	}
	for i := range out {
		d, ok := decisions[out[i].Unit]
		if !ok {
			continue
		}
		out[i].Position = position(d)
		if d.Document != nil && out[i].Kind == "" {
			out[i].Kind = d.Document.Kind()
		}
		if d.Reason != "" && d.Disposition != desired.Untouched {
			out[i].Reason = waitReason(d)
		}
		if len(out[i].Producers) == 0 && d.Document != nil && d.Document.Unit != nil {
			out[i].Producers = authoredProducers(d.Document.Unit)
		}
	}
	return out, nil
}

// stateResults classifies the named Units.
func stateResults(state *observed.State, names []string) ([]report.UnitResult, error) {
	statuses, err := state.Statuses(names)
	if err != nil {
		return nil, err
	}
	out := make([]report.UnitResult, 0, len(statuses))
	for _, status := range statuses {
		r := report.UnitResult{Unit: status.Unit, State: report.State(status.Condition), Reason: status.Reason, Outcome: report.Unchanged}
		if status.Condition == observed.Wait {
			r.Outcome = report.Waiting
		}
		if u := state.Unit(status.Unit); u != nil {
			r.Kind, r.Producers = u.Kind, u.Producers()
		}
		receipt, err := state.Receipt(status.Unit)
		if err != nil {
			return nil, err
		}
		if receipt != nil {
			r.Receipt, r.ReceiptRevision = receipt.Path, state.Observed.Revision
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b report.UnitResult) int { return strings.Compare(a.Unit, b.Unit) })
	return out, nil
}

// unitNames are the Units that a report covers: the desired ones and the documents given.
func unitNames(state *observed.State, documents []desired.Document) []string {
	names := state.Names()
	for i := range documents {
		names = append(names, documents[i].Name())
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// position is the place in the authored document that a person has to look at: the first waiting reference, or the name.
func position(d desired.Decision) report.Position {
	if d.Document == nil {
		return report.Position{}
	}
	p := report.Position{File: d.Document.File, Line: 1}
	if n := d.Document.Node; n != nil && n.Line > 0 {
		p.Line, p.Column = n.Line, n.Column
	}
	if len(d.Waits) > 0 {
		w := d.Waits[0].Reference
		p.Pointer = "/spec" + w.At
		if w.Node != nil && w.Node.Line > 0 {
			p.Line, p.Column = w.Node.Line, w.Node.Column
		}
	}
	return p
}

// waitReason says for each waiting reference what is missing, where the reference stands, and what is known of the cause.
func waitReason(d desired.Decision) string {
	if len(d.Waits) == 0 {
		return d.Reason
	}
	parts := make([]string, len(d.Waits))
	for i, w := range d.Waits {
		parts[i] = fmt.Sprintf("%s (/spec%s, %s)", w.Error(), w.Reference.At, w.Reference)
		if n := w.Reference.Node; n != nil && n.Line > 0 && d.Document != nil {
			parts[i] += fmt.Sprintf(" at %s:%d", d.Document.File, n.Line)
		}
		if w.Hint != "" {
			parts[i] += ": " + w.Hint
		}
	}
	return strings.Join(parts, "; ")
}

func authoredProducers(u *resource.AuthoredUnit) []string {
	var out []string
	_ = expression.Walk("", u.Spec, func(r *expression.Reference) error { // a fault is reported where documents are admitted
		if (r.Kind == expression.FromReceipt || r.Kind == expression.FromArtifact) && !slices.Contains(out, r.Unit) {
			out = append(out, r.Unit)
		}
		return nil
	})
	slices.Sort(out)
	return out
}

// describeEdits says in one line what a candidate changes, for a dry run.
func describeEdits(c *desired.Candidate) string {
	var parts []string
	for _, d := range c.Decisions {
		switch {
		case d.Disposition == desired.Marked:
			parts = append(parts, d.Unit+" (marked for deletion)")
		case d.Changed && len(d.Causes) > 0:
			parts = append(parts, fmt.Sprintf("%s (%s)", d.Unit, strings.Join(d.Causes, ", ")))
		case d.Changed:
			parts = append(parts, d.Unit)
		}
	}
	if len(parts) == 0 {
		return "records beside the Units"
	}
	return strings.Join(parts, "; ")
}

func join(names []string) string { return strings.Join(names, ", ") }

func listOrNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return join(names)
}
