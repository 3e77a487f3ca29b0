package report

import (
	"strings"
	"time"

	"github.com/gitopsctr/gitopsctr/internal/driver"
)

const (
	revA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	revB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	revC = "cccccccccccccccccccccccccccccccccccccccc"
)

// convergeRun is a run in which one Unit was applied, one failed, one waits, one was destroyed and one is unchanged.
func convergeRun() Run {
	return Run{
		Operation: "converge", Environment: "dev", Result: RunFailed, Duration: 90 * time.Second,
		DesiredRef: "gitopsctr/desired/dev", DesiredBefore: revA, DesiredRevision: revB,
		ObservedRef: "gitopsctr/observed/dev", ObservedBefore: revA, ObservedRevision: revC,
		SourceRevision: revA,
		DriversRan:     []string{"net", "db", "old"},
		Units: []UnitResult{
			{Unit: "app", Kind: "Terraform", Outcome: Waiting, State: Wait, Reason: "receipt does not exist: db", Position: Position{File: "deploy/dev/units/app.yaml", Line: 7, Column: 5, Pointer: "/spec/variables/db"}, Producers: []string{"db"}},
			{Unit: "db", Kind: "Terraform", Outcome: Failed, State: Ready, Action: Apply, Duration: 12 * time.Second, Reason: "terraform apply failed", Err: "Error: no such zone\n```\n# injected", Position: Position{File: "deploy/dev/units/db.yaml", Line: 1, Column: 1}},
			{Unit: "dns", Kind: "Terraform", Outcome: Unchanged, State: Clean, Reason: "observation matches"},
			{Unit: "net", Kind: "Terraform", Outcome: Applied, State: Clean, Action: Apply, Duration: 3400 * time.Millisecond, Changes: driver.Changes{Create: 2, Resources: []driver.ResourceChange{{Address: "terraform_data.a", Action: "create"}, {Address: "terraform_data.b", Action: "create"}}}, Receipt: "units/net/receipt.yaml", ReceiptRevision: revC},
			{Unit: "old", Kind: "Terraform", Outcome: Destroyed, Action: Destroy, Duration: 65 * time.Second, Changes: driver.Changes{Destroy: 3}},
		},
		Problems: []Problem{{Severity: Warning, Position: Position{File: "gitopsctr.yaml", Line: 3, Column: 9, Pointer: "/spec/x|y"}, Message: "unknown <field>", Fix: "remove it"}},
	}
}

// cleanRun is a run that found n Units in order.
func cleanRun(n int) Run {
	run := Run{Operation: "converge", Environment: "dev", Result: RunClean, DesiredRef: "d", DesiredBefore: revA, DesiredRevision: revA, ObservedRef: "o", ObservedBefore: revB, ObservedRevision: revB}
	for i := range n {
		run.Units = append(run.Units, UnitResult{Unit: "u" + strings.Repeat("x", i), Outcome: Unchanged, State: Clean})
	}
	return run
}
