package source

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
)

// Checkouts keeps what is checked out in one run below a directory. Each revision is read once. A Unit gets a private
// tree of its own, which shares no file with others, so that a tool that writes into its source spoils nobody else's;
// whoever only reads shares one tree per revision. It may be used concurrently.
type Checkouts struct {
	dir  string
	open func(ctx context.Context, revision string) (*Index, error)

	mu        sync.Mutex
	revisions map[string]*checkedOut
}

// A checkedOut is one revision of a Checkouts.
type checkedOut struct {
	mu    sync.Mutex // held while the revision is read or written
	index *Index     // nil until read
	dir   string     // the shared tree, "" until complete
}

// NewCheckouts uses an existing directory, which the caller removes when the run has ended. open finds the tree of a
// revision; it is called until it succeeds once for each.
func NewCheckouts(dir string, open func(ctx context.Context, revision string) (*Index, error)) *Checkouts {
	return &Checkouts{dir: dir, open: open, revisions: map[string]*checkedOut{}}
}

// Index returns the index of a revision.
func (c *Checkouts) Index(ctx context.Context, revision string) (*Index, error) {
	r := c.revision(revision)
	r.mu.Lock()
	defer r.mu.Unlock()
	return c.read(ctx, revision, r)
}

// Get returns a directory with the whole tree of a revision, for reading only, as Index.Checkout writes it.
func (c *Checkouts) Get(ctx context.Context, revision string) (string, error) {
	r := c.revision(revision)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dir != "" {
		return r.dir, nil
	}
	index, err := c.read(ctx, revision, r)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(c.dir, "source-")
	if err != nil {
		return "", fmt.Errorf("make a directory for the source: %w", err)
	}
	if err := index.Checkout(ctx, dir); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	r.dir = dir
	return dir, nil
}

// Private returns a new writable directory for a Unit with the whole tree of a revision, and what removes it. A symbolic
// link at or below sourcePath that leads out of the tree is an *InputError.
func (c *Checkouts) Private(ctx context.Context, revision, sourcePath string) (dir string, remove func() error, err error) {
	return c.private(ctx, revision, sourcePath, true)
}

// PrivatePart is as Private, with only what is at and below sourcePath, for Units that need no more (see
// Index.SelfContained). Paths are the same in both.
func (c *Checkouts) PrivatePart(ctx context.Context, revision, sourcePath string) (dir string, remove func() error, err error) {
	return c.private(ctx, revision, sourcePath, false)
}

func (c *Checkouts) private(ctx context.Context, revision, sourcePath string, whole bool) (dir string, remove func() error, err error) {
	index, err := c.Index(ctx, revision)
	if err != nil {
		return "", nil, err
	}
	dir, err = os.MkdirTemp(c.dir, "unit-")
	if err != nil {
		return "", nil, fmt.Errorf("make a directory for the source: %w", err)
	}
	remove = func() error { return os.RemoveAll(dir) }
	if err := index.CheckoutUnit(ctx, dir, sourcePath, whole); err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return dir, remove, nil
}

func (c *Checkouts) revision(revision string) *checkedOut {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.revisions[revision]
	if r == nil {
		r = &checkedOut{}
		c.revisions[revision] = r
	}
	return r
}

// read returns the revision's index. The caller holds r.mu.
func (c *Checkouts) read(ctx context.Context, revision string, r *checkedOut) (*Index, error) {
	if r.index == nil {
		index, err := c.open(ctx, revision)
		if err != nil {
			return nil, fmt.Errorf("read the source revision %s: %w", revision, err)
		}
		r.index = index
	}
	return r.index, nil
}
