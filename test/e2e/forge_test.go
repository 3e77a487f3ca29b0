//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// forge is the part of GitHub's REST interface that pull request comments need. Like the real one it tells nobody who
// comes with a job's token who they are.
type forge struct {
	token string
	mux   http.ServeMux

	mu    sync.Mutex
	posts []comment
}

// comment is an issue comment as the interface shows it.
type comment struct {
	ID   int64  `json:"id"`
	Body string `json:"body"`
	URL  string `json:"html_url"`
	User user   `json:"user"`
}

type user struct {
	Login string `json:"login"`
	Type  string `json:"type"`
}

// newForge answers below a prefix to the holder of a token.
func newForge(prefix, token string) *forge {
	f := &forge{token: token}
	issues := prefix + "/repos/acme/shop/issues"
	f.mux.HandleFunc("GET "+issues+"/{number}/comments", f.list)
	f.mux.HandleFunc("POST "+issues+"/{number}/comments", f.create)
	f.mux.HandleFunc("PATCH "+issues+"/comments/{id}", f.update)
	f.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusForbidden, map[string]string{"message": "Resource not accessible by integration"})
	})
	return f
}

func (f *forge) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	_, token, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	if token != f.token {
		answer(w, http.StatusUnauthorized, map[string]string{"message": "Bad credentials"})
		return
	}
	f.mux.ServeHTTP(w, req)
}

// comments is what a person would see on the pull request.
func (f *forge) comments() []comment {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]comment(nil), f.posts...)
}

func (f *forge) list(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, f.comments())
}

func (f *forge) create(w http.ResponseWriter, req *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := int64(len(f.posts) + 1)
	made := comment{ID: id, URL: fmt.Sprintf("https://forge.example.test/comments/%d", id), User: user{Login: "github-actions[bot]", Type: "Bot"}}
	if !read(w, req, &made.Body) {
		return
	}
	f.posts = append(f.posts, made)
	answer(w, http.StatusCreated, made)
}

func (f *forge) update(w http.ResponseWriter, req *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.posts {
		if fmt.Sprint(f.posts[i].ID) != req.PathValue("id") {
			continue
		}
		if read(w, req, &f.posts[i].Body) {
			answer(w, http.StatusOK, f.posts[i])
		}
		return
	}
	answer(w, http.StatusNotFound, map[string]string{"message": "Not Found"})
}

// read takes the text of a comment from a request.
func read(w http.ResponseWriter, req *http.Request, body *string) bool {
	var in struct {
		Body string `json:"body"`
	}
	if err := json.NewDecoder(req.Body).Decode(&in); err != nil {
		answer(w, http.StatusBadRequest, map[string]string{"message": err.Error()})
		return false
	}
	*body = in.Body
	return true
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}
