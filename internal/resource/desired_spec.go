package resource

import (
	"errors"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

// BuildDesiredSpec makes the desired spec of a Unit from its authored one, in which the templates are already replaced by
// values (chapter G, section 1.3). A nil source is a Unit without; resolvedInputs and materialization may be nil.
//
// The values come from other documents, so only here it shows whether they fit: faults come as document.Errors with
// pointers below /spec and without positions, since the nodes' own positions lie in those other documents.
func BuildDesiredSpec(kind string, authored *document.Node, source *Source, resolvedInputs, materialization *document.Node) (*document.Node, error) {
	shape := shapesOf(kind).desired
	out := document.NewMap()
	for _, f := range shape.fields {
		var value *document.Node
		switch f.name {
		case "source":
			value = source.Node()
		case "resolvedInputs":
			value = resolvedInputs
		case "materialization":
			value = materialization
		default:
			value = authored.Get(f.name)
		}
		if value == nil {
			if f.presence != optional {
				continue
			}
			value = document.NewNull()
		}
		out.Fields = append(out.Fields, document.F(f.name, value))
	}
	if err := checkShape("", "/spec", shape, out); err != nil {
		var faults document.Errors
		if errors.As(err, &faults) {
			for _, fault := range faults {
				fault.Line, fault.Column = 0, 0
			}
		}
		return nil, err
	}
	return complete(shape, out), nil
}

// A Fingerprint identifies a document that a reference was resolved from.
type Fingerprint struct {
	// Key says what was read: a Unit, UNIT/ARTIFACT, or UNIT#POINTER.
	Key string
	// Value is the blob id or the digest of the document.
	Value string
}

// ResolvedInputs are the fingerprints of a Unit's references, each list in first-resolved order (chapter B, section 5.3).
type ResolvedInputs struct {
	Promotions, Receipts, Artifacts, ImportedArtifacts []Fingerprint
	// ImportedArtifactEvidence holds one mapping per imported artifact.
	ImportedArtifactEvidence []document.Field
}

// Node returns the written form: null without fingerprints, else all five keys, null where there are none.
func (r ResolvedInputs) Node() *document.Node {
	empty := true
	texts := func(all []Fingerprint) *document.Node {
		if len(all) == 0 {
			return document.NewNull()
		}
		empty = false
		n := document.NewMap()
		for _, f := range all {
			n = n.With(f.Key, document.NewString(f.Value))
		}
		return n
	}
	evidence := document.NewNull()
	if len(r.ImportedArtifactEvidence) > 0 {
		empty, evidence = false, document.NewMap(r.ImportedArtifactEvidence...)
	}
	n := document.NewMap(
		document.F("promotions", texts(r.Promotions)),
		document.F("receipts", texts(r.Receipts)),
		document.F("artifacts", texts(r.Artifacts)),
		document.F("importedArtifacts", texts(r.ImportedArtifacts)),
		document.F("importedArtifactEvidence", evidence))
	if empty {
		return document.NewNull()
	}
	return n
}
