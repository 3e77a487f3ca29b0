package forge

import (
	"context"
	"fmt"
	"net/http"

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

// issueJSON is an issue as forges send it, as far as we read it. go-github's own type cannot be used: Gitea and Forgejo add
// the issue's repository, whose owner is a name there and an object here.
type issueJSON struct {
	Number  int    `json:"number"`
	Title   string `json:"title"`
	Body    string `json:"body"`
	HTMLURL string `json:"html_url"`
	User    struct {
		Login string `json:"login"`
		Type  string `json:"type"`
	} `json:"user"`
	PullRequest *struct{} `json:"pull_request"`
}

func (i issueJSON) issue() Issue {
	return Issue{Number: i.Number, Title: i.Title, Body: i.Body, URL: i.HTMLURL, Author: i.User.Login, Bot: i.User.Type == "Bot"}
}

// OpenIssues lists all open issues, newest first; pull requests are none.
func (r *Repository) OpenIssues(ctx context.Context) ([]Issue, error) {
	var out []Issue
	page := 1
	seen := map[int]bool{}
	for {
		var found []issueJSON
		next, err := r.issues(ctx, "list issues", again, http.MethodGet, fmt.Sprintf("?state=open&per_page=%d&page=%d", pageSize, page), nil, &found)
		if err != nil {
			return nil, err
		}
		added := false
		for _, i := range found {
			if seen[i.Number] {
				continue
			}
			seen[i.Number], added = true, true
			if i.PullRequest == nil {
				out = append(out, i.issue())
			}
		}
		if next == 0 || !added {
			return out, nil
		}
		page = next
	}
}

// CreateIssue opens an issue.
func (r *Repository) CreateIssue(ctx context.Context, title, body string) (Issue, error) {
	var i issueJSON
	_, err := r.issues(ctx, "open an issue", once, http.MethodPost, "", &github.IssueRequest{Title: &title, Body: &body}, &i)
	return i.issue(), err
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
	var i issueJSON
	_, err := r.issues(ctx, op, again, http.MethodPatch, fmt.Sprintf("/%d", number), change, &i)
	return i.issue(), err
}

// issues makes a request below the repository's issues and decodes the answer into a pointer. It returns the number of the
// list's next page, 0 for none.
func (r *Repository) issues(ctx context.Context, op string, repeat safety, method, rest string, body, into any) (next int, err error) {
	err = r.do(ctx, op, repeat, func() (*github.Response, error) {
		req, err := r.client.NewRequest(ctx, method, fmt.Sprintf("repos/%s/%s/issues%s", r.owner, r.name, rest), body)
		if err != nil {
			return nil, err
		}
		resp, err := r.client.Do(req, into)
		if err == nil {
			next = resp.NextPage
		}
		return resp, err
	})
	return next, err
}
