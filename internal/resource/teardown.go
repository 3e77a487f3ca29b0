package resource

import (
	"fmt"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

// A TeardownEvidence records on the observed ref that a Unit was torn down (chapter D, section 7.4).
type TeardownEvidence struct {
	Name, QualifiedName, UID string
	DeletionGeneration       int64
	// DesiredRevision is the desired commit that the teardown worked on.
	DesiredRevision string
	// EffectLeaseRef is the branch of the lease that the teardown held, "" for none.
	EffectLeaseRef string
	// Details are the driver's; never nil after decoding.
	Details *document.Node
}

// DecodeTeardownEvidence reads teardown evidence. All its faults come as document.Errors.
func DecodeTeardownEvidence(file string, data []byte) (*TeardownEvidence, error) {
	n, err := decodeControl(file, data, teardownShape)
	if err != nil {
		return nil, err
	}
	if err := checkLocalName(file, n, "unitName"); err != nil {
		return nil, err
	}
	generation, _ := n.Get("deletionGeneration").Int64()
	return &TeardownEvidence{
		Name: n.Get("unitName").Str(), QualifiedName: n.Get("qualifiedName").Str(), UID: n.Get("uid").Str(),
		DeletionGeneration: generation, DesiredRevision: n.Get("desiredRevision").Str(),
		EffectLeaseRef: n.Get("effectLeaseRef").Str(), Details: n.Get("details"),
	}, nil
}

// Path returns where the evidence lies.
func (e *TeardownEvidence) Path() string {
	return fmt.Sprintf("%s/%s/%s.%d.json", TeardownsPath, e.QualifiedName, e.UID, e.DeletionGeneration)
}

// Encode writes the file.
func (e *TeardownEvidence) Encode() ([]byte, error) {
	details := e.Details
	if details.IsNull() {
		details = document.NewMap()
	}
	return encodeControl(schemaOne, controlKind("UnitTeardownEvidence"),
		document.F("unitName", document.NewString(e.Name)),
		document.F("qualifiedName", document.NewString(e.QualifiedName)),
		document.F("uid", document.NewString(e.UID)),
		document.F("deletionGeneration", document.NewInt(e.DeletionGeneration)),
		document.F("desiredRevision", document.NewString(e.DesiredRevision)),
		document.F("effectLeaseRef", nullable(e.EffectLeaseRef)),
		document.F("details", details))
}

var teardownShape = object("", needSchemaOne,
	need("kind", oneOf("UnitTeardownEvidence"), ""),
	need("unitName", text(localName), ""),
	need("qualifiedName", text(qualifiedName), ""),
	need("uid", text(identifier), ""),
	need("deletionGeneration", integer(0, 1), ""),
	need("desiredRevision", text(objectID), ""),
	need("effectLeaseRef", orNull(text(nonEmpty)), ""),
	with("details", anyObject, document.NewMap(), ""))
