package observed

import (
	"fmt"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// CheckGraph validates the desired tree as a whole (chapter A, section 7): an owner exists with the UID that its Unit names,
// and every Unit that a living Stack binds is there, as the Stack bound it. The error names the document at fault.
func (s *State) CheckGraph() error {
	stacks := map[string]*resource.Stack{}
	for _, f := range s.Desired.Tree.Files(resource.StacksPath) {
		name, ok := resource.QualifiedNameOf(f.Path, resource.StacksPath)
		if !ok {
			continue
		}
		data, err := s.Desired.Tree.ReadFile(f.Path)
		if err != nil {
			return err
		}
		stack, err := resource.DecodeStack(f.Path, data)
		if err != nil {
			return fmt.Errorf("read %s: %w", s.Desired.Ref, err)
		}
		stacks[name] = stack
	}
	for _, name := range s.Names() {
		u := s.units[name]
		owner := u.Metadata.Owner
		if owner == nil {
			continue
		}
		if stack := stacks[owner.Name]; stack == nil || stack.Metadata.UID != owner.UID {
			return fmt.Errorf("read %s: %w", s.Desired.Ref, &document.Error{File: u.Path, Pointer: "/metadata/ownerReferences/0",
				Message: fmt.Sprintf("no Stack %q with UID %s is on this ref", owner.Name, owner.UID)})
		}
	}
	for _, stack := range stacks {
		if err := s.checkBindings(stack); err != nil {
			return fmt.Errorf("read %s: %w", s.Desired.Ref, err)
		}
	}
	return nil
}

// checkBindings checks the Units of a Stack's active projection. A Stack that is being deleted loses them one by one.
func (s *State) checkBindings(stack *resource.Stack) error {
	bindings := stack.Spec.Path("activeProjection", "units")
	if stack.Metadata.Deletion != nil || bindings.IsNull() {
		return nil
	}
	for _, b := range bindings.Fields {
		name := stack.Metadata.Name + "/" + b.Key
		fault := func(message string) error {
			return &document.Error{File: stack.File, Pointer: "/spec/activeProjection/units/" + document.PointerToken(b.Key), Message: message}
		}
		u := s.units[name]
		switch {
		case u == nil:
			return fault(fmt.Sprintf("binds the Unit %s, which is not on this ref", name))
		case u.Kind != b.Value.Get("kind").Str(), u.Metadata.UID != b.Value.Get("uid").Str():
			return fault(fmt.Sprintf("binds another Unit than %s", u.Path))
		case u.BindingDigest() != b.Value.Get("desiredDigest").Str():
			return fault(fmt.Sprintf("binds another version of %s", u.Path))
		}
	}
	return nil
}
