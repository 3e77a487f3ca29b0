package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gitopsctr/gitopsctr/internal/engine"
)

// TestWatchGoesOnAfterFaults: a fault is told once, not once a round, and an interrupt ends the watch without one.
func TestWatchGoesOnAfterFaults(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	rounds := 0
	open := func(context.Context, *IO, Settings) (*engine.Engine, func() error, error) {
		if rounds++; rounds == 3 {
			interrupt()
		}
		return nil, nil, errors.New("no network")
	}
	var out, errs bytes.Buffer
	s := &IO{In: strings.NewReader(""), Out: &out, Err: &errs, Getwd: func() (string, error) { return "", nil }}
	code := Run(ctx, s, []string{"get", "units", "-A", "--watch=1ms"}, open, nil)
	if code != ExitOK || rounds != 3 {
		t.Errorf("want exit code 0 after 3 rounds, got %d after %d", code, rounds)
	}
	if want := "    FAILED   gitopsctr: no network\n"; errs.String() != want || out.Len() != 0 {
		t.Errorf("want %q and nothing on stdout, got %q and %q", want, errs.String(), out.String())
	}
}
