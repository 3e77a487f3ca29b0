package desired

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/expression"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// checkProducers checks what can be known of references before anything is observed (chapter B, 2.3): an artifact type is
// installed, a producer among the documents declares the artifact and is ever observed.
func (b *builder) checkProducers(u *resource.AuthoredUnit) error {
	known := func(name string) (string, *document.Node, bool) {
		in := b.inputs[name]
		if in == nil || in.doc.Unit == nil {
			return "", nil, false
		}
		return in.doc.Unit.Kind, in.doc.Unit.Spec, true
	}
	return CheckReferences(u, known, false)
}

// CheckReferences validates the references of one authored Unit against the producers that known tells of (by name, their
// kind and authored spec); an unknown producer is accepted. Faults come joined, each at its place in the document. strict
// adds what can never work but which apply takes as waiting: a Unit that reads its own evidence.
func CheckReferences(u *resource.AuthoredUnit, known func(name string) (kind string, spec *document.Node, ok bool), strict bool) error {
	var faults []error
	report := func(r *expression.Reference, message, fix string) {
		faults = append(faults, &document.Error{File: u.File, Line: r.Node.Line, Column: r.Node.Column, Pointer: "/spec" + r.At, Message: message, Fix: fix})
	}
	err := expression.Walk("", u.Spec, func(r *expression.Reference) error {
		if r.Kind == expression.FromParameter {
			report(r, "fromParameter stands outside a StackTemplate", "only StackTemplates have parameters; write the value, or use another reference")
			return nil
		}
		if r.Kind != expression.FromReceipt && r.Kind != expression.FromArtifact {
			return nil
		}
		gvk := resource.GVK{APIVersion: r.APIVersion, Kind: r.ArtifactKind}
		if r.Kind == expression.FromArtifact && !isArtifact(gvk) {
			report(r, fmt.Sprintf("%s is no installed artifact type", gvk), "use ContainerImages or FrontendBundle of "+resource.ArtifactAPI)
			return nil
		}
		if strict && r.Unit == u.Name {
			report(r, fmt.Sprintf("Unit %q reads its own evidence", u.Name), "name another Unit; a Unit cannot wait for itself")
			return nil
		}
		kindName, spec, ok := known(r.Unit)
		if !ok {
			return nil
		}
		kind, _ := resource.UnitKindOf(kindName)
		if !kind.Reconciles(spec) {
			report(r, fmt.Sprintf("Unit %q is only published for external delivery: it never has a Receipt to read", r.Unit), "give it an observer, or read another Unit")
			return nil
		}
		if r.Kind == expression.FromArtifact && kind.Artifacts[r.Name] != gvk {
			report(r, fmt.Sprintf("Unit %q (%s) makes no artifact %q of type %s", r.Unit, kindName, r.Name, gvk), artifactsOf(kind))
		}
		return nil
	})
	if err != nil {
		var e *document.Error
		if errors.As(err, &e) {
			placed := *e
			placed.File = u.File
			err = &placed
		}
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

func artifactsOf(kind resource.UnitKind) string {
	for name, gvk := range kind.Artifacts {
		return fmt.Sprintf("it makes %q of type %s", name, gvk)
	}
	return "kind " + kind.Kind + " makes no artifacts"
}

func isArtifact(gvk resource.GVK) bool {
	return gvk.APIVersion == resource.ArtifactAPI && slices.Contains(resource.ArtifactKinds(), gvk.Kind)
}
