package ociimages

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/gitopsctr/gitopsctr/internal/driver"
)

// answerTime is how long a registry may take to answer after it has the whole request: some store a large layer only then.
const answerTime = 3 * time.Minute

// newTransport is that of the library with a limit for answers.
func newTransport() http.RoundTripper {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   16,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
		ResponseHeaderTimeout: answerTime,
	}
}

func (s *session) remote(ctx context.Context, r repository) []remote.Option {
	return []remote.Option{
		remote.WithContext(ctx), remote.WithAuth(s.logins[r.text].auth), remote.WithTransport(s.driver.options.Transport),
		remote.WithUserAgent("gitopsctr"),
	}
}

// head returns the digest that the Unit's tag has in a repository, "" when the registry has no such tag or repository.
func (s *session) head(ctx context.Context, r repository) (string, error) {
	tag, options := r.remote.Tag(s.spec.Tag), s.remote(ctx, r)
	head, err := remote.Head(tag, options...)
	if err == nil {
		return head.Digest.String(), nil
	}
	if !absent(err) && ctx.Err() == nil {
		// An answer to HEAD has no body to say what is wrong, and some registries leave out the digest.
		var got *remote.Descriptor
		if got, err = remote.Get(tag, options...); err == nil {
			return got.Digest.String(), nil
		}
	}
	if absent(err) {
		return "", nil
	}
	return "", s.registryError("look up "+r.tagged(s.spec.Tag), r, err)
}

func absent(err error) bool {
	var answer *transport.Error
	return errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound
}

// pull returns the image of a repository that has a digest, without fetching its layers yet.
func (s *session) pull(ctx context.Context, r repository, digest string) (*image, error) {
	options := append(s.remote(ctx, r), s.platform()...)
	got, err := remote.Get(r.remote.Digest(digest), options...)
	if err != nil {
		return nil, s.registryError("read "+r.at(digest), r, err)
	}
	return &image{content: got, single: got.Image}, nil
}

// push writes an image under the Unit's tag, layers first, and returns the digest that the tag then has.
func (s *session) push(ctx context.Context, i *image, r repository) (string, error) {
	name := r.tagged(s.spec.Tag)
	if err := remote.Push(r.remote.Tag(s.spec.Tag), i.content, s.remote(ctx, r)...); err != nil {
		return "", s.registryError("push "+name, r, err)
	}
	digest, err := s.head(ctx, r)
	if err == nil && digest == "" {
		err = &driver.Error{Op: "push " + name, Detail: "the registry took the image, but does not have the tag", Fix: "look at the registry's log and its rules for tags, then run again"}
	}
	return digest, err
}

// registryError says what a registry answered, without the bodies and addresses of requests, which may hold tokens.
func (s *session) registryError(op string, r repository, err error) error {
	e := &driver.Error{Op: op, Err: err}
	var answer *transport.Error
	var request *url.Error
	source := s.logins[r.text].source
	switch {
	case errors.As(err, &answer):
		e.Detail = answerText(answer)
		switch answer.StatusCode {
		case http.StatusUnauthorized, http.StatusForbidden:
			e.Detail += " (access with: " + source + ")"
			e.Fix = fmt.Sprintf("log in to %s with an account that may pull from and push to %s", r.host, r.text)
		case http.StatusNotFound:
			e.Fix = "create the repository " + r.text + ", if the registry does not do so by itself"
		case http.StatusTooManyRequests:
			e.Fix = "the registry limits requests; run again later"
		default:
			e.Fix = "look at the registry's state and run again"
		}
	case errors.As(err, &request):
		e.Detail, e.Fix = request.Err.Error(), "see that "+r.host+" can be reached from here, and run again"
	default:
		e.Detail = err.Error()
	}
	e.Detail = s.hide(e.Detail)
	return e
}

// answerText is the status and the registry's own diagnostics; their free-form details are left out.
func answerText(answer *transport.Error) string {
	text := fmt.Sprintf("the registry answered %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	var said []string
	for _, d := range answer.Errors {
		said = append(said, strings.TrimSuffix(string(d.Code)+": "+d.Message, ": "))
	}
	if len(said) > 0 {
		text += ": " + strings.Join(said, "; ")
	}
	return text
}
