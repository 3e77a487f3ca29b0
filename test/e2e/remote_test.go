//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// The secrets of a run. Each must reach the one place that needs it and appear nowhere else.
const (
	jobToken      = "e2e-job-token-7c1f0c9e5b"
	stateUser     = "terraform"
	statePassword = "e2e-state-password-41d2aa"
)

// remote stands for what the job talks to: the repository at acme/shop, served by git over HTTP to the holder of the
// job's token, the forge's interface for the same token, and a store of Terraform states, for the holder of its password.
type remote struct {
	*gitDir
	url      string // of the server, without a slash at the end
	forge    *forge
	states   *stateStore
	unauthed *requestLog
}

// apiPath is where the forge's interface is below a server's own address.
const apiPath = "/api/v3"

// newRemote serves an empty bare repository on the loopback address until the test ends. The job's containers use the
// host's network, so they reach it under the same address.
func newRemote(t *testing.T) *remote {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	dir := filepath.Join(root, "acme", "shop.git")
	r := &remote{gitDir: &gitDir{path: dir}, forge: newForge(apiPath, jobToken), states: &stateStore{}, unauthed: &requestLog{}}
	runCommand(t, "", git, "init", "--quiet", "--bare", "--initial-branch=main", dir)

	backend := &cgi.Handler{
		Path: git,
		Args: []string{"http-backend"},
		Env: []string{
			"GIT_PROJECT_ROOT=" + root,
			"GIT_HTTP_EXPORT_ALL=1",
			"REMOTE_USER=x-access-token", // a known user may push
		},
	}
	mux := http.NewServeMux()
	mux.Handle("/acme/", r.authenticate(jobToken, withLength(backend)))
	mux.Handle(apiPath+"/", r.forge)
	mux.Handle("/state/", r.authenticate(statePassword, r.states))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

func (r *remote) repositoryURL() string { return r.url + "/acme/shop.git" }

// authenticate lets those pass whose password it is. Git asks without credentials first, so a refusal is no failure.
func (r *remote) authenticate(password string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, got, ok := req.BasicAuth()
		if !ok || got != password {
			if ok {
				r.unauthed.add(req)
			}
			w.Header().Set("WWW-Authenticate", `Basic realm="e2e"`)
			http.Error(w, "credentials needed", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, req)
	})
}

// withLength reads a request as a whole: CGI knows no chunked bodies, and Git sends large packs so.
func withLength(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		req.ContentLength = int64(len(body))
		req.TransferEncoding = nil
		next.ServeHTTP(w, req)
	})
}

// requestLog collects requests that came with wrong credentials.
type requestLog struct {
	mu    sync.Mutex
	lines []string
}

func (l *requestLog) add(req *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, req.Method+" "+req.URL.Path)
}

func (l *requestLog) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.lines...)
}

// stateStore is the server of Terraform's http backend: one state for each path, kept from run to run. It knows no
// locks; Terraform asks for none unless it is given a lock_address.
type stateStore struct {
	mu     sync.Mutex
	states map[string][]byte
	writes map[string]int
}

func (s *stateStore) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := path.Base(req.URL.Path)
	switch req.Method {
	case http.MethodGet:
		state, ok := s.states[name]
		if !ok {
			http.NotFound(w, req)
			return
		}
		_, _ = w.Write(state)
	case http.MethodPost:
		body, err := io.ReadAll(req.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if s.states == nil {
			s.states, s.writes = map[string][]byte{}, map[string]int{}
		}
		s.states[name] = body
		s.writes[name]++
	case http.MethodDelete:
		delete(s.states, name)
	default:
		http.Error(w, "unknown method", http.StatusMethodNotAllowed)
	}
}

// writeCount tells how often any state was written: unchanged means that no driver applied anything.
func (s *stateStore) writeCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := 0
	for _, n := range s.writes {
		sum += n
	}
	return sum
}

// writeCounts tells how often each state was written.
func (s *stateStore) writeCounts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.writes)
}

// rewrite changes a state behind Terraform's back. The text is that of the state without its white space.
func (s *stateStore) rewrite(t *testing.T, name, old, replacement string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	var compact bytes.Buffer
	if err := json.Compact(&compact, s.states[name]); err != nil {
		t.Fatalf("state of %s: %v", name, err)
	}
	if !strings.Contains(compact.String(), old) {
		t.Fatalf("the state of %s does not contain %s", name, old)
	}
	s.states[name] = []byte(strings.ReplaceAll(compact.String(), old, replacement))
}

func (s *stateStore) names() map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := map[string]bool{}
	for name := range s.states {
		names[name] = true
	}
	return names
}

// gitDir asks a repository, bare or not.
type gitDir struct{ path string }

func (g *gitDir) git(t *testing.T, args ...string) string {
	t.Helper()
	return strings.TrimSpace(runCommand(t, g.path, "git", args...))
}

// refs maps the full name of every ref to its commit.
func (g *gitDir) refs(t *testing.T) map[string]string {
	t.Helper()
	refs := map[string]string{}
	for _, line := range strings.Split(g.git(t, "for-each-ref", "--format=%(refname) %(objectname)"), "\n") {
		if name, commit, ok := strings.Cut(line, " "); ok {
			refs[name] = commit
		}
	}
	return refs
}

// allObjects is every object of the repository as text, for finding what must not be in any.
func (g *gitDir) allObjects(t *testing.T) string {
	t.Helper()
	return g.git(t, "cat-file", "--batch-all-objects", "--batch")
}

// runCommand gives the standard output of a command that has to succeed.
func runCommand(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_TERMINAL_PROMPT=0",
		// The runner's user may own the repository.
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		"GIT_AUTHOR_NAME=e2e", "GIT_AUTHOR_EMAIL=e2e@example.test",
		"GIT_COMMITTER_NAME=e2e", "GIT_COMMITTER_EMAIL=e2e@example.test")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String()
}
