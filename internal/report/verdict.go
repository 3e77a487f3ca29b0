package report

import (
	"fmt"
	"strings"
)

// NoOp returns the one sentence that a run deserves that found everything in order, "dev: nothing to do, 14 units clean",
// and false for every other run: no driver ran and no ref moved.
func NoOp(run Run) (string, bool) {
	moved := run.DesiredRevision != run.DesiredBefore || run.ObservedRevision != run.ObservedBefore
	if moved || len(run.DriversRan) > 0 || (run.Result != RunClean && run.Result != RunUnchanged) {
		return "", false
	}
	if len(run.Units) == 0 {
		return run.Environment + ": nothing to do", true
	}
	return fmt.Sprintf("%s: nothing to do, %s clean", run.Environment, units(len(run.Units))), true
}

// runFinished words the end of a run (D 8.3, H 6 and 8).
func (t *Transcript) runFinished(run Run) []Line {
	if run.Operation == "status" {
		if run.Result == RunFailed {
			return nil
		}
		return append(t.list(), Line{Word: "NEXT", spans: []span{{text, next(run.Units)}}})
	}
	name := map[string]string{"converge": "Convergence", "verify": "Verification"}[run.Operation]
	if name == "" {
		name = title(run.Operation)
	}
	lines := []Line{
		headline(name+" result for ", run.Environment),
		{Word: "RESULT", spans: []span{{text, verdict(run)}}},
	}
	if sentence, ok := NoOp(run); ok {
		lines = append(lines, Line{Word: "DONE", spans: []span{{text, sentence}}})
	}
	return lines
}

// verdict is the text of the RESULT line.
func verdict(run Run) string {
	settled := len(named(run.Units, Unchanged, Applied, Verified, Destroyed))
	tally := fmt.Sprintf("%d/%d units", settled, len(run.Units))
	drivers := "no drivers ran"
	if len(run.DriversRan) > 0 {
		drivers = "drivers ran for " + strings.Join(run.DriversRan, ", ")
	}
	switch run.Result {
	case RunClean:
		return "CLEAN: " + tally + "; " + drivers
	case RunWaiting:
		return "WAIT: " + tally + " clean; waiting: " + list(run.Units, Waiting) + "; " + drivers
	case RunFailed:
		if failed := list(run.Units, Failed); failed != "" {
			return "FAILED: " + failed + "; " + tally + " clean; " + drivers
		}
		return "FAILED: " + drivers
	case RunDrifted:
		return "DRIFT: " + list(run.Units, Drifted)
	case RunPlanned:
		if run.Operation == "plan" {
			return "PLANNED: " + CountPlan(run).String()
		}
		return "PLANNED: " + Tally(run)
	case RunPublished:
		return "PUBLISHED: " + run.DesiredRef + " advanced to " + Abbreviate(run.DesiredRevision)
	case RunProposed:
		return "PROPOSED: " + run.DesiredRef + " stays as it is until the candidate is merged"
	case RunUnchanged:
		return "UNCHANGED: " + drivers
	}
	return strings.ToUpper(string(run.Result))
}

// next is the text of the NEXT line (H 6, 6).
func next(results []UnitResult) string {
	var ready []string
	waits, materialized := false, false
	for _, r := range results {
		switch r.State {
		case Ready:
			ready = append(ready, r.Unit)
		case Wait:
			waits = true
		case Materialized:
			materialized = true
		}
	}
	switch {
	case len(ready) > 0:
		return strings.Join(ready, ", ")
	case waits:
		return "none ready; waiting for upstream observations"
	case materialized:
		return "none; all units are complete"
	}
	return "none; all units are clean"
}

// tallied is the order in which outcomes are counted: what needs attention first.
var tallied = [...]Outcome{Failed, Drifted, Destroyed, Applied, Planned, Verified, Waiting, Skipped, Unchanged}

// Tally counts the Units by outcome, "2 applied, 1 waiting, 14 unchanged"; "no units" when there are none.
func Tally(run Run) string {
	var parts []string
	for _, o := range tallied {
		if n := len(named(run.Units, o)); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, o))
		}
	}
	if len(parts) == 0 {
		return "no units"
	}
	return strings.Join(parts, ", ")
}

// Named returns the names of the Units with this outcome, in order; never nil.
func Named(run Run, outcome Outcome) []string { return named(run.Units, outcome) }

func named(results []UnitResult, outcomes ...Outcome) []string {
	names := []string{}
	for _, r := range results {
		for _, o := range outcomes {
			if r.Outcome == o {
				names = append(names, r.Unit)
			}
		}
	}
	return names
}

func list(results []UnitResult, outcome Outcome) string {
	return strings.Join(named(results, outcome), ", ")
}

func units(n int) string {
	if n == 1 {
		return "1 unit"
	}
	return fmt.Sprintf("%d units", n)
}
