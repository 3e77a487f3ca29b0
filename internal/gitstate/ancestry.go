package gitstate

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
)

// deepening is how many commits of history are fetched in each round while a question about ancestry is open; 0 is all.
var deepening = [...]int{64, 1024, 0}

// IsAncestor says whether one commit is another one or in its history; both are full ids. What the clone lacks because
// it is shallow is fetched from the remote into the private store, in growing steps until the answer is known.
func (s *Store) IsAncestor(ctx context.Context, ancestor, descendant string) (bool, error) {
	target, err := parseRevision(ancestor)
	if err != nil {
		return false, err
	}
	from, err := parseRevision(descendant)
	if err != nil {
		return false, err
	}
	found, err := s.reaches(ctx, from, target, plumbing.ZeroHash)
	if err != nil {
		return false, fmt.Errorf("is %s in the history of %s: %w", ancestor, descendant, err)
	}
	return found, nil
}

// reaches follows parents from a commit until it meets target. It does not go beyond stop.
func (s *Store) reaches(ctx context.Context, from, target, stop plumbing.Hash) (bool, error) {
	for _, depth := range deepening {
		found, missing, err := s.objects.walkHistory(ctx, from, target, stop)
		if err != nil || found || len(missing) == 0 {
			return found, err
		}
		if err := s.deepen(ctx, missing, depth); err != nil {
			return false, err
		}
	}
	found, missing, err := s.objects.walkHistory(ctx, from, target, stop)
	if err == nil && !found && len(missing) > 0 {
		err = fmt.Errorf("the remote does not have the whole history; commit %s is missing", missing[0])
	}
	return found, err
}

// walkHistory follows parents through what the store has. Without a find, missing are the commits whose own parents
// could not be seen.
func (o *objects) walkHistory(
	ctx context.Context, from, target, stop plumbing.Hash,
) (found bool, missing []plumbing.Hash, err error) {
	seen := map[plumbing.Hash]bool{from: true}
	for queue := []plumbing.Hash{from}; len(queue) > 0; queue = queue[1:] {
		id := queue[0]
		if id == target {
			return true, nil, nil
		}
		if id == stop {
			continue
		}
		if err := ctx.Err(); err != nil {
			return false, nil, err
		}
		c, err := o.commit(id)
		if errors.Is(err, plumbing.ErrObjectNotFound) {
			missing = append(missing, id)
			continue
		} else if err != nil {
			return false, nil, fmt.Errorf("commit %s: %w", id, err)
		}
		for _, p := range c.ParentHashes {
			if !seen[p] {
				seen[p] = true
				queue = append(queue, p)
			}
		}
	}
	return false, missing, nil
}

// deepen fetches history, without files if the server can leave them out: from the missing commits on, or if the server
// gives only branch heads, from all of those.
func (s *Store) deepen(ctx context.Context, missing []plumbing.Hash, depth int) error {
	return s.remote.fetch(ctx, func(a advertised) request {
		return request{wants: a.instead(missing), depth: depth, commitsOnly: true}
	}, s.objects.receive)
}
