package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/gitopsctr/gitopsctr/internal/lease"
	"github.com/gitopsctr/gitopsctr/internal/report"
)

// A RecoverRequest asks to remove the lease of a run that is gone (chapter D, 6.8). That nothing of the run works any more
// is for the caller to know: nothing here could find out.
type RecoverRequest struct {
	Target
	Unit, UID, Token string
}

// RecoverEffectLease removes an abandoned lease. The revision is that of the lease branch, "" when there was no lease. Only
// the very lease that is named is removed, so a Unit that is gone meanwhile does not matter.
func (e *Engine) RecoverEffectLease(ctx context.Context, r RecoverRequest) (revision string, err error) {
	s, err := e.open(r.Target)
	if err != nil {
		return "", err
	}
	if s.leases == nil {
		return "", fmt.Errorf("the Project has no lease branch (spec.effectLease), so Unit %s cannot be leased", r.Unit)
	}
	revision, err = s.leases.Recover(ctx, r.Unit, r.UID, r.Token)
	var other *lease.MismatchError
	switch {
	case errors.As(err, &other):
		return "", fmt.Errorf("%w; to recover that one: %s", err, recoverCommand(s.Environment, other.Lease))
	case err != nil:
		return "", err
	case revision == "":
		e.emit(report.Note{Word: "KEEP", Text: fmt.Sprintf("%s: Unit %s is not leased; nothing is to recover", s.leases.Ref(), r.Unit)})
	default:
		e.emit(report.RefUpdated{Plane: "lease", Ref: s.leases.Ref(), New: revision, Message: "Recover abandoned effect lease for " + r.Unit, Units: []string{r.Unit}})
	}
	return revision, nil
}
