package gitstate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

// memoryPackLimit is the size in bytes up to which a received pack is unpacked in memory instead of kept on disk.
const memoryPackLimit = 16 << 20

// objects is the layered object store: memory, then the private repository, then the clone's object directories.
//
// The clone's objects are to the private repository what Git calls alternates. go-git knows alternates too, but opens and
// indexes them anew for every object that it looks up there, so they are layers of their own here.
type objects struct {
	mu     sync.RWMutex
	memory map[plumbing.Hash]plumbing.EncodedObject
	trees  map[plumbing.Hash]*tree
	// created are the commits that this store made and that the remote is not known to have.
	created map[plumbing.Hash]bool
	// whole are the commits whose complete tree the store is known to have.
	whole map[plumbing.Hash]bool
	// partial says that the clone may lack blobs of commits that it has.
	partial bool

	diskMu  sync.Mutex // go-git's storage is not safe for concurrent use
	private *filesystem.Storage
	packed  bool                        // private has packs; while it has none it need not be searched
	clone   []*filesystem.ObjectStorage // the clone's own objects, and its alternates'
}

var _ storer.EncodedObjectStorer = (*objects)(nil)

// openObjects makes the private repository in dir and layers it over the clone's objects.
func openObjects(dir string, w *workspace) (*objects, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("private Git repository: %w", err)
	}
	o := &objects{
		memory:  map[plumbing.Hash]plumbing.EncodedObject{},
		trees:   map[plumbing.Hash]*tree{},
		created: map[plumbing.Hash]bool{},
		whole:   map[plumbing.Hash]bool{},
	}
	shared := cache.NewObjectLRUDefault()
	o.private = filesystem.NewStorageWithOptions(osfs.New(dir), shared, filesystem.Options{KeepDescriptors: true})
	if err := o.private.Init(); err != nil {
		return nil, fmt.Errorf("private Git repository: %w", err)
	}
	head := plumbing.NewSymbolicReference(plumbing.HEAD, plumbing.Main)
	if err := o.private.SetReference(head); err != nil {
		return nil, fmt.Errorf("private Git repository: %w", err)
	}
	if w == nil {
		return o, nil
	}
	o.partial = w.partial
	for _, d := range w.objectDirs {
		git := dotgit.New(osfs.New(filepath.Dir(d)))
		layer := filesystem.NewObjectStorageWithOptions(git, shared, filesystem.Options{KeepDescriptors: true})
		o.clone = append(o.clone, layer)
	}
	return o, nil
}

func (o *objects) close() error {
	o.diskMu.Lock()
	defer o.diskMu.Unlock()
	err := o.private.Close()
	for _, l := range o.clone {
		err = errors.Join(err, l.Close())
	}
	return err
}

// receive stores all objects of a packfile, or none: a commit without its files would be taken for one that is there.
func (o *objects) receive(pack io.Reader) error {
	var start bytes.Buffer
	_, err := io.CopyN(&start, pack, memoryPackLimit)
	switch {
	case errors.Is(err, io.EOF):
		if start.Len() == 0 {
			return errors.New("the remote sent no objects")
		}
		staged := &staging{objects: o, received: map[plumbing.Hash]plumbing.EncodedObject{}}
		parser, err := packfile.NewParserWithStorage(packfile.NewScanner(bytes.NewReader(start.Bytes())), staged)
		if err == nil {
			_, err = parser.Parse()
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errCutPack, err)
		}
		staged.keep()
		return nil
	case err != nil:
		return fmt.Errorf("%w: %w", errCutPack, err)
	}
	o.diskMu.Lock()
	defer o.diskMu.Unlock()
	o.packed = true
	if err := packfile.WritePackfileToObjectStorage(o.private, io.MultiReader(&start, pack)); err != nil {
		return fmt.Errorf("%w: %w", errCutPack, err)
	}
	return nil
}

// create stores an object made by this run.
func (o *objects) create(obj *plumbing.MemoryObject) plumbing.Hash {
	id := obj.Hash() // computed here, so that concurrent readers do not race on it
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.memory[id]; !ok {
		o.memory[id] = obj
	}
	return id
}

// createBlob stores file content.
func (o *objects) createBlob(data []byte) plumbing.Hash {
	obj := &plumbing.MemoryObject{}
	obj.SetType(plumbing.BlobObject)
	_, _ = obj.Write(data) // copies; never fails
	return o.create(obj)
}

