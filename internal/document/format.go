package document

import (
	"fmt"
	"path"
	"strings"
)

// Format is the written form of a document. A document's format follows from its path (FormatOf), never from its bytes.
type Format string

// The two written forms.
const (
	YAML Format = "yaml"
	JSON Format = "json"
)

// FormatOf returns the format of a file by its suffix: ".json" in any case is JSON, anything else YAML (chapter A 2).
func FormatOf(file string) Format {
	if strings.EqualFold(path.Ext(file), ".json") {
		return JSON
	}
	return YAML
}

// Suffix returns the file suffix under which the format is written, ".yaml" or ".json".
func (f Format) Suffix() string {
	if f == JSON {
		return ".json"
	}
	return ".yaml"
}

// Encode writes n in format f, with the trailing line feed. It fails for what could not be read back: n is no mapping, holds
// a number that is not finite, or has a $schema with a line break or another control character, which the YAML form would
// put raw into a comment (chapter A 3).
func Encode(f Format, n *Node) ([]byte, error) {
	if n == nil || n.Kind != Map {
		return nil, &Error{Message: "a document must be a mapping"}
	}
	if schema := n.Get(schemaKey); schema != nil && schema.Kind == String {
		if i := strings.IndexFunc(schema.Text, isControl); i >= 0 {
			return nil, &Error{
				Line: schema.Line, Column: schema.Column, Pointer: "/" + schemaKey,
				Message: "$schema holds a line break or control character",
				Fix:     "write the plain URL of the schema",
			}
		}
	}
	var t trail
	if !t.finite(n) {
		return nil, &Error{Pointer: t.pointer(), Message: "a number must be finite"}
	}
	switch f {
	case JSON:
		return EncodeJSON(n), nil
	case YAML:
		return EncodeYAML(n), nil
	}
	return nil, fmt.Errorf("unknown document format %q", string(f))
}

// finite tells whether all numbers of n are finite; if not, t leads to one that is not.
func (t *trail) finite(n *Node) bool {
	if n == nil {
		return true
	}
	for i, item := range n.Items {
		t.pushIndex(i)
		if !t.finite(item) {
			return false
		}
		t.pop()
	}
	for _, f := range n.Fields {
		t.pushKey(f.Key)
		if !t.finite(f.Value) {
			return false
		}
		t.pop()
	}
	return n.Kind != Float || isFinite(n.Float)
}

// isControl tells whether r may not stand in the schema comment: C0, DEL, C1 and the Unicode line separators.
func isControl(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' || r == '\ufeff' || r == 0xfffe || r == 0xffff
}
