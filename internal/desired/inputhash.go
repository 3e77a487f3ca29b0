package desired

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/gitopsctr/gitopsctr/internal/expression"
	"github.com/gitopsctr/gitopsctr/internal/resource"
	"github.com/gitopsctr/gitopsctr/internal/source"
)

// InputHashes keep the input hashes of authored Units over several builds on the same documents and source: a converge
// builds again after every Receipt, and evidence does not enter the hash. The zero value is ready; it may be used
// concurrently; nil keeps nothing.
type InputHashes struct {
	mu     sync.Mutex
	hashes map[inputHashKey]string
}

type inputHashKey struct {
	unit *resource.AuthoredUnit
	tree *source.Index
}

func (h *InputHashes) get(key inputHashKey) (string, bool) {
	if h == nil {
		return "", false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	hash, ok := h.hashes[key]
	return hash, ok
}

func (h *InputHashes) put(key inputHashKey, hash string) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.hashes == nil {
		h.hashes = map[inputHashKey]string{}
	}
	h.hashes[key] = hash
}

// inputHash hashes the authored spec, with its references in normal form, and the input files (chapter B, 3.2 and 3.3). A
// Unit without source has none.
func (b *builder) inputHash(ctx context.Context, in *unitInput) (string, error) {
	key := inputHashKey{in.doc.Unit, b.Source}
	if known, ok := b.InputHashes.get(key); ok {
		return known, nil
	}
	authored := in.doc.Unit.Source()
	if authored == nil {
		return "", nil
	}
	normal, err := in.doc.Unit.Normal(expression.Normal)
	if err != nil {
		return "", in.locate(err)
	}
	selected, err := b.Source.Select(authored.Path, authored.Inputs, authored.HasInputs)
	if err != nil {
		return "", in.sourceFault(err)
	}
	files, err := b.Hasher.Hash(ctx, b.Source, selected)
	if err != nil {
		return "", in.sourceFault(err)
	}
	kind, _ := resource.UnitKindOf(in.doc.Unit.Kind)
	hash, _ := resource.InputHash(kind, normal, inputFiles(files))
	b.InputHashes.put(key, hash)
	return hash, nil
}

// hashInputs hashes the inputs of all documents on all CPUs and keeps the hashes; faults show when the Unit's own turn comes.
func (b *builder) hashInputs(ctx context.Context) {
	if b.InputHashes == nil || b.SourceRevision == "" {
		return
	}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, name := range b.order {
		if in := b.inputs[name]; in.doc.Unit != nil {
			group.Go(func() error {
				_, _ = b.inputHash(ctx, in) // told by prepare
				return nil
			})
		}
	}
	_ = group.Wait() // the functions return no error
}

func (in *unitInput) sourceFault(err error) error {
	var e *source.InputError
	if errors.As(err, &e) {
		return in.fault("/spec"+e.Pointer(), e.Error(), "")
	}
	return fmt.Errorf("Unit %s: %w", in.name, err)
}

// inputFiles turns the hashed files into the entries of the input hash.
func inputFiles(files []source.InputFile) []resource.InputFile {
	out := make([]resource.InputFile, len(files))
	for i, f := range files {
		out[i] = resource.InputFile{Path: f.Path, Mode: f.Mode, SHA256: f.SHA256}
	}
	return out
}
