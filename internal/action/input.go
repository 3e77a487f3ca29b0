package action

import (
	"fmt"
	"slices"
)

// An InputError is a wrong input; the step exits with 2.
type InputError struct {
	Input   string // its name
	Problem string
	Fix     string // "" when the problem says it
}

// Error returns `input "name" problem; fix`.
func (e *InputError) Error() string {
	s := fmt.Sprintf("input %q %s", e.Input, e.Problem)
	if e.Fix != "" {
		s += "; " + e.Fix
	}
	return s
}

// An input is one that action.yml declares.
type input struct {
	name     string
	fallback string // the default in action.yml
	users    []Operation
}

// Operations that share inputs.
var (
	everyOperation = []Operation{Prepare, Apply, Converge, Reconcile, Promote, Rollback, Plan, Verify, Comment}
	authoring      = []Operation{Apply, Converge, Promote, Plan}
	driving        = []Operation{Converge, Reconcile, Plan, Verify}
)

// inputs are all inputs of chapter F, 8.1 and ours, in the order of action.yml.
var inputs = []input{
	{name: "operation", users: everyOperation},
	{name: "working-directory", fallback: ".", users: everyOperation},
	{name: "environment", users: []Operation{Prepare, Apply, Converge, Reconcile, Rollback, Plan, Verify, Comment}},
	{name: "unit", users: driving},
	{name: "units", users: []Operation{Rollback, Converge, Plan, Verify}},
	{name: "files", users: authoring},
	{name: "partition", users: authoring},
	{name: "from-environment", users: []Operation{Promote}},
	{name: "to-environment", users: []Operation{Promote}},
	{name: "desired-ref", users: []Operation{Prepare, Apply, Converge, Reconcile, Rollback, Plan, Verify}},
	{name: "observed-ref", users: []Operation{Apply, Converge, Reconcile, Rollback, Plan, Verify}},
	{name: "candidate-ref", users: []Operation{Apply, Converge, Promote, Rollback}},
	{name: "desired-revision", users: []Operation{Prepare, Reconcile}},
	{name: "source-revision", users: authoring},
	{name: "specification-revision", users: []Operation{Promote}},
	{name: "rollback-revision", users: []Operation{Rollback}},
	{name: "reason", users: []Operation{Rollback}},
	{name: "dry", fallback: "false", users: []Operation{Apply, Rollback, Promote}},
	{name: "plan", fallback: "false", users: []Operation{Reconcile}},
	{name: "reapply", fallback: "false", users: []Operation{Reconcile}},
	{name: "report", users: []Operation{Reconcile, Plan, Verify}},
	{name: "max-parallel", users: []Operation{Converge, Plan, Verify}},
	{name: "lock-timeout", users: driving},
	{name: "build-images", fallback: "false", users: []Operation{Plan, Reconcile}},
	{name: "terraform-version", users: driving},
	{name: "opentofu-version", users: driving},
	{name: "fail-on", users: driving},
	{name: "comment-mode", fallback: "update", users: []Operation{Plan, Comment}},
	{name: "allow-fork-plans", fallback: "false", users: []Operation{Plan}},
	{name: "drift-issue", fallback: "false", users: []Operation{Verify}},
	{name: "shards", users: []Operation{Prepare}},
	{name: "plan-json", users: []Operation{Comment}},
	{name: "github-token", fallback: "${{ github.token }}", users: everyOperation},
	{name: "git-author-name", fallback: "gitopsctr GitHub Action", users: everyOperation},
	{name: "git-author-email", fallback: "41898282+github-actions[bot]@users.noreply.github.com", users: everyOperation},
	{name: "require-source-ref"},
	{name: "package-source"},
	{name: "package-version"},
	{name: "package-repository"},
	{name: "package-revision"},
}

// used tells whether one of the operations uses the input.
func used(name string, by []Operation) bool {
	i := slices.IndexFunc(inputs, func(in input) bool { return in.name == name })
	return slices.ContainsFunc(by, func(op Operation) bool { return slices.Contains(inputs[i].users, op) })
}

// ignored warns of each input that is set although no operation of the step uses it.
func ignored(get func(string) string, operations []Operation) []string {
	var warnings []string
	for _, in := range inputs {
		value := get(in.name)
		if value == "" || value == in.fallback || used(in.name, operations) {
			continue
		}
		why := fmt.Sprintf("the operation %s does not use it", operations[0])
		if len(in.users) == 0 {
			why = "this version of the action does not use it"
		}
		warnings = append(warnings, fmt.Sprintf("input %q is ignored: %s", in.name, why))
	}
	return warnings
}
