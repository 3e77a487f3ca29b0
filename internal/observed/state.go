// Package observed joins an environment's desired and observed planes into the state of each Unit: clean, ready, waiting or
// materialized, and serves evidence (Receipts, Artifacts) to reference expressions (chapters B 5.3, D 2 and 4).
//
// Its central idea is that freshness is a comparison of Git blob ids and nothing else. It reads trees; it fetches nothing,
// writes nothing and knows no driver.
package observed

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// A Tree is the content of one commit of a ref; the empty tree stands for a ref that does not exist.
type Tree interface {
	// Files lists the files below prefix ("" is all), sorted by path.
	Files(prefix string) []gitstate.File
	// ReadFile returns a file's bytes; the error is fs.ErrNotExist for a missing one.
	ReadFile(path string) ([]byte, error)
}

// A Plane is one ref at one commit.
type Plane struct {
	// Ref is the short branch name, Revision the commit, "" when the ref does not exist.
	Ref, Revision string
	Tree          Tree
}

// A Unit is one desired Unit and the file that holds it.
type Unit struct {
	*resource.Unit
	// Name is the qualified name, from the path.
	Name string
	// Path and Blob are the file and its Git blob id.
	Path, Blob string
	// Raw are the file's bytes.
	Raw []byte
}

// A State is an environment's two planes at one pair of commits. Make it with Load.
type State struct {
	Desired, Observed Plane
	// Blocks are the recorded reasons of waiting Units by qualified name.
	Blocks resource.TransitionBlocks

	units    map[string]*Unit
	receipts map[string]*receiptFile
	opaque   []string
	cache    *Cache
}

// A Cache keeps decoded documents by path and blob id, for a run that reads the planes again after each publication. It
// may be used concurrently; a nil Cache keeps nothing.
type Cache struct{ units, receipts sync.Map }

// NewCache returns an empty Cache.
func NewCache() *Cache { return &Cache{} }

type receiptFile struct {
	paths []string // more than one: two representations, of which the current one counts
	blobs []string
	once  sync.Once
	err   error
	*Receipt
}

// A Receipt is a decoded Receipt and the file that holds it.
type Receipt struct {
	*resource.Receipt
	Path, Blob string
}

// Load reads the planes. cache, which may be nil, keeps decoded documents from one Load to the next. Every desired Unit is decoded; Receipts are decoded when they are asked for. A document that
// cannot be read is an error that names its ref and file.
func Load(desired, observed Plane, cache *Cache) (*State, error) {
	s := &State{Desired: desired, Observed: observed, units: map[string]*Unit{}, receipts: map[string]*receiptFile{}, cache: cache}
	if err := s.loadUnits(); err != nil {
		return nil, fmt.Errorf("read %s: %w", desired.Ref, err)
	}
	if err := s.loadControl(); err != nil {
		return nil, fmt.Errorf("read %s: %w", desired.Ref, err)
	}
	s.indexReceipts()
	return s, nil
}

// indexReceipts finds the files of Receipts; they are decoded when they are asked for.
func (s *State) indexReceipts() {
	for _, f := range s.Observed.Tree.Files(resource.UnitsPath) {
		name, ok := resource.QualifiedNameOf(f.Path, resource.UnitsPath)
		if !ok {
			continue
		}
		r := s.receipts[name]
		if r == nil {
			r = &receiptFile{}
			s.receipts[name] = r
		}
		r.paths, r.blobs = append(r.paths, f.Path), append(r.blobs, f.Blob)
	}
}

