package gitstate

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
)

// A Kind says why a remote did not do what was asked. Callers decide by it whether to try again.
type Kind string

// The kinds. Only Moved is a race that building on the new head solves; Timeout and Unavailable may pass by themselves.
const (
	Moved        Kind = "moved"         // the ref is not where we expected it
	Protected    Kind = "protected"     // a branch protection or ruleset refuses the push
	Denied       Kind = "denied"        // the credentials are known but not allowed to do this
	HookDeclined Kind = "hook-declined" // a hook of the server refuses the push
	Auth         Kind = "auth"          // credentials are missing or wrong
	NotFound     Kind = "not-found"     // no such repository, or it is hidden from these credentials
	Quota        Kind = "quota"         // too large, or too much
	Timeout      Kind = "timeout"       // no answer within the time limit
	Unavailable  Kind = "unavailable"   // the server or the way to it is broken
	Other        Kind = "other"
)

// transient says whether trying again can help without anybody doing anything.
func (k Kind) transient() bool { return k == Moved || k == Timeout || k == Unavailable }

// A PushError says why refs could not be published. Nothing was changed on the remote, except when Kind is Timeout or
// Unavailable and the remote could not be asked afterwards, as Detail then says.
type PushError struct {
	Kind   Kind
	Ref    string // short branch name
	Detail string // what the server said, secrets removed
	Fix    string // what a person can do about it

	cause error
}

// Error returns the ref, what the server said, and the remedy.
func (e *PushError) Error() string {
	return sentence(fmt.Sprintf("publish %s", e.Ref), e.Detail, e.Fix)
}

// Unwrap gives the context's error when the push was cancelled or timed out.
func (e *PushError) Unwrap() error { return e.cause }

// A FetchError says why the remote could not be read.
type FetchError struct {
	Kind   Kind
	Remote string // the URL, user name and password removed
	Detail string
	Fix    string

	cause error
}

// Error returns the remote, what it said, and the remedy.
func (e *FetchError) Error() string {
	return sentence(fmt.Sprintf("remote %s", e.Remote), e.Detail, e.Fix)
}

// Unwrap gives the context's error when the operation was cancelled or timed out.
func (e *FetchError) Unwrap() error { return e.cause }

func sentence(subject, detail, fix string) string {
	text := subject + ": " + detail
	if fix != "" {
		text += "; " + fix
	}
	return text
}

// fetchError turns an error of a session into one that may be shown.
func (r *remote) fetchError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	detail := r.redactor.clean(shorten(err.Error()))
	kind := classify(err, detail)
	if kind == Moved || kind == Protected || kind == HookDeclined { // words that mean nothing when reading
		kind = Other
	}
	return &FetchError{Kind: kind, Remote: r.shown, Detail: detail, Fix: readRemedies[kind], cause: contextCause(ctx, err)}
}

// pushError turns the outcome of a push into an error that may be shown. said is what the server wrote beside it.
func (r *remote) pushError(ctx context.Context, ref string, err error, said string) *PushError {
	detail := shorten(err.Error())
	if said = strings.TrimSpace(said); said != "" {
		detail += ": " + shorten(said)
	}
	detail = r.redactor.clean(detail)
	kind := classify(err, detail)
	fix := pushRemedies[kind]
	if strings.Contains(detail, "exists; cannot create") {
		fix = "a branch and a directory of branches cannot have the same name; rename one of the refs"
	}
	return &PushError{Kind: kind, Ref: ref, Detail: detail, Fix: fix, cause: contextCause(ctx, err)}
}

func contextCause(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return context.DeadlineExceeded
	}
	return nil
}

// maxDetail bounds what is quoted from a server, in bytes.
const maxDetail = 1500

func shorten(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > maxDetail {
		return strings.ToValidUTF8(text[:maxDetail], "") + "…"
	}
	return text
}

// classify finds the kind of a failure from the error's type, and where that says too little, from the words of Git,
// GitHub, GitLab, Gitea and others.
func classify(err error, detail string) Kind {
	var netError net.Error
	var status *githttp.Err
	var unexpected *plumbing.UnexpectedError
	if errors.As(err, &unexpected) { // does not unwrap by itself
		err = errors.Join(err, unexpected.Err)
	}
	text := strings.ToLower(detail)
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &netError) && netError.Timeout():
		return Timeout
	case errors.As(err, &status):
		return kindOfStatus(status.StatusCode())
	case errors.Is(err, transport.ErrAuthenticationRequired):
		return Auth
	}
	for _, p := range phrases {
		for _, phrase := range p.any {
			if strings.Contains(text, phrase) {
				return p.kind
			}
		}
	}
	switch {
	case errors.Is(err, transport.ErrAuthorizationFailed):
		return Denied
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return NotFound
	case errors.As(err, &netError):
		return Unavailable
	}
	return Other
}

func kindOfStatus(code int) Kind {
	switch {
	case code == http.StatusRequestEntityTooLarge:
		return Quota
	case code == http.StatusRequestTimeout, code == http.StatusGatewayTimeout:
		return Timeout
	case code == http.StatusTooManyRequests, code >= http.StatusInternalServerError:
		return Unavailable
	}
	return Other
}
