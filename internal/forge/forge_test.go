package forge_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/forge"
	"github.com/gitopsctr/gitopsctr/internal/forge/forgetest"
)

// open opens the server's repository and notes the pauses instead of making them.
func open(t *testing.T, url string) (*forge.Repository, *[]time.Duration) {
	t.Helper()
	pauses := &[]time.Duration{}
	r, err := forge.Open(forge.Options{APIURL: url, Repository: forgetest.Repository, Token: "token-canary", Sleep: func(_ context.Context, d time.Duration) error {
		*pauses = append(*pauses, d)
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return r, pauses
}

func TestCommentsOfAllPages(t *testing.T) {
	t.Parallel()
	s := forgetest.New(t)
	for i := range 250 {
		s.AddComment(forgetest.Comment{Number: 7, Body: fmt.Sprint(i), Author: "someone"})
	}
	s.AddComment(forgetest.Comment{Number: 8, Body: "elsewhere"})
	r, _ := open(t, s.URL)
	got, err := r.Comments(t.Context(), 7)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 250 || got[249].Body != "249" {
		t.Errorf("want 250 comments, the last one 249; got %d, %v", len(got), got[len(got)-1])
	}
	if want := 3; len(s.Requests()) != want {
		t.Errorf("want %d requests, got %q", want, s.Requests())
	}
}

// A forge that knows no pages returns the same list for each; that must end.
func TestCommentsOfAForgeWithoutPages(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?page=2>; rel="next"`, r.Host, r.URL.Path))
		_, _ = w.Write([]byte(`[{"id":1,"body":"a"}]`))
	}))
	t.Cleanup(server.Close)
	r, _ := open(t, server.URL)
	got, err := r.Comments(t.Context(), 7)
	if diff := cmp.Diff([]forge.Comment{{ID: 1, Body: "a"}}, got); diff != "" || err != nil {
		t.Errorf("(-want +got):\n%s%v", diff, err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		failure forgetest.Failure
		want    error
		text    string
	}{
		"no permission": {forgetest.Failure{Status: 403, Message: "Resource not accessible by integration"}, forge.ErrForbidden, "comment on #7: Resource not accessible by integration (HTTP 403)"},
		"bad token":     {forgetest.Failure{Status: 401, Message: "Bad credentials"}, forge.ErrForbidden, "comment on #7: Bad credentials (HTTP 401)"},
		"no such thing": {forgetest.Failure{Status: 404, Message: "Not Found"}, forge.ErrNotFound, "comment on #7: Not Found (HTTP 404)"},
		"too long":      {forgetest.Failure{Status: 422, Message: "Validation Failed"}, forge.ErrInvalid, "comment on #7: Validation Failed (HTTP 422)"},
		"a long wait": {
			forgetest.Failure{Status: 403, Message: "You have exceeded a secondary rate limit", Header: map[string]string{"Retry-After": "3600"}},
			forge.ErrLimited, "comment on #7: the forge asks to wait 1h0m0s: You have exceeded a secondary rate limit (HTTP 403)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := forgetest.New(t)
			tc.failure.Method, tc.failure.Path = http.MethodPost, "/comments"
			s.Fail(tc.failure)
			r, pauses := open(t, s.URL)
			_, err := r.CreateComment(t.Context(), 7, "text")
			if !errors.Is(err, tc.want) || err.Error() != tc.text {
				t.Errorf("want %q (%v), got %q", tc.text, tc.want, err)
			}
			if len(*pauses) > 0 {
				t.Errorf("waited %v, want no wait", *pauses)
			}
		})
	}
}

// An answer that cannot be read is no success, and its error does not look like one.
func TestUnreadableAnswer(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"number": "seven"}`))
	}))
	t.Cleanup(server.Close)
	r, _ := open(t, server.URL)
	_, err := r.CreateIssue(t.Context(), "title", "body")
	if want := "open an issue: the forge's answer has another form than GitHub's (HTTP 201)"; err == nil || err.Error() != want {
		t.Errorf("want %q, got %v", want, err)
	}
}

func TestRetries(t *testing.T) {
	t.Parallel()
	s := forgetest.New(t)
	id := s.AddComment(forgetest.Comment{Number: 7, Body: "old"})
	path := fmt.Sprintf("/issues/comments/%d", id)
	s.Fail(
		forgetest.Failure{Method: http.MethodPatch, Path: path, Status: 502, Message: "Bad Gateway"},
		forgetest.Failure{Method: http.MethodPatch, Path: path, Status: 403, Message: "You have exceeded a secondary rate limit", Header: map[string]string{"Retry-After": "7"}},
	)
	r, pauses := open(t, s.URL)
	if _, err := r.UpdateComment(t.Context(), id, "new"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]time.Duration{time.Second, 7 * time.Second}, *pauses); diff != "" {
		t.Errorf("pauses (-want +got):\n%s", diff)
	}
	if got := s.Comments(7)[0].Body; got != "new" {
		t.Errorf("want the new text, got %q", got)
	}
}

