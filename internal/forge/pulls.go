package forge

import (
	"context"
	"fmt"

	"github.com/google/go-github/v88/github"
)

// A PullRequest proposes to merge Head into Base, two branches of the repository.
type PullRequest struct {
	Number      int
	Head, Base  string
	Title, Body string
	URL         string
}

// FindPullRequest returns the open pull request of two branches of this repository, or nil.
func (r *Repository) FindPullRequest(ctx context.Context, head, base string) (*PullRequest, error) {
	return r.findPullRequest(ctx, github.PullRequestListOptions{Head: r.owner + ":" + head, Base: base}, func(p *github.PullRequest) bool {
		return p.GetHead().GetRef() == head && p.GetBase().GetRef() == base && p.GetHead().GetRepo().GetFullName() == p.GetBase().GetRepo().GetFullName()
	})
}

// PullRequestAt returns the number of the open pull request whose head is the commit sha of an owner's branch, 0 for none.
func (r *Repository) PullRequestAt(ctx context.Context, owner, branch, sha string) (int, error) {
	if owner == "" || branch == "" || sha == "" {
		return 0, nil
	}
	p, err := r.findPullRequest(ctx, github.PullRequestListOptions{Head: owner + ":" + branch}, func(p *github.PullRequest) bool {
		return p.GetHead().GetSHA() == sha && p.GetHead().GetRef() == branch
	})
	if p == nil || err != nil {
		return 0, err
	}
	return p.Number, nil
}

// findPullRequest returns the first open pull request that is wanted. Some forges ignore the filters of the options.
func (r *Repository) findPullRequest(ctx context.Context, options github.PullRequestListOptions, wanted func(*github.PullRequest) bool) (*PullRequest, error) {
	options.State, options.ListOptions = "open", github.ListOptions{PerPage: pageSize, Page: 1}
	seen := map[int]bool{}
	for {
		var found []*github.PullRequest
		var next int
		err := r.do(ctx, "list pull requests", again, func() (*github.Response, error) {
			page, resp, err := r.client.PullRequests.List(ctx, r.owner, r.name, &options)
			if err == nil {
				found, next = page, resp.NextPage
			}
			return resp, err
		})
		if err != nil {
			return nil, err
		}
		added := false
		for _, p := range found {
			if wanted(p) {
				return pullRequestOf(p), nil
			}
			if !seen[p.GetNumber()] {
				seen[p.GetNumber()], added = true, true
			}
		}
		if next == 0 || !added {
			return nil, nil
		}
		options.Page = next
	}
}

// CreatePullRequest opens a pull request. ErrInvalid may mean that there is one already.
func (r *Repository) CreatePullRequest(ctx context.Context, p PullRequest) (*PullRequest, error) {
	var created *github.PullRequest
	err := r.do(ctx, fmt.Sprintf("open a pull request from %s to %s", p.Head, p.Base), once, func() (resp *github.Response, err error) {
		created, resp, err = r.client.PullRequests.Create(ctx, r.owner, r.name, &github.NewPullRequest{Title: &p.Title, Head: &p.Head, Base: &p.Base, Body: &p.Body})
		return resp, err
	})
	if err != nil {
		return nil, err
	}
	return pullRequestOf(created), nil
}

// UpdatePullRequest replaces the title and the text of a pull request.
func (r *Repository) UpdatePullRequest(ctx context.Context, p PullRequest) (*PullRequest, error) {
	var updated *github.PullRequest
	err := r.do(ctx, fmt.Sprintf("update pull request #%d", p.Number), again, func() (resp *github.Response, err error) {
		updated, resp, err = r.client.PullRequests.Edit(ctx, r.owner, r.name, p.Number, &github.PullRequest{Title: &p.Title, Body: &p.Body})
		return resp, err
	})
	if err != nil {
		return nil, err
	}
	return pullRequestOf(updated), nil
}

func pullRequestOf(p *github.PullRequest) *PullRequest {
	return &PullRequest{Number: p.GetNumber(), Head: p.GetHead().GetRef(), Base: p.GetBase().GetRef(), Title: p.GetTitle(), Body: p.GetBody(), URL: p.GetHTMLURL()}
}
