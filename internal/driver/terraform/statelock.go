package terraform

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/driver"
)

var lockID = regexp.MustCompile(`(?m)^[^\w\n]*ID:\s+([0-9A-Za-z][0-9A-Za-z-]*)\s*$`)

// explainLock adds what to do to the error of a command that could not get the state's lock; said is what it printed.
// Other errors stay as they are.
func explainLock(err error, said string) error {
	var e *driver.Error
	if !strings.Contains(said, "Error acquiring the state lock") || !errors.As(err, &e) {
		return err
	}
	unlock := "remove the lock by hand"
	if m := lockID.FindStringSubmatch(said); m != nil {
		unlock = fmt.Sprintf("remove the lock with force-unlock %s in the Unit's source path", m[1])
	}
	explained := *e
	explained.Fix = "another run holds the state's lock: run again when it has ended; if none is running, " + unlock
	return &explained
}
