// Package action is the face of gitopsctr in a GitHub Actions job: it reads inputs and the event, makes Requests, and
// writes the log, annotations, outputs and the job summary.
//
// It decides nothing about state: what a Request does is the business of Operations. Its central concern is that the
// runner obeys what a step prints: only this package writes workflow commands, over one stream, and whatever comes from
// elsewhere is made inert before it is written.
package action

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sethvargo/go-githubactions"

	"github.com/gitopsctr/gitopsctr/internal/report"
)

// Exit codes of the Action (chapter F, 1).
const (
	exitOK = iota
	exitFailed
	exitUsage
)

// heartbeat is how often the log says that a driver still runs.
const heartbeat = 30 * time.Second

// Operations does what a Request asks. It sends events to the sink as it works; the Run that it returns is what outputs,
// annotations and the summary are made of. Units that fail make a Run with report.RunFailed and no error. An error means
// that the operation as a whole failed; its faults must not be among the Run's Problems too, and its text holds no secret.
type Operations interface {
	Run(ctx context.Context, req Request, sink report.Sink) (report.Run, Published, error)
}

// A Process is what the Action gets from its surroundings.
type Process struct {
	// Getenv looks up the step's environment: inputs, the GITHUB_* facts and the paths of the command files.
	Getenv func(string) string
	// Dir is the absolute directory that a relative working-directory starts from, usually the workspace.
	Dir string
	// Stdout is the stream that the runner reads. Nothing else may write to it, or to stderr, meanwhile.
	Stdout io.Writer
	// Forge opens a repository of the forge at an API address; nil when there is none.
	Forge func(api, repository, token string) (Forge, error)
	// Pause waits before a comment is looked at again; nil waits for real.
	Pause func(context.Context, time.Duration) error
}

// Run reads the step's inputs, has their Requests done and reports. It returns the exit code: 0, 1 when an operation
// failed or ended as fail-on forbids, 2 when an input is wrong.
func Run(ctx context.Context, p Process, ops Operations) int {
	gh := githubactions.New(githubactions.WithGetenv(p.Getenv), githubactions.WithWriter(silent{p.Stdout}))
	s := &step{gh: gh, log: newWorkflow(gh, silent{p.Stdout}), pause: p.Pause}
	if s.pause == nil {
		s.pause = wait
	}
	s.log.mask(gh.GetInput("github-token"))
	s.all.Environment = gh.GetInput("environment")
	code := s.run(ctx, p, ops)
	for _, a := range report.Annotations(s.all) {
		s.log.annotate(a)
	}
	return code
}

// A step is one run of the Action.
type step struct {
	gh  *githubactions.Action
	log *workflow
	// all gathers what every operation of the step has to say to people, for annotations: the runner limits these by step.
	all   report.Run
	tally tally
	// pause waits for a moment.
	pause func(context.Context, time.Duration) error
}

func (s *step) run(ctx context.Context, p Process, ops Operations) int {
	event, err := readEvent(s.gh)
	if err != nil {
		return s.fail(report.Serial(newSink(s.log)), err)
	}
	job, err := Parse(s.gh.GetInput, event, p.Dir)
	for _, w := range job.Warnings {
		s.all.Problems = append(s.all.Problems, report.Problem{Severity: report.Warning, Message: w})
	}
	if err != nil {
		return s.fail(report.Serial(newSink(s.log)), err)
	}
	code := exitOK
	for _, req := range job.Requests {
		s.all.Environment = req.environment()
		result := s.do(ctx, p, req, event, len(job.Requests), ops)
		code = max(code, result)
		if s.tally.result == report.RunFailed {
			break
		}
	}
	return code
}

