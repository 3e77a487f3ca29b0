// Package lease keeps effect leases: the promise of a run that nobody else changes the world for a Unit while it does
// (chapter D, section 6). A lease is one small document on a branch of its own. Whoever makes it exist by a
// compare-and-swap holds the Unit; there is no clock and no expiry, so a lease that a killed run left behind stays until a
// person who knows that the run is gone recovers it.
//
// The package knows the branch, the documents and the commit messages, which other implementations read and write too. It
// does not know what a lease is for: when to take one, and when the end of an effect is certain, is the engine's business.
package lease

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// storeMark is the content of the file that says what the branch is.
const storeMark = "branch\n"

// A Store is the lease branch of one environment.
type Store struct {
	git   *gitstate.Store
	ref   string
	owner string
}

// A SharedBranchError refuses a lease branch that is also the desired or observed one: every lease would move the very
// head that its holder has to compare with, so that no effect could ever start (chapter D, 13.9).
type SharedBranchError struct{ Ref, Role string }

func (e *SharedBranchError) Error() string {
	return fmt.Sprintf("the lease branch %s is also the %s branch of the environment; name another branch in spec.effectLease.store.branch.ref of the Project, "+
		"for example gitopsctr/leases/{environment}", e.Ref, e.Role)
}

// New returns the store on the branch ref, which must be neither of the environment's own. owner is written into leases
// for people, see Owner.
func New(git *gitstate.Store, ref string, refs resource.Refs, owner string) (*Store, error) {
	switch ref {
	case refs.Desired:
		return nil, &SharedBranchError{ref, "desired"}
	case refs.Observed:
		return nil, &SharedBranchError{ref, "observed"}
	}
	return &Store{git: git, ref: ref, owner: owner}, nil
}

// Ref is the short name of the branch.
func (s *Store) Ref() string { return s.ref }

// A Claim is what a lease is asked for.
type Claim struct {
	// Unit is the qualified name, UID the incarnation.
	Unit, UID string
	// DesiredRevision is the commit of the desired branch that the run works on; Snapshot is the Unit there.
	DesiredRevision string
	Snapshot        *resource.LeaseSnapshot
	// Resume adopts a lease of the same incarnation and snapshot that is there already: only for a teardown whose evidence
	// shows that the effect has ended (chapter D, 6.3).
	Resume bool
	// Ended tells whether the effect behind a lease that is there is known to have ended; such a lease is replaced. Nil is
	// never.
	Ended func(*resource.EffectLease) (bool, error)
}

// A HeldError tells that somebody holds the Unit.
type HeldError struct{ Lease *resource.EffectLease }

func (e *HeldError) Error() string {
	return fmt.Sprintf("Unit %s is leased by %s", e.Lease.QualifiedName, e.Lease.Owner)
}

// Acquire makes the lease exist, or fails with a *HeldError. Claims that are made at the same time are pushed together.
// After another error the lease may be there nevertheless: Release it.
func (s *Store) Acquire(ctx context.Context, c Claim) (*resource.EffectLease, error) {
	token, err := newToken()
	if err != nil {
		return nil, err
	}
	fresh := &resource.EffectLease{
		Name: resource.LocalName(c.Unit), QualifiedName: c.Unit, UID: c.UID, Token: token, Owner: s.owner,
		DesiredRevision: c.DesiredRevision, Snapshot: c.Snapshot,
	}
	data, err := fresh.Encode()
	if err != nil {
		return nil, err
	}
	got := fresh
	_, err = s.git.Update(ctx, s.ref, func(current *gitstate.Snapshot) ([]gitstate.Change, error) {
		got = fresh
		held, err := Find(current, c.Unit)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", s.ref, err)
		}
		var changes []gitstate.Change
		switch {
		case held == nil:
		case held.Token == token: // an earlier attempt was published, its answer lost
			return nil, nil
		case c.Resume && held.UID == c.UID && held.Snapshot != nil && *held.Snapshot == *c.Snapshot:
			got = held
			return nil, nil
		default:
			ended, err := c.ended(held)
			if err != nil {
				return nil, err
			}
			if !ended {
				return nil, &HeldError{held}
			}
			changes = append(changes, removal("Release effect lease for "+c.Unit, c.Unit))
		}
		return append(changes, gitstate.Change{
			Message: fmt.Sprintf("Acquire effect lease for %s (%s)", c.Unit, token),
			Edits:   []gitstate.Edit{mark(), {Path: fresh.Path(), Content: data}},
		}), nil
	})
	if err != nil {
		return fresh, err
	}
	return got, nil
}

func (c Claim) ended(held *resource.EffectLease) (bool, error) {
	if c.Ended == nil {
		return false, nil
	}
	return c.Ended(held)
}

// newToken is "lease-" and the SHA-256 of 32 random bytes (chapter D, 6.2).
func newToken() (string, error) {
	var seed [32]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return "", fmt.Errorf("make a lease token: %w", err)
	}
	sum := sha256.Sum256(seed[:])
	return "lease-" + hex.EncodeToString(sum[:]), nil
}

func mark() gitstate.Edit {
	return gitstate.Edit{Path: resource.LeaseStorePath, Content: []byte(storeMark)}
}

// removal is the commit that removes a Unit's lease, in whatever format it is.
func removal(message, unit string) gitstate.Change {
	c := gitstate.Change{Message: message, Edits: []gitstate.Edit{mark()}}
	for _, path := range resource.Representations(resource.LeasesPath + "/" + unit) {
		c.Edits = append(c.Edits, gitstate.Edit{Path: path, Delete: true})
	}
	return c
}
