package gitstate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// A Snapshot is the immutable tree of one commit. It is an [fs.FS] whose files are read on demand.
// Snapshots of different commits share what they have in common.
type Snapshot struct {
	files
	objects  *objects
	revision string
	message  string
	parents  []string
}

var (
	_ fs.ReadFileFS = (*Snapshot)(nil)
	_ fs.ReadDirFS  = (*Snapshot)(nil)
	_ fs.StatFS     = (*Snapshot)(nil)
)

// EmptySnapshot is what a ref that does not exist holds: no files, and the revision "".
func EmptySnapshot() *Snapshot {
	return &Snapshot{files: files{root: &tree{plain: true}}}
}

// Revision is the full commit id, "" for the empty snapshot.
func (s *Snapshot) Revision() string { return s.revision }

// Parents are the full ids of the commit's parents.
func (s *Snapshot) Parents() []string { return append([]string(nil), s.parents...) }

// Message is the whole commit message.
func (s *Snapshot) Message() string { return s.message }

// Subject is the first line of the commit message.
func (s *Snapshot) Subject() string {
	subject, _, _ := strings.Cut(s.message, "\n")
	return subject
}

// TreeID is the Git id of the tree; "" for the empty snapshot.
func (s *Snapshot) TreeID() string {
	if s.revision == "" {
		return ""
	}
	return s.root.id.String()
}

// ReadBlob reads file content by its Git id. The blob need not belong to this snapshot.
func (s *Snapshot) ReadBlob(id string) ([]byte, error) {
	if s.objects == nil || !plumbing.IsHash(id) {
		return nil, fmt.Errorf("blob %q: %w", id, fs.ErrNotExist)
	}
	return s.objects.blob(plumbing.NewHash(id))
}

// Fetch reads the present heads of branches, given by their short names, as one consistent view of the remote. A branch
// that does not exist is absent from the result. Only what is not yet known is downloaded, without history.
func (s *Store) Fetch(ctx context.Context, refs ...string) (map[string]*Snapshot, error) {
	heads := map[string]plumbing.Hash{}
	err := s.remote.fetch(ctx, func(a advertised) request {
		r := request{depth: 1}
		clear(heads)
		for _, ref := range refs {
			id, ok := a.refs[headsPrefix+ref]
			if !ok {
				continue
			}
			heads[ref] = id
			if !s.objects.hasSnapshot(id) {
				r.wants = append(r.wants, id)
			}
		}
		if len(r.wants) > 0 {
			r.haves = s.objects.wholeCommits()
		}
		return r
	}, s.objects.receive)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", strings.Join(refs, ", "), err)
	}
	out := make(map[string]*Snapshot, len(heads))
	for ref, id := range heads {
		snapshot, err := s.objects.snapshot(id)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", ref, err)
		}
		s.objects.mark(s.objects.created, id, false) // the remote has it
		out[ref] = snapshot
	}
	return out, nil
}

// Head reads the present head of a branch from the remote; false when the branch does not exist.
func (s *Store) Head(ctx context.Context, ref string) (revision string, ok bool, err error) {
	err = s.remote.fetch(ctx, func(a advertised) request {
		var id plumbing.Hash
		id, ok = a.refs[headsPrefix+ref]
		revision = ""
		if ok {
			revision = id.String()
		}
		return request{}
	}, nil)
	if err != nil {
		return "", false, fmt.Errorf("read %s: %w", ref, err)
	}
	return revision, ok, nil
}

// Heads lists the branches whose short names start with a prefix, with their present heads.
func (s *Store) Heads(ctx context.Context, prefix string) (map[string]string, error) {
	heads := map[string]string{}
	err := s.remote.fetch(ctx, func(a advertised) request {
		clear(heads)
		for name, id := range a.refs {
			if short, ok := strings.CutPrefix(name, headsPrefix); ok && strings.HasPrefix(short, prefix) {
				heads[short] = id.String()
			}
		}
		return request{}
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("list branches %s*: %w", prefix, err)
	}
	return heads, nil
}

// SourceSnapshot reads the tree of any commit by its full id: from the clone, or else from the remote.
func (s *Store) SourceSnapshot(ctx context.Context, revision string) (*Snapshot, error) {
	id, err := parseRevision(revision)
	if err != nil {
		return nil, err
	}
	if !s.objects.hasSnapshot(id) {
		if err := s.fetchCommit(ctx, id); err != nil {
			return nil, err
		}
	}
	return s.objects.snapshot(id)
}

// fetchCommit downloads one commit with its tree. Servers that give only branch heads are asked for everything.
func (s *Store) fetchCommit(ctx context.Context, id plumbing.Hash) error {
	err := s.remote.fetch(ctx, func(a advertised) request {
		if a.gives(id) {
			return request{wants: []plumbing.Hash{id}, depth: 1}
		}
		return request{wants: a.tips()}
	}, s.objects.receive)
	if err == nil {
		if _, err = s.objects.commit(id); err == nil {
			s.objects.mark(s.objects.whole, id, true)
			return nil
		}
	}
	var remoteError *FetchError
	if errors.Is(err, plumbing.ErrObjectNotFound) || errors.As(err, &remoteError) && remoteError.Kind == NotFound {
		return fmt.Errorf("commit %s is neither in the clone nor on the remote %s; push it first", id, s.remote.shown)
	}
	return fmt.Errorf("fetch commit %s: %w", id, err)
}

// hasSnapshot says whether a commit and its whole tree can be read without the remote.
func (o *objects) hasSnapshot(id plumbing.Hash) bool {
	if o.marked(o.whole, id) {
		return true
	}
	return !o.partial && o.hasFetched(id)
}

// wholeCommits are commits that the remote should know and that need not be downloaded again.
func (o *objects) wholeCommits() []plumbing.Hash {
	o.mu.RLock()
	defer o.mu.RUnlock()
	var out []plumbing.Hash
	for id := range o.whole {
		if len(out) < maxHaves && !o.created[id] {
			out = append(out, id)
		}
	}
	return out
}

func (o *objects) snapshot(id plumbing.Hash) (*Snapshot, error) {
	c, err := o.commit(id)
	if err != nil {
		return nil, fmt.Errorf("commit %s: %w", id, err)
	}
	root, err := o.tree(c.TreeHash)
	if err != nil {
		return nil, fmt.Errorf("commit %s: %w", id, err)
	}
	o.mark(o.whole, id, true)
	return o.newSnapshot(c, root), nil
}

func (o *objects) newSnapshot(c *object.Commit, root *tree) *Snapshot {
	s := &Snapshot{
		files: files{root: root, content: blobs{o}}, objects: o, revision: c.Hash.String(), message: c.Message,
	}
	for _, p := range c.ParentHashes {
		s.parents = append(s.parents, p.String())
	}
	return s
}

// blobs reads content by the ids in the tree.
type blobs struct{ objects *objects }

func (b blobs) read(_ string, e entry) ([]byte, error) { return b.objects.blob(e.id) }
func (b blobs) size(_ string, e entry) (int64, error)  { return b.objects.EncodedObjectSize(e.id) }

func parseRevision(revision string) (plumbing.Hash, error) {
	if !plumbing.IsHash(revision) {
		return plumbing.ZeroHash, fmt.Errorf("%q is not a full commit id", revision)
	}
	return plumbing.NewHash(revision), nil
}
