package forge

import (
	"context"
	"fmt"

	"github.com/google/go-github/v88/github"
)

// An Issue is one issue.
type Issue struct {
	Number      int
	Title, Body string
	URL         string
	Author      string
	Bot         bool
}

// OpenIssues lists all open issues, newest first; pull requests are none.
func (r *Repository) OpenIssues(ctx context.Context) ([]Issue, error) {
	var out []Issue
	options := &github.IssueListByRepoOptions{State: "open", ListOptions: github.ListOptions{PerPage: pageSize, Page: 1}}
	seen := map[int]bool{}
	for {
		var found []*github.Issue
		var next int
		err := r.do(ctx, "list issues", again, func() (*github.Response, error) {
			page, resp, err := r.client.Issues.ListByRepo(ctx, r.owner, r.name, options)
			if err == nil {
				found, next = page, resp.NextPage
			}
			return resp, err
		})
		if err != nil {
			return nil, err
		}
		added := false
		for _, i := range found {
			if seen[i.GetNumber()] {
				continue
			}
			seen[i.GetNumber()], added = true, true
			if !i.IsPullRequest() {
				out = append(out, issueOf(i))
			}
		}
		if next == 0 || !added {
			return out, nil
		}
		options.ListOptions.Page = next
	}
}

// CreateIssue opens an issue.
func (r *Repository) CreateIssue(ctx context.Context, title, body string) (Issue, error) {
	var i *github.Issue
	err := r.do(ctx, "open an issue", once, func() (resp *github.Response, err error) {
		i, resp, err = r.client.Issues.Create(ctx, r.owner, r.name, &github.IssueRequest{Title: &title, Body: &body})
		return resp, err
	})
	if err != nil {
		return Issue{}, err
	}
	return issueOf(i), nil
}

// UpdateIssue replaces the text of an issue.
func (r *Repository) UpdateIssue(ctx context.Context, number int, title, body string) (Issue, error) {
	return r.editIssue(ctx, number, fmt.Sprintf("update issue #%d", number), &github.IssueRequest{Title: &title, Body: &body})
}

// CloseIssue closes an issue as completed, with a last text.
func (r *Repository) CloseIssue(ctx context.Context, number int, body string) (Issue, error) {
	state := "closed"
	return r.editIssue(ctx, number, fmt.Sprintf("close issue #%d", number), &github.IssueRequest{Body: &body, State: &state})
}

func (r *Repository) editIssue(ctx context.Context, number int, op string, change *github.IssueRequest) (Issue, error) {
	var i *github.Issue
	err := r.do(ctx, op, again, func() (resp *github.Response, err error) {
		i, resp, err = r.client.Issues.Edit(ctx, r.owner, r.name, number, change)
		return resp, err
	})
	if err != nil {
		return Issue{}, err
	}
	return issueOf(i), nil
}

func issueOf(i *github.Issue) Issue {
	return Issue{Number: i.GetNumber(), Title: i.GetTitle(), Body: i.GetBody(), URL: i.GetHTMLURL(), Author: i.GetUser().GetLogin(), Bot: i.GetUser().GetType() == "Bot"}
}
