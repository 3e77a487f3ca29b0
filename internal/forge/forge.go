// Package forge talks to the forge that hosts the repository, by the part of GitHub's REST API that GitHub Enterprise
// Server, Gitea and Forgejo share: comments, pull requests and issues. It is the only room that knows go-github.
//
// It refuses to know what a comment or an issue is about. Its central ideas: every list is read to its last page; limits
// of the forge are waited for, within bounds; and the token goes to the API's own host only, whatever that redirects to.
package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v88/github"
)

// Options open a Repository.
type Options struct {
	// APIURL is the base of the REST API, as GITHUB_API_URL has it; "" is github.com's.
	APIURL string
	// Repository is "owner/name".
	Repository string
	// Token is sent to the API's host only; "" is anonymous.
	Token string
	// Transport does the requests; nil is http.DefaultTransport.
	Transport http.RoundTripper
	// Sleep waits between tries; nil waits for real.
	Sleep func(context.Context, time.Duration) error
	// MaxWait is the longest single wait for a rate limit, 0 for a minute. A longer one is an error at once.
	MaxWait time.Duration
}

// A Repository is one repository of a forge, and the identity that a token gives there. It is safe for concurrent use.
type Repository struct {
	client      *github.Client
	owner, name string
	sleep       func(context.Context, time.Duration) error
	maxWait     time.Duration
}

const requestTimeout = 30 * time.Second

// Open returns the Repository. It makes no request.
func Open(o Options) (*Repository, error) {
	api := cmp.Or(o.APIURL, "https://api.github.com")
	base, err := url.Parse(strings.TrimSuffix(api, "/") + "/")
	if err != nil || base.Scheme != "https" && base.Scheme != "http" || base.Host == "" || base.User != nil {
		return nil, fmt.Errorf("the forge's API address (GITHUB_API_URL) must be an http or https address without user name, such as https://api.github.com")
	}
	owner, name, ok := strings.Cut(o.Repository, "/")
	if !ok || owner == "" || name == "" || strings.ContainsAny(name, "/?#") {
		return nil, fmt.Errorf("the repository (GITHUB_REPOSITORY) must be owner/name, not %q", o.Repository)
	}
	transport := o.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	client := &http.Client{
		Transport: authorized{token: o.Token, host: base.Host, scheme: base.Scheme, next: transport},
		Timeout:   requestTimeout,
	}
	address := base.String()
	// The client's own memory of rate limits would refuse requests that we waited for.
	gh, err := github.NewClient(github.WithHTTPClient(client), github.WithURLs(&address, &address), github.WithUserAgent("gitopsctr"), github.WithDisableRateLimitCheck())
	if err != nil {
		return nil, fmt.Errorf("open the forge: %w", err)
	}
	r := &Repository{client: gh, owner: owner, name: name, sleep: o.Sleep, maxWait: cmp.Or(o.MaxWait, time.Minute)}
	if r.sleep == nil {
		r.sleep = sleep
	}
	return r, nil
}

// authorized adds the token to requests for one host, and to no others.
type authorized struct {
	token, scheme, host string
	next                http.RoundTripper
}

func (a authorized) RoundTrip(req *http.Request) (*http.Response, error) {
	if a.token != "" && req.URL.Host == a.host && req.URL.Scheme == a.scheme {
		req = req.Clone(req.Context())
		req.Header.Set("Authorization", "Bearer "+a.token)
	}
	return a.next.RoundTrip(req)
}

// Login returns the name of the user that the token belongs to; "" when it belongs to no user, as a job's own token.
func (r *Repository) Login(ctx context.Context) (string, error) {
	var user *github.User
	err := r.do(ctx, "ask who the token belongs to", again, func() (resp *github.Response, err error) {
		user, resp, err = r.client.Users.Get(ctx, "")
		return resp, err
	})
	if errors.Is(err, ErrForbidden) || errors.Is(err, ErrNotFound) {
		return "", nil
	}
	return user.GetLogin(), err
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
