package lease

import (
	"context"
	"fmt"

	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// A MismatchError refuses to remove a lease that is another one than the caller means.
type MismatchError struct {
	Ref   string
	Lease *resource.EffectLease // the one that is there
	What  string                // "UID" or "token"
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("the lease of Unit %s on %s is another one: its %s differs (it belongs to %s)", e.Lease.QualifiedName, e.Ref, e.What, e.Lease.Owner)
}

// Release removes a lease that the caller holds. One that is not there is released already (chapter D, 6.4).
func (s *Store) Release(ctx context.Context, l *resource.EffectLease) error {
	_, err := s.remove(ctx, "Release effect lease for "+l.QualifiedName, l.QualifiedName, l.UID, l.Token)
	return err
}

// Recover removes a lease whose holder is gone, as a person confirmed: the UID and the token must be those of the lease.
// The revision is that of the branch with the removal, "" when there was no lease (chapter D, 6.8).
func (s *Store) Recover(ctx context.Context, unit, uid, token string) (revision string, err error) {
	return s.remove(ctx, "Recover abandoned effect lease for "+unit, unit, uid, token)
}

func (s *Store) remove(ctx context.Context, message, unit, uid, token string) (revision string, err error) {
	result, err := s.git.Update(ctx, s.ref, func(current *gitstate.Snapshot) ([]gitstate.Change, error) {
		held, err := Find(current, unit)
		switch {
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", s.ref, err)
		case held == nil:
			return nil, nil
		case held.UID != uid:
			return nil, &MismatchError{s.ref, held, "UID"}
		case held.Token != token:
			return nil, &MismatchError{s.ref, held, "token"}
		}
		return []gitstate.Change{removal(message, unit)}, nil
	})
	if n := len(result.Commits); err == nil && n > 0 {
		return result.Commits[n-1], nil
	}
	return "", err
}
