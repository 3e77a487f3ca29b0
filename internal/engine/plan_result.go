package engine

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/gitopsctr/gitopsctr/internal/desired"
	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/expression"
	"github.com/gitopsctr/gitopsctr/internal/report"
)

// results are the Units in scope as the report shows them: what the candidate decided, and what their plans say.
func (p *planning) results() ([]report.UnitResult, error) {
	next := *p.planes
	next.state = p.next
	results, err := p.applier.results(&next, p.candidate)
	if err != nil {
		return nil, err
	}
	scope := p.inScope()
	results = slices.DeleteFunc(results, func(r report.UnitResult) bool { return !slices.Contains(scope, r.Unit) })
	for i := range results {
		p.complete(&results[i])
	}
	return results, nil
}

// complete adds to a Unit's state what is known of its future.
func (p *planning) complete(r *report.UnitResult) {
	f := &report.Foresight{Certainty: report.Exact}
	if plan := p.plans[r.Unit]; plan != nil {
		state, receipt, revision, position, producers := r.State, r.Receipt, r.ReceiptRevision, r.Position, r.Producers
		*r = plan.result
		r.State, r.Receipt, r.ReceiptRevision, r.Position, r.Producers = state, receipt, revision, position, producers
		if plan.result.Foresight != nil {
			f.Certainty = plan.result.Foresight.Certainty
		}
	}
	r.Foresight = f
	f.Diff, f.Changed = p.diff(r.Unit)
	if u := p.next.Unit(r.Unit); u != nil {
		f.Teardown = u.Metadata.Deletion != nil // now, or by an earlier apply
	}
	d := p.decision(r.Unit)
	if d == nil {
		return
	}
	for _, ref := range d.Fallbacks {
		f.Fallbacks = append(f.Fallbacks, report.Fallback{At: "/spec" + ref.At, Reference: ref.String()})
	}
	switch {
	case len(d.Waits) > 0:
		f.Certainty = report.Deferred
		for _, w := range d.Waits {
			f.Awaited = append(f.Awaited, report.Awaited{Value: valueName(w.Reference), At: "/spec" + w.Reference.At, Cause: p.cause(w)})
		}
		r.Reason = "waits on " + awaitedValues(f.Awaited)
	case f.Certainty == report.DocumentOnly:
	case len(d.Fallbacks) > 0:
		f.Certainty = report.WithFallbacks
	case slices.ContainsFunc(r.Producers, func(producer string) bool { return p.foretold[producer] != nil }):
		f.Certainty = report.ExactPlanned
	}
	if r.Outcome == report.Planned && f.Changed {
		p.place(r, d)
	}
}

// cause says why a value is not there, with what this plan knows of its producer.
func (p *planning) cause(w *expression.Unavailable) string {
	plan := p.plans[w.Producer]
	switch {
	case plan != nil && plan.result.Outcome == report.Failed:
		return "the plan of " + w.Producer + " failed"
	case plan != nil:
		return "known after apply of " + w.Producer
	case w.Producer != "" && p.decision(w.Producer) != nil && len(p.decision(w.Producer).Waits) > 0:
		return w.Producer + " waits itself"
	}
	return w.Error()
}

// valueName names what a reference reads as people do: "infrastructure.api_url".
func valueName(r *expression.Reference) string {
	parts := []string{r.Unit}
	if r.Name != "" {
		parts = append(parts, r.Name)
	}
	if pointer := strings.Trim(strings.TrimPrefix(r.Pointer, "/outputs/"), "/"); pointer != "" {
		parts = append(parts, strings.ReplaceAll(pointer, "/", "."))
	}
	if r.Unit == "" {
		parts[0] = string(r.Kind)
	}
	return strings.Join(parts, ".")
}

func awaitedValues(awaited []report.Awaited) string {
	var names []string
	for _, a := range awaited {
		if text := a.Value + " (" + a.Cause + ")"; !slices.Contains(names, text) {
			names = append(names, text)
		}
	}
	return strings.Join(names, ", ")
}

// diff shows how a Unit's desired document would change.
func (p *planning) diff(name string) (text string, changed bool) {
	oldName, newName := "/dev/null", "/dev/null"
	var old, next []byte
	if u := p.planes.state.Unit(name); u != nil {
		oldName, old = u.Path, u.Raw
	}
	if u := p.next.Unit(name); u != nil {
		newName, next = u.Path, u.Raw
	}
	if oldName == newName && string(old) == string(next) {
		return "", false
	}
	out := diff.Diff(oldName, old, newName, next)
	_, body, _ := strings.Cut(string(out), "\n") // the first line repeats the two names as a command
	const unknown = "(known after apply)"
	body = strings.NewReplacer("'"+foretoldBlob+"'", unknown, `"`+foretoldBlob+`"`, unknown, foretoldBlob, unknown).Replace(body)
	return p.engine.Masker.String(body), true
}

// place points a changed Unit to the line of the authored document that made it change: the first authored field that
// differs, or the source when the files below it changed.
func (p *planning) place(r *report.UnitResult, d *desired.Decision) {
	if d.Document == nil || d.Document.Unit == nil {
		return
	}
	spec := p.next.Unit(r.Unit).Spec
	old := document.NewMap()
	if u := p.planes.state.Unit(r.Unit); u != nil {
		old = u.Spec
	}
	pointer := firstDifference("", old.Without("source").Without("resolvedInputs"), spec.Without("source").Without("resolvedInputs"))
	if pointer == "" && slices.Contains(d.Causes, "source inputs changed") {
		pointer = "/source"
	}
	for pointer != "" {
		if line, column := d.Document.Unit.Spec.Locate(pointer); line > 0 {
			r.Position = report.Position{File: d.Document.File, Line: line, Column: column, Pointer: "/spec" + pointer}
			return
		}
		pointer = pointer[:strings.LastIndexByte(pointer, '/')]
	}
}

// firstDifference is the pointer of the first place at which next is not as old.
func firstDifference(at string, old, next *document.Node) string {
	if old == nil || next == nil || old.Kind != document.Map || next.Kind != document.Map {
		return at
	}
	for _, f := range next.Fields {
		if before := old.Get(f.Key); before == nil || !document.Equal(before, f.Value) {
			return firstDifference(at+"/"+document.PointerToken(f.Key), before, f.Value)
		}
	}
	return at
}

// unitDirectory is a Unit's own directory below the report directory: two Units' plan files must not meet.
func unitDirectory(dir, name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
