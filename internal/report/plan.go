package report

import (
	"fmt"
	"strings"
)

// Foresight is what the plan of an environment knows of one Unit before anything runs: how far its plan can be relied on,
// what it waits for, and how its desired document would change.
type Foresight struct {
	Certainty Certainty
	// Awaited are the values that the Unit waits for, when it is Deferred.
	Awaited []Awaited
	// Fallbacks are the places that hold a dryFallback in this plan instead of the value that they will have.
	Fallbacks []Fallback
	// Changed tells that the desired document would change; Diff is how, "" when it stays or is not to be shown.
	Changed bool
	Diff    string
	// Teardown tells that the Unit is marked for deletion: everything that it manages will be destroyed.
	Teardown bool
}

// Certainty says how a Unit's plan came about.
type Certainty string

// The certainties.
const (
	// Exact plans have inputs that are known and stay as they are.
	Exact Certainty = "exact"
	// ExactPlanned plans read outputs that the producers' own plans show as known.
	ExactPlanned Certainty = "exact with planned outputs"
	// WithFallbacks plans hold values that the author wrote for dry runs; the real ones may differ.
	WithFallbacks Certainty = "with fallback values"
	// Deferred Units cannot be planned before a producer has run.
	Deferred Certainty = "deferred"
	// DocumentOnly Units were compared as documents; their driver was not asked.
	DocumentOnly Certainty = "document only"
)

// An Awaited is one value that a Unit waits for.
type Awaited struct {
	// Value names it: "infrastructure.api_url".
	Value string
	// At is the place in the Unit's document that needs it, a JSON Pointer; Cause says what is missing.
	At, Cause string
}

// A Fallback is one place that holds a dryFallback: a JSON Pointer, and the reference whose value will stand there.
type Fallback struct{ At, Reference string }

// Losses counts the resources that the Unit's plan destroys or replaces.
func (u UnitResult) Losses() int { return u.Changes.Destroy + u.Changes.Replace }

// Teardown tells whether the Unit is marked for deletion by the plan.
func (u UnitResult) Teardown() bool { return u.Foresight != nil && u.Foresight.Teardown }

// loses tells whether something is lost when the plan is carried out.
func (u UnitResult) loses() bool { return u.Losses() > 0 || u.Teardown() }

// A PlanCount sums up the plan of an environment.
type PlanCount struct {
	Change    int // Units that a driver, or their deletion, would change something for
	Run       int // Units that would run without changing a resource
	Unknown   int // Units whose document changes and whose driver was not asked
	Waiting   int
	Failed    int
	Unchanged int
	Destroy   int // resources
	Replace   int // resources
	Teardown  int // Units
}

// CountPlan counts a plan's Units and what they lose.
func CountPlan(run Run) PlanCount {
	var c PlanCount
	for _, u := range run.Units {
		if u.Outcome == Planned {
			c.Destroy += u.Changes.Destroy
			c.Replace += u.Changes.Replace
		}
		switch {
		case u.Outcome == Failed || u.Outcome == Skipped:
			c.Failed++
		case u.Teardown():
			c.Teardown++
			c.Change++
		case u.Outcome == Waiting:
			c.Waiting++
		case u.Outcome == Planned && u.Foresight != nil && u.Foresight.Certainty == DocumentOnly:
			c.Unknown++
		case u.Outcome == Planned && u.Changes.Any():
			c.Change++
		case u.Outcome == Planned:
			c.Run++
		default:
			c.Unchanged++
		}
	}
	return c
}

// Destructive tells whether anything is lost when the plan is carried out.
func (c PlanCount) Destructive() bool { return c.Destroy+c.Replace+c.Teardown > 0 }

// String returns the counts as one line: "2 to change, 1 waits, 14 unchanged; 1 resource will be destroyed".
func (c PlanCount) String() string {
	var parts []string
	add := func(n int, one, many string) {
		if n == 1 {
			parts = append(parts, "1 "+one)
		} else if n > 1 {
			parts = append(parts, fmt.Sprintf("%d %s", n, many))
		}
	}
	add(c.Failed, "failed", "failed")
	add(c.Change, "to change", "to change")
	add(c.Unknown, "to run, not planned", "to run, not planned")
	add(c.Run, "to run without changes", "to run without changes")
	add(c.Waiting, "waits", "wait")
	add(c.Unchanged, "unchanged", "unchanged")
	if len(parts) == 0 {
		parts = []string{"no units"}
	}
	text := strings.Join(parts, ", ")
	if loss := c.loss(); loss != "" {
		text += "; " + loss
	}
	return text
}

// loss says what is lost, "" for nothing.
func (c PlanCount) loss() string {
	var parts []string
	add := func(n int, noun, what string) {
		if n == 1 {
			parts = append(parts, "1 "+noun+" will be "+what)
		} else if n > 1 {
			parts = append(parts, fmt.Sprintf("%d %ss will be %s", n, noun, what))
		}
	}
	add(c.Destroy, "resource", "destroyed")
	add(c.Replace, "resource", "replaced")
	add(c.Teardown, "unit", "deleted with all that it manages")
	return strings.Join(parts, ", ")
}
