package gitstate

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// firstHistoryStep is how many commits are fetched with their files when a history is followed beyond what is known;
// each further fetch doubles it.
const firstHistoryStep = 16

// History visits a commit and its ancestors, newest first, until visit returns false. Commits are fetched with their
// files as they are needed.
func (s *Store) History(ctx context.Context, revision string, visit func(*Snapshot) (more bool, err error)) error {
	from, err := parseRevision(revision)
	if err != nil {
		return err
	}
	step := firstHistoryStep
	load := func(id plumbing.Hash) (*object.Commit, error) {
		if !s.objects.hasSnapshot(id) {
			if err := s.fetchHistory(ctx, id, step); err != nil {
				return nil, fmt.Errorf("history of %s: %w", revision, err)
			}
			step *= 2
		}
		return s.objects.commit(id)
	}
	first, err := load(from)
	if err != nil {
		return err
	}
	seen := map[plumbing.Hash]bool{from: true}
	for open := []*object.Commit{first}; len(open) > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		next := newest(open)
		c := open[next]
		open = slices.Delete(open, next, next+1)
		snapshot, err := s.objects.snapshot(c.Hash)
		if err != nil {
			return err
		}
		if more, err := visit(snapshot); err != nil || !more {
			return err
		}
		for _, id := range c.ParentHashes {
			if seen[id] {
				continue
			}
			seen[id] = true
			p, err := load(id)
			if err != nil {
				return err
			}
			open = append(open, p)
		}
	}
	return nil
}

// newest is the index of the commit with the latest date; among equals the first.
func newest(commits []*object.Commit) int {
	best := 0
	for i, c := range commits {
		if c.Committer.When.After(commits[best].Committer.When) {
			best = i
		}
	}
	return best
}

// fetchHistory downloads a commit and some of its ancestors with their files.
func (s *Store) fetchHistory(ctx context.Context, id plumbing.Hash, depth int) error {
	err := s.remote.fetch(ctx, func(a advertised) request {
		if !a.gives(id) {
			return request{wants: a.tips()}
		}
		return request{wants: []plumbing.Hash{id}, depth: depth}
	}, s.objects.receive)
	if err != nil {
		return err
	}
	if !s.objects.hasFetched(id) {
		return fmt.Errorf("the remote does not have commit %s", id)
	}
	s.objects.markWhole(id, depth)
	return nil
}

// markWhole notes that a commit and its ancestors were fetched with their files, depth commits deep.
func (o *objects) markWhole(id plumbing.Hash, depth int) {
	seen := map[plumbing.Hash]bool{id: true}
	for generation := []plumbing.Hash{id}; depth > 0 && len(generation) > 0; depth-- {
		var parents []plumbing.Hash
		for _, at := range generation {
			if !o.hasFetched(at) {
				continue
			}
			c, err := o.commit(at)
			if err != nil {
				continue
			}
			for _, p := range c.ParentHashes {
				if !seen[p] {
					seen[p] = true
					parents = append(parents, p)
				}
			}
		}
		generation = parents
	}
}

// hasFetched says whether a commit and its directories are there, and notes that it is whole. It must not be asked about
// commits of a partial clone, whose files may be missing, unless they were fetched.
func (o *objects) hasFetched(id plumbing.Hash) bool {
	c, err := o.commit(id)
	if err != nil {
		return false
	}
	if _, err := o.tree(c.TreeHash); err != nil {
		return false
	}
	o.mark(o.whole, id, true)
	return true
}
