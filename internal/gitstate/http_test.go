package gitstate_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/gitstate"
)

const canary = "ghs_canary0123456789"

// serve serves the repositories beside remote with Git's own HTTP server, to those who know the canary token. Each
// request goes through the filter, if there is one, before that.
func serve(t testing.TB, remote string, filter func(w http.ResponseWriter, r *http.Request, next http.Handler)) (url string) {
	t.Helper()
	path, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	git(t, remote, "config", "http.receivepack", "true")
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"),
		Env: []string{
			"GIT_PROJECT_ROOT=" + filepath.Dir(remote), "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		},
		Stderr: io.Discard,
	}
	guarded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, ok := r.BasicAuth(); !ok || user != "x-access-token" || password != canary {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "Invalid username or token "+password, http.StatusUnauthorized)
			return
		}
		if filter != nil {
			filter(w, r, backend)
			return
		}
		backend.ServeHTTP(w, r)
	})
	server := httptest.NewServer(guarded)
	t.Cleanup(server.Close)
	return server.URL + "/" + filepath.Base(remote)
}

func tokenFor(url string) gitstate.Credentials {
	return gitstate.Credentials{Token: canary, TokenURLs: []string{url[:strings.LastIndex(url, "/")+1]}}
}

func TestHTTPWithToken(t *testing.T) {
	t.Parallel()
	remote, ids := sourceRemote(t, 70)
	url := serve(t, remote, nil)
	s := open(t, gitstate.Options{RemoteURL: url, Credentials: tokenFor(url)})
	if got := fetch(t, s, "main").Revision(); got != ids[69] {
		t.Errorf("main = %s, want %s", got, ids[69])
	}
	if ok, err := s.IsAncestor(t.Context(), ids[0], ids[69]); err != nil || !ok {
		t.Errorf("IsAncestor = %v, %v; want true", ok, err)
	}
	publish(t, s, "b", "one", map[string]string{"f": "1"})
	// Another store publishes on top; ours fetches only the difference.
	publish(t, open(t, gitstate.Options{RemoteURL: url, Credentials: tokenFor(url)}), "b", "two", map[string]string{"g": "2"})
	publish(t, s, "b", "three", map[string]string{"h": "3"})
	if diff := cmp.Diff(map[string]string{"f": "1", "g": "2", "h": "3"}, contents(t, fetch(t, s, "b"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	git(t, remote, "fsck", "--strict", "--full")
}

func TestHTTPEmptyRepository(t *testing.T) {
	t.Parallel()
	url := serve(t, bareRemote(t), nil)
	s := open(t, gitstate.Options{RemoteURL: url, Credentials: tokenFor(url)})
	r := publish(t, s, "b", "first", map[string]string{"f": "1"})
	if got := fetch(t, s, "b").Revision(); got != r.After.Revision() {
		t.Errorf("b = %s, want %s", got, r.After.Revision())
	}
}

// The server carries the push out and its answer is lost; somebody else may even have built on it since.
func TestLostAnswerIsFoundOut(t *testing.T) {
	t.Parallel()
	for name, drop := range map[string]func(w http.ResponseWriter, r *http.Request){
		"connection closed": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"empty answer":      func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) },
		"half an answer": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-git-receive-pack-result")
			_, _ = io.WriteString(w, "0030\x01000eunpack ok\n")
		},
		"bad gateway": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "Bad Gateway", http.StatusBadGateway) },
		"timeout":     func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		for _, builtOn := range []bool{false, true} {
			if builtOn && name == "timeout" {
				continue // would have to be slow to be reliable
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				remote := bareRemote(t)
				other := open(t, gitstate.Options{RemoteURL: remote})
				publish(t, other, "b", "before", map[string]string{"f": "0"})
				var pushes atomic.Int32
				url := serve(t, remote, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
					if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "git-receive-pack") || pushes.Add(1) > 1 {
						next.ServeHTTP(w, r)
						return
					}
					next.ServeHTTP(httptest.NewRecorder(), r)
					if builtOn {
						publish(t, other, "b", "after", map[string]string{"g": "1"})
					}
					drop(w, r)
				})
				timeout := time.Minute
				if name == "timeout" {
					timeout = 6 * time.Second
				}
				s := open(t, gitstate.Options{RemoteURL: url, Credentials: tokenFor(url), Timeout: timeout})
				r, err := s.Update(t.Context(), "b", put("ours", map[string]string{"ours": "1"}))
				if err != nil {
					t.Fatal(err)
				}
				if pushes.Load() != 1 || r.Attempts != 1 {
					t.Errorf("pushes: want 1, got %d", pushes.Load())
				}
				if got := git(t, remote, "log", "--format=%s", "--grep=ours", "b"); got != "ours" {
					t.Errorf("our commits in the history: %q", got)
				}
				if got := git(t, remote, "log", "-1", "--format=%s", r.Commits[0]); got != "ours" {
					t.Errorf("published %q", got)
				}
			})
		}
	}
}

// An answer that is lost before the push was carried out must be repeated.
func TestLostRequestIsRepeated(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	var pushes atomic.Int32
	url := serve(t, remote, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "git-receive-pack") && pushes.Add(1) == 1 {
			panic(http.ErrAbortHandler)
		}
		next.ServeHTTP(w, r)
	})
	s := open(t, gitstate.Options{RemoteURL: url, Credentials: tokenFor(url)})
	r, err := s.Update(t.Context(), "b", put("ours", map[string]string{"f": "1"}))
	if err != nil || r.Attempts != 2 {
		t.Errorf("Update = %+v, %v; want success in 2 attempts", r, err)
	}
}

