package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/report"
)

// localPoll is how often a lock that another process of this machine has is tried again.
const localPoll = 200 * time.Millisecond

// localLockName is the name of the lock file that keeps runs of one clone from running a Unit at the same time. The
// reference uses the same (chapter D, 3.1 step 3).
func localLockName(root, environment, unit string) string {
	return "gitopsctr-effect-" + document.SHA256Hex([]byte(root+"\x00"+environment+"\x00"+unit)) + ".lock"
}

// lockLocally waits for the Unit's lock on this machine, and tells whether it had to wait. It is for Projects without
// leases, whose runs on one machine would otherwise not know of each other. A lock file that cannot be used, because
// another user made it, locks nothing.
func (e *Engine) lockLocally(ctx context.Context, s *scope, unit string) (unlock func(), waited bool, err error) {
	nothing := func() {}
	if e.LockDir == "" {
		return nothing, false, nil
	}
	f, err := os.OpenFile(filepath.Join(e.LockDir, localLockName(e.root, s.Environment, unit)), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ELOOP) {
		return nothing, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("lock Unit %s on this machine: %w", unit, err)
	}
	unlock = func() { _ = f.Close() } // the kernel drops the lock with it
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return unlock, waited, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			unlock()
			return nil, false, fmt.Errorf("lock Unit %s on this machine: %w", unit, err)
		}
		if !waited {
			waited = true
			e.emit(report.Note{Word: "LOCKED", Text: unit + ": another process of this machine runs it for this clone; waiting for that"})
		}
		select {
		case <-ctx.Done():
			unlock()
			return nil, false, context.Cause(ctx)
		case <-time.After(localPoll):
		}
	}
}