func (s *State) loadUnits() error {
	var units []*Unit
	for _, f := range s.Desired.Tree.Files(resource.UnitsPath) {
		name, ok := resource.QualifiedNameOf(f.Path, resource.UnitsPath)
		if !ok {
			continue
		}
		if !f.Mode.IsRegular() {
			return &document.Error{File: f.Path, Message: "is no regular file", Fix: "remove it from the desired ref"}
		}
		if other := s.units[name]; other != nil {
			return &resource.DuplicateRepresentationError{Paths: []string{other.Path, f.Path}}
		}
		u := &Unit{Name: name, Path: f.Path, Blob: f.Blob}
		s.units[name] = u
		units = append(units, u)
	}
	var group errgroup.Group
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		group.Go(func() error {
			for i := w; i < len(units); i += workers {
				if err := units[i].load(s.Desired.Tree, s.cache); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

func (u *Unit) load(tree Tree, cache *Cache) error {
	key := u.Path + "\x00" + u.Blob
	if cache != nil {
		value, _ := cache.units.Load(key)
		if known, ok := value.(*Unit); ok {
			*u = *known
			return nil
		}
	}
	data, err := tree.ReadFile(u.Path)
	if err != nil {
		return err
	}
	decoded, err := resource.DecodeUnit(u.Path, data)
	if err != nil {
		return err
	}
	if err := resource.CheckPath(u.Path, u.Name, decoded.Metadata.Name); err != nil {
		return err
	}
	u.Unit, u.Raw = decoded, data
	if cache != nil {
		cache.units.Store(key, u)
	}
	return nil
}

func (s *State) loadControl() error {
	data, err := s.Desired.Tree.ReadFile(resource.BlocksPath)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.Blocks = resource.TransitionBlocks{}
	case err != nil:
		return err
	default:
		if s.Blocks, err = resource.DecodeTransitionBlocks(resource.BlocksPath, data); err != nil {
			return err
		}
	}
	for _, f := range s.Desired.Tree.Files(resource.CleanupPath) {
		if name, ok := resource.QualifiedNameOf(f.Path, resource.CleanupPath); ok {
			s.opaque = append(s.opaque, name)
		}
	}
	return nil
}

// Names are the qualified names of all desired Units, in code point order.
func (s *State) Names() []string { return slices.Sorted(maps.Keys(s.units)) }

// Unit returns a desired Unit, or nil.
func (s *State) Unit(name string) *Unit { return s.units[name] }

// OpaqueRoots are the names of the opaque cleanup roots, sorted.
func (s *State) OpaqueRoots() []string { return s.opaque }

// ReceiptNames are the qualified names that have a Receipt, in code point order.
func (s *State) ReceiptNames() []string { return slices.Sorted(maps.Keys(s.receipts)) }

// Receipt returns the Unit's Receipt, or nil when there is none. Of two representations of one Receipt, which an older
// writer can leave behind, the one that is current counts (chapter A, section 6).
func (s *State) Receipt(name string) (*Receipt, error) {
	f := s.receipts[name]
	if f == nil {
		return nil, nil
	}
	f.once.Do(func() { f.err = s.decodeReceipt(name, f) })
	return f.Receipt, f.err
}

// ReadReceipts decodes all Receipts on all CPUs, for a caller that will ask for each. Faults show when they are asked for.
func (s *State) ReadReceipts() {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for name := range s.receipts {
		group.Go(func() error {
			_, _ = s.Receipt(name) // kept, and returned again when it is asked for
			return nil
		})
	}
	_ = group.Wait() // the functions return no error
}

func (s *State) decodeReceipt(name string, f *receiptFile) error {
	for i, path := range f.paths {
		decoded, err := s.readReceipt(path, f.blobs[i])
		if err != nil {
			return fmt.Errorf("read %s: %w", s.Observed.Ref, err)
		}
		if decoded.Subject.QualifiedName != name {
			return fmt.Errorf("read %s: %w", s.Observed.Ref, &document.Error{File: path, Pointer: "/spec/subject/qualifiedName",
				Message: fmt.Sprintf("names %q, but the file is the Receipt of %q", decoded.Subject.QualifiedName, name)})
		}
		u := s.units[name]
		if i == 0 || u != nil && decoded.UnitBlob == u.Blob {
			f.Receipt = &Receipt{Receipt: decoded, Path: path, Blob: f.blobs[i]}
		}
	}
	return nil
}

func (s *State) readReceipt(path, blob string) (*resource.Receipt, error) {
	key := path + "\x00" + blob
	if s.cache != nil {
		value, _ := s.cache.receipts.Load(key)
		if known, ok := value.(*resource.Receipt); ok {
			return known, nil
		}
	}
	data, err := s.Observed.Tree.ReadFile(path)
	if err != nil {
		return nil, err
	}
	decoded, err := resource.DecodeReceipt(path, data)
	if err == nil && s.cache != nil {
		s.cache.receipts.Store(key, decoded)
	}
	return decoded, err
}

// OpaqueRoot tells whether an opaque cleanup root has the name.
func (s *State) OpaqueRoot(name string) bool { return slices.Contains(s.opaque, name) }

// FinalizedUIDs are the UIDs of the tombstones of a Unit kind and qualified name, sorted (chapter D, 7.5).
func (s *State) FinalizedUIDs(kind, name string) []string {
	var out []string
	dir := resource.TombstonesPath + "/" + resource.UnitAPI + "/" + kind + "/" + name
	for _, f := range s.Desired.Tree.Files(dir) {
		if uid, ok := strings.CutSuffix(strings.TrimPrefix(f.Path, dir+"/"), ".json"); ok && !strings.Contains(uid, "/") {
			out = append(out, uid)
		}
	}
	return out
}
