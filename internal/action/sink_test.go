package action

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/driver"
	"github.com/gitopsctr/gitopsctr/internal/report"
)

// played returns the log of the events.
func played(events ...report.Event) string {
	log, out := testLog()
	s := newSink(log)
	for _, e := range events {
		s.Event(e)
	}
	s.Close()
	return out.String()
}

func applied(unit string) report.UnitFinished {
	return report.UnitFinished{Result: report.UnitResult{Unit: unit, Outcome: report.Applied, Action: report.Apply, Duration: time.Second, Changes: driver.Changes{Create: 1}}}
}

func started(unit string) report.UnitStarted {
	return report.UnitStarted{Unit: unit, Kind: "Terraform", Action: report.Apply, Reason: "no receipt"}
}

func TestSinkOneAfterTheOther(t *testing.T) {
	t.Parallel()
	got := played(
		report.RunStarted{Operation: "converge", Environment: "dev"},
		report.UnitState{Unit: "app", State: report.Wait, Reason: "receipt does not exist: net"},
		started("net"),
		report.UnitOutput{Unit: "net", Line: "Creating..."},
		report.UnitRunning{Unit: "net", Elapsed: 30 * time.Second},
		applied("net"),
		report.RefUpdated{Plane: "observed", Ref: "o", New: "abc", Message: "Observe net"},
		report.UnitFinished{Result: report.UnitResult{Unit: "app", Outcome: report.Waiting, Reason: "r"}},
	)
	want := `
==> Converge dev
    WAIT     app: receipt does not exist: net
::group::net · dev
    CHANGED  no receipt
    ACTION   APPLY Terraform
::stop-commands::token-1
    | Creating...
    RUN      net: still running after 30s
::token-1::
::endgroup::
    APPLY    SUCCEEDED: net (1 to create, 1s)
    UPDATED  Observation o none → abc (Observe net)
    WAIT     app: r
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func TestSinkInParallel(t *testing.T) {
	t.Parallel()
	got := played(
		report.RunStarted{Operation: "converge", Environment: "dev"},
		started("a"), started("b"), started("c"),
		report.UnitOutput{Unit: "b", Line: "b1"},
		report.UnitOutput{Unit: "a", Line: "a1"},
		report.UnitOutput{Unit: "c", Line: "c1"},
		report.Note{Word: "NOTE", Text: "waits for the group's end"},
		applied("b"),
		report.UnitOutput{Unit: "a", Line: "a2"},
		applied("a"),
		report.UnitOutput{Unit: "c", Line: "c2"},
	)
	want := `
==> Converge dev
::group::a · dev
    CHANGED  no receipt
    ACTION   APPLY Terraform
::stop-commands::token-1
    | a1
::token-1::
::endgroup::
::group::b · dev
    CHANGED  no receipt
    ACTION   APPLY Terraform
::stop-commands::token-2
    | b1
::token-2::
::endgroup::
    APPLY    SUCCEEDED: b (1 to create, 1s)
    NOTE     waits for the group's end
::group::a · dev (continued)
::stop-commands::token-3
    | a2
::token-3::
::endgroup::
    APPLY    SUCCEEDED: a (1 to create, 1s)
::group::c · dev
    CHANGED  no receipt
    ACTION   APPLY Terraform
::stop-commands::token-4
    | c1
    | c2
::token-4::
::endgroup::
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func TestSinkHoldsBackALimitedAmount(t *testing.T) {
	t.Parallel()
	events := []report.Event{started("a"), started("b")}
	line := strings.Repeat("x", 1<<20)
	for i := range 6 {
		events = append(events, report.UnitOutput{Unit: "b", Line: fmt.Sprint(i) + line})
	}
	got := played(append(events, applied("b"), report.UnitOutput{Unit: "unknown", Line: "stray"})...)
	for i := range 6 {
		if shown := strings.Contains(got, fmt.Sprintf("| %dxxx", i)); shown != (i >= 3) {
			t.Errorf("line %d: shown %v", i, shown)
		}
	}
	for _, want := range []string{"    | ... 5 earlier lines left out\n", "    | stray\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q", want)
		}
	}
}

// Whatever strangers put into events, the runner executes our commands and no others.
func TestSinkExecutesNoForeignCommand(t *testing.T) {
	t.Parallel()
	for _, evil := range hostile {
		events := []report.Event{
			report.RunStarted{Operation: evil, Environment: evil},
			report.RefRead{Plane: evil, Ref: evil, Revision: evil, Subject: evil},
			report.UnitState{Unit: evil, State: report.State(evil), Reason: evil, Details: []report.Note{{Word: "CAUSE", Text: evil}}},
			report.UnitStarted{Unit: "a", Kind: evil, Action: report.Action(evil), Reason: evil},
			report.UnitStarted{Unit: evil, Kind: evil},
			report.UnitOutput{Unit: "a", Line: evil},
			report.UnitOutput{Unit: evil, Line: evil},
			report.UnitRunning{Unit: evil},
			report.UnitFinished{Result: report.UnitResult{Unit: evil, Outcome: report.Failed, Err: evil, Reason: evil}},
			report.UnitFinished{Result: report.UnitResult{Unit: "a", Outcome: report.Outcome(evil), Reason: evil}},
			report.RefUpdated{Ref: evil, Old: evil, New: evil, Message: evil},
			report.RefKept{Ref: evil, Revision: evil},
			report.Problem{Severity: report.Error, Unit: evil, Position: report.Position{File: evil, Pointer: evil}, Message: evil, Fix: evil},
			report.Note{Word: evil, Text: evil},
			report.RunFinished{Run: report.Run{Operation: evil, Environment: evil, Result: report.Result(evil), DriversRan: []string{evil}}},
		}
		runner := new(fakeRunner).read(played(events...))
		if runner.stopped != "" {
			t.Errorf("%q: the runner is left stopped", evil)
		}
		for _, command := range runner.executed {
			if !strings.HasPrefix(command, "group: ") && command != "endgroup: " {
				t.Errorf("%q: executed %q", evil, command)
			}
		}
		if len(runner.executed) != 6 { // a, the other, a continued
			t.Errorf("%q: executed %q, want three groups", evil, runner.executed)
		}
		for _, shown := range runner.shown {
			if name, _, _, ok := parseCommand(shown); ok {
				t.Errorf("%q: without stop-commands %q would be executed", evil, name)
			}
		}
	}
}
