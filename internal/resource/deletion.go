package resource

import (
	"fmt"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

// firstGeneration is that of a resource's first deletion mark, the only one that a controller writes.
const firstGeneration = 1

// Marked returns the Unit with a deletion mark over its present content (chapter D, 7.1). From then on it is frozen.
func (u *Unit) Marked() *Unit {
	m := u.Metadata
	m.Deletion = &Deletion{Generation: firstGeneration, ResourceDigest: ContentDigest(u.Node())}
	return u.With(m)
}

// Marked returns the Stack with a deletion mark over its present content.
func (s *Stack) Marked() *Stack {
	c := *s
	c.Metadata.Deletion = &Deletion{Generation: firstGeneration, ResourceDigest: ContentDigest(s.Node())}
	return &c
}

// Marked returns the StackTemplate with a deletion mark over its present content.
func (s *StackTemplate) Marked() *StackTemplate {
	c := *s
	c.Metadata.Deletion = &Deletion{Generation: firstGeneration, ResourceDigest: ContentDigest(s.Node())}
	return &c
}

// CheckMark checks that a Unit that is being deleted is still what was marked.
func (u *Unit) CheckMark() error {
	d := u.Metadata.Deletion
	if d == nil || ContentDigest(u.Node()) == d.ResourceDigest {
		return nil
	}
	return &document.Error{File: u.File, Pointer: "/metadata/deletion/resourceDigest",
		Message: fmt.Sprintf("Unit %q was changed after it had been marked for deletion", u.Metadata.Name),
		Fix:     "restore the document as it was marked; a deleting resource is frozen"}
}
