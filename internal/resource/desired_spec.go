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
