package desired

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/expression"
)

// typeFault explains that resolved values do not fit the contract of the Unit's desired document. A value that came
// through a reference is wrong at two ends, and the error names both: the place of the reference in the authored document,
// and the place in the other document that the value was read from.
func (in *unitInput) typeFault(err error) error {
	var all document.Errors
	if !errors.As(err, &all) {
		return in.locate(err)
	}
	references := in.references()
	var out document.Errors
	for _, e := range all {
		placed := *e
		placed.File = in.doc.File
		placed.Line, placed.Column = in.doc.position(e.Pointer)
		if r, below := covering(references, e.Pointer); r != nil {
			placed.Message = fmt.Sprintf("%s: the value is %s", e.Message, in.origin(r, below))
			placed.Fix = "change what stands there, or read another value"
		}
		out = append(out, &placed)
	}
	return out
}

// references are the outer references of the Unit, in document order.
func (in *unitInput) references() []*expression.Reference {
	var all []*expression.Reference
	for _, template := range in.doc.Unit.Templates() {
		_ = expression.Walk(template.Pointer, template.Node, func(r *expression.Reference) error { // parsed before
			all = append(all, r)
			return nil
		})
	}
	return all
}

// covering finds the reference that the value at pointer came through, and the rest of the pointer inside of that value.
func covering(references []*expression.Reference, pointer string) (r *expression.Reference, below string) {
	for _, r := range references {
		if below, ok := strings.CutPrefix(pointer, "/spec"+r.At); ok && (below == "" || below[0] == '/') {
			return r, below
		}
	}
	return nil, ""
}

// origin says where the value at a reference came from.
func (in *unitInput) origin(r *expression.Reference, below string) string {
	for _, fallback := range in.fallbacks {
		if fallback.At == r.At {
			return fmt.Sprintf("the dryFallback of %s", r)
		}
	}
	return r.Origin(in.name, below)
}
