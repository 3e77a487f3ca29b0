package forge_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gitopsctr/gitopsctr/internal/forge/forgetest"
)

func TestRunEnded(t *testing.T) {
	t.Parallel()
	runs := http.NewServeMux()
	for path, body := range map[string]string{
		"/repos/" + forgetest.Repository + "/actions/runs/9001/attempts/2": `{"id": 9001, "status": "completed", "conclusion": "cancelled"}`,
		"/repos/" + forgetest.Repository + "/actions/runs/9002/attempts/1": `{"id": 9002, "status": "in_progress"}`,
	} {
		runs.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) })
	}
	server := httptest.NewServer(runs)
	t.Cleanup(server.Close)
	r, _ := open(t, server.URL)
	for _, c := range []struct {
		run     int64
		attempt int
		want    bool
	}{{9001, 2, true}, {9002, 1, false}} {
		if got, err := r.RunEnded(t.Context(), c.run, c.attempt); err != nil || got != c.want {
			t.Errorf("run %d: want %v, got %v, %v", c.run, c.want, got, err)
		}
	}
	if ended, err := r.RunEnded(t.Context(), 9003, 1); err == nil || ended {
		t.Errorf("a run that is not there: want an error, got %v, %v", ended, err)
	}
}
