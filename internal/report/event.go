// Package report turns what the engine says into what people read: the terminal, annotations, the job summary, JSON.
//
// The engine sends typed events while it works and one Run at the end; how they look is decided only here.
package report

import (
	"time"

	"github.com/gitopsctr/gitopsctr/internal/driver"
)

// A Sink receives events in order, from one goroutine at a time (see Serial), and must not block for long.
type Sink interface {
	Event(Event)
}

// An Event is one of the types below.
type Event interface{ event() }

// State is a Unit's reconciliation state (chapter D, 2.1).
type State string

// The states.
const (
	Clean        State = "CLEAN"
	Ready        State = "READY"
	Wait         State = "WAIT"
	Materialized State = "MATERIALIZED"
)

// An Action is what a driver is asked to do.
type Action string

// The actions.
const (
	Apply   Action = "APPLY"
	Plan    Action = "PLAN"
	Verify  Action = "VERIFY"
	Destroy Action = "DESTROY"
)

// A Position points into an authored document. The zero value is "unknown".
type Position struct {
	File         string // relative to the repository root
	Line, Column int    // 1-based, 0 unknown
	Pointer      string // JSON Pointer from the document's root
}

// RunStarted opens a run.
type RunStarted struct {
	Operation   string // "converge", "apply", "reconcile", "verify", "status", "plan"
	Environment string
	Unit        string // for operations on one Unit
}

// RefRead tells which commit of a ref the run works on. Revision is "" when the ref does not exist.
type RefRead struct {
	Plane    string // "desired" or "observed"
	Ref      string // short branch name
	Revision string
	Subject  string // first line of the commit message
}

// UnitState tells a Unit's state and why.
type UnitState struct {
	Unit   string
	State  State
	Reason string
	// Position is where the author can act, for a Unit that waits because of a reference.
	Position Position
	// Details explain a READY state, a line each: what it was, what it is, causes, commits, files, fields.
	Details []Note
}

// RefUpdated tells that a commit was published. Old is "" when the ref is new.
type RefUpdated struct {
	Plane    string
	Ref      string
	Old, New string
	Message  string
	// Units are the qualified names of the Units that the commit changes, sorted.
	Units []string
}

// RefKept tells that a ref needed no commit.
type RefKept struct{ Plane, Ref, Revision string }

// UnitStarted tells that a driver starts.
type UnitStarted struct {
	Unit, Kind string
	Action     Action
	Reason     string
}

// UnitOutput is one line of a driver's output, without its line break, secrets masked.
type UnitOutput struct{ Unit, Line string }

// UnitRunning tells that a driver still runs, Elapsed after its start. Bus.Beat sends it, the engine does not.
type UnitRunning struct {
	Unit    string
	Elapsed time.Duration
}

// UnitFinished tells how a driver run ended.
type UnitFinished struct{ Result UnitResult }

// Problem is an error or a warning that a person has to act on.
type Problem struct {
	Severity Severity
	Unit     string // "" when it is no single Unit's
	Position Position
	Message  string
	Fix      string
}

// Note is one status line for the log: a word and a text.
type Note struct{ Word, Text string }

// RunFinished closes a run.
type RunFinished struct{ Run Run }

func (RunStarted) event()   {}
func (RefRead) event()      {}
func (UnitState) event()    {}
func (RefUpdated) event()   {}
func (RefKept) event()      {}
func (UnitStarted) event()  {}
func (UnitOutput) event()   {}
func (UnitRunning) event()  {}
func (UnitFinished) event() {}
func (Problem) event()      {}
func (Note) event()         {}
func (RunFinished) event()  {}

// Severity of a Problem.
type Severity string

// The severities, named as the Actions annotation levels.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Notice  Severity = "notice"
)

// Outcome of a Unit in a run.
type Outcome string

// The outcomes.
const (
	Unchanged Outcome = "unchanged" // clean or materialized, nothing ran
	Applied   Outcome = "applied"
	Planned   Outcome = "planned"
	Verified  Outcome = "verified"
	Drifted   Outcome = "drifted"
	Destroyed Outcome = "destroyed"
	Waiting   Outcome = "waiting"
	Failed    Outcome = "failed"
	Skipped   Outcome = "skipped" // a producer failed, or the run was cancelled before it started
)

// A UnitResult is everything that a report shows of one Unit.
type UnitResult struct {
	Unit, Kind string
	Outcome    Outcome
	State      State
	// Reason says why it ran, waits or failed; one line.
	Reason   string
	Action   Action // "" when no driver ran
	Duration time.Duration
	Changes  driver.Changes
	// PlanText is the tool's plan or drift text; "" when there is none.
	PlanText string
	// Err is the whole error text of a failed Unit.
	Err string
	// Receipt is the path of the Receipt on the observed ref, ReceiptRevision the commit that holds it; "" without.
	Receipt, ReceiptRevision string
	// Position is where the authored Unit is.
	Position Position
	// Producers are the qualified names of the Units that it reads from, sorted.
	Producers []string
	// Details explain a ready Unit in a status, as those of UnitState.
	Details []Note
	// Foresight is what a plan knows of the Unit; nil outside of plans.
	Foresight *Foresight
}

// Result of a run.
type Result string

// The results; the exit code is 0 for all but RunFailed, and for RunDrifted as the command says.
const (
	RunClean     Result = "clean"
	RunWaiting   Result = "waiting"
	RunFailed    Result = "failed"
	RunDrifted   Result = "drifted"
	RunPlanned   Result = "planned"
	RunPublished Result = "published" // apply changed the desired ref
	RunProposed  Result = "proposed"  // a candidate stands behind the change gate; the desired ref is as it was
	RunUnchanged Result = "unchanged" // apply or reconcile had nothing to do
)

// A Run is the whole outcome of one operation.
type Run struct {
	Operation, Environment string
	Result                 Result
	Duration               time.Duration
	DesiredRef             string
	DesiredBefore          string
	DesiredRevision        string
	ObservedRef            string
	ObservedBefore         string
	ObservedRevision       string
	SourceRevision         string
	Units                  []UnitResult // sorted by qualified name
	Problems               []Problem
	// Lineage tells where the desired state was promoted from; nil when it was not.
	Lineage *Lineage
	// DriversRan are the qualified names of the Units whose driver ran, in order of start.
	DriversRan []string
}
