package resource

import (
	"cmp"
	"fmt"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/schemas"
)

// CheckSchema checks a document against the published JSON Schema of its type and profile, which is what editors check it
// against. The decoders check the same rules by the shapes that the schemas are generated from, with better words; this
// check is for validate, where nothing may slip through. The faults come as document.Errors.
func CheckSchema(file string, n *document.Node, p Profile) error {
	name := GVK{n.Get("apiVersion").Str(), n.Get("kind").Str()}.String()
	if p != NoProfile {
		name += "/" + string(p)
	}
	violations, err := schemas.Validate(name, n.Any())
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	var faults document.Errors
	for _, v := range violations {
		line, column := n.Locate(v.Pointer)
		faults = append(faults, &document.Error{File: file, Line: line, Column: column, Pointer: v.Pointer, Message: cmp.Or(v.Message, "breaks the schema")})
	}
	if len(faults) == 0 {
		return nil
	}
	return faults
}
