package gitstate_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/gitstate"
)

// A download that ends anywhere before its end is made again, and what came of it is not taken for the whole: a commit and
// its directories come before the files.
func TestCutDownloadIsRepeated(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	chance := rand.NewChaCha8([32]byte{1})
	files := map[string]string{}
	for i := range 20 {
		content := make([]byte, 300)
		_, _ = chance.Read(content) // never fails
		files[fmt.Sprintf("dir/%d", i)] = string(content)
	}
	publish(t, open(t, gitstate.Options{RemoteURL: remote}), "b", "m", files)
	for percent := 0; percent < 100; percent += 9 {
		for _, promise := range []bool{false, true} {
			t.Run(fmt.Sprint(percent, promise), func(t *testing.T) {
				t.Parallel()
				var downloads atomic.Int32
				url := serve(t, remote, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
					if r.Method != http.MethodPost || downloads.Add(1) > 1 {
						next.ServeHTTP(w, r)
						return
					}
					whole := httptest.NewRecorder()
					next.ServeHTTP(whole, r)
					w.Header().Set("Content-Type", whole.Header().Get("Content-Type"))
					if promise {
						w.Header().Set("Content-Length", fmt.Sprint(whole.Body.Len()))
					}
					_, _ = w.Write(whole.Body.Bytes()[:whole.Body.Len()*percent/100])
				})
				s := open(t, gitstate.Options{RemoteURL: url, Credentials: tokenFor(url)})
				if diff := cmp.Diff(files, contents(t, fetch(t, s, "b"))); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if got := downloads.Load(); got != 2 {
					t.Errorf("downloads: want 2, got %d", got)
				}
			})
		}
	}
}

// What ends by itself is waited for when reading; what a person has to repair is not.
func TestReadingIsPatient(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]struct {
		requests int32
		kind     gitstate.Kind // of the error, "" for success
	}{
		http.StatusTooManyRequests:     {requests: 2},
		http.StatusServiceUnavailable:  {requests: 2},
		http.StatusInternalServerError: {requests: 2},
		http.StatusForbidden:           {1, gitstate.Denied},
		http.StatusNotFound:            {1, gitstate.NotFound},
	} {
		t.Run(http.StatusText(code), func(t *testing.T) {
			t.Parallel()
			remote, ids := sourceRemote(t, 1)
			var requests atomic.Int32
			url := serve(t, remote, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if strings.HasSuffix(r.URL.Path, "/info/refs") && requests.Add(1) == 1 {
					w.WriteHeader(code)
					return
				}
				next.ServeHTTP(w, r)
			})
			head, _, err := open(t, gitstate.Options{RemoteURL: url, Credentials: tokenFor(url)}).Head(t.Context(), "main")
			var fault *gitstate.FetchError
			if errors.As(err, &fault); want.kind == "" && (err != nil || head != ids[0]) || want.kind != "" && (fault == nil || fault.Kind != want.kind) {
				t.Errorf("Head = %q, %v; want %q, error of kind %q", head, err, ids[0], want.kind)
			}
			if got := requests.Load(); got != want.requests {
				t.Errorf("requests: want %d, got %d", want.requests, got)
			}
		})
	}
}
