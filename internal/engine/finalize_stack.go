package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// A Stack is deleted with the Units that it owns, and only after them; a StackTemplate after the Stacks that use it (chapter
// D, 7.3 steps 2 and 9). They have no driver: their finalization is a tombstone in place of the document.

// markRoot marks a Stack with its Units, or a StackTemplate.
func markRoot(s *scope, p *planes, r DeleteRequest) (edits []gitstate.Edit, units []string, err error) {
	roots, err := rootsOf(p.state)
	if err != nil {
		return nil, nil, err
	}
	root := roots[r.Kind+" "+r.Name]
	switch {
	case root == nil:
		return nil, nil, fmt.Errorf("environment %s has no %s %q on %s", s.Environment, r.Kind, r.Name, s.refs.Desired)
	case root.Metadata.UID != r.UID:
		return nil, nil, fmt.Errorf("%s %s on %s has the UID %s, not %s: it is another one of that name; look at it, then name its UID",
			r.Kind, r.Name, s.refs.Desired, root.Metadata.UID, r.UID)
	case root.Metadata.Deletion != nil:
		return nil, nil, nil
	}
	var data []byte
	if r.Kind == "Stack" {
		data, err = (&resource.Stack{Metadata: root.Metadata, Spec: root.Spec}).Marked().Encode(document.FormatOf(root.Path))
	} else {
		data, err = (&resource.StackTemplate{Metadata: root.Metadata, Spec: root.Spec}).Marked().Encode(document.FormatOf(root.Path))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("mark %s %s for deletion: %w", r.Kind, r.Name, err)
	}
	edits = []gitstate.Edit{{Path: root.Path, Content: data}}
	for _, name := range p.state.Names() {
		u := p.state.Unit(name)
		if !owns(root, u) || u.Metadata.Deletion != nil {
			continue
		}
		edit, err := markUnit(u)
		if err != nil {
			return nil, nil, err
		}
		edits, units = append(edits, edit), append(units, name)
	}
	return edits, units, nil
}

func owns(root *observed.Root, u *observed.Unit) bool {
	owner := u.Metadata.Owner
	return owner != nil && owner.Kind == root.Kind && owner.Name == root.Name && owner.UID == root.Metadata.UID
}

// finalizableRoots are the marked Stacks and StackTemplates that nothing on the desired tree needs any more, once the Unit
// named gone is removed; a StackTemplate counts as unused when its last Stack is among them. The order is by kind and name.
func finalizableRoots(state *observed.State, gone string) ([]*observed.Root, error) {
	if len(state.Desired.Tree.Files(resource.StacksPath))+len(state.Desired.Tree.Files(resource.StackTemplatesPath)) == 0 {
		return nil, nil
	}
	roots, err := rootsOf(state)
	if err != nil {
		return nil, err
	}
	var out []*observed.Root
	for _, key := range sortedKeys(roots) { // Stacks come before StackTemplates
		root := roots[key]
		if root.Metadata.Deletion != nil && !needed(state, roots, root, gone) {
			out = append(out, root)
			delete(roots, key)
		}
	}
	return out, nil
}

func needed(state *observed.State, roots map[string]*observed.Root, root *observed.Root, gone string) bool {
	for _, name := range state.Names() {
		if name != gone && owns(root, state.Unit(name)) {
			return true
		}
	}
	for _, other := range roots {
		if root.Kind == "StackTemplate" && other.Kind == "Stack" && other.Spec.Path("templateRef", "uid").Str() == root.Metadata.UID {
			return true
		}
	}
	return false
}

// partitionOf is the partition of a Unit: that of the Stack that owns it, else its own; "" for none.
func partitionOf(state *observed.State, u *observed.Unit) string {
	owner := u.Metadata.Owner
	if owner == nil {
		return u.Metadata.Partition()
	}
	roots, err := rootsOf(state)
	if root := roots[owner.Kind+" "+owner.Name]; err == nil && root != nil {
		return root.Metadata.Partition()
	}
	return "" // CheckGraph and the finalization of the Stack say what is wrong with it
}

