package report

import (
	"fmt"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/driver"
)

// hostile is what no part of a page may let through.
const hostile = "```\n~~~\n</details><details open>\n@canary #4711 GH-4711 <script>alert(1)</script> <!-- gitopsctr:end -->\n| x | y |\n::error::x\n##[error]x\n\x1b[31m\u202Ered `@canary` ``#4711``\n[x](https://evil.test)"

// pages are the plans that have golden files. A limit of 0 is the one of the page; graph is for the job summary.
var pages = map[string]struct {
	run   Run
	limit int
	graph string
}{
	"no_change":           {run: planRun(cleanUnit("app"), cleanUnit("network"))},
	"small_change":        {run: planRun(resized("app"), cleanUnit("network"))},
	"destroy_and_replace": {run: losingPlan(), graph: "graph LR\n  database --> app"},
	"waiting":             {run: waitingPlan()},
	"failed_driver":       {run: failedPlan()},
	"many_units":          {run: manyUnits(300), limit: 40_000},
	"large_plan":          {run: planRun(resized("app"), largePlan()), limit: 12_000},
	"hostile_output":      {run: hostilePlan()},
}

const planIntro = "\nTerraform used the selected providers to generate the following execution\nplan. Resource actions are indicated with the following symbols:\n"

func resized(name string) UnitResult {
	changes := driver.Changes{Update: 1, Resources: []driver.ResourceChange{{Address: "aws_instance.web", Action: "update"}}}
	return plannedUnit(name, changes, planIntro+`  ~ update in-place

Terraform will perform the following actions:

  # aws_instance.web will be updated in-place
  ~ resource "aws_instance" "web" {
        id            = "i-0a1b2c3d"
      ~ instance_type = "t3.small" -> "t3.medium"
        # (12 unchanged attributes hidden)
    }

Plan: 0 to add, 1 to change, 0 to destroy.
`)
}

func losingPlan() Run {
	database := plannedUnit("database", driver.Changes{Replace: 1, Destroy: 2, Resources: []driver.ResourceChange{
		{Address: `aws_ebs_volume.data["a"]`, Action: "destroy"}, {Address: "aws_ebs_volume.log", Action: "destroy"}, {Address: "aws_db_instance.main", Action: "replace"},
	}}, planIntro+`  - destroy
-/+ destroy and then create replacement

Terraform will perform the following actions:

  # aws_db_instance.main must be replaced
-/+ resource "aws_db_instance" "main" {
      ~ engine_version = "15.4" -> "16.1" # forces replacement
      ~ id             = "db-1" -> (known after apply)
    }

  # aws_ebs_volume.data["a"] will be destroyed
  # (because key ["a"] is not in for_each map)
  - resource "aws_ebs_volume" "data" {
      - id   = "vol-1" -> null
      - size = 100 -> null
    }

  # aws_ebs_volume.log will be destroyed
  # (because aws_ebs_volume.log is not in configuration)
  - resource "aws_ebs_volume" "log" {
      - id = "vol-2" -> null
    }

Plan: 1 to add, 0 to change, 3 to destroy.
`)
	created := plannedUnit("app", driver.Changes{Create: 1, Resources: []driver.ResourceChange{{Address: "aws_instance.web", Action: "create"}}}, planIntro+`  + create

Terraform will perform the following actions:

  # aws_instance.web will be created
  + resource "aws_instance" "web" {
      + id            = (known after apply)
      + instance_type = "t3.small"
    }

Plan: 1 to add, 0 to change, 0 to destroy.
`)
	old := UnitResult{Unit: "old", Kind: "Terraform", Outcome: Waiting, State: Wait, Reason: "deletion pending", Foresight: &Foresight{Certainty: Exact, Teardown: true}}
	return planRun(created, database, old)
}

func waitingPlan() Run {
	app := UnitResult{Unit: "app", Kind: "Terraform", Outcome: Waiting, State: Wait, Reason: "waits on network.id (known after apply of network)", Foresight: &Foresight{
		Certainty: Deferred, Changed: true, Awaited: []Awaited{{Value: "network.id", At: "/spec/terraform/variables/id", Cause: "known after apply of network"}}}}
	site := resized("site")
	site.Reason = "new Unit"
	site.Foresight = &Foresight{Certainty: WithFallbacks, Fallbacks: []Fallback{{At: "/spec/terraform/variables/zone", Reference: "fromReceipt network /outputs/zone"}}}
	return planRun(app, resized("network"), site)
}

