package action

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Parse makes a Job of a step's inputs and event. get returns an input's value, "" when it is not set; dir is the absolute
// directory that working-directory is relative to. An error is an *InputError; which one comes first when several inputs
// are wrong is the order of chapter F, 8.2.
func Parse(get func(name string) string, event Event, dir string) (Job, error) {
	p := &parser{get: get, event: event}
	for _, name := range []string{"dry", "plan", "reapply"} {
		p.boolean(name)
	}
	operations := []Operation{Operation(get("operation"))}
	byEvent := operations[0] == ""
	if byEvent && p.err == nil {
		operations, p.err = event.defaults()
	}
	for _, name := range []string{"plan", "dry"} {
		if p.err == nil && p.boolean(name) && !used(name, operations) {
			p.refuse(name, operations)
		}
	}
	for _, name := range []string{"files", "partition"} {
		if p.err == nil && get(name) != "" && !used(name, operations) {
			p.refuse(name, operations)
		}
	}
	if p.err != nil {
		return Job{}, p.err
	}
	job := Job{Warnings: ignored(get, operations)}
	for _, op := range operations {
		req := p.request(op, byEvent, dir)
		if p.err != nil {
			return Job{Warnings: job.Warnings}, p.err
		}
		job.Requests = append(job.Requests, req)
	}
	return job, nil
}

// A parser reads inputs and keeps the first error.
type parser struct {
	get   func(string) string
	event Event
	err   error
}

func (p *parser) request(op Operation, byEvent bool, dir string) Request {
	p.check(op)
	if p.err == nil && p.event.Foreign {
		p.admit(op)
	}
	if p.err != nil {
		return Request{}
	}
	req := p.fields(op, dir)
	switch op {
	case Prepare:
		if req.Shards > maxShards {
			p.fail("shards", fmt.Sprintf("is %d", req.Shards), fmt.Sprintf("a matrix has at most %d jobs", maxShards))
		}
		if req.Shards > 0 { // the groups of what a converge of this commit would apply
			req.Authored, req.SourceRevision = true, p.event.SHA
		}
	case Converge:
		// By default a step brings about what its commit says, not what somebody applied before.
		if byEvent {
			req.Authored = len(req.Files) == 0
			req.SourceRevision = cmp.Or(req.SourceRevision, p.event.SHA)
		}
	case Plan:
		req.Authored = len(req.Files) == 0
		req.SourceRevision = cmp.Or(req.SourceRevision, p.event.SHA)
	case Promote:
		req.SpecificationRevision = cmp.Or(req.SpecificationRevision, p.event.SHA)
	case Verify:
		req.FailOn.Drift = req.FailOn.Drift || !byEvent // chapter D, 9.1
	}
	return req
}

// check applies the rules of one operation (chapter F, 8.2, 7).
func (p *parser) check(op Operation) {
	if !slices.Contains(everyOperation, op) {
		p.fail("operation", fmt.Sprintf("is %q, which is no operation", string(op)), "use "+oneOf(everyOperation))
		return
	}
	required := map[Operation][]string{
		Apply: {"files"}, Reconcile: {"unit"}, Promote: {"from-environment", "to-environment", "files"},
		Rollback: {"rollback-revision", "reason"}, Comment: {"plan-json"},
	}[op]
	if op != Promote {
		required = append([]string{"environment"}, required...)
	}
	for _, name := range required {
		if p.get(name) == "" {
			p.fail(name, fmt.Sprintf("is required by the operation %s", op), "set it")
		}
	}
	switch op {
	case Prepare:
		for _, name := range []string{"source-revision", "require-source-ref"} {
			if p.get(name) != "" {
				p.fail(name, "cannot be used with the operation prepare", "remove it")
			}
		}
	case Converge:
		if p.get("partition") != "" && (p.get("unit") != "" || p.get("units") != "") {
			p.fail("partition", "cannot be used together with unit", "select by one of them")
		}
	}
}

// admit refuses operations that a pull request from another repository could misuse: those that publish, and those that
// run drivers with its code.
func (p *parser) admit(op Operation) {
	if op == Prepare || op == Plan || op == Apply && p.boolean("dry") {
		return
	}
	p.fail("operation", fmt.Sprintf("is %s, which is not done for a pull request from another repository", op),
		"use plan, or run it when the pull request is merged")
}

