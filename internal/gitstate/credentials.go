package gitstate

import (
	"context"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
)

// Credentials say who we are to the remote. They are held in memory, and sent only where they belong.
type Credentials struct {
	// Token is sent as the password of HTTP basic authentication, to remotes below one of TokenURLs only.
	Token string
	// TokenUser is the user name that goes with Token; default "x-access-token".
	TokenUser string
	// TokenURLs are URL prefixes such as "https://github.com/" or "https://git.example.com/team/". Scheme, host and port
	// must be equal, and the path must begin with whole segments of the prefix's. Empty: the token is never sent.
	TokenURLs []string
	// SSHKeyFile is a private key for ssh remotes; "" means the keys of the SSH agent.
	SSHKeyFile string
	// SSHKeyPassphrase opens an encrypted SSHKeyFile.
	SSHKeyPassphrase string
	// KnownHostsFiles hold the host keys that are accepted; empty means $SSH_KNOWN_HOSTS, or the user's and the system's
	// files. A host that is in none of them is refused.
	KnownHostsFiles []string
	// GitFallback lets a remote without a token of its own use what Git knows: http.extraHeader of the clone's
	// configuration, and credential helpers once the server asks. They are only read, never told to store or erase.
	GitFallback bool
}

// String hides the secrets.
func (Credentials) String() string { return "credentials" }

// GoString hides the secrets.
func (Credentials) GoString() string { return "gitstate.Credentials{}" }

// covers says whether a token that belongs to one of the prefixes may be sent to a URL.
func covers(prefixes []string, target *url.URL) bool {
	for _, p := range prefixes {
		u, err := url.Parse(p)
		if err != nil || u.Scheme == "" || u.Host == "" {
			continue
		}
		sameOrigin := strings.EqualFold(u.Scheme, target.Scheme) && strings.EqualFold(u.Hostname(), target.Hostname()) &&
			port(u) == port(target)
		path := strings.TrimSuffix(u.Path, "/") + "/"
		if sameOrigin && strings.HasPrefix(strings.TrimSuffix(target.Path, "/")+"/", path) {
			return true
		}
	}
	return false
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case strings.EqualFold(u.Scheme, "http"):
		return "80"
	default:
		return "443"
	}
}

// An authenticator chooses how to authenticate to one remote.
type authenticator struct {
	url         *url.URL // nil for remotes that are no http URLs
	endpoint    *transport.Endpoint
	credentials Credentials
	workspace   *workspace
	redactor    *redactor
	timeout     time.Duration

	mu      sync.Mutex
	decided bool
	chosen  transport.AuthMethod
}

func newAuthenticator(
	rawURL string, ep *transport.Endpoint, c Credentials, w *workspace, r *redactor, timeout time.Duration,
) *authenticator {
	if c.TokenUser == "" {
		c.TokenUser = "x-access-token"
	}
	r.add(c.TokenUser, c.Token)
	r.add("", c.SSHKeyPassphrase)
	a := &authenticator{endpoint: ep, credentials: c, workspace: w, redactor: r, timeout: timeout}
	if ep.Protocol == "http" || ep.Protocol == "https" {
		if u, err := url.Parse(rawURL); err == nil {
			a.url = u
		}
	}
	return a
}

// method is what to authenticate with at first; nil means what the URL has, or nothing.
func (a *authenticator) method(ctx context.Context) (transport.AuthMethod, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.decided {
		return a.chosen, nil
	}
	switch {
	case a.endpoint.Protocol == "ssh":
		auth, err := newSSHAuth(a.endpoint, a.credentials, a.timeout)
		if err != nil {
			return nil, err
		}
		a.chosen = auth
	case a.url == nil:
	case a.credentials.Token != "" && covers(a.credentials.TokenURLs, a.url):
		a.chosen = &githttp.BasicAuth{Username: a.credentials.TokenUser, Password: a.credentials.Token}
	case a.endpoint.Password == "" && a.fallback():
		if header, ok := a.workspace.extraHeader(ctx, a.url); ok {
			a.redactor.add(header.secret())
			a.chosen = header
		}
	}
	a.decided = true
	return a.chosen, nil
}

// ask looks for credentials after the server refused to talk without, or with what method gave.
func (a *authenticator) ask(ctx context.Context) (transport.AuthMethod, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.url == nil || a.chosen != nil || !a.fallback() {
		return nil, false
	}
	basic, ok := a.workspace.credentialFill(ctx, a.url)
	if !ok {
		return nil, false
	}
	a.redactor.add(basic.Username, basic.Password)
	a.chosen = basic
	return basic, true
}

func (a *authenticator) fallback() bool { return a.credentials.GitFallback && a.workspace != nil }

// A headerAuth is one HTTP header that authenticates.
type headerAuth struct{ name, value string }

func (h *headerAuth) Name() string              { return "http-header-auth" }
func (h *headerAuth) String() string            { return h.Name() }
func (h *headerAuth) SetAuth(req *http.Request) { req.Header.Set(h.name, h.value) }

// secret is the user name and the secret in the value: those of basic authentication, or the value without its scheme.
func (h *headerAuth) secret() (user, secret string) {
	req := http.Request{Header: http.Header{}}
	h.SetAuth(&req)
	if user, password, ok := req.BasicAuth(); ok {
		return user, password
	}
	_, secret, _ = strings.Cut(h.value, " ")
	return "", strings.TrimSpace(secret)
}

// extraHeader is the header that the clone's configuration sends to a URL, as actions/checkout leaves it.
func (w *workspace) extraHeader(ctx context.Context, target *url.URL) (*headerAuth, bool) {
	out, err := w.git(ctx, nil, "config", "--get-urlmatch", "http.extraHeader", withoutUser(target))
	if err != nil {
		return nil, false
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	name, value, ok := strings.Cut(lines[len(lines)-1], ":")
	if name = strings.TrimSpace(name); !ok || !strings.EqualFold(name, "authorization") {
		return nil, false
	}
	return &headerAuth{name: "Authorization", value: strings.TrimSpace(value)}, true
}

// credentialFill asks Git's credential helpers for a user name and password, without prompting.
func (w *workspace) credentialFill(ctx context.Context, target *url.URL) (*githttp.BasicAuth, bool) {
	question := "url=" + withoutUser(target) + "\n"
	if user := target.User.Username(); user != "" {
		question += "username=" + user + "\n"
	}
	out, err := w.git(ctx, []byte(question+"\n"), "credential", "fill")
	if err != nil {
		return nil, false
	}
	var basic githttp.BasicAuth
	for line := range strings.Lines(string(out)) {
		switch key, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), "="); key {
		case "username":
			basic.Username = value
		case "password":
			basic.Password = value
		}
	}
	return &basic, basic.Password != ""
}

func withoutUser(u *url.URL) string {
	bare := *u
	bare.User = nil
	return bare.String()
}

// isRelativePath says whether a remote URL is a path that Git takes relative to the clone.
func isRelativePath(remote string) bool {
	return strings.HasPrefix(remote, "./") || strings.HasPrefix(remote, "../") ||
		!strings.Contains(remote, ":") && !filepath.IsAbs(remote)
}
