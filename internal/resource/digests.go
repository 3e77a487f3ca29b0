package resource

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

// The digests of chapter A, section 8. All are "sha256:" and 64 hexadecimal digits.

// ContentHash returns the digest of a file's bytes.
func ContentHash(data []byte) string { return "sha256:" + document.SHA256Hex(data) }

// ContentDigest returns the resource content digest of a written document, "$schema" included: what a deletion mark
// freezes. An existing mark does not count.
func ContentDigest(doc *document.Node) string {
	if metadata := doc.Get("metadata"); metadata.Has("deletion") {
		doc = doc.With("metadata", metadata.Without("deletion"))
	}
	return document.Digest(doc)
}

// BindingDigest returns the digest by which a Stack binds a Unit: its kind, local name and spec.
func (u *Unit) BindingDigest() string {
	return document.Digest(document.NewMap(
		document.F("apiVersion", document.NewString(UnitAPI)),
		document.F("kind", document.NewString(u.Kind)),
		document.F("name", document.NewString(u.Metadata.Name)),
		document.F("spec", u.Spec)))
}

// TemplateContentDigest returns contentDigest of a StackTemplate with these parameters and Unit templates. The order of
// parameters, templates and dependencies does not matter.
func TemplateContentDigest(parameters, unitTemplates *document.Node) string {
	sorted := document.NewList(slices.Clone(parameters.Items)...)
	slices.SortStableFunc(sorted.Items, func(a, b *document.Node) int { return cmp.Compare(a.Get("name").Str(), b.Get("name").Str()) })
	return document.Digest(document.NewMap(
		document.F("parameters", sorted),
		document.F("unitTemplates", withSortedDependencies(unitTemplates))))
}

// StructuralProjectionDigest returns projectionDigest of a Stack's structuralProjection.
func StructuralProjectionDigest(projection *document.Node) string {
	identity := projection.Get("identity").Without("projectionDigest")
	return document.Digest(identity.With("units", withSortedDependencies(projection.Get("units"))))
}

// ActiveProjectionDigest returns projectionDigest of a Stack's activeProjection.
func ActiveProjectionDigest(projection *document.Node) string {
	return document.Digest(projection.Without("projectionDigest").With("units", withSortedDependencies(projection.Get("units"))))
}

// ProjectionContextDigest returns the digest of a projection context record.
func ProjectionContextDigest(record *document.Node) string {
	return document.Digest(record.Without("digest"))
}

// withSortedDependencies sorts dependsOn of every entry; absent counts as empty.
func withSortedDependencies(units *document.Node) *document.Node {
	out := document.NewMap()
	if units == nil {
		return out
	}
	for _, f := range units.Fields {
		dependsOn := f.Value.Get("dependsOn").Strs()
		slices.Sort(dependsOn)
		out.Fields = append(out.Fields, document.F(f.Key, f.Value.With("dependsOn", document.NewStrings(dependsOn))))
	}
	return out
}

// An InputFile is one file of a Unit's inputs, of a payload or of a candidate.
type InputFile struct {
	// Path is relative and uses "/".
	Path string
	// Mode is "100644", "100755" or "120000". Candidates have no modes.
	Mode string
	// SHA256 is the hash of the content, 64 hexadecimal digits without prefix.
	SHA256 string
}

func (f InputFile) node() *document.Node {
	fields := []document.Field{document.F("path", document.NewString(f.Path))}
	if f.Mode != "" {
		fields = append(fields, document.F("mode", document.NewString(f.Mode)))
	}
	return document.NewMap(append(fields, document.F("contentHash", document.NewString(f.SHA256)))...)
}

// filesNode lists files; the order is part of digests.
func filesNode(files []InputFile, order func(a, b InputFile) int) *document.Node {
	n := document.NewList()
	for _, f := range slices.SortedStableFunc(slices.Values(files), order) {
		n.Items = append(n.Items, f.node())
	}
	return n
}

func byPath(a, b InputFile) int { return strings.Compare(a.Path, b.Path) }

// bySegments orders paths segment by segment: a/b before a-b.
func bySegments(a, b InputFile) int {
	return slices.Compare(strings.Split(a.Path, "/"), strings.Split(b.Path, "/"))
}

// MaterializationDigest returns the digest of a payload tree (chapter B, section 8).
func MaterializationDigest(files []InputFile) string {
	return document.Digest(document.NewMap(
		document.F("materializationHashVersion", document.NewInt(1)),
		document.F("files", filesNode(files, bySegments))))
}

// InputHash returns the identity of a Unit's authored spec and input files, "sha256:" and 64 hexadecimal digits, and the
// bytes that it is the hash of (chapter B, section 3.3). The spec is that of AuthoredUnit.Normal.
func InputHash(kind UnitKind, normal *document.Node, files []InputFile) (hash string, preimage []byte) {
	preimage = document.CanonicalJSON(document.NewMap(
		document.F("inputHashVersion", document.NewInt(1)),
		document.F("kind", document.NewString("unit")),
		document.F("driver", document.NewString(kind.Driver)),
		document.F("driverVersion", document.NewInt(int64(kind.DriverVersion))),
		document.F("specification", normal),
		document.F("files", filesNode(files, byPath))))
	return ContentHash(preimage), preimage
}

// A CandidateIdentity is what identifies a change under review (chapter F, section 2.3).
type CandidateIdentity struct {
	Operation, Environment string
	// TargetRef is the short desired ref, TargetRevision its head, "" when it does not exist.
	TargetRef, TargetRevision string
	Context                   *document.Node
	// Files are all files of the tree; their modes do not count.
	Files []InputFile
}

// ID returns the candidate id: 12 hexadecimal digits.
func (c CandidateIdentity) ID() string {
	files := make([]InputFile, len(c.Files))
	for i, f := range c.Files {
		files[i] = InputFile{Path: f.Path, SHA256: f.SHA256}
	}
	context := c.Context
	if context == nil {
		context = document.NewNull()
	}
	return document.SHA256Hex(document.CanonicalJSON(document.NewMap(
		document.F("candidateIdVersion", document.NewInt(1)),
		document.F("operation", document.NewString(c.Operation)),
		document.F("environment", document.NewString(c.Environment)),
		document.F("targetRef", document.NewString(c.TargetRef)),
		document.F("targetRevision", document.NewString(c.TargetRevision)),
		document.F("context", context),
		document.F("files", filesNode(files, byPath)))))[:12]
}
