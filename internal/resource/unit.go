package resource

import (
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

// A Unit is a desired Unit: what a driver is to make true (chapter A, section 7).
type Unit struct {
	// File is where it was read from, "" for a new one.
	File     string
	Kind     string
	Metadata Metadata
	// Spec is complete and in written order; it holds values only, no references.
	Spec *document.Node
}

// DecodeUnit reads a desired Unit. All its faults come as document.Errors.
func DecodeUnit(file string, data []byte) (*Unit, error) {
	n, err := document.DecodeLenient(file, data)
	if err != nil {
		return nil, err
	}
	return UnitFromNode(file, n)
}

// UnitFromNode reads a desired Unit from a parsed document.
func UnitFromNode(file string, n *document.Node) (*Unit, error) {
	kind, err := kindOf(file, n, UnitAPI, UnitKinds())
	if err != nil {
		return nil, err
	}
	if err := checkShape(file, "", unitDocuments[kind].desired, n); err != nil {
		return nil, err
	}
	if err := checkMetadata(file, n.Get("metadata")); err != nil {
		return nil, err
	}
	return &Unit{
		File: file, Kind: kind, Metadata: metadataOf(n.Get("metadata")),
		Spec: complete(shapesOf(kind).desired, n.Get("spec")),
	}, nil
}

// NewUnit makes a desired Unit. The spec is one that BuildDesiredSpec returned, or that of another desired Unit.
func NewUnit(kind string, metadata Metadata, spec *document.Node) (*Unit, error) {
	u := &Unit{Kind: kind, Metadata: metadata, Spec: spec}
	return UnitFromNode("", u.Node())
}

// With returns a copy with other metadata, for example with a deletion mark.
func (u *Unit) With(metadata Metadata) *Unit {
	c := *u
	c.Metadata = metadata
	return &c
}

// GVK names the document type.
func (u *Unit) GVK() GVK { return GVK{UnitAPI, u.Kind} }

// Node returns the whole document in written order, "$schema" included.
func (u *Unit) Node() *document.Node {
	return document.NewMap(append(envelope(u.GVK(), Desired, u.Metadata.Node()), document.F("spec", u.Spec))...)
}

// Encode writes the document. Equal Units have equal bytes, and so equal blob ids.
func (u *Unit) Encode(f document.Format) ([]byte, error) { return document.Encode(f, u.Node()) }

// HasReferences tells whether the spec still holds a reference expression.
func (u *Unit) HasReferences() bool { return hasReferences(u.Spec) }

// Source returns the source of the Unit, nil for one without.
func (u *Unit) Source() *Source { return sourceOf(u.Spec.Get("source")) }

// ResolvedInputs returns the fingerprints of what references were resolved from: the five-key mapping, or a null node.
func (u *Unit) ResolvedInputs() *document.Node { return u.Spec.Get("resolvedInputs") }

// Producers returns the qualified names of the Units whose Receipts or artifacts the spec was resolved from, sorted
// (chapter B, section 9).
func (u *Unit) Producers() []string {
	var names []string
	inputs := u.ResolvedInputs()
	if r := inputs.Get("receipts"); !r.IsNull() {
		for _, f := range r.Fields {
			names = append(names, f.Key)
		}
	}
	if a := inputs.Get("artifacts"); !a.IsNull() {
		for _, f := range a.Fields {
			if i := strings.LastIndexByte(f.Key, '/'); i > 0 {
				names = append(names, f.Key[:i])
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// A Source is the exact source of a desired Unit.
type Source struct {
	// Path is the directory, as authored.
	Path string
	// Revision is the commit, 40 hexadecimal digits.
	Revision string
	// DriverVersion and InputHash are what the hash was made with; 0 and "" when they were not recorded.
	DriverVersion int64
	InputHash     string
	// Inputs are the authored globs; nil means the whole path, an empty list no files.
	Inputs []string
}

// Node returns the written form, null for nil.
func (s *Source) Node() *document.Node {
	if s == nil {
		return document.NewNull()
	}
	version, inputs := document.NewNull(), document.NewNull()
	if s.DriverVersion != 0 {
		version = document.NewInt(s.DriverVersion)
	}
	if s.Inputs != nil {
		inputs = document.NewStrings(s.Inputs)
	}
	return document.NewMap(
		document.F("path", document.NewString(s.Path)),
		document.F("revision", document.NewString(s.Revision)),
		document.F("driverVersion", version),
		document.F("inputHash", nullable(s.InputHash)),
		document.F("inputs", inputs))
}

func sourceOf(n *document.Node) *Source {
	if n.IsNull() {
		return nil
	}
	s := &Source{Path: n.Get("path").Str(), Revision: n.Get("revision").Str(), InputHash: n.Get("inputHash").Str(), Inputs: n.Get("inputs").Strs()}
	s.DriverVersion, _ = n.Get("driverVersion").Int64()
	return s
}

// unitDocuments are the shapes of whole Unit documents, by kind.
var unitDocuments = func() map[string]unitShapes {
	all := map[string]unitShapes{}
	for _, kind := range UnitKinds() {
		gvk, spec := GVK{UnitAPI, kind}, shapesOf(kind)
		all[kind] = unitShapes{
			authored: envelopeShape(gvk, spec.authored.doc, authoredMetadata(localName), need("spec", spec.authored, "What the Unit is.")),
			desired:  envelopeShape(gvk, spec.desired.doc, desiredMetadata(localName), need("spec", spec.desired, "What the Unit is, resolved.")),
			result:   receiptShape(gvk, spec.result),
		}
	}
	return all
}()
