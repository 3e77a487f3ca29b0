package resource

import (
	"fmt"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

// An Artifact is a document that a Unit publishes beside its Receipt (chapter A, section 7).
type Artifact struct {
	// File is where it was read from, "" for a new one.
	File string
	// Kind is ContainerImages or FrontendBundle.
	Kind string
	// Name is the local name: containers, frontend.
	Name     string
	Producer Producer
	// Payload is a mapping of the members that follow producer, in written order.
	Payload *document.Node
}

// A Producer is the Unit, and the exact source of it, that an artifact came from.
type Producer struct {
	Kind                string
	Name, QualifiedName string
	DriverVersion       int64
	SourceRevision      string
	InputHash           string
}

// ProducerOf returns the Producer that artifacts of the Unit must name. A Unit without source produces none.
func ProducerOf(u *Unit, qualified string) (Producer, error) {
	source := u.Source()
	if source == nil {
		return Producer{}, fmt.Errorf("the Unit %s has no source and so cannot publish artifacts", qualified)
	}
	return Producer{u.Kind, u.Metadata.Name, qualified, source.DriverVersion, source.Revision, source.InputHash}, nil
}

func (p Producer) node() *document.Node {
	return document.NewMap(
		document.F("apiVersion", document.NewString(UnitAPI)),
		document.F("kind", document.NewString(p.Kind)),
		document.F("name", document.NewString(p.Name)),
		document.F("qualifiedName", document.NewString(p.QualifiedName)),
		document.F("driverVersion", document.NewInt(p.DriverVersion)),
		document.F("sourceRevision", document.NewString(p.SourceRevision)),
		document.F("inputHashVersion", document.NewInt(1)),
		document.F("inputHash", document.NewString(p.InputHash)))
}

// ArtifactKinds lists the kinds of artifacts in code point order.
func ArtifactKinds() []string { return []string{"ContainerImages", "FrontendBundle"} }

// DecodeArtifact reads an artifact document. All its faults come as document.Errors.
func DecodeArtifact(file string, data []byte) (*Artifact, error) {
	n, err := document.DecodeLenient(file, data)
	if err != nil {
		return nil, err
	}
	return artifactFromNode(file, n)
}

func artifactFromNode(file string, n *document.Node) (*Artifact, error) {
	kind, err := kindOf(file, n, ArtifactAPI, ArtifactKinds())
	if err != nil {
		return nil, err
	}
	shape := artifactShapes[kind]
	if err := checkShape(file, "", shape, n); err != nil {
		return nil, err
	}
	if err := checkLocalName(file, n, "name", "producer"); err != nil {
		return nil, err
	}
	n = complete(shape, n)
	p := n.Get("producer")
	version, _ := p.Get("driverVersion").Int64()
	a := &Artifact{
		File: file, Kind: kind, Name: n.Path("metadata", "name").Str(),
		Producer: Producer{
			Kind: p.Get("kind").Str(), Name: p.Get("name").Str(), QualifiedName: p.Get("qualifiedName").Str(),
			DriverVersion: version, SourceRevision: p.Get("sourceRevision").Str(), InputHash: p.Get("inputHash").Str(),
		},
		Payload: document.NewMap(),
	}
	for _, f := range n.Fields {
		switch f.Key {
		case schemaKey, "apiVersion", "kind", "metadata", "producer":
		default:
			a.Payload.Fields = append(a.Payload.Fields, f)
		}
	}
	return a, nil
}

// NewArtifact makes an artifact document from what a driver returned.
func NewArtifact(gvk GVK, name string, producer Producer, payload *document.Node) (*Artifact, error) {
	if gvk.APIVersion != ArtifactAPI {
		return nil, fmt.Errorf("%s is no artifact", gvk)
	}
	a := &Artifact{Kind: gvk.Kind, Name: name, Producer: producer, Payload: payload}
	return artifactFromNode("", a.Node())
}

// GVK names the document type.
func (a *Artifact) GVK() GVK { return GVK{ArtifactAPI, a.Kind} }

// Node returns the whole document in written order, "$schema" included.
func (a *Artifact) Node() *document.Node {
	return document.NewMap(append([]document.Field{
		document.F(schemaKey, document.NewString(SchemaURL(a.GVK(), NoProfile)))}, a.ReferenceValue().Fields...)...)
}

// ReferenceValue is the value that fromArtifact points into: the document without "$schema".
func (a *Artifact) ReferenceValue() *document.Node {
	n := document.NewMap(envelope(a.GVK(), NoProfile, document.NewMap(document.F("name", document.NewString(a.Name))))[1:]...)
	n.Fields = append(n.Fields, document.F("producer", a.Producer.node()))
	if a.Payload != nil {
		n.Fields = append(n.Fields, a.Payload.Fields...)
	}
	return n
}

// Encode writes the document.
func (a *Artifact) Encode(f document.Format) ([]byte, error) { return document.Encode(f, a.Node()) }

// An ArtifactDescriptor is what a Receipt says about an artifact.
type ArtifactDescriptor struct {
	// Name is the key in status.artifacts.
	Name string
	GVK  GVK
	// Path is relative to the root of the observed tree.
	Path string
	// Digest is "sha256:" and the hash of the file's bytes.
	Digest    string
	MediaType string
}

// Describe returns the descriptor of an artifact and the bytes of its file.
func (a *Artifact) Describe(f document.Format) (ArtifactDescriptor, []byte, error) {
	data, err := a.Encode(f)
	if err != nil {
		return ArtifactDescriptor{}, nil, err
	}
	path := ArtifactPath(a.Producer.QualifiedName, a.Name, f)
	return ArtifactDescriptor{a.Name, a.GVK(), path, ContentHash(data), MediaType(a.Kind, path)}, data, nil
}

// MediaType returns the media type of an artifact file: a .yml file counts as YAML.
func MediaType(kind, path string) string {
	base := map[string]string{
		"ContainerImages": "application/vnd.gitopsctr.container-images.v1",
		"FrontendBundle":  "application/vnd.gitopsctr.frontend-bundle.v1",
	}[kind]
	if document.FormatOf(path) == document.JSON {
		return base + "+json"
	}
	return base + "+yaml"
}

func descriptorsOf(n *document.Node) []ArtifactDescriptor {
	if n.IsNull() {
		return nil
	}
	var all []ArtifactDescriptor
	for _, f := range n.Fields {
		v := f.Value
		all = append(all, ArtifactDescriptor{
			f.Key, GVK{v.Get("apiVersion").Str(), v.Get("kind").Str()}, v.Get("path").Str(), v.Get("digest").Str(), v.Get("mediaType").Str(),
		})
	}
	return all
}

func descriptorsNode(all []ArtifactDescriptor) *document.Node {
	n := document.NewMap()
	for _, a := range all {
		n.Fields = append(n.Fields, document.F(a.Name, document.NewMap(
			document.F("apiVersion", document.NewString(a.GVK.APIVersion)),
			document.F("kind", document.NewString(a.GVK.Kind)),
			document.F("path", document.NewString(a.Path)),
			document.F("digest", document.NewString(a.Digest)),
			document.F("mediaType", document.NewString(a.MediaType)))))
	}
	return n
}

var descriptorShape = object("Where an artifact is.",
	need("apiVersion", text(nonEmpty), "API version of the artifact."),
	need("kind", text(kindName), "Kind of the artifact."),
	need("path", text(portablePath), "Path in the observed tree."),
	need("digest", text(sha256Digest), "Digest of the file's bytes."),
	need("mediaType", anyText, "Media type of the file."))

func descriptorOf(gvk GVK) *shape {
	s := *descriptorShape
	s.fields = append([]field(nil), s.fields...)
	s.fields[0].shape, s.fields[1].shape = oneOf(gvk.APIVersion), oneOf(gvk.Kind)
	return &s
}

var producerShape = object("The Unit, and the exact source of it, that published the artifact.",
	need("apiVersion", oneOf(UnitAPI), "API version of the Unit."),
	need("kind", text(kindName), "Kind of the Unit."),
	need("name", text(localName), "Local name of the Unit."),
	need("qualifiedName", text(qualifiedName), "NAME, or STACK/NAME."),
	need("driverVersion", anyInteger, "Version of the driver's behaviour."),
	need("sourceRevision", text(objectID), "Commit of the source."),
	need("inputHashVersion", integer(1, 0), "Version of the input hash."),
	need("inputHash", text(sha256Digest), "Input hash of the Unit."))

var artifactShapes = map[string]*shape{
	"ContainerImages": artifactShape("ContainerImages", "Images that an OciImages Unit published.",
		need("images", table("Images by target.", nil, object("", need("uri", anyText, "The image, by digest."))), "One image for each target of the Unit.")),
	"FrontendBundle": artifactShape("FrontendBundle", "The bundle that a ViteOciBundle Unit published.",
		need("bundle", object("The bundle.",
			need("uri", anyText, "The bundle, by digest."),
			need("artifactType", anyText, "Its OCI artifact type.")), "The bundle.")),
}

func artifactShape(kind, doc string, payload field) *shape {
	return envelopeShape(GVK{ArtifactAPI, kind}, doc, authoredMetadata(localName),
		need("producer", producerShape, "The Unit that published it."), payload)
}
