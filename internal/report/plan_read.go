package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gitopsctr/gitopsctr/internal/driver"
)

// ReadLimit is how large the JSON of a plan may be that is read again.
const ReadLimit = 16 << 20

// ReadPlan reads a plan that WriteJSON wrote. The source is not trusted: it may come from a run of a stranger's code. What
// is read is bounded, unknown members are refused, and words that reports use as they are must be the known ones; all
// other texts are escaped where they are shown.
func ReadPlan(r io.Reader) (Run, error) {
	data, err := io.ReadAll(io.LimitReader(r, ReadLimit+1))
	if err != nil {
		return Run{}, fmt.Errorf("read the plan: %w", err)
	}
	if len(data) > ReadLimit {
		return Run{}, fmt.Errorf("the plan is larger than %d bytes", ReadLimit)
	}
	var in jsonRun
	if err := json.Unmarshal(data, &in); err != nil {
		return Run{}, fmt.Errorf("the plan is no JSON of a run: %w", err)
	}
	if in.Schema != 1 || in.Operation != "plan" {
		return Run{}, errors.New(`the file is no plan: "schema" must be 1 and "operation" must be "plan"`)
	}
	run := Run{
		Operation: "plan", Environment: in.Environment, Result: in.Result, Duration: time.Duration(in.DurationMS) * time.Millisecond,
		DesiredRef: in.Desired.Ref, DesiredBefore: in.Desired.Before, DesiredRevision: in.Desired.Revision,
		ObservedRef: in.Observed.Ref, ObservedBefore: in.Observed.Before, ObservedRevision: in.Observed.Revision,
		SourceRevision: in.SourceRevision, DriversRan: in.DriversRan,
	}
	if !slices.Contains([]Result{RunClean, RunWaiting, RunFailed, RunPlanned, RunUnchanged}, run.Result) {
		return Run{}, errors.New("the plan has an unknown result")
	}
	for _, p := range in.Problems {
		if !slices.Contains([]Severity{Error, Warning, Notice}, p.Severity) {
			return Run{}, errors.New("the plan has a problem of an unknown severity")
		}
		run.Problems = append(run.Problems, Problem{Severity: p.Severity, Unit: p.Unit, Position: Position(p.Position), Message: p.Message, Fix: p.Fix})
	}
	for _, u := range in.Units {
		result, err := u.result()
		if err != nil {
			return Run{}, err
		}
		run.Units = append(run.Units, result)
	}
	return run, nil
}

func (u jsonUnit) result() (UnitResult, error) {
	c := u.Changes
	switch {
	case !slices.Contains([]Outcome{Unchanged, Planned, Waiting, Failed, Skipped}, u.Outcome):
		return UnitResult{}, errors.New("the plan has a unit with an unknown outcome")
	case min(c.Create, c.Update, c.Replace, c.Destroy, c.Outputs) < 0:
		return UnitResult{}, errors.New("the plan has a unit with a negative number of changes")
	case u.Foresight == nil || !slices.Contains([]Certainty{Exact, ExactPlanned, WithFallbacks, Deferred, DocumentOnly}, u.Foresight.Certainty):
		return UnitResult{}, errors.New("the plan has a unit of unknown certainty")
	}
	out := UnitResult{
		Unit: u.Unit, Kind: u.Kind, Outcome: u.Outcome, Reason: u.Reason, PlanText: u.Plan, Err: u.Error, Producers: u.Producers, Position: Position(u.Position),
		Changes:   driver.Changes{Create: c.Create, Update: c.Update, Replace: c.Replace, Destroy: c.Destroy, Outputs: c.Outputs},
		Foresight: &Foresight{Certainty: u.Foresight.Certainty, Changed: u.Foresight.Changed, Diff: u.Foresight.Diff, Teardown: u.Foresight.Teardown},
	}
	for _, r := range c.Resources {
		if !slices.Contains([]string{"create", "update", "replace", "destroy"}, r.Action) {
			return UnitResult{}, errors.New("the plan has a resource with an unknown action")
		}
		out.Changes.Resources = append(out.Changes.Resources, driver.ResourceChange(r))
	}
	for _, a := range u.Foresight.Awaited {
		out.Foresight.Awaited = append(out.Foresight.Awaited, Awaited{a.Value, a.Pointer, a.Cause})
	}
	for _, f := range u.Foresight.Fallbacks {
		out.Foresight.Fallbacks = append(out.Foresight.Fallbacks, Fallback{f.Pointer, f.Reference})
	}
	return out, nil
}