func (p *parser) fields(op Operation, dir string) Request {
	text := func(name string) string {
		if !used(name, []Operation{op}) {
			return ""
		}
		return p.get(name)
	}
	flag := func(name string) bool { return text(name) == "true" }
	req := Request{
		Operation:             op,
		Directory:             text("working-directory"),
		Environment:           text("environment"),
		Units:                 p.names("units", text("units")),
		Files:                 lines(text("files")),
		Partition:             text("partition"),
		FromEnvironment:       text("from-environment"),
		ToEnvironment:         text("to-environment"),
		DesiredRef:            text("desired-ref"),
		ObservedRef:           text("observed-ref"),
		CandidateRef:          text("candidate-ref"),
		DesiredRevision:       text("desired-revision"),
		SourceRevision:        text("source-revision"),
		SpecificationRevision: text("specification-revision"),
		RollbackRevision:      text("rollback-revision"),
		Reason:                text("reason"),
		Dry:                   flag("dry"),
		Plan:                  flag("plan"),
		Reapply:               flag("reapply"),
		Static:                p.event.Foreign,
		ReportDir:             text("report"),
		Author:                Author{text("git-author-name"), text("git-author-email")},
		Token:                 Secret(text("github-token")),
		TerraformVersion:      text("terraform-version"),
		OpenTofuVersion:       text("opentofu-version"),
		MaxParallel:           p.count("max-parallel", text("max-parallel")),
		LockTimeout:           p.duration("lock-timeout", text("lock-timeout")),
		FailOn:                p.failOn("fail-on", text("fail-on")),
		CommentMode:           p.commentMode(text("comment-mode")),
		PlanJSON:              text("plan-json"),
		Shards:                p.count("shards", text("shards")),
	}
	if text("allow-fork-plans") != "" && p.boolean("allow-fork-plans") {
		req.Static = false
	}
	if text("build-images") != "" {
		req.BuildImages = p.boolean("build-images")
	}
	if text("drift-issue") != "" {
		req.DriftIssue = p.boolean("drift-issue")
	}
	if unit := text("unit"); unit != "" && !slices.Contains(req.Units, unit) {
		req.Units = append([]string{unit}, req.Units...)
	}
	if !filepath.IsAbs(req.Directory) {
		req.Directory = filepath.Join(dir, req.Directory)
	}
	return req
}

// lines are the trimmed lines of a value that are not blank.
func lines(value string) []string {
	var out []string
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// names are the trimmed elements of a comma list; only after the last comma may be nothing.
func (p *parser) names(name, value string) []string {
	if value == "" {
		return nil
	}
	var out []string
	for element := range strings.SplitSeq(strings.TrimSuffix(value, ","), ",") {
		if element = strings.TrimSpace(element); element == "" {
			p.fail(name, "has an empty element", "separate names by single commas")
			return nil
		}
		out = append(out, element)
	}
	return out
}

func (p *parser) boolean(name string) bool {
	switch value := p.get(name); value {
	case "", "false":
		return false
	case "true":
		return true
	default:
		p.fail(name, fmt.Sprintf("is %q", value), `use "true" or "false"`)
		return false
	}
}

func (p *parser) count(name, value string) int {
	if value == "" {
		return 0
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		p.fail(name, fmt.Sprintf("is %q", value), "use a whole number from 1")
		return 0
	}
	return n
}

func (p *parser) duration(name, value string) time.Duration {
	if value == "" {
		return 0
	}
	d, err := time.ParseDuration(value)
	if err != nil || d < 0 {
		p.fail(name, fmt.Sprintf("is %q", value), `use a duration such as "90s" or "5m"`)
		return 0
	}
	return d
}

func (p *parser) failOn(name, value string) FailOn {
	var f FailOn
	for _, outcome := range p.names(name, value) {
		switch outcome {
		case "waiting":
			f.Waiting = true
		case "drift":
			f.Drift = true
		case "destroy":
			f.Destroy = true
		default:
			p.fail(name, fmt.Sprintf("has the element %q", outcome), "use waiting, drift and destroy, with commas between")
		}
	}
	return f
}

func (p *parser) commentMode(value string) string {
	switch value {
	case "", commentUpdate, commentRecreate, commentOff:
		return value
	}
	p.fail("comment-mode", fmt.Sprintf("is %q", value), "use update, recreate or off")
	return ""
}

func (p *parser) refuse(name string, operations []Operation) {
	i := slices.IndexFunc(inputs, func(in input) bool { return in.name == name })
	p.fail(name, fmt.Sprintf("cannot be used with the operation %s", operations[0]), "it is for "+oneOf(inputs[i].users))
}

func (p *parser) fail(name, problem, fix string) {
	if p.err == nil {
		p.err = &InputError{name, problem, fix}
	}
}

func oneOf(operations []Operation) string {
	names := make([]string, len(operations))
	for i, op := range operations {
		names[i] = string(op)
	}
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}
