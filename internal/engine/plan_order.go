package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/desired"
	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/driver"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/report"
)

// startReady starts the plans that nothing holds back, as far as the limit allows. A Unit is held back while a producer,
// direct or not, is still to be planned: its plan may foretell values that the Unit reads.
func (p *planning) startReady(ctx context.Context) error {
	names := p.inScope()
	producers := map[string][]string{}
	for _, name := range names {
		producers[name] = p.producers(name)
	}
	unsettled := map[string]bool{}
	for _, name := range graphOf(producers).Order() {
		status, err := p.next.Status(name)
		if err != nil {
			return err
		}
		held := slices.ContainsFunc(producers[name], func(producer string) bool { return unsettled[producer] })
		plan := p.plans[name]
		ready := plan == nil && status.Condition == observed.Ready
		unsettled[name] = held || ready || plan != nil && plan.running
		if !ready || held || p.running >= p.engine.MaxParallel || ctx.Err() != nil {
			continue
		}
		if err := p.start(ctx, name, status); err != nil {
			return err
		}
		unsettled[name] = p.plans[name].running
	}
	return nil
}

// start plans one Unit from its candidate document, or notes why its driver is not asked.
func (p *planning) start(ctx context.Context, name string, status observed.Status) error {
	u := p.next.Unit(name)
	receipt, err := p.next.Receipt(name)
	if err != nil {
		return err
	}
	t := task{unit: u, desiredRevision: p.planes.desired.Revision(), receipt: receipt, reason: p.reason(name, status)}
	if dir := p.engine.reportDirectory(p.request.ReportDir); dir != "" {
		t.reportDir = unitDirectory(dir, name)
	}
	if why := p.notAsked(u); why != "" {
		p.plans[name] = &unitPlan{result: report.UnitResult{Unit: name, Kind: u.Kind, Outcome: report.Planned, Reason: t.reason + "; " + why,
			Foresight: &report.Foresight{Certainty: report.DocumentOnly}}}
		return nil
	}
	p.plans[name] = &unitPlan{running: true}
	p.ran = append(p.ran, name)
	p.running++
	go func() {
		result, plan := p.work.foresee(ctx, t)
		d := planned{unit: name, result: result}
		if result.Outcome == report.Planned {
			d.foretold = foretell(plan, receipt)
		}
		p.done <- d
	}()
	return nil
}

// notAsked says why a Unit's driver is not asked for a plan, "" when it is.
func (p *planning) notAsked(u *observed.Unit) string {
	if p.request.Static {
		return "documents only, no driver was asked"
	}
	if d := p.engine.Drivers[u.Kind]; d != nil {
		if _, ok := d.(driver.Planner); !ok {
			return "kind " + u.Kind + " has no plan"
		}
	}
	return ""
}

// foresee asks the driver what it would do.
func (w *work) foresee(ctx context.Context, t task) (report.UnitResult, driver.Plan) {
	var plan driver.Plan
	result := w.do(ctx, t, report.Plan, func(ctx context.Context, d driver.Driver, u driver.Unit) (err error) {
		planner, ok := d.(driver.Planner)
		if !ok {
			return driver.ErrUnsupported
		}
		plan, err = planner.Plan(ctx, u)
		return err
	})
	if result.Outcome == "" {
		result.Outcome, result.Changes, result.PlanText = report.Planned, plan.Changes, w.engine.Masker.String(plan.Text)
		result.Changes.Resources = slices.Clone(plan.Changes.Resources)
		for i := range result.Changes.Resources { // an address may hold a key that is a secret
			result.Changes.Resources[i].Address = w.engine.Masker.String(result.Changes.Resources[i].Address)
		}
	}
	w.engine.emit(report.UnitFinished{Result: result})
	return result, plan
}

// foretell returns the Receipt's result that a plan foretells, as far as it is known: the outputs that the plan shows, and,
// when nothing would change, those of the last Receipt. Outputs that are sensitive are in neither.
func foretell(plan driver.Plan, last *observed.Receipt) *document.Node {
	outputs := document.NewMap()
	if !plan.Changes.Any() && last != nil {
		if known := last.Result.Get("outputs"); known != nil && known.Kind == document.Map {
			outputs.Fields = slices.Clone(known.Fields)
		}
	}
	if plan.Outputs != nil {
		for _, f := range plan.Outputs.Fields {
			outputs = outputs.With(f.Key, f.Value)
		}
	}
	if len(outputs.Fields) == 0 {
		return nil
	}
	return document.NewMap(document.F("outputs", outputs))
}

// reason says why a Unit would run: the causes that the candidate found, else its state.
func (p *planning) reason(name string, status observed.Status) string {
	if d := p.decision(name); d != nil && len(d.Causes) > 0 {
		return strings.Join(d.Causes, ", ")
	}
	return status.Reason
}

func (p *planning) decision(name string) *desired.Decision {
	i := slices.IndexFunc(p.candidate.Decisions, func(d desired.Decision) bool { return d.Unit == name })
	if i < 0 {
		return nil
	}
	return &p.candidate.Decisions[i]
}

// names are all Units that are known: desired, blocked or among the documents; sorted.
func (p *planning) names() []string {
	names := append(unitNames(p.next, p.applier.inputs.documents), p.next.Blocks.Units()...)
	slices.Sort(names)
	return slices.Compact(names)
}

// producers are the Units that a Unit reads from, by its candidate document and by its authored one.
func (p *planning) producers(name string) []string {
	var out []string
	if u := p.next.Unit(name); u != nil {
		out = u.Producers()
	}
	if d := p.decision(name); d != nil && d.Document != nil && d.Document.Unit != nil {
		out = append(out, authoredProducers(d.Document.Unit)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// inScope are the Units that this plan covers: those asked for and, transitively, their producers; sorted.
func (p *planning) inScope() []string {
	all := p.names()
	if len(p.request.Units) == 0 {
		return all
	}
	seen := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if seen[name] || !slices.Contains(all, name) {
			return
		}
		seen[name] = true
		for _, producer := range p.producers(name) {
			visit(producer)
		}
	}
	for _, name := range p.request.Units {
		visit(name)
	}
	return slices.DeleteFunc(all, func(name string) bool { return !seen[name] })
}
