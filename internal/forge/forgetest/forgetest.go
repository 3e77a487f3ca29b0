// Package forgetest is a forge for tests: an HTTP server that behaves like the part of GitHub's REST API that package forge
// uses, with pages, size limits and failures on demand. It keeps everything in memory.
package forgetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"
)

// Repository is the one that the server has.
const Repository = "acme/shop"

// CommentLimit is how many UTF-16 code units a comment or an issue may have.
const CommentLimit = 65_536

// A Comment is one comment of number.
type Comment struct {
	ID           int64
	Number       int
	Body, Author string
	Bot          bool
}

// An Issue is an issue, or a pull request when Head is set.
type Issue struct {
	Number       int
	Title, Body  string
	State        string // open or closed
	Author       string
	Head, Base   string
	HeadSHA      string
	HeadFullName string // repository of the head
}

// A Failure answers a request instead of the server.
type Failure struct {
	// Method and Path select the request: the path's end.
	Method, Path string
	Status       int
	Header       map[string]string
	Message      string
	// Done lets the request take effect before the failure is sent.
	Done bool
	// Before runs when the request arrives.
	Before func(s *Server)
}

// A Server is a running forge.
type Server struct {
	URL string
	// User is who the token belongs to; "" is a job's own token, which writes as github-actions[bot].
	User string
	// Nameless tells that the token may not ask who it belongs to, as one of Gitea's without the scope read:user.
	Nameless bool

	mu       sync.Mutex
	comments []Comment
	issues   []Issue
	failures []Failure
	log      []string
	nextID   int64
}

// New starts a Server, and stops it when the test ends.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{nextID: 1000}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Fail has the next requests answered with failures, each once.
func (s *Server) Fail(failures ...Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = append(s.failures, failures...)
}

// AddComment adds a comment and returns its id.
func (s *Server) AddComment(c Comment) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nextID++
	c.ID = s.nextID
	s.comments = append(s.comments, c)
	return c.ID
}

// DeleteComment removes a comment.
func (s *Server) DeleteComment(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.comments = slices.DeleteFunc(s.comments, func(c Comment) bool { return c.ID == id })
}

// AddIssue adds an issue or a pull request.
func (s *Server) AddIssue(i Issue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.issues = append(s.issues, i)
}

// Comments are the comments of a number, oldest first.
func (s *Server) Comments(number int) []Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.comments), func(c Comment) bool { return c.Number != number })
}

// Issues are all issues and pull requests, oldest first.
func (s *Server) Issues() []Issue {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.issues)
}

// Requests are the methods and paths of all requests so far.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.log = append(s.log, r.Method+" "+r.URL.RequestURI())
	failure := s.failure(r)
	s.mu.Unlock()
	if failure != nil && failure.Before != nil {
		failure.Before(s)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if failure != nil && failure.Status != 0 {
		if failure.Done {
			s.handle(httptest.NewRecorder(), r)
		}
		for key, value := range failure.Header {
			w.Header().Set(key, value)
		}
		reply(w, failure.Status, map[string]any{"message": failure.Message})
		return
	}
	s.handle(w, r)
}

func (s *Server) failure(r *http.Request) *Failure {
	for i, f := range s.failures {
		if f.Method == r.Method && strings.HasSuffix(r.URL.Path, f.Path) {
			s.failures = slices.Delete(s.failures, i, i+1)
			return &f
		}
	}
	return nil
}

func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/user" {
		if s.User == "" || s.Nameless {
			reply(w, http.StatusForbidden, map[string]any{"message": "Resource not accessible by integration"})
			return
		}
		reply(w, http.StatusOK, map[string]any{"login": s.User, "type": "User"})
		return
	}
	path, ok := strings.CutPrefix(r.URL.Path, "/repos/"+Repository+"/")
	if !ok {
		reply(w, http.StatusNotFound, map[string]any{"message": "Not Found"})
		return
	}
	parts := strings.Split(path, "/")
	switch {
	case len(parts) == 3 && parts[0] == "issues" && parts[2] == "comments":
		s.listOrAddComment(w, r, number(parts[1]))
	case len(parts) == 3 && parts[0] == "issues" && parts[1] == "comments":
		s.oneComment(w, r, int64(number(parts[2])))
	case len(parts) == 1 && (parts[0] == "issues" || parts[0] == "pulls"):
		s.listOrAddIssue(w, r, parts[0])
	case len(parts) == 2 && (parts[0] == "issues" || parts[0] == "pulls"):
		s.oneIssue(w, r, number(parts[1]))
	default:
		reply(w, http.StatusNotFound, map[string]any{"message": "Not Found"})
	}
}

func (s *Server) author() (string, bool) {
	if s.User == "" {
		return "github-actions[bot]", true
	}
	return s.User, false
}

func (s *Server) listOrAddComment(w http.ResponseWriter, r *http.Request, number int) {
	if r.Method == http.MethodPost {
		body := field(r, "body")
		if tooLong(w, body) {
			return
		}
		author, bot := s.author()
		s.nextID++
		c := Comment{ID: s.nextID, Number: number, Body: body, Author: author, Bot: bot}
		s.comments = append(s.comments, c)
		reply(w, http.StatusCreated, s.commentJSON(c))
		return
	}
	var all []any
	for _, c := range s.comments {
		if c.Number == number {
			all = append(all, s.commentJSON(c))
		}
	}
	s.page(w, r, all)
}

