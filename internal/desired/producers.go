package desired

import (
	"errors"
	"fmt"
	"maps"
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
// adds what can never work but which apply takes as waiting or finds only when the producer is observed: a Unit that reads
// its own evidence, a pointer that no Receipt or artifact of the producer can ever hold, and all faults inside fallbacks.
func CheckReferences(u *resource.AuthoredUnit, known func(name string) (kind string, spec *document.Node, ok bool), strict bool) error {
	c := referenceChecker{unit: u, known: known, strict: strict}
	if err := expression.Walk("", u.Spec, c.visit); err != nil {
		var e *document.Error
		if errors.As(err, &e) {
			placed := *e
			placed.File = u.File
			err = &placed
		}
		c.faults = append(c.faults, err)
	}
	return errors.Join(c.faults...)
}

type referenceChecker struct {
	unit   *resource.AuthoredUnit
	known  func(name string) (kind string, spec *document.Node, ok bool)
	strict bool
	faults []error
}

// visit checks one reference; the error is one of parsing only.
func (c *referenceChecker) visit(r *expression.Reference) error {
	switch r.Kind {
	case expression.FromParameter:
		c.report(r, "", "fromParameter stands outside a StackTemplate", "only StackTemplates have parameters; write the value, or use another reference")
	case expression.FromReceipt, expression.FromArtifact:
		c.producer(r)
	}
	if !c.strict || r.Fallback == nil {
		return nil
	}
	return expression.Walk(r.At, r.Fallback, c.visit)
}

func (c *referenceChecker) producer(r *expression.Reference) {
	gvk := resource.GVK{APIVersion: r.APIVersion, Kind: r.ArtifactKind}
	if r.Kind == expression.FromArtifact && !isArtifact(gvk) {
		c.report(r, "kind", fmt.Sprintf("%s is no installed artifact type", gvk), "use ContainerImages or FrontendBundle of "+resource.ArtifactAPI)
		return
	}
	if c.strict && r.Unit == c.unit.Name {
		c.report(r, "", fmt.Sprintf("Unit %q reads its own evidence", r.Unit), "name another Unit; a Unit cannot wait for itself")
		return
	}
	kindName, spec, ok := c.known(r.Unit)
	if !ok {
		return
	}
	kind, _ := resource.UnitKindOf(kindName)
	if !kind.Reconciles(spec) {
		c.report(r, "unit", fmt.Sprintf("Unit %q is only published for external delivery: it never has a Receipt to read", r.Unit), "give it an observer, or read another Unit")
		return
	}
	if r.Kind == expression.FromArtifact && kind.Artifacts[r.Name] != gvk {
		c.report(r, "name", fmt.Sprintf("Unit %q (%s) makes no artifact %q of type %s", r.Unit, kindName, r.Name, gvk), artifactsOf(kind))
		return
	}
	if !c.strict {
		return
	}
	if r.Kind == expression.FromArtifact {
		c.pointer(r, checkArtifact(gvk, spec, r.Pointer), "")
		return
	}
	fix := ""
	if len(kind.Artifacts) > 0 {
		fix = artifactsOf(kind) + ", to be read with fromArtifact"
	}
	c.pointer(r, checkResult(kindName, spec, r.Pointer), fix)
}

// pointer reports a pointer that can never lead anywhere.
func (c *referenceChecker) pointer(r *expression.Reference, err error, fix string) {
	if err != nil {
		c.report(r, "pointer", fmt.Sprintf("%s can never be resolved: %s", r, err), fix)
	}
}

// report notes a fault at a field of the reference, or at the reference as a whole.
func (c *referenceChecker) report(r *expression.Reference, field, message, fix string) {
	e := &document.Error{File: c.unit.File, Pointer: "/spec" + r.At, Message: message, Fix: fix}
	below := "/" + string(r.Kind) + "/" + field
	if field == "" || r.Node.Path(string(r.Kind), field) == nil {
		below = ""
	}
	e.Pointer += below
	e.Line, e.Column = r.Node.Line, r.Node.Column
	if below != "" {
		e.Line, e.Column = r.Node.Locate(below)
	}
	c.faults = append(c.faults, e)
}

// checkResult checks a pointer into the result of a producer's Receipts: what its kind can leave, and what its spec says
// that it leaves.
func checkResult(kind string, spec *document.Node, pointer string) error {
	if err := resource.CheckResultPointer(kind, pointer); err != nil {
		return err
	}
	tokens, err := document.ParsePointer(pointer)
	if err != nil || len(tokens) == 0 {
		return err
	}
	switch kind {
	case "Terraform":
		if tokens[0] == "outputs" {
			return declared(pointer, tokens, spec.Path("terraform", "observeOutputs").Strs(), "the Unit does not observe this output; its observeOutputs are")
		}
	case "KubernetesManifests":
		result := "applied"
		if spec.Path("delivery", "mode").Str() == "external" {
			result = "observed"
		}
		if tokens[0] != result {
			return &document.PointerError{Pointer: pointer, Token: tokens[0], Reason: fmt.Sprintf("with its mode of delivery the Unit leaves %q", result)}
		}
	}
	return nil
}

// checkArtifact checks a pointer into an artifact of a producer.
func checkArtifact(gvk resource.GVK, spec *document.Node, pointer string) error {
	if err := resource.CheckArtifactPointer(gvk, pointer); err != nil {
		return err
	}
	tokens, err := document.ParsePointer(pointer)
	if err != nil || gvk.Kind != "ContainerImages" || len(tokens) == 0 || tokens[0] != "images" {
		return err
	}
	targets := map[string]bool{}
	if n := spec.Path("publish", "targets"); n != nil {
		for _, f := range n.Fields {
			targets[f.Key] = true
		}
	}
	return declared(pointer, tokens, slices.Sorted(maps.Keys(targets)), "the Unit has no such target; its targets are")
}

// declared checks that the second token is one of the names that the producer's spec lists.
func declared(pointer string, tokens, names []string, otherwise string) error {
	if len(tokens) < 2 || slices.Contains(names, tokens[1]) {
		return nil
	}
	return &document.PointerError{Pointer: pointer, Token: tokens[1], Index: 1, Reason: otherwise + " " + listed(names)}
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return fmt.Sprintf("%q", names)
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
