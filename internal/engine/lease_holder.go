package engine

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/gitopsctr/gitopsctr/internal/lease"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// lookTimeout bounds the question whether the run that holds a lease is over: its answer only words a message.
const lookTimeout = 10 * time.Second

// heldReason says who holds a Unit and what can be done about it. uid is that of the Unit that waits, "" when it does not
// matter.
func (e *Engine) heldReason(ctx context.Context, s *scope, l *resource.EffectLease, uid string) string {
	who := "leased by " + l.Owner
	advice := "if that run is over and nothing of it runs any more"
	switch {
	case uid != "" && l.UID != uid:
		who += fmt.Sprintf(", for another Unit of this name (UID %s): another environment on the same branch %s, or an earlier Unit", l.UID, s.leases.Ref())
	case lease.HolderOf(l, e.LeaseOwner) == lease.Abandoned:
		who, advice = who+", a process that is gone", "when nothing of it runs any more"
	case e.runEnded(ctx, l):
		who, advice = who+", a workflow run that is over", "when nothing of it runs any more"
	}
	return fmt.Sprintf("%s; %s: %s", who, advice, recoverCommand(s.Environment, l))
}

// runEnded tells whether the forge knows that the workflow run which holds the lease is over.
func (e *Engine) runEnded(ctx context.Context, l *resource.EffectLease) bool {
	owner, ok := lease.ParseOwner(l.Owner)
	if !ok || owner.Run == "" || e.RunEnded == nil {
		return false
	}
	if self, known := lease.ParseOwner(e.LeaseOwner); known && self.Run == owner.Run && self.Attempt == owner.Attempt {
		return false // another job of our own run
	}
	run, err := strconv.ParseInt(owner.Run, 10, 64)
	if err != nil {
		return false
	}
	attempt, err := strconv.Atoi(owner.Attempt)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	ended, err := e.RunEnded(ctx, run, attempt)
	return err == nil && ended // without an answer the message claims nothing
}

// recoverCommand is the one command that removes a lease, with its arguments.
func recoverCommand(environment string, l *resource.EffectLease) string {
	return fmt.Sprintf("gitopsctr recover-effect-lease --environment %s --unit %s --uid %s --token %s --confirm-stopped", environment, l.QualifiedName, l.UID, l.Token)
}
