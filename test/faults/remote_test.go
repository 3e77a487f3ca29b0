package faults

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// An operation is one sort of request that Git's HTTP protocol has.
type operation string

// A fetch is the first two, a push the last two.
const (
	readRefs operation = "read refs"
	download operation = "download"
	pushRefs operation = "push: read refs"
	push     operation = "push"
)

// A call is one request to the remote.
type call struct {
	operation operation
	refs      []string // the short names of the refs that a push moves
	body      []byte
}

// A fault happens at one request.
type fault struct {
	on  operation
	ref string // that a push moves, "" for any
	nth int    // of those requests, counted from 1; 0 is every one
	do  mishap
}

// A mishap answers a request in place of Git's server, which is next.
type mishap func(w http.ResponseWriter, r *http.Request, next http.Handler)

// A remote serves one bare repository with Git's own HTTP server, and fails as it is told.
type remote struct {
	url string

	mu     sync.Mutex
	faults []fault
	seen   map[string]int // requests since the last disturb, by operation and, for pushes, by operation and ref
	pushes map[string]int // pushes ever, by ref
}

func newRemote(t *testing.T, bare string) *remote {
	t.Helper()
	path, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	git(t, bare, "config", "http.receivepack", "true")
	backend := &cgi.Handler{
		Path:   filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"),
		Env:    []string{"GIT_PROJECT_ROOT=" + filepath.Dir(bare), "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"},
		Stderr: io.Discard,
		Logger: log.New(io.Discard, "", 0),
	}
	m := &remote{seen: map[string]int{}, pushes: map[string]int{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := callOf(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if do := m.mishapFor(c); do != nil {
			do(w, r, backend)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	m.url = server.URL + "/" + filepath.Base(bare)
	return m
}

// disturb sets what goes wrong from now on; without arguments nothing does.
func (m *remote) disturb(faults ...fault) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.faults, m.seen = faults, map[string]int{}
}

// pushesOf is how often anybody pushed a ref so far.
func (m *remote) pushesOf(ref string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.pushes[ref]
}

func (m *remote) mishapFor(c call) mishap {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen[string(c.operation)]++
	for _, ref := range c.refs {
		m.seen[string(c.operation)+" "+ref]++
		m.pushes[ref]++
	}
	for _, f := range m.faults {
		count := m.seen[string(f.on)]
		if f.ref != "" {
			if !slices.Contains(c.refs, f.ref) {
				continue
			}
			count = m.seen[string(f.on)+" "+f.ref]
		}
		if f.on == c.operation && (f.nth == 0 || f.nth == count) {
			return f.do
		}
	}
	return nil
}

// callOf reads what a request is for. The request can be served afterwards.
func callOf(r *http.Request) (call, error) {
	c := call{operation: readRefs}
	receive := strings.HasSuffix(r.URL.Path, "/git-receive-pack") || r.URL.Query().Get("service") == "git-receive-pack"
	switch {
	case r.Method == http.MethodPost && receive:
		c.operation = push
	case r.Method == http.MethodPost:
		c.operation = download
	case receive:
		c.operation = pushRefs
	}
	var err error
	if c.body, err = io.ReadAll(r.Body); err != nil {
		return call{}, err
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(c.body)), int64(len(c.body))
	if c.operation == push {
		c.refs, err = movedRefs(c.body)
	}
	return c, err
}

// movedRefs reads the commands at the begin of a push: packets of "OLD NEW REF", the first one with capabilities after a
// zero byte, up to a flush packet.
func movedRefs(body []byte) ([]string, error) {
	var refs []string
	for {
		if len(body) < 4 {
			return nil, fmt.Errorf("the push ends in its commands")
		}
		size, err := strconv.ParseUint(string(body[:4]), 16, 16)
		if err != nil || int(size) > len(body) {
			return nil, fmt.Errorf("the push has a bad packet: %q", body[:4])
		}
		if size < 4 {
			return refs, nil
		}
		line, _, _ := strings.Cut(string(body[4:size]), "\x00")
		if fields := strings.Fields(line); len(fields) == 3 {
			refs = append(refs, strings.TrimPrefix(fields[2], "refs/heads/"))
		}
		body = body[size:]
	}
}
