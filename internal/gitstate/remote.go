package gitstate

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/file"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	"github.com/go-git/go-git/v5/plumbing/transport/ssh"
)

const defaultTimeout = 2 * time.Minute

// A remote is the repository that holds the state, and how to talk to it. Each of its operations is one session.
type remote struct {
	url      string // as configured; may hold a password, so it is never shown
	shown    string // without user name and password
	protocol string
	auth     *authenticator
	redactor *redactor
	timeout  time.Duration
	web      *http.Transport
	rand     func() float64 // for jitter
}

func newRemote(rawURL string, c Credentials, w *workspace, timeout time.Duration, rand func() float64) (*remote, error) {
	r := &remote{url: rawURL, shown: redactURLs(rawURL), redactor: &redactor{}, timeout: timeout, rand: rand}
	if r.timeout <= 0 {
		r.timeout = defaultTimeout
	}
	if helper, _, ok := strings.Cut(rawURL, "::"); ok && !strings.ContainsAny(helper, "/:@") {
		return nil, fmt.Errorf("remote URL %s: remote helpers are not supported; use https, ssh or a path", r.shown)
	}
	if w != nil && isRelativePath(rawURL) {
		r.url = absoluteFrom(w.root, rawURL)
	}
	endpoint, err := transport.NewEndpoint(r.url)
	if err != nil {
		return nil, errors.New(r.redactor.clean(fmt.Sprintf("remote URL: %v", err)))
	}
	r.protocol = endpoint.Protocol
	switch r.protocol {
	case "file", "ssh":
	case "http", "https":
		r.web = newHTTPTransport()
	default:
		return nil, fmt.Errorf("remote URL %s: the protocol %q is not supported; use https, ssh or a path", r.shown, r.protocol)
	}
	r.redactor.add(endpoint.User, endpoint.Password)
	r.auth = newAuthenticator(r.url, endpoint, c, w, r.redactor, r.timeout)
	return r, nil
}

func (r *remote) close() {
	if r.web != nil {
		r.web.CloseIdleConnections()
	}
}

// session opens one session by a protocol's client, with credentials, and within the time limit. A server that asks for
// credentials is asked again with those that Git's helpers know.
func (r *remote) session(
	ctx context.Context, use func(context.Context, transport.Transport, *transport.Endpoint, transport.AuthMethod) error,
) error {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	attempt := func(auth transport.AuthMethod) error {
		endpoint, err := transport.NewEndpoint(r.url) // a session changes its endpoint when it is redirected
		if err != nil {
			return err
		}
		if auth != nil {
			endpoint.Password = "" // not both
		}
		err = use(ctx, r.client(), endpoint, auth)
		if err != nil && ctx.Err() != nil {
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
		return err
	}
	auth, err := r.auth.method(ctx)
	if err != nil {
		return err
	}
	err = attempt(auth)
	if errors.Is(err, transport.ErrAuthenticationRequired) {
		if auth, ok := r.auth.ask(ctx); ok {
			return attempt(auth)
		}
	}
	return err
}

func (r *remote) client() transport.Transport {
	switch r.protocol {
	case "file":
		return file.DefaultClient
	case "ssh":
		return ssh.DefaultClient
	default:
		return githttp.NewClient(&http.Client{Transport: r.web})
	}
}

// newHTTPTransport honours the usual proxy variables and keeps connections for the requests of one run.
func newHTTPTransport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   4,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   15 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
}
