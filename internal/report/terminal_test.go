package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/driver"
)

// played returns what a Terminal writes for the events.
func played(colour bool, events ...Event) string {
	var out bytes.Buffer
	terminal := NewTerminal(&out, colour)
	for _, e := range events {
		terminal.Event(e)
	}
	return out.String()
}

func TestTerminalConverge(t *testing.T) {
	t.Parallel()
	run := convergeRun()
	got := played(false,
		RunStarted{Operation: "converge", Environment: "dev"},
		RefRead{Plane: "desired", Ref: "gitopsctr/desired/dev", Revision: revA, Subject: "Apply desired resources to dev"},
		RefRead{Plane: "observed", Ref: "gitopsctr/observed/dev"},
		RefUpdated{Plane: "desired", Ref: "gitopsctr/desired/dev", Old: revA, New: revB, Message: "Apply desired resources to dev\n\nbody"},
		UnitState{Unit: "net", State: Ready, Reason: "no receipt", Details: []Note{{"CAUSE", "source inputs changed"}}},
		UnitState{Unit: "app", State: Wait, Reason: "receipt does not exist: db"},
		UnitStarted{Unit: "net", Kind: "Terraform", Action: Apply, Reason: "no receipt"},
		UnitOutput{Unit: "net", Line: "\x1b[1mterraform_data.a: Creating...\x1b[0m"},
		UnitFinished{Result: run.Units[3]},
		RefUpdated{Plane: "observed", Ref: "gitopsctr/observed/dev", New: revC, Message: "Observe net"},
		UnitFinished{Result: run.Units[1]},
		Problem{Severity: Error, Position: Position{File: "a.yaml", Line: 3, Column: 2, Pointer: "/spec"}, Message: "bad", Fix: "mend it"},
		Note{Word: "MATERIALIZED", Text: "manifests"},
		RunFinished{Run: run},
	)
	want := `
==> Converge dev
    DESIRED  gitopsctr/desired/dev at aaaaaaaaaaaa (Apply desired resources to dev)
    OBSERVED gitopsctr/observed/dev has no receipts yet
    UPDATE   gitopsctr/desired/dev advanced to bbbbbbbbbbbb (Apply desired resources to dev)
    READY    net: no receipt
    CAUSE    source inputs changed
    WAIT     app: receipt does not exist: db

==> net · dev
    CHANGED  no receipt
    ACTION   APPLY Terraform
    | terraform_data.a: Creating...
    APPLY    SUCCEEDED: net (2 to create, 3.4s)
    UPDATED  Observation gitopsctr/observed/dev none → cccccccccccc (Observe net)
    APPLY    FAILED: db: Error: no such zone
             ` + "```" + `
             # injected
    ERROR    a.yaml:3:2: /spec: bad; mend it
    MATERIALIZED manifests

==> Convergence result for dev
    RESULT   FAILED: db; 3/5 units clean; drivers ran for net, db, old
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("terminal (-want +got):\n%s", diff)
	}
}

func TestTerminalResults(t *testing.T) {
	t.Parallel()
	waiting := cleanRun(3)
	waiting.Result, waiting.DriversRan = RunWaiting, []string{"u"}
	waiting.Units[1].Outcome = Waiting
	drifted := Run{Operation: "verify", Environment: "dev", Result: RunDrifted, Units: []UnitResult{{Unit: "a", Outcome: Drifted}, {Unit: "b", Outcome: Verified}}}
	published := Run{Operation: "apply", Environment: "dev", Result: RunPublished, DesiredRef: "d/dev", DesiredRevision: "dry:" + revA}
	ran := cleanRun(2)
	ran.DriversRan, ran.ObservedRevision = []string{"u", "ux"}, revC
	tests := []struct {
		name string
		run  Run
		want string
	}{
		{"nothing to do", cleanRun(14), "\n==> Convergence result for dev\n    RESULT   CLEAN: 14/14 units; no drivers ran\n    DONE     dev: nothing to do, 14 units clean\n"},
		{"one unit", cleanRun(1), "\n==> Convergence result for dev\n    RESULT   CLEAN: 1/1 units; no drivers ran\n    DONE     dev: nothing to do, 1 unit clean\n"},
		{"drivers ran", ran, "\n==> Convergence result for dev\n    RESULT   CLEAN: 2/2 units; drivers ran for u, ux\n"},
		{"waiting", waiting, "\n==> Convergence result for dev\n    RESULT   WAIT: 2/3 units clean; waiting: ux; drivers ran for u\n"},
		{"drift", drifted, "\n==> Verification result for dev\n    RESULT   DRIFT: a\n"},
		{"published", published, "\n==> Apply result for dev\n    RESULT   PUBLISHED: d/dev advanced to dry:aaaaaaaaaaaa\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, played(false, RunFinished{Run: tt.run})); diff != "" {
				t.Errorf("terminal (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTerminalStatus(t *testing.T) {
	t.Parallel()
	const head = "\n==> Deployment status for dev\n    DESIRED  d does not exist\n"
	open := []Event{RunStarted{Operation: "status", Environment: "dev"}, RefRead{Plane: "desired", Ref: "d"}}
	tests := []struct {
		name   string
		events []Event
		want   string
	}{
		{"ready", []Event{
			UnitState{Unit: "a", State: Ready, Reason: "r"}, UnitState{Unit: "b", State: Wait, Reason: "w"},
			RunFinished{Run{Operation: "status", Units: []UnitResult{{Unit: "a", State: Ready}, {Unit: "b", State: Wait}, {Unit: "c", State: Ready}}}},
		}, "\n==> Reconciliation status for dev\n    READY    a: r\n    WAIT     b: w\n    NEXT     a, c\n"},
		{"waiting", []Event{RunFinished{Run{Operation: "status", Units: []UnitResult{{State: Materialized}, {State: Wait}}}}},
			"\n==> Reconciliation status for dev\n    NEXT     none ready; waiting for upstream observations\n"},
		{"materialized", []Event{RunFinished{Run{Operation: "status", Units: []UnitResult{{State: Clean}, {State: Materialized}}}}},
			"\n==> Reconciliation status for dev\n    NEXT     none; all units are complete\n"},
		{"no units", []Event{RunFinished{Run{Operation: "status"}}},
			"\n==> Reconciliation status for dev\n    NEXT     none; all units are clean\n"},
		{"broken graph", []Event{RunFinished{Run{Operation: "status", Result: RunFailed}}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(head+tt.want, played(false, append(open[:2:2], tt.events...)...)); diff != "" {
				t.Errorf("terminal (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTerminalColours(t *testing.T) {
	t.Parallel()
	got := played(true,
		RunStarted{Operation: "converge", Environment: "dev"},
		RefRead{Plane: "desired", Ref: "d", Revision: revA, Subject: "S"},
		UnitState{Unit: "a", State: Ready, Reason: "r"},
		UnitStarted{Unit: "a", Kind: "T", Action: Verify},
		UnitFinished{UnitResult{Unit: "a", Outcome: Drifted, Changes: driver.Changes{Update: 1}}},
	)
	want := strings.ReplaceAll(`
==> ^[1;36mConverge ^[3;4mdev^[23;24m^[0m
    ^[1mDESIRED^[0m  ^[1;36md^[0m at ^[1;33maaaaaaaaaaaa^[0m^[2m (S)^[0m
    ^[1;36mREADY^[0m    ^[1;36ma^[0m: r

==> ^[1;36ma · ^[3;4mdev^[23;24m^[0m
    ^[1;36mVERIFY^[0m   T
    ^[1;33mDRIFT^[0m    ^[1;36ma^[0m: 1 to update
`, "^[", "\x1b[")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("terminal (-want +got):\n%s", diff)
	}
}

func TestTerminalNamesUnitsThatRunTogether(t *testing.T) {
	t.Parallel()
	got := played(false,
		UnitStarted{Unit: "a", Kind: "T", Action: Plan},
		UnitOutput{Unit: "a", Line: "alone"},
		UnitStarted{Unit: "b", Kind: "T", Action: Plan},
		UnitOutput{Unit: "b", Line: "one\rtwo"},
		UnitRunning{Unit: "a", Elapsed: 30 * time.Second},
		UnitRunning{Unit: "a", Elapsed: 60 * time.Second},
		UnitFinished{UnitResult{Unit: "b", Action: Plan, Outcome: Planned}},
		UnitOutput{Unit: "a", Line: "alone again"},
	)
	want := `
==> a
    ACTION   PLAN T
    | alone

==> b
    ACTION   PLAN T
    b | one
    b | two
    RUN      a: still running after 1m0s
    PLAN     SUCCEEDED: b (no changes, 0s)
    | alone again
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("terminal (-want +got):\n%s", diff)
	}
}

func TestTerminalKeepsForeignTextInItsLine(t *testing.T) {
	t.Parallel()
	got := played(false, UnitState{Unit: "a\x1b[2Jb", State: Wait, Reason: "x\n    READY    fake\x07"})
	want := "    WAIT     ab: x\n                 READY    fake\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("terminal (-want +got):\n%s", diff)
	}
}