func (s *Server) oneComment(w http.ResponseWriter, r *http.Request, id int64) {
	i := slices.IndexFunc(s.comments, func(c Comment) bool { return c.ID == id })
	if i < 0 {
		reply(w, http.StatusNotFound, map[string]any{"message": "Not Found"})
		return
	}
	if r.Method == http.MethodDelete {
		s.comments = slices.Delete(s.comments, i, i+1)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	body := field(r, "body")
	if tooLong(w, body) {
		return
	}
	s.comments[i].Body = body
	reply(w, http.StatusOK, s.commentJSON(s.comments[i]))
}

func (s *Server) listOrAddIssue(w http.ResponseWriter, r *http.Request, kind string) {
	if r.Method == http.MethodPost {
		var in struct{ Title, Body, Head, Base string }
		_ = json.NewDecoder(r.Body).Decode(&in) // the client is ours
		if kind == "pulls" && slices.ContainsFunc(s.issues, func(i Issue) bool {
			return i.State == "open" && i.HeadFullName == Repository && i.Head == in.Head && i.Base == in.Base
		}) {
			reply(w, http.StatusUnprocessableEntity, map[string]any{"message": "Validation Failed", "errors": []any{map[string]any{"message": "A pull request already exists for " + in.Head}}})
			return
		}
		author, _ := s.author()
		i := Issue{Number: len(s.issues) + 1, Title: in.Title, Body: in.Body, State: "open", Author: author, Head: in.Head, Base: in.Base, HeadFullName: Repository}
		s.issues = append(s.issues, i)
		reply(w, http.StatusCreated, s.issueJSON(i, kind))
		return
	}
	var all []any
	for _, i := range slices.Backward(s.issues) {
		if i.State == "open" && (kind == "issues" || i.Head != "") {
			all = append(all, s.issueJSON(i, kind))
		}
	}
	s.page(w, r, all)
}

func (s *Server) oneIssue(w http.ResponseWriter, r *http.Request, number int) {
	i := slices.IndexFunc(s.issues, func(i Issue) bool { return i.Number == number })
	if i < 0 {
		reply(w, http.StatusNotFound, map[string]any{"message": "Not Found"})
		return
	}
	var in struct{ Title, Body, State *string }
	_ = json.NewDecoder(r.Body).Decode(&in) // the client is ours
	for _, change := range []struct{ from, to *string }{{in.Title, &s.issues[i].Title}, {in.Body, &s.issues[i].Body}, {in.State, &s.issues[i].State}} {
		if change.from != nil {
			*change.to = *change.from
		}
	}
	reply(w, http.StatusOK, s.issueJSON(s.issues[i], "issues"))
}

// page answers with one page of a list and a Link header as GitHub does.
func (s *Server) page(w http.ResponseWriter, r *http.Request, all []any) {
	query := r.URL.Query()
	size, page := min(max(number(query.Get("per_page")), 1), 100), max(number(query.Get("page")), 1)
	from, to := min((page-1)*size, len(all)), min(page*size, len(all))
	if to < len(all) {
		next := url.Values{"page": {strconv.Itoa(page + 1)}, "per_page": {strconv.Itoa(size)}}
		w.Header().Set("Link", fmt.Sprintf(`<%s%s?%s>; rel="next"`, s.URL, r.URL.Path, next.Encode()))
	}
	reply(w, http.StatusOK, append([]any{}, all[from:to]...))
}

func (s *Server) commentJSON(c Comment) any {
	return map[string]any{"id": c.ID, "body": c.Body, "html_url": fmt.Sprintf("%s/%s/pull/%d#issuecomment-%d", s.URL, Repository, c.Number, c.ID), "user": userJSON(c.Author, c.Bot)}
}

func (s *Server) issueJSON(i Issue, kind string) any {
	out := map[string]any{"number": i.Number, "title": i.Title, "body": i.Body, "state": i.State, "html_url": fmt.Sprintf("%s/%s/%s/%d", s.URL, Repository, kind, i.Number),
		"user": userJSON(i.Author, strings.HasSuffix(i.Author, "[bot]"))}
	if i.Head != "" {
		out["pull_request"] = map[string]any{"url": s.URL}
		out["head"] = map[string]any{"ref": i.Head, "sha": i.HeadSHA, "repo": map[string]any{"full_name": i.HeadFullName}}
		out["base"] = map[string]any{"ref": i.Base, "repo": map[string]any{"full_name": Repository}}
	}
	if kind == "issues" { // as Gitea and Forgejo do: the owner is a name
		owner, name, _ := strings.Cut(Repository, "/")
		out["repository"] = map[string]any{"id": 1, "name": name, "owner": owner, "full_name": Repository}
	}
	return out
}

func userJSON(login string, bot bool) any {
	kind := "User"
	if bot {
		kind = "Bot"
	}
	return map[string]any{"login": login, "type": kind}
}

func tooLong(w http.ResponseWriter, body string) bool {
	if len(utf16.Encode([]rune(body))) <= CommentLimit {
		return false
	}
	reply(w, http.StatusUnprocessableEntity, map[string]any{"message": "Validation Failed", "errors": []any{map[string]any{"message": "body is too long (maximum is 65536 characters)"}}})
	return true
}

func field(r *http.Request, name string) string {
	var in map[string]any
	_ = json.NewDecoder(r.Body).Decode(&in) // the client is ours
	text, _ := in[name].(string)
	return text
}

func number(s string) int {
	n, _ := strconv.Atoi(s) // anything else is 0, which nothing has
	return n
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a client that went away
}
