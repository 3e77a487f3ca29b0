package lease

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// localRun stands for the run id outside of a workflow.
const localRun = "local"

// An Owner tells people who holds a lease: run id, attempt, host and process (chapter D, 6.2).
type Owner struct {
	// Run is the id of the workflow run, "" outside of one; Attempt counts its attempts, "" is the first.
	Run, Attempt string
	Host         string
	PID          int
}

// String returns the written form, for example "9001-2-runnerhost-77".
func (o Owner) String() string {
	run, attempt := o.Run, o.Attempt
	if run == "" {
		run = localRun
	}
	if attempt == "" {
		attempt = "1"
	}
	return fmt.Sprintf("%s-%s-%s-%d", run, attempt, o.Host, o.PID)
}

// ParseOwner reads the written form; false for an owner of another shape, which is valid too.
func ParseOwner(s string) (Owner, bool) {
	run, rest, ok := strings.Cut(s, "-")
	attempt, rest, ok2 := strings.Cut(rest, "-")
	i := strings.LastIndexByte(rest, '-')
	if !ok || !ok2 || i < 0 {
		return Owner{}, false
	}
	pid, err := strconv.Atoi(rest[i+1:])
	if err != nil || pid <= 0 {
		return Owner{}, false
	}
	if run == localRun {
		run = ""
	}
	return Owner{Run: run, Attempt: attempt, Host: rest[:i], PID: pid}, true
}

// A Holder is what is known of the holder of a lease.
type Holder string

// The holders.
const (
	Unknown   Holder = "unknown"   // it may still run
	Ours      Holder = "ours"      // this very process
	Running   Holder = "running"   // a process that runs on this host
	Abandoned Holder = "abandoned" // a process of this host that is gone; what it had started may still run
)

// HolderOf says what this process, as self, can tell of the holder of a lease. Only leases taken outside of a workflow on
// this host are looked at more closely: process ids of other hosts and containers mean nothing here.
func HolderOf(l *resource.EffectLease, self string) Holder {
	if l.Owner == self {
		return Ours
	}
	owner, ok := ParseOwner(l.Owner)
	us, known := ParseOwner(self)
	if !ok || !known || owner.Run != "" || us.Run != "" || owner.Host != us.Host {
		return Unknown
	}
	if err := syscall.Kill(owner.PID, 0); errors.Is(err, syscall.ESRCH) {
		return Abandoned
	}
	return Running
}
