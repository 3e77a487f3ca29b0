package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/driver"
	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// A ConflictError refuses a second, different result for the same desired Unit (chapter D, 4.3). The effect happened; the
// recorded evidence stays.
type ConflictError struct{ Unit string }

func (e *ConflictError) Error() string {
	return fmt.Sprintf("Unit %s: the driver's result differs from the recorded one of the same desired document, so the Receipt was left as it is; "+
		"change the Unit (or what it reads) to record a new result", e.Unit)
}

// recorded is what publishing a Receipt came to.
type recorded struct {
	path     string
	revision string // of the observed ref
	kept     bool   // an equal Receipt was there
	// moved tells that the Unit's desired document changed while the driver ran: the Receipt is evidence of what was.
	moved bool
}

// record publishes the Receipt and the artifacts of one Unit (chapter D, sections 4 and 5). Receipts of other Units that
// others publish meanwhile are kept. It goes on, for a while, when ctx was cancelled: the effect has happened.
func (e *Engine) record(ctx context.Context, s *scope, t task, evidence driver.Result) (recorded, error) {
	ctx, cancel := e.afterEffect(ctx)
	defer cancel()
	revision, moved, err := e.holder(ctx, s, t)
	if err != nil {
		return recorded{}, err
	}
	artifacts, files, err := describe(t, evidence, s.project.WriteFormat)
	if err != nil {
		return recorded{}, err
	}
	controller := resource.Controller{Version: e.Controller.Version, Revision: e.controllerRevision(ctx), ObservedAt: e.Now(), WorkflowURL: e.Controller.WorkflowURL, Lease: t.lease}
	receipt, err := resource.NewReceipt(t.unit.Unit, t.unit.Name, t.unit.Blob, revision, controller.Node(), evidence.Result, artifacts)
	if err != nil {
		return recorded{}, fmt.Errorf("Unit %s: the driver's result is not valid: %w", t.unit.Name, err)
	}
	out := recorded{path: resource.ReceiptPath(t.unit.Name, s.project.WriteFormat), moved: moved}
	data, err := receipt.Encode(s.project.WriteFormat)
	if err != nil {
		return recorded{}, err
	}
	result, err := e.store.Update(ctx, s.refs.Observed, func(current *gitstate.Snapshot) ([]gitstate.Change, error) {
		out.kept = false
		existing, err := existingReceipt(current, t.unit.Name)
		if err != nil {
			return nil, err
		}
		if existing != nil && existing.UnitBlob == t.unit.Blob {
			if !document.Equal(existing.SemanticResult(), receipt.SemanticResult()) {
				return nil, &ConflictError{Unit: t.unit.Name}
			}
			out.kept, out.path = true, existing.File
			return nil, nil
		}
		return []gitstate.Change{{
			Message: fmt.Sprintf("Observe %s at %s", t.unit.Name, revision),
			Edits:   receiptEdits(current, t.unit.Name, out.path, data, files),
		}}, nil
	})
	if err != nil {
		return recorded{}, err
	}
	out.revision = result.After.Revision()
	if n := len(result.Commits); n > 0 {
		e.emit(report.RefUpdated{Plane: "observed", Ref: s.refs.Observed, Old: result.Before.Revision(), New: result.Commits[n-1],
			Message: "Observe " + t.unit.Name + " at " + revision, Units: []string{t.unit.Name}})
	}
	return out, nil
}

// controllerRevision is the commit of the running workflow, else the worktree's HEAD, "" in a repository without commits.
func (e *Engine) controllerRevision(ctx context.Context) string {
	if e.Controller.Revision != "" {
		return e.Controller.Revision
	}
	head, err := e.store.Resolve(ctx, "HEAD")
	if err != nil {
		return ""
	}
	return head
}

// afterEffect is a context for publishing what has happened: it outlives a cancelled run by publishTimeout.
func (e *Engine) afterEffect(ctx context.Context) (context.Context, context.CancelFunc) {
	free, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		limited, done := context.WithTimeout(free, publishTimeout)
		defer done()
		<-limited.Done()
		cancel()
	})
	return free, func() { stop(); cancel() }
}

