package resource

import "github.com/gitopsctr/gitopsctr/internal/document"

// A Stack is a desired Stack: a set of Units made from a StackTemplate (chapter E, section 3). How the parts of its spec
// hang together is the business of the Stack projection, not of this package.
type Stack struct {
	// File is where it was read from, "" for a new one.
	File     string
	Metadata Metadata
	// Spec is complete and in written order.
	Spec *document.Node
}

// An AuthoredStack is a Stack as people write it.
type AuthoredStack struct {
	File, Name string
	// Spec is complete: defaults filled in.
	Spec *document.Node
}

var stackGVK = GVK{CoreAPI, "Stack"}

// DecodeStack reads a desired Stack. All its faults come as document.Errors.
func DecodeStack(file string, data []byte) (*Stack, error) {
	n, err := document.DecodeLenient(file, data)
	if err != nil {
		return nil, err
	}
	metadata, spec, err := desiredRoot(file, n, "Stack", stackShape)
	if err != nil {
		return nil, err
	}
	return &Stack{file, metadata, spec}, nil
}

// Node returns the whole document in written order, "$schema" included.
func (s *Stack) Node() *document.Node {
	return document.NewMap(append(envelope(stackGVK, Desired, s.Metadata.Node()), document.F("spec", s.Spec))...)
}

// Encode writes the document.
func (s *Stack) Encode(f document.Format) ([]byte, error) { return document.Encode(f, s.Node()) }

// DecodeAuthoredStack reads an authored Stack. All its faults come as document.Errors.
func DecodeAuthoredStack(file string, data []byte) (*AuthoredStack, error) {
	n, err := document.Decode(file, data)
	if err != nil {
		return nil, err
	}
	return AuthoredStackFromNode(file, n)
}

// AuthoredStackFromNode reads an authored Stack from a parsed document.
func AuthoredStackFromNode(file string, n *document.Node) (*AuthoredStack, error) {
	name, spec, err := authoredRoot(file, n, "Stack", authoredStackShape)
	if err != nil {
		return nil, err
	}
	return &AuthoredStack{file, name, spec}, nil
}

// Node returns the authored document in written order.
func (s *AuthoredStack) Node() *document.Node { return authoredNode(stackGVK, s.Name, s.Spec) }

// desiredRoot checks and completes a desired Stack or StackTemplate.
func desiredRoot(file string, n *document.Node, kind string, s *shape) (Metadata, *document.Node, error) {
	if _, err := kindOf(file, n, CoreAPI, []string{kind}); err != nil {
		return Metadata{}, nil, err
	}
	if err := checkShape(file, "", s, n); err != nil {
		return Metadata{}, nil, err
	}
	if err := checkMetadata(file, n.Get("metadata")); err != nil {
		return Metadata{}, nil, err
	}
	n = complete(s, n)
	return metadataOf(n.Get("metadata")), n.Get("spec"), nil
}

func authoredRoot(file string, n *document.Node, kind string, s *shape) (string, *document.Node, error) {
	if _, err := kindOf(file, n, CoreAPI, []string{kind}); err != nil {
		return "", nil, err
	}
	if err := checkShape(file, "", s, n); err != nil {
		return "", nil, err
	}
	n = complete(s, n)
	return n.Path("metadata", "name").Str(), n.Get("spec"), nil
}

func authoredNode(gvk GVK, name string, spec *document.Node) *document.Node {
	metadata := document.NewMap(document.F("name", document.NewString(name)))
	return document.NewMap(append(envelope(gvk, Authored, metadata), document.F("spec", spec))...)
}

var artifactImport = object("An artifact of the environment that is promoted from.",
	need("unit", text(identifier), "The Unit that the reference names."),
	need("name", text(identifier), "Name of the artifact."),
	need("apiVersion", text(apiVersion), "API version of the artifact."),
	need("kind", text(kindName), "Kind of the artifact."),
	need("fromPromotion", object("", need("stack", text(identifier), "The Stack of the source environment.")), "Where it comes from."))

