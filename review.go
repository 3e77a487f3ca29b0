package main

import (
	"context"
	"net/url"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/cli"
	"github.com/gitopsctr/gitopsctr/internal/engine"
	"github.com/gitopsctr/gitopsctr/internal/forge"
)

// pullRequestForge opens the forge that a remote lies on, for pull requests, when there is a token for it: the server of the
// job, or github.com from a terminal. A token goes to no other server. In a job whose remote is a path, as a local runner
// has it, the job's own repository counts.
func pullRequestForge(s *cli.IO, token string) func(server, repository string) (engine.Forge, error) {
	return func(server, repository string) (engine.Forge, error) {
		api := "https://api.github.com"
		own := "github.com"
		if address := s.Getenv("GITHUB_SERVER_URL"); address != "" {
			u, err := url.Parse(address)
			if err != nil {
				return nil, err
			}
			own, api = strings.TrimPrefix(strings.ToLower(u.Hostname()), "www."), first(s.Getenv("GITHUB_API_URL"), api)
		}
		if server == "" {
			server, repository = own, s.Getenv("GITHUB_REPOSITORY")
		}
		if token == "" || repository == "" || server != own {
			return nil, nil
		}
		r, err := forge.Open(forge.Options{APIURL: api, Repository: repository, Token: token})
		if err != nil {
			return nil, err
		}
		return pullRequests{r}, nil
	}
}

// pullRequests is the engine's forge.
type pullRequests struct{ repository *forge.Repository }

// EnsurePullRequest implements engine.Forge: it looks, creates, and looks again, since somebody else may have created it, or
// the answer may have been lost (chapter F, 5.3).
func (p pullRequests) EnsurePullRequest(ctx context.Context, pr engine.PullRequest) (address string, created bool, err error) {
	open, err := p.repository.FindPullRequest(ctx, pr.Head, pr.Base)
	if err != nil {
		return "", false, err
	}
	if open != nil {
		return open.URL, false, nil
	}
	made, createErr := p.repository.CreatePullRequest(ctx, forge.PullRequest{Head: pr.Head, Base: pr.Base, Title: pr.Title, Body: pr.Body})
	if createErr == nil && made.URL != "" {
		return made.URL, true, nil
	}
	if open, err = p.repository.FindPullRequest(ctx, pr.Head, pr.Base); err == nil && open != nil {
		return open.URL, createErr == nil, nil
	}
	return "", false, createErr
}