func TestHTTPRefusals(t *testing.T) {
	t.Parallel()
	status := func(code int, body string) func(http.ResponseWriter, *http.Request, http.Handler) {
		return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if strings.Contains(r.URL.String(), "receive-pack") {
				http.Error(w, body, code)
				return
			}
			next.ServeHTTP(w, r)
		}
	}
	for name, c := range map[string]struct {
		filter func(http.ResponseWriter, *http.Request, http.Handler)
		token  string
		want   gitstate.Kind
	}{
		"no permission":   {status(403, "Permission to acme/deploy.git denied to github-actions[bot]."), canary, gitstate.Denied},
		"archived":        {status(403, "This repository was archived so it is read-only."), canary, gitstate.Denied},
		"hidden":          {status(404, "Repository not found."), canary, gitstate.NotFound},
		"too large":       {status(413, ""), canary, gitstate.Quota},
		"unavailable":     {status(503, "try again"), canary, gitstate.Unavailable},
		"too many":        {status(429, ""), canary, gitstate.Unavailable},
		"wrong token":     {nil, canary + "x", gitstate.Auth},
		"odd status code": {status(418, "teapot"), canary, gitstate.Other},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			remote := bareRemote(t)
			var sent atomic.Int32
			url := serve(t, remote, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				sent.Add(1)
				c.filter(w, r, next)
			})
			s := open(t, gitstate.Options{
				RemoteURL:   strings.Replace(url, "http://", "http://someone:"+canary+"pw@", 1),
				Credentials: gitstate.Credentials{Token: c.token, TokenURLs: []string{url}},
			})
			head := next(t, s, gitstate.EmptySnapshot(), map[string]string{"f": "1"})
			_, err := s.Publish(t.Context(), "b", head.Revision(), "")
			var refusal *gitstate.PushError
			if !errors.As(err, &refusal) || refusal.Kind != c.want {
				t.Fatalf("error = %v, want %s", err, c.want)
			}
			noSecrets(t, err)
			if c.want != gitstate.Other && refusal.Fix == "" {
				t.Error("the error names no remedy")
			}
		})
	}
}

func noSecrets(t *testing.T, err error) {
	t.Helper()
	for ; err != nil; err = errors.Unwrap(err) {
		for _, secret := range []string{canary, "someone", "eC1hY2Nlc3MtdG9rZW4"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%q occurs in %q", secret, err)
			}
		}
	}
}

func TestFetchErrors(t *testing.T) {
	t.Parallel()
	url := serve(t, bareRemote(t), nil)
	closed := httptest.NewServer(nil)
	closed.Close()
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer slow.Close()
	for name, c := range map[string]struct {
		url  string
		want gitstate.Kind
	}{
		"no repository":        {filepath.Join(t.TempDir(), "nowhere"), gitstate.NotFound},
		"not found":            {url + "x", gitstate.NotFound},
		"nobody listens":       {closed.URL + "/x.git", gitstate.Unavailable},
		"no answer":            {slow.URL + "/x.git", gitstate.Timeout},
		"other server's token": {strings.Replace(url, "127.0.0.1", "localhost", 1), gitstate.Auth},
	} {
		s := open(t, gitstate.Options{
			RemoteURL: c.url, Timeout: 5 * time.Second, Credentials: gitstate.Credentials{Token: canary, TokenURLs: []string{url[:len(url)-len("remote.git")]}},
		})
		_, err := s.Fetch(t.Context(), "b")
		var fault *gitstate.FetchError
		if !errors.As(err, &fault) || fault.Kind != c.want || fault.Fix == "" {
			t.Errorf("%s: error = %v, want %s", name, err, c.want)
			continue
		}
		noSecrets(t, err)
		if timeout := errors.Is(err, context.DeadlineExceeded); timeout != (c.want == gitstate.Timeout) {
			t.Errorf("%s: is a deadline error: %v", name, timeout)
		}
	}
}

func TestCancelledFetch(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() }))
	defer slow.Close()
	s := open(t, gitstate.Options{RemoteURL: slow.URL + "/x.git"})
	if _, err := s.Fetch(ctx, "b"); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want context.Canceled", err)
	}
}

// What actions/checkout leaves in the clone, and credential helpers, serve people who run the command line.
func TestHTTPGitFallback(t *testing.T) {
	t.Parallel()
	remote, ids := sourceRemote(t, 1)
	url := serve(t, remote, nil)
	for name, config := range map[string][]string{
		"extra header": {"http." + url[:len(url)-len("remote.git")] + ".extraheader", "AUTHORIZATION: basic eC1hY2Nlc3MtdG9rZW46Z2hzX2NhbmFyeTAxMjM0NTY3ODk="},
		"helper":       {"credential.helper", "!f() { test \"$1\" = get && echo username=x-access-token && echo password=" + canary + "; }; f"},
	} {
		clone := filepath.Join(t.TempDir(), "clone")
		git(t, ".", "init", "--quiet", clone)
		git(t, clone, "remote", "add", "origin", url)
		git(t, clone, append([]string{"config"}, config...)...)
		s := open(t, gitstate.Options{Workspace: clone, Credentials: gitstate.Credentials{GitFallback: true}})
		if got := fetch(t, s, "main").Revision(); got != ids[0] {
			t.Errorf("%s: main = %s, want %s", name, got, ids[0])
		}
		publish(t, s, "b", "m", map[string]string{"f": name})
		_, err := open(t, gitstate.Options{Workspace: clone}).Fetch(t.Context(), "main")
		var fault *gitstate.FetchError
		if !errors.As(err, &fault) || fault.Kind != gitstate.Auth {
			t.Errorf("%s, not allowed: error = %v, want Auth", name, err)
		}
		noSecrets(t, err)
	}
}