// buryRoot are the edits that replace a root by its tombstone. A Stack must have lost its Units by finalization: one that is
// missing without a tombstone was removed by somebody else, who may have left its resources behind (7.3 step 1).
func buryRoot(tree *gitstate.Snapshot, root *observed.Root, gone string) ([]gitstate.Edit, error) {
	if units := root.Spec.Path("activeProjection", "units"); root.Kind == "Stack" && !units.IsNull() {
		for _, f := range units.Fields {
			child := &resource.Tombstone{GVK: resource.GVK{APIVersion: f.Value.Get("apiVersion").Str(), Kind: f.Value.Get("kind").Str()},
				QualifiedName: root.Name + "/" + f.Key, UID: f.Value.Get("uid").Str()}
			if child.QualifiedName != gone && blobAt(tree, child.Path()) == "" {
				return nil, &document.Error{File: root.Path, Pointer: "/spec/activeProjection/units/" + document.PointerToken(f.Key),
					Message: fmt.Sprintf("the Unit %s is neither on this ref nor finalized", child.QualifiedName), Fix: "restore its document from the history of the branch"}
			}
		}
	}
	grave := &resource.Tombstone{GVK: resource.GVK{APIVersion: resource.CoreAPI, Kind: root.Kind}, Name: root.Name, QualifiedName: root.Name,
		UID: root.Metadata.UID, DeletionGeneration: root.Metadata.Deletion.Generation, Partition: root.Metadata.Partition()}
	data, err := grave.Encode()
	return []gitstate.Edit{{Path: root.Path, Delete: true}, {Path: grave.Path(), Content: data}}, err
}

// cascade are the edits that finalize the roots which the removal of their last Unit leaves without anything to wait for: the
// owner, and the StackTemplate that it used, in the same partition.
func cascade(tree *gitstate.Snapshot, state *observed.State, u *observed.Unit) ([]gitstate.Edit, error) {
	if u.Metadata.Owner == nil {
		return nil, nil
	}
	roots, err := finalizableRoots(state, u.Name)
	if err != nil {
		return nil, err
	}
	var edits []gitstate.Edit
	i := slices.IndexFunc(roots, func(root *observed.Root) bool { return owns(root, u) })
	if i < 0 {
		return nil, nil
	}
	owner := roots[i]
	for _, root := range roots {
		uses := root.Kind == "StackTemplate" && owner.Spec.Path("templateRef", "uid").Str() == root.Metadata.UID
		if root != owner && !uses || root.Metadata.Partition() != owner.Metadata.Partition() {
			continue
		}
		more, err := buryRoot(tree, root, u.Name)
		if err != nil {
			return nil, err
		}
		edits = append(edits, more...)
	}
	return edits, nil
}

func loadDesired(s *scope, tree *gitstate.Snapshot) (*observed.State, error) {
	return observed.Load(observed.Plane{Ref: s.refs.Desired, Revision: tree.Revision(), Tree: tree}, observed.Plane{Tree: gitstate.EmptySnapshot()}, nil)
}

// finalizeRoots finalizes the marked roots in scope that wait for nothing: those without Units, and those of which the last
// Unit was finalized by an implementation without cascade.
func (c *convergence) finalizeRoots(ctx context.Context) error {
	if len(c.request.Units) > 0 {
		return nil
	}
	roots, err := finalizableRoots(c.planes.state, "")
	if err != nil {
		return err
	}
	if err := c.scope.requireLiveDesired(); err != nil && len(roots) > 0 {
		return err
	}
	for _, root := range roots {
		if c.request.Partition != "" && root.Metadata.Partition() != c.request.Partition {
			continue
		}
		message := fmt.Sprintf("Finalize deletion of %s %s", root.Kind, root.Name)
		result, err := c.engine.store.Update(ctx, c.scope.refs.Desired, func(current *gitstate.Snapshot) ([]gitstate.Change, error) {
			if blobAt(current, root.Path) != blobAt(c.planes.desired, root.Path) {
				return nil, nil
			}
			edits, err := buryRoot(current, root, "")
			return []gitstate.Change{{Message: message, Edits: edits}}, err
		})
		if err != nil {
			return fmt.Errorf("finalize the deletion of %s %s: %w", root.Kind, root.Name, err)
		}
		if len(result.Commits) > 0 {
			c.progressed = true
			c.engine.emit(report.RefUpdated{Plane: "desired", Ref: c.scope.refs.Desired, Old: result.Before.Revision(), New: result.After.Revision(), Message: message})
		}
		if err := c.engine.refetch(ctx, c.scope, c.planes, result.After); err != nil {
			return err
		}
	}
	return nil
}
