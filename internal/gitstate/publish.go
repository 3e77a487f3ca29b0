package gitstate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
)

// Publish moves a branch from the commit expected, "" meaning that it must not exist, to the commit head that
// [Store.Commit] made on top of it, sending head and all commits between in one push. It returns the published revision.
//
// A push that fails for whatever reason, a lost answer included, is checked on the remote: when the branch is at head, or
// at a commit with the same tree and the same parent, or has head in its history, then it was published after all
// (chapter F, 6.4). Otherwise the error is a *[PushError].
func (s *Store) Publish(ctx context.Context, ref, head, expected string) (revision string, err error) {
	if expected != "" {
		from, to := plumbing.NewHash(head), plumbing.NewHash(expected)
		if forward, _, err := s.objects.walkHistory(ctx, from, to, to); err != nil {
			return "", fmt.Errorf("publish %s: %w", ref, err)
		} else if !forward {
			return "", fmt.Errorf("publish %s: commit %s is not built on %s and would drop it from the history", ref, head, expected)
		}
	}
	return s.publish(ctx, []RefUpdate{{Ref: ref, New: head, Expected: expected}})
}

// Push moves several branches atomically: all, or none. It succeeds too when afterwards all are where they should be.
// Commits that the store did not make must be on the remote already. Unlike Publish it does not look whether a new commit
// is built on the expected one.
func (s *Store) Push(ctx context.Context, updates []RefUpdate) error {
	if len(updates) == 0 {
		return nil
	}
	_, err := s.publish(ctx, updates)
	return err
}

func (s *Store) publish(ctx context.Context, updates []RefUpdate) (revision string, err error) {
	commands := make([]*packp.Command, len(updates))
	var heads []plumbing.Hash
	for i, u := range updates {
		if commands[i], err = command(u); err != nil {
			return "", err
		}
		if !commands[i].New.IsZero() {
			heads = append(heads, commands[i].New)
		}
	}
	var pack []byte
	if len(heads) > 0 {
		if pack, err = s.objects.pack(heads); err != nil {
			return "", fmt.Errorf("publish %s: %w", updates[0].Ref, err)
		}
	}
	said, err := s.remote.push(ctx, commands, pack)
	if err == nil {
		s.published(heads)
		return updates[0].New, nil
	}
	refusal := s.remote.pushError(ctx, updates[0].Ref, err, said)
	if errors.Is(err, errMoved) {
		refusal.Kind, refusal.Fix = Moved, pushRemedies[Moved]
	}
	if refusal.Kind == Auth || refusal.Kind == NotFound {
		return "", refusal // nothing was sent
	}
	revision, moved, checkErr := s.landed(ctx, updates, errors.Is(err, errNoReport))
	switch {
	case checkErr != nil:
		refusal.Detail += "; the remote could not be asked for the outcome: " + s.remote.redactor.clean(shorten(checkErr.Error()))
	case revision != "":
		s.published(heads)
		return revision, nil
	case moved && refusal.Kind == Other:
		refusal.Kind, refusal.Fix = Moved, pushRemedies[Moved]
	}
	return "", refusal
}

func command(u RefUpdate) (*packp.Command, error) {
	if err := checkBranch(u.Ref); err != nil {
		return nil, err
	}
	c := &packp.Command{Name: plumbing.NewBranchReferenceName(u.Ref)}
	var err error
	if u.New != "" {
		if c.New, err = parseRevision(u.New); err != nil {
			return nil, fmt.Errorf("publish %s: %w", u.Ref, err)
		}
	}
	if u.Expected != "" {
		if c.Old, err = parseRevision(u.Expected); err != nil {
			return nil, fmt.Errorf("publish %s: expected %w", u.Ref, err)
		}
	}
	if c.New.IsZero() && c.Old.IsZero() {
		return nil, fmt.Errorf("publish %s: nothing to do", u.Ref)
	}
	return c, nil
}

// published notes that the remote has these commits with their history.
func (s *Store) published(heads []plumbing.Hash) {
	for queue := slices.Clone(heads); len(queue) > 0; queue = queue[1:] {
		if !s.objects.marked(s.objects.created, queue[0]) {
			continue
		}
		s.objects.mark(s.objects.created, queue[0], false)
		if c, err := s.objects.commit(queue[0]); err == nil {
			queue = append(queue, c.ParentHashes...)
		}
	}
}

// outcomeTimeout bounds the question for the outcome of a push that was cancelled.
const outcomeTimeout = 10 * time.Second

// landed asks the remote whether a failed push was carried out after all, and at which revision the first ref is then;
// moved says that a ref is neither where we wanted it nor where we expected it. The answer may have been lost when
// unclear is set; then others may have built on our commit already.
func (s *Store) landed(ctx context.Context, updates []RefUpdate, unclear bool) (revision string, moved bool, err error) {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), outcomeTimeout)
		defer cancel()
	}
	refs := make([]string, len(updates))
	for i, u := range updates {
		refs[i] = u.Ref
	}
	heads, err := s.Fetch(ctx, refs...)
	if err != nil {
		return "", false, err
	}
	all := true
	for i, u := range updates {
		at := ""
		if h := heads[u.Ref]; h != nil {
			at = h.Revision()
		}
		moved = moved || at != u.Expected && at != u.New
		if at == u.New {
			continue
		}
		ours, err := s.carriesOurs(ctx, heads[u.Ref], u, unclear)
		if err != nil {
			return "", moved, err
		}
		if all = all && ours != "" && u.New != ""; all && i == 0 {
			revision = ours
		}
	}
	if !all {
		return "", moved, nil
	}
	if revision == "" {
		revision = updates[0].New
	}
	return revision, moved, nil
}

// carriesOurs says at which revision a branch that is not at the wanted commit has its content all the same; "" if it
// does not.
func (s *Store) carriesOurs(ctx context.Context, head *Snapshot, u RefUpdate, unclear bool) (string, error) {
	if head == nil || head.Revision() == u.Expected || u.New == "" {
		return "", nil
	}
	want, err := s.objects.snapshot(plumbing.NewHash(u.New))
	if err != nil {
		return "", err
	}
	if len(want.parents) <= 1 && slices.Equal(want.parents, head.parents) && want.root.id == head.root.id {
		return head.Revision(), nil
	}
	if !unclear {
		return "", nil
	}
	found, err := s.reaches(ctx, plumbing.NewHash(head.Revision()), plumbing.NewHash(u.New), plumbing.NewHash(u.Expected))
	if err != nil || !found {
		return "", err
	}
	return u.New, nil
}