// blob reads file content into memory that the caller may change.
func (o *objects) blob(id plumbing.Hash) (_ []byte, err error) {
	obj, err := o.EncodedObject(plumbing.BlobObject, id)
	if err != nil {
		return nil, fmt.Errorf("blob %s: %w", id, err)
	}
	r, err := obj.Reader()
	if err != nil {
		return nil, fmt.Errorf("blob %s: %w", id, err)
	}
	defer func() { _ = r.Close() }()
	data := make([]byte, obj.Size())
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, fmt.Errorf("blob %s: %w", id, err)
	}
	return data, nil
}

// commit reads a commit; plumbing.ErrObjectNotFound when the store does not have it.
func (o *objects) commit(id plumbing.Hash) (*object.Commit, error) { return object.GetCommit(o, id) }

func (o *objects) cachedTree(id plumbing.Hash) *tree {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.trees[id]
}

func (o *objects) cacheTree(t *tree) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.trees[t.id] = t
}

func (o *objects) mark(set map[plumbing.Hash]bool, id plumbing.Hash, value bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if value {
		set[id] = true
	} else {
		delete(set, id)
	}
}

func (o *objects) marked(set map[plumbing.Hash]bool, id plumbing.Hash) bool {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return set[id]
}

// EncodedObject looks an object up in all layers.
func (o *objects) EncodedObject(t plumbing.ObjectType, id plumbing.Hash) (plumbing.EncodedObject, error) {
	o.mu.RLock()
	obj, ok := o.memory[id]
	o.mu.RUnlock()
	if !ok {
		var err error
		if obj, err = o.onDisk(id); err != nil {
			return nil, err
		}
	}
	if t != plumbing.AnyObject && obj.Type() != t {
		return nil, plumbing.ErrObjectNotFound
	}
	return obj, nil
}

func (o *objects) onDisk(id plumbing.Hash) (plumbing.EncodedObject, error) {
	o.diskMu.Lock()
	defer o.diskMu.Unlock()
	for _, l := range o.diskLayers() {
		obj, err := l.EncodedObject(plumbing.AnyObject, id)
		if err == nil {
			_ = obj.Hash() // see create
			return obj, nil
		}
		if !errors.Is(err, plumbing.ErrObjectNotFound) {
			return nil, err
		}
	}
	return nil, plumbing.ErrObjectNotFound
}

func (o *objects) diskLayers() []*filesystem.ObjectStorage {
	if !o.packed {
		return o.clone
	}
	return append([]*filesystem.ObjectStorage{&o.private.ObjectStorage}, o.clone...)
}

// SetEncodedObject stores an object in memory; the pack parser calls it.
func (o *objects) SetEncodedObject(obj plumbing.EncodedObject) (plumbing.Hash, error) {
	id := obj.Hash()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.memory[id] = obj
	return id, nil
}

// NewEncodedObject returns an empty object.
func (o *objects) NewEncodedObject() plumbing.EncodedObject { return &plumbing.MemoryObject{} }

// HasEncodedObject returns plumbing.ErrObjectNotFound for an object that no layer has.
func (o *objects) HasEncodedObject(id plumbing.Hash) error {
	_, err := o.EncodedObject(plumbing.AnyObject, id)
	return err
}

// EncodedObjectSize is the size of an object's content in bytes.
func (o *objects) EncodedObjectSize(id plumbing.Hash) (int64, error) {
	obj, err := o.EncodedObject(plumbing.AnyObject, id)
	if err != nil {
		return 0, err
	}
	return obj.Size(), nil
}

// IterEncodedObjects is not supported: nothing in this package enumerates objects.
func (o *objects) IterEncodedObjects(plumbing.ObjectType) (storer.EncodedObjectIter, error) {
	return nil, errors.New("objects cannot be enumerated")
}

// AddAlternate is not supported: the layers are fixed when the store is opened.
func (o *objects) AddAlternate(string) error { return errors.New("alternates are fixed") }

// HashesWithPrefix finds the objects on disk whose id starts with these bytes; go-git resolves abbreviations by it. Less
// than two bytes, the four digits that Git wants, find nothing.
func (o *objects) HashesWithPrefix(prefix []byte) ([]plumbing.Hash, error) {
	if len(prefix) < 2 {
		return nil, nil
	}
	o.diskMu.Lock()
	defer o.diskMu.Unlock()
	seen := map[plumbing.Hash]bool{}
	var out []plumbing.Hash
	for _, l := range o.diskLayers() {
		found, err := l.HashesWithPrefix(prefix)
		if err != nil {
			return nil, err
		}
		for _, id := range found {
			if !seen[id] {
				seen[id] = true
				out = append(out, id)
			}
		}
	}
	return out, nil
}
