package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/driver"
	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// runDeletion progresses the deletion of one marked Unit on which nothing depends (chapter D, 7.3): its driver tears down
// what it made, the evidence of that is published on the observed ref, and then the Unit is finalized: a tombstone takes its
// place on the desired ref. A run that was stopped in between is resumed where it was: evidence is never repeated.
func (e *Engine) runDeletion(ctx context.Context, w *work, t task) report.UnitResult {
	result := e.deletion(ctx, w, t)
	e.emit(report.UnitFinished{Result: result})
	return result
}

func (e *Engine) deletion(ctx context.Context, w *work, t task) report.UnitResult {
	s := w.scope
	result := report.UnitResult{Unit: t.unit.Name, Kind: t.unit.Kind, State: report.Wait, Outcome: report.Waiting, Producers: t.unit.Producers()}
	if err := errors.Join(s.requireLiveDesired(), t.unit.CheckMark()); err != nil {
		result.Outcome, result.Err = report.Failed, err.Error()
		return result
	}
	if _, can := e.Drivers[t.unit.Kind].(driver.Destroyer); !can && t.evidence == nil {
		result.Reason = e.noTeardown(t)
		return result
	}
	held, refused, ok := e.take(ctx, s, &t, true)
	if !ok {
		return refused
	}
	var details *document.Node
	var effect error
	if t.evidence == nil {
		if result, details, effect = w.destroy(ctx, t); result.Outcome == report.Failed {
			if errors.Is(effect, driver.ErrUnsupported) {
				result.Outcome, result.Err, result.Reason = report.Waiting, "", e.noTeardown(t)
			}
			e.giveBack(ctx, s, held, effect, &result)
			return result
		}
	}
	free, cancel := e.afterEffect(ctx)
	defer cancel()
	if err := e.finishDeletion(free, s, t, details); err != nil {
		result.Outcome = report.Failed
		result.Err = e.Masker.String(fmt.Sprintf("it is torn down, but the deletion was not finished: %s", err))
	} else {
		result.State, result.Outcome, result.Reason = "", report.Destroyed, "deleted"
	}
	e.giveBack(ctx, s, held, nil, &result)
	return result
}

// destroy runs the driver's teardown.
func (w *work) destroy(ctx context.Context, t task) (result report.UnitResult, details *document.Node, failure error) {
	result = w.do(ctx, t, report.Destroy, func(ctx context.Context, d driver.Driver, u driver.Unit) error {
		destroyer, ok := d.(driver.Destroyer)
		if !ok {
			return driver.ErrUnsupported
		}
		details, failure = destroyer.Destroy(ctx, u)
		return failure
	})
	if result.Outcome == report.Failed && failure == nil {
		failure = errors.New(result.Err)
	}
	return result, details, failure
}

// finishDeletion publishes the evidence, if it is not there yet, and the tombstone.
func (e *Engine) finishDeletion(ctx context.Context, s *scope, t task, details *document.Node) error {
	evidence := t.evidence
	if evidence == nil {
		evidence = &resource.TeardownEvidence{
			Name: t.unit.Metadata.Name, QualifiedName: t.unit.Name, UID: t.unit.Metadata.UID, DeletionGeneration: t.unit.Metadata.Deletion.Generation,
			DesiredRevision: t.desiredRevision, EffectLeaseRef: s.leaseRef(), Details: details,
		}
	}
	if err := e.recordTeardown(ctx, s, evidence); err != nil {
		return err
	}
	return e.finalize(ctx, s, t.unit, evidence.EffectLeaseRef)
}

// recordTeardown publishes teardown evidence and removes the Receipt and the artifacts in the same commit (chapter D, 7.4).
func (e *Engine) recordTeardown(ctx context.Context, s *scope, evidence *resource.TeardownEvidence) error {
	data, err := evidence.Encode()
	if err != nil {
		return err
	}
	message := fmt.Sprintf("Record teardown of %s generation %d", evidence.QualifiedName, evidence.DeletionGeneration)
	result, err := e.store.Update(ctx, s.refs.Observed, func(current *gitstate.Snapshot) ([]gitstate.Change, error) {
		edits := []gitstate.Edit{{Path: resource.ArtifactsPath + "/" + evidence.QualifiedName, Delete: true}}
		for _, path := range resource.Representations(resource.UnitsPath + "/" + evidence.QualifiedName) {
			edits = append(edits, gitstate.Edit{Path: path, Delete: true})
		}
		if blobAt(current, evidence.Path()) == "" {
			edits = append(edits, gitstate.Edit{Path: evidence.Path(), Content: data})
		}
		return []gitstate.Change{{Message: message, Edits: edits}}, nil
	})
	if err != nil {
		return fmt.Errorf("publish the teardown evidence: %w", err)
	}
	e.emitCommit("observed", s.refs.Observed, result, message, evidence.QualifiedName)
	return nil
}