// do has one Request done and writes what became of it.
func (s *step) do(ctx context.Context, p Process, req Request, event Event, of int, ops Operations) int {
	sink := newSink(s.log)
	bus := report.Serial(sink)
	if req.Operation == Comment {
		return s.doComment(ctx, p, req, event, bus)
	}
	stop := bus.Heartbeat(ctx, heartbeat)
	run, published, err := ops.Run(ctx, req, bus)
	stop()
	sink.Close()
	if run.Operation == "" { // it failed before it began
		run.Operation, run.Environment = string(req.Operation), req.environment()
	}

	s.all.Problems = append(s.all.Problems, run.Problems...)
	s.all.Units = append(s.all.Units, run.Units...)
	code := verdict(run, req.FailOn)
	if err != nil {
		run.Result, published = report.RunFailed, Published{Graph: published.Graph}
		run.Problems = append(run.Problems, report.Problems(err)...)
		code = s.fail(bus, err)
	} else if code != exitOK && run.Result != report.RunFailed {
		problem := forbidden(run, req.FailOn)
		run.Problems = append(run.Problems, problem)
		s.raise(bus, problem)
	}
	s.tally.add(run)
	s.tally.planJSON = s.planFiles(req, run)
	s.tally.commentURL = s.comment(ctx, p, req, run, event)
	s.driftIssue(ctx, p, req, run, event)
	if err := writeOutputs(s.gh, outputsOf(run, published, s.tally)); err != nil {
		code = max(code, s.fail(bus, err))
	}
	s.summarize(req, run, published, event, of)
	return code
}

// doComment posts a plan from a file and writes where it is.
func (s *step) doComment(ctx context.Context, p Process, req Request, event Event, bus *report.Bus) int {
	if err := s.commentFromFile(ctx, p, req, event); err != nil {
		return s.fail(bus, err)
	}
	if err := writeOutputs(s.gh, []output{{"comment-url", s.tally.commentURL}}); err != nil {
		return s.fail(bus, err)
	}
	return exitOK
}

// fail says what is wrong and returns the exit code for it.
func (s *step) fail(bus *report.Bus, err error) int {
	problems := report.Problems(err)
	if errors.Is(err, context.Canceled) {
		problems = []report.Problem{{Severity: report.Error, Message: "the run was cancelled; Receipts of what was done are published, and the next run goes on from there", Fix: "run the job again"}}
	}
	s.raise(bus, problems...)
	if usage := (*InputError)(nil); errors.As(err, &usage) {
		return exitUsage
	}
	return exitFailed
}

// raise logs problems and keeps them for the annotations.
func (s *step) raise(bus *report.Bus, problems ...report.Problem) {
	for _, problem := range problems {
		bus.Event(problem)
	}
	s.all.Problems = append(s.all.Problems, problems...)
}

// verdict is the exit code that a Run deserves (chapters D 8.3 and 9.1; the README's decision 6).
func verdict(run report.Run, failOn FailOn) int {
	failed := run.Result == report.RunFailed ||
		run.Result == report.RunWaiting && failOn.Waiting ||
		run.Result == report.RunDrifted && failOn.Drift ||
		run.Operation == string(Plan) && planForbidden(run, failOn) != ""
	if failed {
		return exitFailed
	}
	return exitOK
}

// forbidden explains why a Run fails that only waits or found drift.
func forbidden(run report.Run, failOn FailOn) report.Problem {
	if run.Operation == string(Plan) {
		return report.Problem{Severity: report.Error, Message: planForbidden(run, failOn)}
	}
	outcome, verb := report.Waiting, "wait"
	if run.Result == report.RunDrifted {
		outcome, verb = report.Drifted, "have drifted"
	}
	names := report.Named(run, outcome)
	return report.Problem{
		Severity: report.Error,
		Message:  fmt.Sprintf("units that %s fail this step (see the input fail-on): %s", verb, strings.Join(names, ", ")),
	}
}

// summarize adds to the job summary. That this fails is worth a warning, never a failed deployment.
func (s *step) summarize(req Request, run report.Run, published Published, event Event, of int) {
	text := published.Summary
	if req.Operation != Prepare {
		text += report.Summary(run, report.SummaryOptions{
			ServerURL: event.ServerURL, Repository: event.Repository, Graph: published.Graph,
			Limit: max(1000, report.SummaryLimit/of-len(text)-1),
		})
	}
	if err := appendSummary(s.gh, text); err != nil {
		s.all.Problems = append(s.all.Problems, report.Problem{Severity: report.Warning, Message: err.Error()})
	}
}

// silent hides the errors of a writer: a lost log must not end a deployment, and go-githubactions panics on them.
type silent struct{ w io.Writer }

func (s silent) Write(p []byte) (int, error) {
	_, _ = s.w.Write(p)
	return len(p), nil
}