// holder finds the commit to record as the one that held the Unit: the present head of the desired ref when it still holds
// the same document, else the commit that the run worked on (specification README, decision 2).
func (e *Engine) holder(ctx context.Context, s *scope, t task) (revision string, moved bool, err error) {
	heads, err := e.store.Fetch(ctx, s.refs.Desired)
	if err != nil {
		return "", false, err
	}
	head := heads[s.refs.Desired]
	if head == nil {
		return t.desiredRevision, true, nil
	}
	if blob, ok := head.Blob(t.unit.Path); ok && blob == t.unit.Blob {
		return head.Revision(), false, nil
	}
	return t.desiredRevision, true, nil
}

// describe turns the driver's artifacts into files and descriptors; they must be exactly the declared ones.
func describe(t task, evidence driver.Result, format document.Format) ([]resource.ArtifactDescriptor, map[string][]byte, error) {
	kind, _ := resource.UnitKindOf(t.unit.Kind)
	if len(evidence.Artifacts) != len(kind.Artifacts) {
		return nil, nil, fmt.Errorf("Unit %s: the driver returned %d artifacts, kind %s declares %d", t.unit.Name, len(evidence.Artifacts), kind.Kind, len(kind.Artifacts))
	}
	if len(kind.Artifacts) == 0 {
		return nil, nil, nil
	}
	producer, err := resource.ProducerOf(t.unit.Unit, t.unit.Name)
	if err != nil {
		return nil, nil, err
	}
	var descriptors []resource.ArtifactDescriptor
	files := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(kind.Artifacts)) {
		payload, ok := evidence.Artifacts[name]
		if !ok {
			return nil, nil, fmt.Errorf("Unit %s: the driver did not return the artifact %q", t.unit.Name, name)
		}
		artifact, err := resource.NewArtifact(kind.Artifacts[name], name, producer, payload)
		if err != nil {
			return nil, nil, fmt.Errorf("Unit %s: artifact %s: %w", t.unit.Name, name, err)
		}
		descriptor, data, err := artifact.Describe(format)
		if err != nil {
			return nil, nil, err
		}
		descriptors = append(descriptors, descriptor)
		files[descriptor.Path] = data
	}
	return descriptors, files, nil
}

// existingReceipt is the Receipt that the tree holds for the Unit, or nil. Of two representations the first counts.
func existingReceipt(tree *gitstate.Snapshot, name string) (*resource.Receipt, error) {
	for _, path := range resource.Representations(resource.UnitsPath + "/" + name) {
		if _, ok := tree.Blob(path); !ok {
			continue
		}
		data, err := tree.ReadFile(path)
		if err != nil {
			return nil, err
		}
		return resource.DecodeReceipt(path, data)
	}
	return nil, nil
}

// receiptEdits writes a Receipt and its artifacts and removes what they replace: the Receipt in another format, and every
// other file of the Unit's artifact directory.
func receiptEdits(tree *gitstate.Snapshot, name, path string, data []byte, artifacts map[string][]byte) []gitstate.Edit {
	var edits []gitstate.Edit
	for _, other := range resource.Representations(resource.UnitsPath + "/" + name) {
		if _, exists := tree.Blob(other); exists && other != path {
			edits = append(edits, gitstate.Edit{Path: other, Delete: true})
		}
	}
	for _, f := range tree.Files(resource.ArtifactsPath + "/" + name) {
		if _, kept := artifacts[f.Path]; !kept {
			edits = append(edits, gitstate.Edit{Path: f.Path, Delete: true})
		}
	}
	edits = append(edits, gitstate.Edit{Path: path, Content: data})
	for _, p := range slices.Sorted(maps.Keys(artifacts)) {
		edits = append(edits, gitstate.Edit{Path: p, Content: artifacts[p]})
	}
	return edits
}
