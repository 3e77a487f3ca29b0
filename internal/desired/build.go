package desired

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/expression"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/resource"
	"github.com/gitopsctr/gitopsctr/internal/source"
)

// A Document is one input of an apply.
type Document struct {
	// File is the path as a person knows it, relative to the repository where it lies inside.
	File string
	// Unit is an authored Unit; Canonical is a desired Unit given as input (it has a metadata.uid). Exactly one is set.
	Unit      *resource.AuthoredUnit
	Canonical *resource.Unit
	// Node is the whole document as read.
	Node *document.Node
}

// Name is the document's Unit name.
func (d *Document) Name() string {
	if d.Unit != nil {
		return d.Unit.Name
	}
	return d.Canonical.Metadata.Name
}

// Kind is the document's Unit kind.
func (d *Document) Kind() string {
	if d.Unit != nil {
		return d.Unit.Kind
	}
	return d.Canonical.Kind
}

// position is where pointer, from the document's root, lies in the file; 0 when unknown.
func (d *Document) position(pointer string) (line, column int) {
	if below, ok := strings.CutPrefix(pointer, "/spec"); ok && d.Unit != nil {
		return d.Unit.Spec.Locate(below)
	}
	return 0, 0
}

// An Input is everything that a candidate is built from.
type Input struct {
	Project     *resource.Project
	Environment *resource.Environment
	// Documents are the explicit documents; only they are applied.
	Documents []Document
	// Source is the tree that input hashes are taken over, with the explicit documents in place of the authored ones.
	Source *source.Index
	// SourceRevision is the commit of Source, "" for the worktree.
	SourceRevision string
	// Hasher caches file hashes over several builds of one run.
	Hasher *source.Hasher
	// InputHashes keep the hashes of the documents over several builds of one run; nil keeps nothing.
	InputHashes *InputHashes
	// State are the environment's current planes.
	State *observed.State
	// Usable tells whether a Unit may keep the source revision that it has (chapter B, 3.4 step 6).
	Usable func(ctx context.Context, revision string) (bool, error)
	// Promotion is what fromPromotion reads from, nil when none is active: such a reference then waits.
	Promotion *Promotion
	// Partition is the partition that owns the documents, "" for none.
	Partition string
	// Dry resolves with fallbacks.
	Dry bool
	// DryPlan is set to honour whenUnavailableDuringPlan instead of the apply's policy.
	DryPlan bool
	// Foretold returns the result that a producer's plan foretells where its Receipt is missing or stale; nil outside of plans.
	Foretold func(unit string) (expression.Evidence, bool)
}

// A SourceUnavailableError refuses a retained source revision by policy (chapter B, 3.4).
type SourceUnavailableError struct{ Unit, Revision string }

func (e *SourceUnavailableError) Error() string {
	return fmt.Sprintf("Unit %s: its source revision %s is no longer in the history of the given one, and the Project's sourceRevisionPolicy refuses to move it; "+
		"apply from a history that holds the revision, or set spec.sourceRevisionPolicy.whenUnavailableDuringApply to refresh", e.Unit, e.Revision)
}

type builder struct {
	Input
	candidate *Candidate
	lookup    *observed.Evidence
	inputs    map[string]*unitInput // by Unit name
	order     []string              // names of the inputs, sorted
}

