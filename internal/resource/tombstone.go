package resource

import (
	"fmt"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

// A Tombstone records a finalized resource on the desired ref, for ever: its UID never comes back (chapter D, 7.5).
type Tombstone struct {
	GVK                      GVK
	Name, QualifiedName, UID string
	DeletionGeneration       int64
	// Partition is that of the managing root, "" for none.
	Partition string
	// EffectLeaseRef is the branch of the lease that the teardown held, "" for none.
	EffectLeaseRef string
}

// DecodeTombstone reads a tombstone. All its faults come as document.Errors.
func DecodeTombstone(file string, data []byte) (*Tombstone, error) {
	n, err := decodeControl(file, data, tombstoneShape)
	if err != nil {
		return nil, err
	}
	if err := checkLocalName(file, n, "name", "resource"); err != nil {
		return nil, err
	}
	r := n.Get("resource")
	generation, _ := r.Get("deletionGeneration").Int64()
	return &Tombstone{
		GVK:  GVK{r.Get("apiVersion").Str(), r.Get("kind").Str()},
		Name: r.Get("name").Str(), QualifiedName: r.Get("qualifiedName").Str(), UID: r.Get("uid").Str(),
		DeletionGeneration: generation, Partition: r.Get("partition").Str(), EffectLeaseRef: r.Get("effectLeaseRef").Str(),
	}, nil
}

// Path returns where the tombstone lies.
func (t *Tombstone) Path() string {
	return fmt.Sprintf("%s/%s/%s/%s.json", TombstonesPath, t.GVK, t.QualifiedName, t.UID)
}

// Encode writes the file.
func (t *Tombstone) Encode() ([]byte, error) {
	resource := document.NewMap(
		document.F("apiVersion", document.NewString(t.GVK.APIVersion)),
		document.F("kind", document.NewString(t.GVK.Kind)),
		document.F("name", document.NewString(t.Name)),
		document.F("uid", document.NewString(t.UID)),
		document.F("deletionGeneration", document.NewInt(t.DeletionGeneration)),
		document.F("qualifiedName", document.NewString(t.QualifiedName)),
		document.F("effectLeaseRef", nullable(t.EffectLeaseRef)))
	if t.Partition != "" {
		resource.Fields = append(resource.Fields, document.F("partition", document.NewString(t.Partition)))
	}
	return encodeControl(schemaOne, controlKind("ResourceIncarnationTombstone"), document.F("resource", resource))
}

var tombstoneShape = object("", needSchemaOne,
	need("kind", oneOf("ResourceIncarnationTombstone"), ""),
	need("resource", object("",
		need("apiVersion", text(nonEmpty), ""),
		need("kind", text(nonEmpty), ""),
		need("name", text(localName), ""),
		need("uid", text(identifier), ""),
		need("deletionGeneration", integer(0, 1), ""),
		need("qualifiedName", text(qualifiedName), ""),
		leave("partition", orNull(text(identifier)), ""),
		need("effectLeaseRef", orNull(text(nonEmpty)), "")), ""))