// What creates something is not sent twice when it may have been done.
func TestCreationIsNotRepeated(t *testing.T) {
	t.Parallel()
	s := forgetest.New(t)
	s.Fail(forgetest.Failure{Method: http.MethodPost, Path: "/comments", Status: 502, Message: "Bad Gateway", Done: true})
	r, _ := open(t, s.URL)
	if _, err := r.CreateComment(t.Context(), 7, "text"); err == nil {
		t.Error("want an error")
	}
	if got := len(s.Comments(7)); got != 1 {
		t.Errorf("want 1 comment, got %d", got)
	}
}

func TestPullRequests(t *testing.T) {
	t.Parallel()
	s := forgetest.New(t)
	for i := range 120 {
		s.AddIssue(forgetest.Issue{Number: 1000 + i, State: "open", Head: fmt.Sprintf("h%d", i), Base: "main", HeadFullName: forgetest.Repository})
	}
	s.AddIssue(forgetest.Issue{Number: 2000, State: "open", Head: "candidate", Base: "desired", HeadFullName: "stranger/shop"})
	r, _ := open(t, s.URL)
	if got, err := r.FindPullRequest(t.Context(), "candidate", "desired"); got != nil || err != nil {
		t.Fatalf("want none, got %+v, %v", got, err)
	}
	created, err := r.CreatePullRequest(t.Context(), forge.PullRequest{Head: "candidate", Base: "desired", Title: "t", Body: "b"})
	if err != nil {
		t.Fatal(err)
	}
	found, err := r.FindPullRequest(t.Context(), "candidate", "desired")
	if diff := cmp.Diff(created, found); diff != "" || err != nil {
		t.Errorf("found (-want +got):\n%s%v", diff, err)
	}
	if _, err := r.CreatePullRequest(t.Context(), forge.PullRequest{Head: "candidate", Base: "desired"}); !errors.Is(err, forge.ErrInvalid) || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("want that it exists already, got %v", err)
	}
	created.Title = "new"
	updated, err := r.UpdatePullRequest(t.Context(), *created)
	if err != nil || updated.Title != "new" {
		t.Errorf("want the new title, got %+v, %v", updated, err)
	}
	if got, err := r.FindPullRequest(t.Context(), "h3", "main"); err != nil || got == nil || got.Number != 1003 {
		t.Errorf("want #1003 of the second page, got %+v, %v", got, err)
	}
}

func TestIssues(t *testing.T) {
	t.Parallel()
	s := forgetest.New(t)
	s.AddIssue(forgetest.Issue{Number: 1, State: "open", Head: "h", Base: "main", HeadFullName: forgetest.Repository})
	r, _ := open(t, s.URL)
	created, err := r.CreateIssue(t.Context(), "title", "body")
	if err != nil {
		t.Fatal(err)
	}
	open, err := r.OpenIssues(t.Context())
	if diff := cmp.Diff([]forge.Issue{created}, open); diff != "" || err != nil {
		t.Errorf("open issues (-want +got):\n%s%v", diff, err)
	}
	if _, err := r.CloseIssue(t.Context(), created.Number, "done"); err != nil {
		t.Fatal(err)
	}
	if open, err := r.OpenIssues(t.Context()); len(open) != 0 || err != nil {
		t.Errorf("want none open, got %v, %v", open, err)
	}
}

// The token goes to the API's host only, even when that redirects elsewhere.
func TestTokenStaysWithItsHost(t *testing.T) {
	t.Parallel()
	var got []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization"))
		_, _ = w.Write([]byte(`[]`))
	}))
	t.Cleanup(elsewhere.Close)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization"))
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(api.Close)
	r, _ := open(t, api.URL)
	_, _ = r.Comments(t.Context(), 7)
	if diff := cmp.Diff([]string{"Bearer token-canary", ""}, got); diff != "" {
		t.Errorf("Authorization headers (-want +got):\n%s", diff)
	}
}

func TestLogin(t *testing.T) {
	t.Parallel()
	s := forgetest.New(t)
	r, _ := open(t, s.URL)
	if got, err := r.Login(t.Context()); got != "" || err != nil {
		t.Errorf("a job's token: want no user, got %q, %v", got, err)
	}
	s.User = "robot"
	if got, err := r.Login(t.Context()); got != "robot" || err != nil {
		t.Errorf("want robot, got %q, %v", got, err)
	}
}

func TestOpenRefusesAddresses(t *testing.T) {
	t.Parallel()
	for _, o := range []forge.Options{
		{APIURL: "ftp://x", Repository: "a/b"}, {APIURL: "https://u:p@x", Repository: "a/b"}, {APIURL: "https://x", Repository: "a"}, {APIURL: "https://x", Repository: "a/b/c"},
	} {
		if _, err := forge.Open(o); err == nil || strings.Contains(err.Error(), "u:p") {
			t.Errorf("%+v: want an error without the password, got %v", o, err)
		}
	}
}
