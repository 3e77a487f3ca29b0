package forge

import (
	"context"
	"fmt"

	"github.com/google/go-github/v88/github"
)

// A Comment is one comment of a pull request or an issue.
type Comment struct {
	ID        int64
	Body, URL string
	// Author is the login of who wrote it; Bot tells that the forge calls that a bot.
	Author string
	Bot    bool
}

const pageSize = 100

// Comments lists all comments of a pull request or an issue, oldest first.
func (r *Repository) Comments(ctx context.Context, number int) ([]Comment, error) {
	var out []Comment
	options := &github.IssueListCommentsOptions{ListOptions: github.ListOptions{PerPage: pageSize, Page: 1}}
	seen := map[int64]bool{}
	for {
		var found []*github.IssueComment
		var next int
		err := r.do(ctx, fmt.Sprintf("list the comments of #%d", number), again, func() (*github.Response, error) {
			page, resp, err := r.client.Issues.ListComments(ctx, r.owner, r.name, number, options)
			if err == nil {
				found, next = page, resp.NextPage
			}
			return resp, err
		})
		if err != nil {
			return nil, err
		}
		added := false
		for _, c := range found {
			if !seen[c.GetID()] { // a forge without pages returns the same list for each
				seen[c.GetID()], added = true, true
				out = append(out, commentOf(c))
			}
		}
		if next == 0 || !added {
			return out, nil
		}
		options.Page = next
	}
}

// CreateComment adds a comment. After a failure of the forge it may exist nevertheless.
func (r *Repository) CreateComment(ctx context.Context, number int, body string) (Comment, error) {
	var c *github.IssueComment
	err := r.do(ctx, fmt.Sprintf("comment on #%d", number), once, func() (resp *github.Response, err error) {
		c, resp, err = r.client.Issues.CreateComment(ctx, r.owner, r.name, number, &github.IssueComment{Body: &body})
		return resp, err
	})
	if err != nil {
		return Comment{}, err
	}
	return commentOf(c), nil
}

// UpdateComment replaces the text of a comment.
func (r *Repository) UpdateComment(ctx context.Context, id int64, body string) (Comment, error) {
	var c *github.IssueComment
	err := r.do(ctx, "update the comment", again, func() (resp *github.Response, err error) {
		c, resp, err = r.client.Issues.EditComment(ctx, r.owner, r.name, id, &github.IssueComment{Body: &body})
		return resp, err
	})
	if err != nil {
		return Comment{}, err
	}
	return commentOf(c), nil
}

// DeleteComment removes a comment.
func (r *Repository) DeleteComment(ctx context.Context, id int64) error {
	return r.do(ctx, "delete the comment", again, func() (*github.Response, error) {
		return r.client.Issues.DeleteComment(ctx, r.owner, r.name, id)
	})
}

func commentOf(c *github.IssueComment) Comment {
	return Comment{ID: c.GetID(), Body: c.GetBody(), URL: c.GetHTMLURL(), Author: c.GetUser().GetLogin(), Bot: c.GetUser().GetType() == "Bot"}
}
