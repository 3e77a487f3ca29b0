package action

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sethvargo/go-githubactions"

	"github.com/gitopsctr/gitopsctr/internal/report"
)

// outputNames are the outputs that action.yml declares. The keys of chapter F, 8.4, with underscores, are written as well.
var outputNames = []string{
	"result", "active", "desired-revision", "observed-revision", "reconciled",
	"change-revision", "target-ref", "candidate-ref", "change-status", "change-url",
	"candidate-revision", "source-desired-revision",
	"waiting", "failed", "drifted", "drivers-ran",
	"changed-units", "waiting-units", "failed-units", "drifted-units", "destroys", "plan-json", "comment-url", "matrix",
}

// An output is one line of the output file.
type output struct{ name, value string }

// A tally sums up the operations of a step.
type tally struct {
	result                        report.Result
	waiting, failed, drifted, ran []string
	changed                       []string
	destroys                      int // resources that a plan destroys or replaces, and Units that it deletes
	planJSON, commentURL          string
}

// severity orders results: the last one is what a step reports that had several.
var severity = []report.Result{
	"", report.RunUnchanged, report.RunClean, report.RunPlanned, report.RunPublished, report.RunProposed, report.RunWaiting, report.RunDrifted, report.RunFailed,
}

func (t *tally) add(run report.Run) {
	if slices.Index(severity, run.Result) > slices.Index(severity, t.result) {
		t.result = run.Result
	}
	t.waiting = union(t.waiting, report.Named(run, report.Waiting))
	t.failed = union(t.failed, report.Named(run, report.Failed))
	t.drifted = union(t.drifted, report.Named(run, report.Drifted))
	t.ran = union(t.ran, run.DriversRan)
	t.changed = union(t.changed, changedUnits(run))
	c := report.CountPlan(run)
	t.destroys += c.Destroy + c.Replace + c.Teardown
}

func union(names, more []string) []string {
	for _, name := range more {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// outputsOf are the outputs of an operation, the chapter's lines first and in its order. What does not apply is not
// written, so that a step's condition sees an empty string.
func outputsOf(run report.Run, published Published, t tally) []output {
	var out []output
	add := func(name, value string) { out = append(out, output{name, value}) }
	if p := published.Prepared; p != nil {
		add("active", fmt.Sprint(p.Active))
		add("desired_revision", p.DesiredRevision)
	}
	if published.Shards != nil {
		add("matrix", matrixOf(published.Shards))
	}
	if c := published.Change; c != nil {
		add("change_revision", c.Revision)
		add("target_ref", c.TargetRef)
		add("candidate_ref", c.CandidateRef)
		add("change_status", c.Status)
		add("change_url", c.URL)
	}
	if p := published.Promotion; p != nil {
		add("candidate_revision", p.CandidateRevision)
		add("source_desired_revision", p.SourceDesiredRevision)
	}
	if published.Reconciled != nil && run.Result != report.RunFailed {
		add("reconciled", fmt.Sprint(*published.Reconciled))
	}
	for _, o := range out {
		if twin := strings.ReplaceAll(o.name, "_", "-"); twin != o.name {
			add(twin, o.value)
		}
	}
	if published.Prepared == nil && run.DesiredRevision != "" {
		add("desired-revision", run.DesiredRevision)
	}
	if run.ObservedRevision != "" {
		add("observed-revision", run.ObservedRevision)
	}
	if t.result == "" {
		return out
	}
	add("result", string(t.result))
	add("waiting", list(t.waiting))
	add("failed", list(t.failed))
	add("drifted", list(t.drifted))
	add("drivers-ran", list(t.ran))
	add("changed-units", list(t.changed))
	add("waiting-units", list(t.waiting))
	add("failed-units", list(t.failed))
	add("drifted-units", list(t.drifted))
	if run.Operation == string(Plan) {
		add("destroys", strconv.Itoa(t.destroys))
		add("plan-json", t.planJSON)
		add("comment-url", t.commentURL)
	}
	return out
}

// list is a JSON list on one line.
func list(names []string) string {
	text, err := json.Marshal(append([]string{}, names...))
	if err != nil {
		return "[]" // strings always have a JSON form
	}
	return string(text)
}

// writeOutputs appends to the job's output file, if there is one.
//
// It does not use the library's SetOutput, which ends each value by a line that is always the same: a value that held
// this line could set other outputs. Here a value is one line, name=value, and what cannot be one is refused.
func writeOutputs(gh *githubactions.Action, outputs []output) error {
	if gh.Getenv("GITHUB_OUTPUT") == "" {
		return nil
	}
	for _, o := range outputs {
		if !singleLine(o.value) {
			return fmt.Errorf("output %s cannot be written: its value %q is not one line of text", o.name, o.value)
		}
		if err := fileCommand(gh, "output", o.name+"="+o.value); err != nil {
			return err
		}
	}
	return nil
}

func singleLine(value string) bool {
	return utf8.ValidString(value) && !strings.ContainsFunc(value, func(r rune) bool {
		return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp)
	})
}

// appendSummary appends Markdown to the job summary, if there is one.
func appendSummary(gh *githubactions.Action, text string) error {
	if text == "" || gh.Getenv("GITHUB_STEP_SUMMARY") == "" {
		return nil
	}
	return fileCommand(gh, "step-summary", text)
}

// fileCommand appends a line to a command file. The library reports a failure by a panic, which becomes an error here.
func fileCommand(gh *githubactions.Action, name, line string) (err error) {
	defer func() {
		if failure := recover(); failure != nil {
			err = fmt.Errorf("write the %s file of this step: %v", name, failure)
		}
	}()
	gh.IssueFileCommand(&githubactions.Command{Name: name, Message: line})
	return nil
}
