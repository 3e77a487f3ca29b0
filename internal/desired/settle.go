package desired

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// settle records what became of one Unit: resolved, or waiting with its previous document kept (chapter B, section 6).
func (b *builder) settle(in *unitInput) error {
	current := b.State.Unit(in.name)
	for _, w := range in.waits {
		w.Hint = b.hint(in, w)
	}
	d := Decision{Unit: in.name, Document: in.doc, Waits: in.waits, Fallbacks: in.fallbacks, Causes: in.causes}
	switch {
	case in.blocked != "":
		d.Disposition, d.Reason = Retained, in.blocked
		if current != nil {
			if current.Kind != in.doc.Kind() && current.Metadata.Deletion == nil {
				if err := b.markDeleted(current); err != nil {
					return err
				}
				d.Disposition = Marked
			} else {
				b.candidate.Files[current.Path] = File{Blob: current.Blob}
			}
			b.carryPayload(in.name)
		} else {
			d.Disposition = Omitted
		}
	case len(in.waits) == 0:
		d.Disposition = Resolved
	case current == nil:
		d.Disposition, d.Reason = Omitted, b.reason(in)
	default:
		d.Disposition, d.Reason = Retained, b.reason(in)
		spec := current.Spec
		if in.moved && carriesForward(current, in) {
			d.Disposition = CarriedForward
			spec = spec.With("source", in.source.Node())
		}
		if err := b.write(in, spec); err != nil {
			return err
		}
		delete(b.candidate.units, in.name)
		b.carryPayload(in.name)
	}
	if d.Reason != "" {
		b.candidate.Blocks[in.name] = d.Reason
	}
	path := resource.UnitPath(in.name, b.Project.WriteFormat)
	if f, ok := b.candidate.Files[path]; ok {
		d.Changed = current == nil || current.Path != path || current.Blob != f.Blob
	}
	b.candidate.Decisions = append(b.candidate.Decisions, d)
	return nil
}

// carriesForward tells whether the old document may move to the new source revision while the Unit waits: its source is
// the same but for the revision, and the old document holds no reference.
func carriesForward(current *observed.Unit, in *unitInput) bool {
	old := current.Source()
	return old != nil && in.source != nil && old.Path == in.source.Path && (old.Inputs == nil) == (in.source.Inputs == nil) && slices.Equal(old.Inputs, in.source.Inputs) &&
		old.InputHash == in.source.InputHash && old.DriverVersion == in.source.DriverVersion && !current.HasReferences()
}

// markDeleted writes the Unit as it is now with a deletion mark (chapter D, 7.1).
func (b *builder) markDeleted(u *observed.Unit) error {
	m := u.Metadata
	m.Deletion = &resource.Deletion{Generation: 1, ResourceDigest: resource.ContentDigest(u.Node())}
	data, err := u.With(m).Encode(document.FormatOf(u.Path))
	if err != nil {
		return fmt.Errorf("mark Unit %s for deletion: %w", u.Name, err)
	}
	b.candidate.put(u.Path, data)
	return nil
}

// causes says what differs between the current document and the new spec, for people (chapter H, section 6).
func causes(known []string, current *observed.Unit, spec *document.Node) []string {
	if current == nil {
		return append(known, "new Unit")
	}
	if changed := changedKeys(current.Spec.Path("resolvedInputs", "receipts"), spec.Path("resolvedInputs", "receipts")); len(changed) > 0 {
		known = append(known, "upstream observations changed: "+strings.Join(changed, ", "))
	}
	if changed := changedKeys(current.Spec.Path("resolvedInputs", "artifacts"), spec.Path("resolvedInputs", "artifacts")); len(changed) > 0 {
		known = append(known, "upstream artifacts changed: "+strings.Join(changed, ", "))
	}
	if !document.Equal(strip(current.Spec), strip(spec)) {
		if document.Equal(current.ResolvedInputs(), spec.Get("resolvedInputs")) {
			// What was read is the same, so the author changed the spec, which is in the input hash: that says nothing of files.
			known = slices.DeleteFunc(known, func(cause string) bool { return cause == "source inputs changed" })
		}
		known = append(known, "unit specification changed")
	}
	if len(known) == 0 {
		known = append(known, "desired unit content changed")
	}
	return known
}

func strip(spec *document.Node) *document.Node {
	return spec.Without("source").Without("resolvedInputs")
}

// changedKeys are the keys whose value differs between two mappings, sorted.
func changedKeys(a, b *document.Node) []string {
	var out []string
	for _, pair := range [][2]*document.Node{{a, b}, {b, a}} {
		if pair[0] == nil {
			continue
		}
		for _, f := range pair[0].Fields {
			if !document.Equal(f.Value, pair[1].Get(f.Key)) && !slices.Contains(out, f.Key) {
				out = append(out, f.Key)
			}
		}
	}
	slices.Sort(out)
	return out
}
