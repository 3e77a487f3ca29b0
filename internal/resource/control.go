package resource

import "github.com/gitopsctr/gitopsctr/internal/document"

// Control files are the hidden records of the controller: {schema: 1, kind, …}. They are written as JSON whatever the
// Project's format, opaque cleanup roots excepted (chapter A, section 6).

// decodeControl reads, checks and completes a control file.
func decodeControl(file string, data []byte, s *shape) (*document.Node, error) {
	n, err := document.DecodeLenient(file, data)
	if err != nil {
		return nil, err
	}
	if err := checkShape(file, "", s, n); err != nil {
		return nil, err
	}
	return complete(s, n), nil
}

// encodeControl writes a control file.
func encodeControl(fields ...document.Field) ([]byte, error) {
	return document.Encode(document.JSON, document.NewMap(fields...))
}

var (
	schemaOne     = document.F("schema", document.NewInt(1))
	needSchemaOne = need("schema", integer(1, 0), "")
)

func controlKind(kind string) document.Field { return document.F("kind", document.NewString(kind)) }