func failedPlan() Run {
	app := UnitResult{Unit: "app", Kind: "Terraform", Outcome: Failed, State: Ready, Action: Plan, Reason: "source inputs changed", Foresight: &Foresight{Certainty: Exact},
		Err: "terraform plan: exit status 1\n\nError: Unsupported argument\n\n  on main.tf line 3, in resource \"aws_instance\" \"web\":\n   3:   size = 2\n\nAn argument named \"size\" is not expected here."}
	site := UnitResult{Unit: "site", Kind: "Terraform", Outcome: Skipped, State: Ready, Reason: "its producer app failed", Foresight: &Foresight{Certainty: Exact}}
	run := planRun(app, cleanUnit("network"), site)
	run.Result = RunFailed
	run.Problems = []Problem{
		{Severity: Error, Unit: "app", Position: Position{File: "deploy/dev/units/app.yaml", Line: 7, Column: 5, Pointer: "/spec/terraform/variables"}, Message: "the driver failed", Fix: "correct main.tf"},
		{Severity: Warning, Message: "input \"x\" is ignored"},
	}
	return run
}

// manyUnits has a loss in every fiftieth Unit, and every seventh waits.
func manyUnits(n int) Run {
	run := planRun()
	for i := range n {
		u := resized(fmt.Sprintf("team-%d/unit-%03d", i/100, i))
		switch {
		case i%50 == 17:
			u.Changes = driver.Changes{Destroy: 1, Resources: []driver.ResourceChange{{Address: fmt.Sprintf("aws_ebs_volume.d%d", i), Action: "destroy"}}}
		case i%3 == 0:
			u = cleanUnit(u.Unit)
		case i%7 == 0:
			u.Outcome, u.State, u.Changes, u.PlanText, u.Reason = Waiting, Wait, driver.Changes{}, "", "waits on network.id (known after apply of network)"
			u.Foresight = &Foresight{Certainty: Deferred, Awaited: []Awaited{{Value: "network.id", At: "/spec/terraform/variables/id", Cause: "known after apply of network"}}}
		}
		run.Units = append(run.Units, u)
	}
	return run
}

// largePlan has a plan of 2 MiB, with one loss in its middle.
func largePlan() UnitResult {
	const resources = 12_500
	var text strings.Builder
	text.WriteString(planIntro + "  + create\n  - destroy\n\nTerraform will perform the following actions:\n")
	for i := range resources {
		if i == resources/2 {
			text.WriteString("\n  # aws_ebs_volume.data will be destroyed\n  - resource \"aws_ebs_volume\" \"data\" {\n      - id = \"vol-1\" -> null\n    }\n")
			continue
		}
		fmt.Fprintf(&text, "\n  # aws_route53_record.r[%d] will be created\n  + resource \"aws_route53_record\" \"r\" {\n      + id   = (known after apply)\n      + name = \"r%d.example.test\"\n      + ttl  = 300\n    }\n", i, i)
	}
	fmt.Fprintf(&text, "\nPlan: %d to add, 0 to change, 1 to destroy.\n", resources-1)
	return plannedUnit("records", driver.Changes{Create: resources - 1, Destroy: 1, Resources: []driver.ResourceChange{{Address: "aws_ebs_volume.data", Action: "destroy"}}}, text.String())
}

// hostilePlan has foreign text wherever a page shows some.
func hostilePlan() Run {
	foresight := &Foresight{Certainty: WithFallbacks, Diff: hostile, Awaited: []Awaited{{hostile, hostile, hostile}}, Fallbacks: []Fallback{{hostile, hostile}}}
	app := plannedUnit("app", driver.Changes{Destroy: 1, Resources: []driver.ResourceChange{{Address: hostile, Action: "destroy"}}}, hostile)
	app.Reason = hostile
	named := plannedUnit(hostile, driver.Changes{Update: 1}, hostile)
	named.Foresight = foresight
	run := planRun(
		app, named,
		UnitResult{Unit: "bad", Outcome: Failed, Err: hostile, Foresight: &Foresight{Certainty: Exact, Diff: hostile}},
		UnitResult{Unit: "late", Outcome: Waiting, Reason: hostile, Foresight: &Foresight{Certainty: Deferred, Awaited: foresight.Awaited}},
		cleanUnit("x"+hostile),
	)
	run.Environment, run.DesiredRef, run.ObservedRef, run.ObservedRevision = "dev"+hostile, hostile, hostile, hostile
	run.Problems = []Problem{{Severity: Error, Unit: hostile, Position: Position{File: hostile, Line: 1}, Message: hostile, Fix: hostile}}
	return run
}

func hostileConverge() Run {
	return Run{
		Operation: "converge", Environment: "dev" + hostile, Result: RunFailed, DesiredRef: hostile, DesiredRevision: hostile, ObservedRef: hostile, ObservedRevision: revC,
		Units: []UnitResult{
			{Unit: "app" + hostile, Outcome: Failed, Action: Apply, Reason: hostile, Err: hostile, Receipt: hostile, ReceiptRevision: hostile},
			{Unit: "late", Outcome: Waiting, Reason: hostile},
			{Unit: "site", Outcome: Drifted, Action: Verify, Changes: driver.Changes{Update: 1}, PlanText: hostile},
		},
		Problems: []Problem{{Severity: Error, Message: hostile}},
	}
}
