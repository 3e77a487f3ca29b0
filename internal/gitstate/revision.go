package gitstate

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
	"github.com/go-git/go-git/v5/storage/memory"
)

// Resolve finds the full id of the commit that a Git revision expression names in the clone: HEAD, a branch, a tag, an
// abbreviated id, and any of these with ~ and ^. The full id of a commit that is not in the clone is looked up on the
// remote.
func (s *Store) Resolve(ctx context.Context, revision string) (string, error) {
	if plumbing.IsHash(revision) {
		id := plumbing.NewHash(revision)
		if _, err := s.objects.commit(id); err == nil {
			return id.String(), nil
		}
		if s.workspace != nil {
			if peeled, err := s.workspace.resolve(s.objects, revision); err == nil { // an annotated tag
				return peeled.String(), nil
			}
		}
		if err := s.fetchCommit(ctx, id); err != nil {
			return "", err
		}
		return id.String(), nil
	}
	if s.workspace == nil {
		return "", fmt.Errorf("revision %q is not a full commit id, and there is no clone to look it up in", revision)
	}
	id, err := s.workspace.resolve(s.objects, revision)
	switch {
	case errors.Is(err, errAmbiguous):
		return "", fmt.Errorf("revision %q: %w; use more digits", revision, err)
	case err != nil:
		return "", fmt.Errorf("revision %q does not name a commit in the clone; use a branch, a tag or a full commit id", revision)
	}
	return id.String(), nil
}

// ResolveIn finds the full id of a commit in the history of another one: by its full id, by an abbreviation that is
// unique there, or by an expression that [Store.Resolve] understands (chapter F, 6.2).
func (s *Store) ResolveIn(ctx context.Context, head, revision string) (string, error) {
	from, err := parseRevision(head)
	if err != nil {
		return "", err
	}
	if abbreviation.MatchString(revision) {
		// Looking for a commit that does not exist brings the whole history, without files.
		if _, err := s.reaches(ctx, from, plumbing.ZeroHash, plumbing.ZeroHash); err != nil {
			return "", fmt.Errorf("revision %q: %w", revision, err)
		}
		id, err := s.objects.expandIn(from, revision)
		if err == nil {
			return id.String(), nil
		}
		if !errors.Is(err, plumbing.ErrObjectNotFound) {
			return "", fmt.Errorf("revision %q: %w", revision, err)
		}
	}
	full := strings.ToLower(revision)
	if !plumbing.IsHash(revision) {
		if full, err = s.Resolve(ctx, revision); err != nil {
			return "", err
		}
	}
	switch in, err := s.IsAncestor(ctx, full, head); {
	case err != nil:
		return "", err
	case !in:
		return "", fmt.Errorf("revision %q is not in the history of %s", revision, head)
	}
	return full, nil
}

var (
	errAmbiguous = errors.New("several commits begin with these digits")
	abbreviation = regexp.MustCompile(`^[0-9a-fA-F]{4,39}$`)
)

// resolve finds the commit that a revision expression names, peeling tags. It reads the clone's refs and all layers of
// objects. As in Git, and not as in go-git, refs go before abbreviated ids.
func (w *workspace) resolve(o *objects, revision string) (plumbing.Hash, error) {
	if strings.HasPrefix(revision, "-") || strings.Contains(revision, ":") { // go-git would ignore what follows a colon
		return plumbing.ZeroHash, plumbing.ErrReferenceNotFound
	}
	dir := dotgit.NewRepositoryFilesystem(osfs.New(w.gitDir), osfs.New(w.commonDir))
	storage := &readOnlyStorage{objects: o, ReferenceStorer: filesystem.NewStorage(dir, nil)}
	repository, err := git.Open(storage, nil)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	for _, rule := range plumbing.RefRevParseRules {
		ref, err := storer.ResolveReference(storage, plumbing.ReferenceName(fmt.Sprintf(rule, revision)))
		if err == nil {
			revision = ref.Hash().String()
			break
		}
	}
	if abbreviation.MatchString(revision) {
		return o.expand(revision)
	}
	id, err := repository.ResolveRevision(plumbing.Revision(revision))
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return *id, nil
}

// expand finds the one commit whose id begins with some digits.
func (o *objects) expand(digits string) (plumbing.Hash, error) {
	whole := plumbing.NewHash(digits) // reads pairs of digits
	candidates, err := o.HashesWithPrefix(whole[:len(digits)/2])
	if err != nil {
		return plumbing.ZeroHash, err
	}
	var found plumbing.Hash
	for _, id := range candidates {
		if !strings.HasPrefix(id.String(), strings.ToLower(digits)) {
			continue
		}
		if _, err := o.commit(id); err != nil {
			continue // another sort of object
		}
		if !found.IsZero() {
			return plumbing.ZeroHash, errAmbiguous
		}
		found = id
	}
	if found.IsZero() {
		return plumbing.ZeroHash, plumbing.ErrObjectNotFound
	}
	return found, nil
}

// expandIn finds the one commit in a history whose id begins with some digits.
func (o *objects) expandIn(from plumbing.Hash, digits string) (plumbing.Hash, error) {
	digits = strings.ToLower(digits)
	var found plumbing.Hash
	seen := map[plumbing.Hash]bool{from: true}
	for queue := []plumbing.Hash{from}; len(queue) > 0; queue = queue[1:] {
		if strings.HasPrefix(queue[0].String(), digits) {
			if !found.IsZero() {
				return plumbing.ZeroHash, errAmbiguous
			}
			found = queue[0]
		}
		c, err := o.commit(queue[0])
		if err != nil {
			return plumbing.ZeroHash, err
		}
		for _, p := range c.ParentHashes {
			if !seen[p] {
				seen[p] = true
				queue = append(queue, p)
			}
		}
	}
	if found.IsZero() {
		return plumbing.ZeroHash, plumbing.ErrObjectNotFound
	}
	return found, nil
}

// readOnlyStorage gives go-git's revision parser the clone's refs and our objects. It has an empty configuration, so
// that extensions which go-git does not know do not stop it from reading refs.
type readOnlyStorage struct {
	*objects
	storer.ReferenceStorer
	memory.ConfigStorage
	memory.IndexStorage
	memory.ShallowStorage
	memory.ModuleStorage
}
