package terraform

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/driver"
)

// The limits of an HTTP check (chapter G 2.4).
const (
	checkTries   = 13
	checkPause   = 5 * time.Second
	checkTimeout = 30 * time.Second
)

// runChecks runs the Unit's HTTP checks in order. A check passes with the first answer below 400, a redirect included.
// Neither bodies nor query strings are shown, and nothing at all of a URL that is sensitive.
func (s *session) runChecks(ctx context.Context, outputs observed) error {
	for i, c := range s.spec.Checks {
		output := outputs.get(c.Output)
		address, err := checkURL(output.value, c.Path)
		label := fmt.Sprintf("check %d (output %s)", i+1, c.Output)
		pointer := fmt.Sprintf("/terraform/checks/%d", i)
		if err != nil {
			return &driver.Error{Op: label, Detail: err.Error(), Pointer: pointer + "/urlOutput", Fix: "use an output that is an http or https URL"}
		}
		if !output.sensitive {
			label = s.driver.options.Mask.String(fmt.Sprintf("check %d (%s)", i+1, publicURL(address)))
		}
		if err := s.runCheck(ctx, label, address, output.sensitive); err != nil {
			return &driver.Error{Op: label, Detail: err.Error(), Pointer: pointer, Err: err,
				Fix: "the Unit is applied but not recorded; mend the address or the service, and run again"}
		}
	}
	return nil
}

// runCheck tries until the check passes, the tries are used up, or ctx ends.
func (s *session) runCheck(ctx context.Context, label string, address *url.URL, sensitive bool) error {
	for try := 1; ; try++ {
		status, err := s.get(ctx, address)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var said string
		switch {
		case err == nil:
			said = fmt.Sprintf("HTTP %d", status)
		case sensitive:
			said = "no answer"
		default:
			said = "no answer: " + err.Error()
		}
		said = s.driver.options.Mask.String(said)
		if err == nil && status < http.StatusBadRequest {
			s.say("%s: %s, passed", label, said)
			return nil
		}
		if try == checkTries {
			return fmt.Errorf("failed %d times, last with %s", checkTries, said)
		}
		s.say("%s: %s, try %d of %d, again in %s", label, said, try, checkTries, checkPause)
		if err := s.driver.options.Sleep(ctx, checkPause); err != nil {
			return err
		}
	}
}

func (s *session) get(ctx context.Context, address *url.URL) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return 0, errors.New("not a URL")
	}
	client := *s.driver.options.HTTPClient
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(req)
	if err != nil {
		// Without the URL, which *url.Error repeats with its query.
		if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

// checkURL joins an output's value and the check's path as text. As with curl, a value without scheme means http.
func checkURL(value *document.Node, path string) (*url.URL, error) {
	if value == nil || value.Kind != document.String {
		return nil, errors.New("the output is not a string")
	}
	text := value.Text + path
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("the output is not an http or https URL")
	}
	return u, nil
}

// publicURL is the part of a URL that may be shown.
func publicURL(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

func (s *session) say(format string, args ...any) {
	_, _ = fmt.Fprintf(s.unit.Log, format+"\n", args...)
}
