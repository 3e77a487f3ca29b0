package action

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/forge"
	"github.com/gitopsctr/gitopsctr/internal/report"
)

// driftMark is how the drift issue of an environment is found again.
func driftMark(key string) string {
	return "<!-- gitopsctr:drift " + url.Values{"key": {key}}.Encode() + " -->\n"
}

// driftIssue keeps one issue an environment: opened when Units have drifted, updated while the drift changes, closed when a
// verify finds everything as desired. A verify that failed says nothing about drift, so the issue is left alone.
func (s *step) driftIssue(ctx context.Context, p Process, req Request, run report.Run, event Event) {
	if req.Operation != Verify || !req.DriftIssue || event.Repository == "" || p.Forge == nil || ctx.Err() != nil {
		return
	}
	if run.Result != report.RunDrifted && run.Result != report.RunClean || len(req.Units) > 0 && run.Result == report.RunClean {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, forgeTimeout)
	defer cancel()
	if err := s.keepDriftIssue(ctx, p, req, run, event); err != nil {
		s.warn("the drift issue of " + req.Environment + " is not up to date: " + err.Error())
	}
}

func (s *step) keepDriftIssue(ctx context.Context, p Process, req Request, run report.Run, event Event) error {
	f, err := p.Forge(event.APIURL, event.Repository, req.Token.Reveal())
	if err != nil {
		return err
	}
	mark := driftMark(sectionKey(p, req))
	issue, err := findIssue(ctx, f, mark)
	if err != nil {
		return withPermission(err)
	}
	title := "Drift in " + req.Environment
	body := mark + inert(report.DriftIssue(run, report.CommentOptions{
		ServerURL: event.ServerURL, Repository: event.Repository, FullText: event.runURL(), Limit: commentLimit - len(mark),
	}))
	switch {
	case run.Result == report.RunClean && issue == nil:
		return nil
	case run.Result == report.RunClean:
		_, err = f.CloseIssue(ctx, issue.Number, body)
	case issue == nil:
		var created forge.Issue
		if created, err = f.CreateIssue(ctx, title, body); err == nil {
			s.say("drift is reported in " + created.URL)
		}
	default:
		_, err = f.UpdateIssue(ctx, issue.Number, title, body)
	}
	return withPermission(err)
}

// findIssue returns the oldest open issue with the mark that our token's user wrote, or nil.
func findIssue(ctx context.Context, f Forge, mark string) (*forge.Issue, error) {
	issues, err := f.OpenIssues(ctx)
	if err != nil {
		return nil, err
	}
	var login *string
	for i := len(issues) - 1; i >= 0; i-- {
		if !strings.HasPrefix(strings.ReplaceAll(issues[i].Body, "\r\n", "\n"), mark) {
			continue
		}
		if login == nil {
			name, err := f.Login(ctx)
			if err != nil {
				return nil, err
			}
			login = &name
		}
		if wroteIt(issues[i].Author, issues[i].Bot, *login) {
			return &issues[i], nil
		}
	}
	return nil, nil
}

func withPermission(err error) error {
	if errors.Is(err, forge.ErrForbidden) {
		return fmt.Errorf("%w; give the job issues: write", err)
	}
	return err
}
