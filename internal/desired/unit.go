package desired

import (
	"context"
	"errors"
	"fmt"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/expression"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// unitInput is one document on its way through the build.
type unitInput struct {
	doc    *Document
	name   string
	source *resource.Source
	moved  bool // the source revision had to be refreshed without a change of inputs
	stage  stage
	waits  []*expression.Unavailable
	// blocked is a reason that has no reference: the kind changed, or an opaque root stands in the way.
	blocked   string
	fallbacks []*expression.Reference
	causes    []string
	err       error // of resolving it
}

type stage uint8

const (
	pending stage = iota
	resolving
	done
)

// prepare reads the authored spec and resolves the source (chapter B, section 4 step 3).
func (b *builder) prepare(ctx context.Context, in *unitInput) error {
	if b.State.OpaqueRoot(in.name) {
		in.blocked = "an opaque cleanup root has this name"
		return nil
	}
	current := b.State.Unit(in.name)
	if current != nil && current.Metadata.Deletion != nil {
		return in.fault("/metadata/name", fmt.Sprintf("Unit %q is being deleted", in.name), "wait until its deletion is finalized (run converge), then apply it again")
	}
	if current != nil && current.Kind != in.doc.Kind() {
		in.blocked = fmt.Sprintf("kind changes from %s to %s: the old Unit is deleted first", current.Kind, in.doc.Kind())
		return nil
	}
	if in.doc.Unit == nil {
		return nil
	}
	return b.resolveSource(ctx, in, current)
}

// resolveSource computes the input hash and decides which revision the Unit is pinned to (chapter B, 3.4).
func (b *builder) resolveSource(ctx context.Context, in *unitInput, current *observed.Unit) error {
	authored := in.doc.Unit.Source()
	if authored == nil {
		return nil
	}
	if b.SourceRevision == "" {
		return in.fault("/spec/source", "the Unit has a source, but no source revision is given to pin it to", "give --source-revision, for example HEAD")
	}
	hash, err := b.inputHash(ctx, in)
	if err != nil {
		return err
	}
	kind, _ := resource.UnitKindOf(in.doc.Unit.Kind)
	in.source = &resource.Source{Path: authored.Path, Revision: b.SourceRevision, DriverVersion: int64(kind.DriverVersion), InputHash: hash}
	if authored.HasInputs {
		in.source.Inputs = append([]string{}, authored.Inputs...) // an empty list is not nil
	}
	if current == nil || current.Source() == nil || current.Source().Revision == "" {
		return nil
	}
	prior := current.Source()
	if prior.InputHash != hash {
		in.causes = append(in.causes, "source inputs changed")
		return nil
	}
	usable, err := b.Usable(ctx, prior.Revision)
	if err != nil {
		return fmt.Errorf("Unit %s: is its source revision %s still in the history: %w", in.name, prior.Revision, err)
	}
	if usable {
		in.source.Revision = prior.Revision
		return nil
	}
	policy := b.Project.SourceRevisionPolicy
	action := policy.DuringApply
	if b.DryPlan {
		action = policy.DuringPlan
	}
	if action == resource.Refuse {
		return &SourceUnavailableError{Unit: in.name, Revision: prior.Revision}
	}
	in.moved = true
	in.causes = append(in.causes, "source revision refreshed")
	return nil
}

// producer is the candidate as references see it: a Unit of this apply once it is resolved, any other Unit as it is now.
// It resolves a producer on demand, so that the order of names does not matter; a cycle is left waiting.
func (b *builder) producer(name string) (*resource.Unit, string, bool) {
	in := b.inputs[name]
	if in == nil {
		u := b.State.Unit(name)
		if u == nil || u.Metadata.Deletion != nil {
			return nil, "", false
		}
		return u.Unit, u.Blob, true
	}
	// An error of the producer is reported when its own turn comes; here it only means that it is not there.
	if err := b.resolve(in); err != nil {
		return nil, "", false
	}
	u := b.candidate.units[name]
	if u == nil {
		return nil, "", false
	}
	return u.Unit, u.blob, true
}

// resolve fills in the references of one Unit and, when nothing waits, writes its document into the candidate. It does so
// once: asked again, it gives the same error.
func (b *builder) resolve(in *unitInput) error {
	if in.stage == pending {
		in.stage = resolving
		in.err = b.resolveOnce(in)
		in.stage = done
	}
	return in.err
}

func (b *builder) resolveOnce(in *unitInput) error {
	if in.blocked != "" {
		return nil
	}
	if in.doc.Unit == nil {
		return b.writeCanonical(in)
	}
	resolved := map[string]*document.Node{}
	var inputs expression.Inputs
	var lookup expression.Lookup = unitLookup{Evidence: b.lookup, promotion: b.Promotion, kind: in.doc.Kind()}
	if b.Foretold != nil {
		lookup = foretelling{lookup, b.Foretold}
	}
	for _, template := range in.doc.Unit.Templates() {
		result, err := expression.Resolve(template.Pointer, in.name, template.Node, lookup, b.Dry)
		if err != nil {
			if len(in.waits) > 0 {
				break
			}
			return in.locate(err)
		}
		in.waits = append(in.waits, result.Waits...)
		in.fallbacks = append(in.fallbacks, result.Fallbacks...)
		inputs.Merge(result.Inputs)
		if result.Value != nil {
			resolved[template.Pointer] = result.Value
		}
	}
	if len(in.waits) > 0 {
		return nil
	}
	spec := in.doc.Unit.Substitute(resolved)
	materialization, err := b.materialization(in, spec, inputs.Node())
	if err != nil {
		return err
	}
	desired, err := resource.BuildDesiredSpec(in.doc.Unit.Kind, spec, in.source, inputs.Node(), materialization)
	if err != nil {
		return in.typeFault(err)
	}
	return b.write(in, desired)
}

// materialization keeps the rendered payload of a Unit whose document did not change otherwise (chapter B, section 8). It
// renders nothing: a changed Unit of a materializing kind is an error until its driver is there.
func (b *builder) materialization(in *unitInput, spec, inputs *document.Node) (*document.Node, error) {
	kind, _ := resource.UnitKindOf(in.doc.Unit.Kind)
	if !kind.Materializes() {
		return nil, nil
	}
	if current := b.State.Unit(in.name); current != nil && !current.Spec.Get("materialization").IsNull() {
		payload := current.Spec.Get("materialization")
		same, err := resource.BuildDesiredSpec(kind.Kind, spec, in.source, inputs, payload)
		if err != nil {
			return nil, in.typeFault(err)
		}
		if document.Equal(same, current.Spec) {
			b.carryPayload(in.name)
			return payload, nil
		}
	}
	return nil, in.fault("/kind", "this version of gitopsctr does not render "+kind.Kind+" Units", "leave the Unit out of the documents of this apply")
}

// write puts the Unit's document into the candidate; an equal current document is carried as the bytes that are there.
func (b *builder) write(in *unitInput, spec *document.Node) error {
	current := b.State.Unit(in.name)
	metadata, err := b.metadata(in, current)
	if err != nil {
		return err
	}
	u, err := resource.NewUnit(in.doc.Kind(), metadata, spec)
	if err != nil {
		return in.locate(err)
	}
	path := resource.UnitPath(in.name, b.Project.WriteFormat)
	if current != nil && current.Path == path && document.Equal(current.Node(), u.Node()) {
		b.candidate.Files[path] = File{Blob: current.Blob}
		b.candidate.units[in.name] = &candidateUnit{Unit: current.Unit, path: path, blob: current.Blob}
		return nil
	}
	data, err := u.Encode(b.Project.WriteFormat)
	if err != nil {
		return fmt.Errorf("Unit %s: %w", in.name, err)
	}
	b.candidate.put(path, data)
	b.candidate.units[in.name] = &candidateUnit{Unit: u, path: path, blob: b.candidate.Files[path].Blob}
	in.causes = causes(in.causes, current, spec)
	return nil
}

// metadata is the identity of the Unit: the current one, or a new root's (chapter B, section 4 step 5 and section 7).
func (b *builder) metadata(in *unitInput, current *observed.Unit) (resource.Metadata, error) {
	if current != nil {
		m := current.Metadata
		if b.Partition == "" || m.Partition() == b.Partition {
			return m, nil
		}
		if m.Partition() != "" {
			return m, in.fault("/metadata/name", fmt.Sprintf("Unit %q belongs to partition %q, not %q", in.name, m.Partition(), b.Partition),
				"apply it with its own partition, or delete it there first")
		}
		return m.WithLabel(resource.PartitionLabel, b.Partition), nil
	}
	m := resource.Metadata{Name: in.doc.Name()}
	if in.doc.Unit == nil {
		m.UID = resource.DocumentUID(in.doc.Node)
	} else {
		m.UID = resource.UnitProvenance{Kind: in.doc.Kind(), Name: m.Name, Source: in.source, SourceRevision: b.SourceRevision,
			FinalizedUIDs: b.State.FinalizedUIDs(in.doc.Kind(), in.name)}.UID()
	}
	if b.Partition != "" {
		m = m.WithLabel(resource.PartitionLabel, b.Partition)
	}
	return m, nil
}

func (b *builder) writeCanonical(in *unitInput) error {
	u := in.doc.Canonical
	for _, forbidden := range []struct {
		present bool
		what    string
	}{{u.Metadata.Owner != nil, "an owner reference"}, {u.Metadata.Deletion != nil, "a deletion mark"}, {!u.Spec.Get("materialization").IsNull(), "spec.materialization"}} {
		if forbidden.present {
			return in.fault("", "a desired Unit given as input must not carry "+forbidden.what, "remove it")
		}
	}
	return b.write(in, u.Spec)
}

// fault is an error at a place of the Unit's document.
func (in *unitInput) fault(pointer, message, fix string) error {
	e := &document.Error{File: in.doc.File, Pointer: pointer, Message: message, Fix: fix}
	e.Line, e.Column = in.doc.position(pointer)
	return e
}

// locate gives an error of the Unit's spec the file and, where it is missing, the line.
func (in *unitInput) locate(err error) error {
	var e *document.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("Unit %s: %w", in.name, err)
	}
	placed := *e
	placed.File = in.doc.File
	if placed.Line == 0 {
		placed.Line, placed.Column = in.doc.position(placed.Pointer)
	}
	return &placed
}
