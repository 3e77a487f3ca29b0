package resource

import (
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

// A UnitProvenance is what the UID of a new root Unit is made from (chapter A, section 8).
type UnitProvenance struct {
	Kind, Name string
	// Source is the desired source, nil for a Unit without.
	Source *Source
	// SourceRevision is the applied commit, "" for none.
	SourceRevision string
	// FinalizedUIDs are those of the tombstones of the same kind and qualified name, in any order.
	FinalizedUIDs []string
}

// UID returns the UID of the new Unit.
func (p UnitProvenance) UID() string {
	return document.UID(canonical(
		document.F("apiVersion", document.NewString(UnitAPI)),
		document.F("kind", document.NewString(p.Kind)),
		document.F("name", document.NewString(p.Name)),
		document.F("source", p.Source.Node()),
		document.F("sourceRevision", nullable(p.SourceRevision)),
		document.F("finalizedUids", document.NewStrings(sortedSet(p.FinalizedUIDs)))))
}

// RootUID returns the UID of a new Stack or StackTemplate. finalized are the UIDs of its earlier incarnations.
func RootUID(kind, name, sourceRevision string, finalized []string) string {
	provenance := canonical(
		document.F("apiVersion", document.NewString(CoreAPI)),
		document.F("kind", document.NewString(kind)),
		document.F("name", document.NewString(name)),
		document.F("sourceRevision", nullable(sourceRevision)))
	if len(finalized) > 0 {
		provenance += "\x00reincarnations:" + strings.Join(sortedSet(finalized), "\x00")
	}
	return document.UID(provenance)
}

// OwnedUID returns the UID of a Unit that a Stack owns. It depends neither on its kind nor on its source.
func OwnedUID(name, stack, stackUID string) string {
	return document.UID(canonical(
		document.F("apiVersion", document.NewString(UnitAPI)),
		document.F("kind", document.NewString("generated")),
		document.F("name", document.NewString(name)),
		document.F("stack", document.NewString(stack)),
		document.F("stackUid", document.NewString(stackUID))))
}

// DocumentUID returns the UID of a Unit that was given to apply in desired form.
func DocumentUID(doc *document.Node) string {
	return document.UID(document.SHA256Hex(document.CanonicalJSON(doc)))
}

// OpaqueUID returns the UID of a document that cannot be read, and has no valid metadata of its own.
func OpaqueUID(name, sourceRevision string, payload *document.Node) string {
	return document.UID(canonical(
		document.F("name", document.NewString(name)),
		document.F("sourceRevision", nullable(sourceRevision)),
		document.F("payload", payload)))
}

func canonical(fields ...document.Field) string {
	return string(document.CanonicalJSON(document.NewMap(fields...)))
}

func sortedSet(all []string) []string {
	sorted := slices.Clone(all)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}
