package observed

import (
	"fmt"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// Lifecycle is what the STATE column says (chapter H, 4.6).
func Lifecycle(m resource.Metadata) string {
	if m.Deletion == nil {
		return "ACTIVE"
	}
	return fmt.Sprintf("DELETING(generation=%d)", m.Deletion.Generation)
}

// Partition is the partition of a resource: that of its owner, else its own (chapter H, 4.4).
func (v *Survey) Partition(m resource.Metadata) (string, error) {
	seen := map[string]bool{}
	for m.Owner != nil {
		root, err := v.owner(m)
		if err != nil {
			return "", err
		}
		if seen[root.Path] {
			return "", fmt.Errorf("read %s: %w", v.Desired.Ref, &document.Error{File: root.Path, Pointer: "/metadata/ownerReferences", Message: "owns itself"})
		}
		seen[root.Path] = true
		m = root.Metadata
	}
	return m.Partition(), nil
}

func (v *Survey) owner(m resource.Metadata) (*Root, error) {
	var root *Root
	switch m.Owner.Kind {
	case "Stack":
		root = v.Stacks[m.Owner.Name]
	case "StackTemplate":
		root = v.Templates[m.Owner.Name]
	}
	if root == nil || root.Metadata.UID != m.Owner.UID {
		return nil, fmt.Errorf("the owner of %s, the %s %s with UID %s, is not on %s", m.Name, m.Owner.Kind, m.Owner.Name, m.Owner.UID, v.Desired.Ref)
	}
	return root, nil
}

// CheckAddress checks that a Unit lies where its owner binds it (chapter H, 4.1).
func (v *Survey) CheckAddress(u *Unit) error {
	if u.Metadata.Owner == nil {
		return nil
	}
	stack, err := v.owner(u.Metadata)
	if err != nil {
		return fmt.Errorf("read %s: %w", v.Desired.Ref, &document.Error{File: u.Path, Pointer: "/metadata/ownerReferences/0", Message: err.Error()})
	}
	bound := ""
	for _, b := range bindings(stack) {
		if !binds(b.Value, u) {
			continue
		}
		if bound != "" {
			return fmt.Errorf("read %s: %w", v.Desired.Ref, &document.Error{File: stack.Path, Pointer: "/spec/activeProjection/units",
				Message: fmt.Sprintf("binds %s twice", u.Path)})
		}
		bound = stack.Name + "/" + b.Key
	}
	if bound != u.Name {
		return fmt.Errorf("read %s: %w", v.Desired.Ref, &document.Error{File: u.Path, Pointer: "/metadata/ownerReferences/0",
			Message: fmt.Sprintf("the Stack %s does not bind this Unit at this path", stack.Name)})
	}
	return nil
}

// TemplateOf returns the StackTemplate that a Stack selects, and checks that both agree on it (chapter H, 4.5).
func (v *Survey) TemplateOf(stack *Root) (*Root, error) {
	ref, identity := stack.Spec.Get("templateRef"), stack.Spec.Path("structuralProjection", "identity")
	template := v.Templates[ref.Get("name").Str()]
	fault := func(pointer, message string) (*Root, error) {
		return nil, fmt.Errorf("read %s: %w", v.Desired.Ref, &document.Error{File: stack.Path, Pointer: pointer, Message: message})
	}
	if template == nil || template.Metadata.UID != ref.Get("uid").Str() {
		return fault("/spec/templateRef", fmt.Sprintf("the StackTemplate %s with UID %s is not on this ref", ref.Get("name").Str(), ref.Get("uid").Str()))
	}
	digest := template.Spec.Get("contentDigest").Str()
	switch {
	case ref.Get("contentDigest").Str() != digest:
		return fault("/spec/templateRef/contentDigest", "is not that of the StackTemplate "+template.Name)
	case identity.Get("stackUid").Str() != stack.Metadata.UID,
		identity.Get("templateUid").Str() != template.Metadata.UID,
		identity.Get("templateContentDigest").Str() != digest:
		return fault("/spec/structuralProjection/identity", "is that of another Stack or StackTemplate")
	}
	return template, nil
}

// bindings are the entries of a Stack's active projection.
func bindings(stack *Root) []document.Field {
	units := stack.Spec.Path("activeProjection", "units")
	if units.IsNull() {
		return nil
	}
	return units.Fields
}

// binds tells whether a binding names the Unit.
func binds(b *document.Node, u *Unit) bool {
	return b.Get("apiVersion").Str() == resource.UnitAPI && b.Get("kind").Str() == u.Kind &&
		b.Get("name").Str() == u.Metadata.Name && b.Get("uid").Str() == u.Metadata.UID
}
