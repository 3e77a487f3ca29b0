package terraform_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/driver/terraform"
)

func TestHTTPChecks(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answers   []int // status codes; the last one stays
		output    string
		wantTries int32
		wantErr   string
	}{
		"passes at once":                 {answers: []int{204}, wantTries: 1},
		"fails twice, then passes":       {answers: []int{503, 404, 200}, wantTries: 3},
		"a redirect passes, unfollowed":  {answers: []int{302}, wantTries: 1},
		"never passes":                   {answers: []int{500}, wantTries: 13, wantErr: "failed 13 times, last with HTTP 500"},
		"no URL":                         {answers: []int{200}, output: `"ftp://example.test"`, wantErr: "the output is not an http or https URL"},
		"no string":                      {answers: []int{200}, output: `5`, wantErr: "the output is not a string"},
		"without scheme it is http":      {answers: []int{200}, output: `"HOST?token=` + canary + `#"`, wantTries: 1},
		"query and password stay hidden": {answers: []int{500}, output: `"http://user:` + canary + `@HOST?token=` + canary + `#"`, wantTries: 13, wantErr: "failed 13 times, last with HTTP 500"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tries atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/elsewhere" {
					t.Error("the redirect was followed")
				}
				n := int(tries.Add(1))
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(test.answers[min(n, len(test.answers))-1])
				_, _ = w.Write([]byte("body " + canary))
			}))
			t.Cleanup(server.Close)
			if test.output == "" {
				test.output = `"http://HOST"`
			}
			output := strings.ReplaceAll(test.output, "HOST", strings.TrimPrefix(server.URL, "http://"))
			stub := newStub(t, `{"format_version":"1.2","configuration":{"root_module":{"outputs":{"url":{}}}}}`, `{"url":{"sensitive":false,"value":`+output+`}}`)
			pause := &noWait{}
			stub.options.Sleep = pause.Sleep
			f := newFixture(t, nil)
			_, err := terraform.New(stub.options).Reconcile(t.Context(), f.with("{backend: {}, variables: {}, observeOutputs: [url], checks: [{type: http, urlOutput: url, path: /health}]}"))
			if tries.Load() != test.wantTries {
				t.Errorf("tries: want %d, got %d", test.wantTries, tries.Load())
			}
			want := []time.Duration(nil)
			for range test.wantTries - 1 {
				want = append(want, 5*time.Second)
			}
			if diff := cmp.Diff(want, pause.slept); diff != "" {
				t.Errorf("pauses (-want +got):\n%s", diff)
			}
			if test.wantErr == "" && err != nil {
				t.Errorf("want success, got %v", err)
			}
			if test.wantErr != "" {
				if e := driverError(t, err); e.Detail != test.wantErr || !strings.HasPrefix(e.Pointer, "/terraform/checks/0") {
					t.Errorf("want %q, got %#v", test.wantErr, e)
				}
				_, _ = f.Log.Write([]byte(err.Error()))
			}
			if strings.Contains(f.Log.String(), canary) {
				t.Errorf("the transcript or the error shows a secret:\n%s", f.Log)
			}
		})
	}
}

func TestHTTPCheckOfSensitiveOutputHidesTheURL(t *testing.T) {
	t.Parallel()
	stub := newStub(t, `{"format_version":"1.2","configuration":{"root_module":{"outputs":{"url":{"sensitive":true}}}}}`, `{"url":{"sensitive":true,"value":"http://`+canary+`.invalid"}}`)
	stub.options.Sleep = (&noWait{}).Sleep
	stub.options.HTTPClient = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		return nil, errors.New("cannot find " + r.URL.Host)
	})}
	f := newFixture(t, map[string]string{"main.tf": "# gitopsctr:observe-sensitive url\n"})
	_, err := terraform.New(stub.options).Reconcile(t.Context(), f.with("{backend: {}, variables: {}, observeOutputs: [url], checks: [{type: http, urlOutput: url}]}"))
	if e := driverError(t, err); e.Op != "check 1 (output url)" || e.Detail != "failed 13 times, last with no answer" {
		t.Errorf("got %#v", e)
	}
	if strings.Contains(f.Log.String()+err.Error(), canary) {
		t.Errorf("the URL is shown: %v\n%s", err, f.Log)
	}
}

func TestHTTPCheckEndsWithTheRun(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	stub := newStub(t, `{"format_version":"1.2","configuration":{"root_module":{"outputs":{"url":{}}}}}`, `{"url":{"sensitive":false,"value":"`+server.URL+`"}}`)
	f := newFixture(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	f.Log.on, f.Log.do = "try 1 of 13", func(string) { cancel() }
	_, err := terraform.New(stub.options).Reconcile(ctx, f.with("{backend: {}, variables: {}, observeOutputs: [url], checks: [{type: http, urlOutput: url}]}"))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("want context.Canceled, got %v", err)
	}
}