// finalize replaces a torn down Unit by its tombstone (chapter D, 7.3 step 9). A change gate does not stop it: the mark was
// what had to be approved.
func (e *Engine) finalize(ctx context.Context, s *scope, u *observed.Unit, leaseRef string) error {
	grave := &resource.Tombstone{
		GVK: u.GVK(), Name: u.Metadata.Name, QualifiedName: u.Name, UID: u.Metadata.UID, DeletionGeneration: u.Metadata.Deletion.Generation,
		EffectLeaseRef: leaseRef,
	}
	message := "Finalize deletion of Unit " + u.Name
	result, err := e.store.Update(ctx, s.refs.Desired, func(current *gitstate.Snapshot) ([]gitstate.Change, error) {
		switch blob := blobAt(current, u.Path); {
		case blob == "" && blobAt(current, grave.Path()) != "": // another run finalized it
			return nil, nil
		case blob != u.Blob:
			return nil, fmt.Errorf("%s changed on %s while the Unit was torn down; a deleting resource is frozen", u.Path, s.refs.Desired)
		}
		state, err := loadDesired(s, current)
		if err != nil {
			return nil, err
		}
		grave.Partition = partitionOf(state, u)
		data, err := grave.Encode()
		if err != nil {
			return nil, err
		}
		edits := []gitstate.Edit{
			{Path: u.Path, Delete: true},
			{Path: resource.MaterializedPath + "/" + u.Name, Delete: true},
			{Path: grave.Path(), Content: data},
		}
		blocks, err := withoutBlock(current, u.Name)
		if err != nil {
			return nil, err
		}
		roots, err := cascade(current, state, u)
		return []gitstate.Change{{Message: message, Edits: slices.Concat(edits, blocks, roots)}}, err
	})
	if err != nil {
		return fmt.Errorf("finalize the deletion: %w", err)
	}
	e.emitCommit("desired", s.refs.Desired, result, message, u.Name)
	return nil
}

// withoutBlock drops the reason that a finalized Unit waited for: nobody would ever drop it otherwise.
func withoutBlock(current *gitstate.Snapshot, unit string) ([]gitstate.Edit, error) {
	if blobAt(current, resource.BlocksPath) == "" {
		return nil, nil
	}
	data, err := current.ReadFile(resource.BlocksPath)
	if err != nil {
		return nil, err
	}
	blocks, err := resource.DecodeTransitionBlocks(resource.BlocksPath, data)
	if err != nil || blocks[unit] == "" {
		return nil, err
	}
	delete(blocks, unit)
	data, err = blocks.Encode()
	return []gitstate.Edit{{Path: resource.BlocksPath, Content: data, Delete: data == nil}}, err
}

// emitCommit tells what an update published, if anything.
func (e *Engine) emitCommit(plane, ref string, result gitstate.UpdateResult, message, unit string) {
	if n := len(result.Commits); n > 0 {
		e.emit(report.RefUpdated{Plane: plane, Ref: ref, Old: result.Before.Revision(), New: result.Commits[n-1], Message: message, Units: []string{unit}})
	}
}

// teardownEvidence finds the evidence of the Unit's present deletion. A file beside it that cannot be read, or that is not
// what its name says, is an error: it might be that evidence.
func teardownEvidence(tree *gitstate.Snapshot, u *observed.Unit) (*resource.TeardownEvidence, error) {
	dir := resource.TeardownsPath + "/" + u.Name + "/"
	var found *resource.TeardownEvidence
	for _, f := range tree.Files(dir) {
		if strings.Contains(strings.TrimPrefix(f.Path, dir), "/") { // of a Unit below this name
			continue
		}
		data, err := tree.ReadFile(f.Path)
		if err != nil {
			return nil, err
		}
		evidence, err := resource.DecodeTeardownEvidence(f.Path, data)
		if err != nil {
			return nil, err
		}
		if evidence.Path() != f.Path {
			return nil, &document.Error{File: f.Path, Message: "holds the evidence that belongs at " + evidence.Path(), Fix: "restore the file from the history of the branch"}
		}
		if evidence.UID == u.Metadata.UID && evidence.DeletionGeneration == u.Metadata.Deletion.Generation {
			found = evidence
		}
	}
	return found, nil
}

// deletionBlockers are what keeps a marked Unit from being torn down: the Units that read from it, deleting or not, and
// every opaque cleanup root, which may read from anything (chapter D, 7.3 step 3); sorted. Who reads from those need not be
// asked: they stand before it as long as they are there.
func deletionBlockers(state *observed.State, name string) []string {
	var out []string
	for _, other := range state.Names() {
		if other != name && slices.Contains(state.Unit(other).Producers(), name) {
			out = append(out, other)
		}
	}
	if resource.StackOf(name) != "" {
		out = append(out, orderedAfter(state, name)...)
	}
	for _, root := range state.OpaqueRoots() {
		if root != name {
			out = append(out, root)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// orderedAfter are the Units that a Stack puts after the named one by dependsOn.
func orderedAfter(state *observed.State, name string) []string {
	edges, err := dependencyEdges(state)
	if err != nil {
		return []string{"a Stack that cannot be read (" + err.Error() + ")"}
	}
	var out []string
	for other, producers := range edges {
		if state.Unit(other) != nil && slices.Contains(producers, name) {
			out = append(out, other)
		}
	}
	return out
}

// noTeardown says what to do about a Unit that no driver can tear down.
func (e *Engine) noTeardown(t task) string {
	return fmt.Sprintf("drivers of kind %s do not tear down: remove by hand what Unit %s made, then record that with gitopsctr delete unit --environment ENVIRONMENT --name %s --uid %s --torn-down-by-hand",
		t.unit.Kind, t.unit.Name, t.unit.Name, t.unit.Metadata.UID)
}

// requireLiveDesired refuses to delete on another desired ref than the configured one (chapter D, 7.3): what a teardown
// removes is shared by all refs.
func (s *scope) requireLiveDesired() error {
	live, err := s.project.Refs(s.environment, resource.RefOverrides{})
	if err != nil {
		return err
	}
	if live.Desired != s.refs.Desired {
		return fmt.Errorf("deletions progress only on the environment's own desired ref %s, not on %s; leave --desired-ref out", live.Desired, s.refs.Desired)
	}
	return nil
}

// leaseRef is the lease branch, "" without leases.
func (s *scope) leaseRef() string {
	if s.leases == nil {
		return ""
	}
	return s.leases.Ref()
}
