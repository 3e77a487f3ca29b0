package action

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gitopsctr/gitopsctr/internal/report"
)

// errNoPullRequest tells that the workflow's run belongs to no open pull request at that commit any more.
var errNoPullRequest = errors.New("no open pull request has this commit as its head; a newer run will report")

// commentFromFile is the operation comment: it posts a plan that a run without permission to comment left as an artifact.
//
// It runs in a trusted workflow, started by workflow_run, on data that a stranger's code may have made. So of the file only
// the plan is taken, escaped like everything foreign; which pull request and which run it is for comes from the forge.
func (s *step) commentFromFile(ctx context.Context, p Process, req Request, event Event) error {
	if event.Run.ID == 0 {
		return &InputError{"operation", "is comment, which is for the event workflow_run only", "start it as docs/pull-requests.md shows"}
	}
	if p.Forge == nil || event.Repository == "" {
		return errors.New("there is no forge to comment on: GITHUB_REPOSITORY is not set")
	}
	run, err := readPlanFile(req)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, forgeTimeout)
	defer cancel()
	f, err := p.Forge(event.APIURL, event.Repository, req.Token.Reveal())
	if err != nil {
		return err
	}
	number, err := f.PullRequestAt(ctx, event.Run.HeadOwner, event.Run.HeadBranch, event.Run.HeadSHA)
	if err != nil {
		return err
	}
	if number == 0 {
		s.say(errNoPullRequest.Error())
		return nil
	}
	post := sticky{forge: f, number: number, recreate: req.CommentMode == commentRecreate, pause: s.pause}
	own := commentSection{key: sectionKey(p, req), made: generation{event.Run.HeadSHA, event.Run.ID, event.Run.Attempt}}
	of := Event{ServerURL: event.ServerURL, Repository: event.Repository, RunID: event.Run.ID}
	s.tally.commentURL, err = post.post(ctx, own, func(limit int) string {
		return report.Comment(run, report.CommentOptions{ServerURL: event.ServerURL, Repository: event.Repository, FullText: of.runURL(), Limit: limit, Untrusted: true})
	})
	var outdated *outdatedError
	if errors.As(err, &outdated) {
		s.say("the comment stays as it is: " + outdated.Error())
		return nil
	}
	return err
}

// readPlanFile reads the plan of the input plan-json; it must be of the environment that the trusted workflow names.
func readPlanFile(req Request) (report.Run, error) {
	name := req.PlanJSON
	if !filepath.IsAbs(name) {
		name = filepath.Join(req.Directory, name)
	}
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return report.Run{}, &InputError{"plan-json", fmt.Sprintf("is %q, which is no regular file", req.PlanJSON), "download the artifact of the plan first"}
	}
	file, err := os.Open(name)
	if err != nil {
		return report.Run{}, fmt.Errorf("read the plan: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	run, err := report.ReadPlan(file)
	if err != nil {
		return report.Run{}, err
	}
	if run.Environment != req.Environment {
		return report.Run{}, fmt.Errorf("the plan in %s is not of the environment %s", req.PlanJSON, req.Environment)
	}
	return run, nil
}
