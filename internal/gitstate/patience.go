package gitstate

import (
	"context"
	"errors"
	"time"
)

// readPauses are the mean times to wait before the second and later attempts to read from a server that is unavailable: a
// server that restarts or throttles us, or a lost connection, must not cost a run whose effects have happened.
var readPauses = [...]time.Duration{200 * time.Millisecond, time.Second, 3 * time.Second}

// patiently repeats an operation that only reads while the remote is unavailable. A server that did not answer in time is
// not asked again: that has taken minutes already.
func (r *remote) patiently(ctx context.Context, read func() error) error {
	err := read()
	for _, mean := range readPauses {
		var fault *FetchError
		if !errors.As(err, &fault) || fault.Kind != Unavailable || !sleep(ctx, mean, r.rand()) {
			return err
		}
		err = read()
	}
	return err
}

// sleep waits for half to one and a half of a mean time, as chance (in [0, 1)) has it. It is false when the context ended
// meanwhile.
func sleep(ctx context.Context, mean time.Duration, chance float64) bool {
	timer := time.NewTimer(time.Duration(float64(mean) * (0.5 + chance)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