var stackParts = []field{
	with("parameters", anyObject, document.NewMap(), "A value for each parameter of the template."),
	may("units", &shape{kind: listShape, elem: text(identifier), minItems: 1, unique: true}, "The Units of the template to make; null: all."),
	with("artifactImports", list(artifactImport), document.NewList(), "Artifacts to take from the promoted environment for Units that are not made here."),
}

var authoredStackShape = envelopeShape(stackGVK, "A set of Units made from a StackTemplate.", authoredMetadata(identifier),
	need("spec", object("", append([]field{need("template", text(identifier), "Name of the StackTemplate.")}, stackParts...)...), "The Stack."))

var stackShape = envelopeShape(stackGVK, "A set of Units made from a StackTemplate, as published.", desiredMetadata(identifier),
	need("spec", object("", append(append([]field{
		need("templateRef", object("The exact template.",
			need("name", text(identifier), "Name of the template."),
			need("uid", text(identifier), "UID of the template."),
			need("contentDigest", text(sha256Digest), "Content digest of the template.")), "The exact template.")},
		stackParts...),
		may("resolvedArtifactImports", table("", nil, importedArtifact), "Evidence of the imported artifacts, by UNIT/NAME."),
		need("structuralProjection", structuralProjection, "The Units as the template declares them."),
		may("activeProjection", activeProjection, "The desired Units that stand for them."))...), "The Stack."))

var importedArtifact = object("Evidence of an imported artifact.",
	need("sourceStack", text(identifier), "Stack of the source environment."),
	need("sourceStackUid", text(identifier), "UID of that Stack."),
	need("sourceUnit", text(identifier), "Local name of its Unit."),
	need("sourceUnitUid", text(identifier), "UID of that Unit."),
	need("sourceDesiredRevision", text(objectID), "Desired commit of the source environment."),
	need("sourceObservedRevision", text(objectID), "Observed commit of the source environment."),
	need("receiptUnitBlob", text(objectID), "Blob id in the Receipt of that Unit."),
	need("artifactName", text(identifier), "Name of the artifact."),
	need("apiVersion", text(apiVersion), "API version of the artifact."),
	need("kind", text(kindName), "Kind of the artifact."),
	need("artifactDigest", text(anyDigest), "Digest of the artifact's file."),
	need("targetStackUid", text(identifier), "UID of this Stack."),
	need("artifactDocument", anyObject, "The artifact."))

var structuralProjection = object("The Units as the template declares them.",
	need("identity", object("",
		need("stackUid", text(identifier), "UID of this Stack."),
		need("templateUid", text(identifier), "UID of the template."),
		need("templateContentDigest", text(sha256Digest), "Content digest of the template."),
		need("projectionContextDigest", text(sha256Digest), "Digest of the projection context."),
		need("projectionDigest", text(sha256Digest), "Digest of this projection.")), "What the projection was made from."),
	need("units", table("Units by local name.", identifier, object("",
		need("apiVersion", text(apiVersion), "API version of the Unit."),
		need("kind", text(kindName), "Kind of the Unit."),
		need("spec", anyObject, "Spec of the Unit; parameters are replaced, other references are not."),
		with("dependsOn", list(text(identifier)), document.NewList(), "Units that come first."))), "Units by local name."))

var activeProjection = object("The desired Units that stand for the declared ones.",
	need("sourceProjectionDigest", text(sha256Digest), "Digest of the structural projection."),
	need("projectionContextDigest", text(sha256Digest), "Digest of the projection context."),
	need("units", table("Bindings by local name.", identifier, object("",
		need("apiVersion", text(apiVersion), "API version of the Unit."),
		need("kind", text(kindName), "Kind of the Unit."),
		need("name", text(identifier), "Local name of the Unit."),
		need("uid", text(identifier), "UID of the Unit."),
		need("desiredDigest", text(sha256Digest), "Binding digest of the desired Unit."),
		need("sourceProjectionDigest", text(sha256Digest), "Digest of the structural projection that it was made from."),
		need("projectionContextDigest", text(sha256Digest), "Digest of the projection context that it was made in."),
		with("dependsOn", list(text(identifier)), document.NewList(), "Units that come first."))), "Bindings by local name."),
	need("projectionDigest", text(sha256Digest), "Digest of this projection."))
