package resource

import "github.com/gitopsctr/gitopsctr/internal/document"

// An OpaqueRoot keeps a desired Unit that cannot be read any more, so that what it stands for is not forgotten
// (chapters B 4 and D 7.6).
type OpaqueRoot struct {
	Metadata Metadata
	// Payload is the document as it was.
	Payload *document.Node
}

// DecodeOpaqueRoot reads an opaque cleanup root. All its faults come as document.Errors.
func DecodeOpaqueRoot(file string, data []byte) (*OpaqueRoot, error) {
	n, err := decodeControl(file, data, opaqueShape)
	if err != nil {
		return nil, err
	}
	if err := checkMetadata(file, n.Get("metadata")); err != nil {
		return nil, err
	}
	return &OpaqueRoot{metadataOf(n.Get("metadata")), n.Get("payload")}, nil
}

// Path returns where the root lies; it keeps the suffix of the document that it was.
func (o *OpaqueRoot) Path(suffix string) string { return CleanupPath + "/" + o.Metadata.Name + suffix }

func (o *OpaqueRoot) node(metadata Metadata) *document.Node {
	return document.NewMap(schemaOne, controlKind("OpaqueCleanupRoot"),
		document.F("metadata", metadata.Node()), document.F("payload", o.Payload))
}

// Encode writes the file in the format that its path asks for.
func (o *OpaqueRoot) Encode(f document.Format) ([]byte, error) {
	return document.Encode(f, o.node(o.Metadata))
}

// Digest returns the content digest for a deletion mark; an existing mark does not count.
func (o *OpaqueRoot) Digest() string {
	m := o.Metadata
	m.Deletion = nil
	return document.Digest(o.node(m))
}

var opaqueShape = object("", needSchemaOne,
	need("kind", oneOf("OpaqueCleanupRoot"), ""),
	need("metadata", desiredMetadata(localName), ""),
	need("payload", anyObject, ""))
