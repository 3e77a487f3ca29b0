package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptToken is the token of the scripts' forge; it must not occur in any output.
const scriptToken = "ghs_canary0123456789"

// A scriptForge answers the part of the forge's API that pull requests need, and keeps what was opened.
type scriptForge struct {
	mu     sync.Mutex
	mode   string // "open"; "closed": refuses to create; "race": somebody else creates at the same moment
	opened []scriptPull
}

type scriptPull struct {
	Number  int        `json:"number"`
	HTMLURL string     `json:"html_url"`
	Title   string     `json:"title"`
	Body    string     `json:"body"`
	Head    scriptSide `json:"head"`
	Base    scriptSide `json:"base"`
}

type scriptSide struct {
	Ref  string         `json:"ref"`
	Repo map[string]any `json:"repo"`
}

func (f *scriptForge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if r.Header.Get("Authorization") != "Bearer "+scriptToken || r.URL.Path != "/repos/acme/shop/pulls" {
		http.Error(w, `{"message": "Not Found"}`, http.StatusNotFound)
		return
	}
	if r.Method == http.MethodGet {
		found := []scriptPull{}
		for _, p := range f.opened {
			if q := r.URL.Query(); "acme:"+p.Head.Ref == q.Get("head") && p.Base.Ref == q.Get("base") && q.Get("state") == "open" {
				found = append(found, p)
			}
		}
		_ = json.NewEncoder(w).Encode(found) // the client sees a broken answer
		return
	}
	var asked struct{ Title, Head, Base, Body string }
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, `{"message": "Problems parsing JSON"}`, http.StatusBadRequest)
		return
	}
	if f.mode == "closed" {
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprint(w, `{"message": "GitHub Actions is not permitted to create or approve pull requests."}`)
		return
	}
	n := len(f.opened) + 1
	repo := map[string]any{"full_name": "acme/shop"}
	p := scriptPull{n, fmt.Sprintf("https://forge.test/acme/shop/pull/%d", n), asked.Title, asked.Body, scriptSide{asked.Head, repo}, scriptSide{asked.Base, repo}}
	f.opened = append(f.opened, p)
	if f.mode == "race" {
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = fmt.Fprint(w, `{"message": "Validation Failed", "errors": [{"message": "A pull request already exists."}]}`)
		return
	}
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(p)
}

type forgeKey struct{}

// cmdForge starts the script's forge, or changes its mode, and makes the job's environment point to it.
func cmdForge(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: forge open|closed|race")
	}
	holder, _ := ts.Value(forgeKey{}).(*scriptForge)
	holder.mu.Lock()
	started := holder.mode != ""
	holder.mode = args[0]
	holder.mu.Unlock()
	if started {
		return
	}
	server := httptest.NewServer(holder)
	ts.Defer(server.Close)
	for name, value := range map[string]string{"GITHUB_SERVER_URL": "https://forge.test", "GITHUB_API_URL": server.URL, "GITHUB_REPOSITORY": "acme/shop", "GH_TOKEN": scriptToken} {
		ts.Setenv(name, value)
	}
}

// cmdPulls writes the pull requests that were opened into a file.
func cmdPulls(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: pulls FILE")
	}
	holder, _ := ts.Value(forgeKey{}).(*scriptForge)
	holder.mu.Lock()
	defer holder.mu.Unlock()
	var text strings.Builder
	for _, p := range holder.opened {
		fmt.Fprintf(&text, "#%d %s\n%s -> %s\n%s\n", p.Number, p.Title, p.Head.Ref, p.Base.Ref, p.Body)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text.String()), 0o644))
}
