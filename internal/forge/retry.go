package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/google/go-github/v88/github"
)

// The kinds of refusals that callers decide on; an *Error is one of them, or of none.
var (
	// ErrForbidden: the token may not do this.
	ErrForbidden = errors.New("forbidden")
	// ErrNotFound: there is no such thing, or the token may not see it.
	ErrNotFound = errors.New("not found")
	// ErrInvalid: the forge does not accept the content, for example because it is too long or exists already.
	ErrInvalid = errors.New("not accepted")
	// ErrLimited: the forge asks to wait longer than we do.
	ErrLimited = errors.New("rate limited")
)

// An Error is a refusal of the forge.
type Error struct {
	Op      string // "create a comment"
	Status  int    // HTTP status, 0 for none
	Message string // of the forge
	kind    error
}

// Error names the operation and what the forge said.
func (e *Error) Error() string {
	if e.Status == 0 {
		return e.Op + ": " + e.Message
	}
	return fmt.Sprintf("%s: %s (HTTP %d)", e.Op, e.Message, e.Status)
}

// Unwrap returns the kind of the refusal.
func (e *Error) Unwrap() error { return e.kind }

// safety tells whether a request may be sent again when it is not known whether it was done.
type safety bool

const (
	again safety = true
	once  safety = false
)

const tries = 4

// do makes a request, and makes it again after a rate limit or a passing failure of the forge. A request that creates
// something is not repeated when it may have been done; its caller looks and decides.
func (r *Repository) do(ctx context.Context, op string, repeat safety, request func() (*github.Response, error)) error {
	for try := 1; ; try++ {
		resp, err := request()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s: %w", op, context.Cause(ctx))
		}
		wait, retry := r.pause(resp, err, repeat, try)
		if !retry || try == tries {
			return refusal(op, resp, err)
		}
		if wait > r.maxWait {
			e := refusal(op, resp, err)
			e.kind = ErrLimited
			e.Message = fmt.Sprintf("the forge asks to wait %s: %s", wait.Round(time.Second), e.Message)
			return e
		}
		if err := r.sleep(ctx, wait); err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
	}
}

// pause says how long to wait before the next try, and whether there may be one.
func (r *Repository) pause(resp *github.Response, err error, repeat safety, try int) (time.Duration, bool) {
	backoff := time.Duration(try*try) * time.Second
	var secondary *github.AbuseRateLimitError
	var primary *github.RateLimitError
	switch {
	case errors.As(err, &secondary):
		if secondary.RetryAfter != nil {
			return max(*secondary.RetryAfter, time.Second), true
		}
		return max(backoff, 10*time.Second), true
	case errors.As(err, &primary):
		return max(time.Until(primary.Rate.Reset.Time), time.Second), true
	case resp == nil || resp.Response == nil: // no answer at all
		return backoff, bool(repeat)
	case limited(resp):
		seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
		if err != nil {
			return backoff, true
		}
		return max(time.Duration(seconds)*time.Second, time.Second), true
	case resp.StatusCode >= http.StatusInternalServerError && resp.StatusCode != http.StatusNotImplemented:
		return backoff, bool(repeat)
	}
	return 0, false
}

// limited tells that the forge asks to slow down, also where go-github does not see it.
func limited(resp *github.Response) bool {
	return resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusForbidden && resp.Header.Get("Retry-After") != ""
}

// refusal turns what go-github says into an Error, whose text has no address and no token.
func refusal(op string, resp *github.Response, err error) *Error {
	e := &Error{Op: op, Message: "no answer"}
	if resp != nil && resp.Response != nil {
		e.Status, e.Message = resp.StatusCode, http.StatusText(resp.StatusCode)
		if e.Status < http.StatusMultipleChoices { // it was done, but not said in a way that we know
			e.Message = "the forge's answer has another form than GitHub's"
		}
	}
	var answer *github.ErrorResponse
	var secondary *github.AbuseRateLimitError
	var primary *github.RateLimitError
	switch {
	case errors.As(err, &answer):
		if answer.Message != "" {
			e.Message = answer.Message
		}
		for _, detail := range answer.Errors {
			if detail.Message != "" {
				e.Message += "; " + detail.Message
			}
		}
	case errors.As(err, &secondary):
		e.Message, e.kind = "secondary rate limit", ErrLimited
	case errors.As(err, &primary):
		e.Message, e.kind = "rate limit", ErrLimited
	}
	if e.kind == nil && e.Status != 0 && limited(resp) {
		e.kind = ErrLimited
	}
	if e.kind != nil {
		return e
	}
	switch e.Status {
	case http.StatusForbidden, http.StatusUnauthorized:
		e.kind = ErrForbidden
	case http.StatusNotFound, http.StatusGone:
		e.kind = ErrNotFound
	case http.StatusUnprocessableEntity, http.StatusConflict:
		e.kind = ErrInvalid
	}
	return e
}
