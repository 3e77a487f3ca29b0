package action

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gitopsctr/gitopsctr/internal/forge"
	"github.com/gitopsctr/gitopsctr/internal/report"
)

// The ways to comment on a pull request.
const (
	commentUpdate   = "update"   // the one comment is updated in place; the default
	commentRecreate = "recreate" // it is posted anew at the end
	commentOff      = "off"
)

// forgeTimeout bounds what a step spends on the forge after its work is done.
const forgeTimeout = 3 * time.Minute

// comment brings a plan into the pull request's comment and returns the comment's address. That this fails is said once, as
// a warning; it never fails the step: the job summary holds the same.
func (s *step) comment(ctx context.Context, p Process, req Request, run report.Run, event Event) string {
	if req.Operation != Plan || event.PullRequest == 0 || event.Repository == "" || req.CommentMode == commentOff || p.Forge == nil || ctx.Err() != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, forgeTimeout)
	defer cancel()
	f, err := p.Forge(event.APIURL, event.Repository, req.Token.Reveal())
	if err != nil {
		s.warn(fmt.Sprintf("the plan is not on pull request #%d: %s", event.PullRequest, err))
		return ""
	}
	post := sticky{forge: f, number: event.PullRequest, recreate: req.CommentMode == commentRecreate, pause: s.pause}
	own := commentSection{key: sectionKey(p, req), made: generation{event.HeadSHA, event.RunID, event.Attempt}}
	address, err := post.post(ctx, own, func(limit int) string {
		return report.Comment(run, report.CommentOptions{ServerURL: event.ServerURL, Repository: event.Repository, FullText: event.runURL(), Limit: limit})
	})
	var outdated *outdatedError
	switch {
	case errors.As(err, &outdated):
		s.say(fmt.Sprintf("the comment on pull request #%d stays as it is: %s", event.PullRequest, outdated))
	case errors.Is(err, forge.ErrForbidden), errors.Is(err, forge.ErrNotFound):
		s.say(fmt.Sprintf("the token may not comment on pull request #%d (%s): the plan is in the job summary; give the job pull-requests: write, "+
			"or for forks post it from a workflow_run as docs/pull-requests.md shows", event.PullRequest, err))
	case err != nil:
		s.warn(fmt.Sprintf("the plan is not on pull request #%d: %s; it is in the job summary", event.PullRequest, err))
	}
	return address
}

// sectionKey tells the sections of one pull request apart.
func sectionKey(p Process, req Request) string {
	directory, err := filepath.Rel(p.Dir, req.Directory)
	if err != nil {
		directory = req.Directory
	}
	return req.Environment + " " + filepath.ToSlash(directory)
}

// warn keeps a warning for the annotations.
func (s *step) warn(message string) {
	s.all.Problems = append(s.all.Problems, report.Problem{Severity: report.Warning, Message: message})
}

// say writes one line into the log.
func (s *step) say(text string) {
	s.log.resume()
	for _, line := range (&report.Transcript{}).Lines(report.Note{Word: "NOTE", Text: text}) {
		s.log.say(line)
	}
}

// wait is how a step pauses.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