// Build makes the candidate. Faults of authored documents come back joined, each with its file, line and pointer.
func Build(ctx context.Context, in Input) (*Candidate, error) {
	b := &builder{
		Input:     in,
		candidate: &Candidate{Files: map[string]File{}, Blocks: resource.TransitionBlocks{}, current: in.State.Desired.Tree, units: map[string]*candidateUnit{}},
		inputs:    map[string]*unitInput{},
	}
	b.lookup = &observed.Evidence{State: in.State, Candidate: b.producer, Env: in.Environment.ReferenceValue()}
	b.carryControl()
	if err := b.admit(); err != nil {
		return nil, err
	}
	b.hashInputs(ctx)
	var faults []error
	for _, name := range b.order {
		if err := b.prepare(ctx, b.inputs[name]); err != nil {
			faults = append(faults, err)
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	for _, name := range b.order {
		if err := b.resolve(b.inputs[name]); err != nil {
			faults = append(faults, err)
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	for _, name := range b.order {
		if err := b.settle(b.inputs[name]); err != nil {
			return nil, err
		}
	}
	if err := b.carryRest(); err != nil {
		return nil, err
	}
	if err := b.writeBlocks(); err != nil {
		return nil, err
	}
	slices.SortFunc(b.candidate.Decisions, func(x, y Decision) int { return strings.Compare(x.Unit, y.Unit) })
	return b.candidate, nil
}

// admit checks the set of documents (chapter B, 2.1 and 2.3) and indexes it by name.
func (b *builder) admit() error {
	var faults []error
	for i := range b.Documents {
		d := &b.Documents[i]
		name := d.Name()
		if other := b.inputs[name]; other != nil {
			faults = append(faults, &document.Error{File: d.File, Pointer: "/metadata/name",
				Message: fmt.Sprintf("Unit %q is given twice; the other document is %s", name, other.doc.File), Fix: "remove or rename one of them"})
			continue
		}
		b.inputs[name] = &unitInput{doc: d, name: name}
		b.order = append(b.order, name)
	}
	slices.Sort(b.order)
	for _, name := range b.order {
		if u := b.inputs[name].doc.Unit; u != nil {
			if err := u.CheckDirect(); err != nil {
				faults = append(faults, err)
			}
			if err := b.checkProducers(u); err != nil {
				faults = append(faults, err)
			}
		}
	}
	return errors.Join(faults...)
}

// carryControl copies what every apply keeps: tombstones, projection contexts and the promotion (chapter B, section 4 step 1).
func (b *builder) carryControl() {
	for _, f := range b.State.Desired.Tree.Files("") {
		if strings.HasPrefix(f.Path, ".gitopsctr/") && f.Path != resource.BlocksPath || isPromotion(f.Path) {
			b.candidate.carry(f)
		}
	}
}

func isPromotion(path string) bool {
	return slices.Contains(resource.Representations("promotion"), path)
}

// carryRest keeps every current Unit, Stack and StackTemplate that is not among the documents, as the bytes that are
// there, and marks the missing members of the partition for deletion (chapter B, section 4 steps 7 and 8, and section 7).
func (b *builder) carryRest() error {
	for _, name := range b.State.Names() {
		if b.inputs[name] != nil {
			continue
		}
		u := b.State.Unit(name)
		decision := Decision{Unit: name, Disposition: Untouched}
		owned := u.Metadata.Owner != nil
		if b.Partition != "" && !owned && u.Metadata.Partition() == b.Partition && u.Metadata.Deletion == nil {
			if err := b.markDeleted(u); err != nil {
				return err
			}
			decision.Disposition, decision.Changed = Marked, true
		} else {
			b.candidate.Files[u.Path] = File{Blob: u.Blob}
		}
		b.carryPayload(name)
		if reason, blocked := b.State.Blocks[name]; blocked {
			decision.Reason = reason
		}
		b.candidate.Decisions = append(b.candidate.Decisions, decision)
	}
	for _, prefix := range []string{"stacks/", "stack-templates/"} {
		for _, f := range b.State.Desired.Tree.Files(prefix) {
			b.candidate.carry(f)
		}
	}
	return nil
}

func (b *builder) carryPayload(name string) {
	for _, f := range b.State.Desired.Tree.Files("materialized/" + name + "/") {
		b.candidate.carry(f)
	}
}

// writeBlocks records the blocks: those of this apply's Units as just decided, those of others as they were. A block whose
// Unit is neither among the documents nor on the desired ref is dropped (chapter B, Do better 6).
func (b *builder) writeBlocks() error {
	for name, reason := range b.State.Blocks {
		if b.inputs[name] == nil && b.State.Unit(name) != nil {
			b.candidate.Blocks[name] = reason
		}
	}
	data, err := b.candidate.Blocks.Encode()
	if data != nil {
		b.candidate.put(resource.BlocksPath, data)
	}
	return err
}
