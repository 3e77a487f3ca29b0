package resource

import (
	"maps"
	"slices"
	"time"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

// A Receipt is the evidence that one version of a desired Unit was made true (chapter D, section 4).
type Receipt struct {
	// File is where it was read from, "" for a new one.
	File string
	// Subject is the Unit.
	Subject Subject
	// UnitBlob is the blob id of the desired document that was applied. The Receipt is current while the Unit has it.
	UnitBlob string
	// DesiredRevision is the commit of the desired ref that held it, "" when it was not recorded.
	DesiredRevision string
	// ResolvedInputs are those of the Unit without nulls, nil for none.
	ResolvedInputs *document.Node
	// Controller tells who made it; any mapping.
	Controller *document.Node
	// Result is the driver's result, complete and in written order.
	Result *document.Node
	// Artifacts describe what the Unit published, in written order.
	Artifacts []ArtifactDescriptor
}

// A Subject names the Unit of a Receipt.
type Subject struct {
	APIVersion, Kind string
	// Name is the local name, the last part of QualifiedName.
	Name, QualifiedName string
}

// A Controller is what this implementation writes as status.controller.
type Controller struct {
	// Version is that of the program, Revision the commit of the source that ran it.
	Version, Revision string
	ObservedAt        time.Time
	// WorkflowURL is the CI run, "" outside of CI.
	WorkflowURL string
	// Lease is the token of the effect lease that was held, "" without: it proves that the effect behind that lease ended.
	Lease string
}

// Node returns the written form.
func (c Controller) Node() *document.Node {
	fields := []document.Field{
		document.F("version", document.NewString(c.Version)),
		document.F("revision", document.NewString(c.Revision)),
		document.F("observed_at", document.NewString(c.ObservedAt.UTC().Format("2006-01-02T15:04:05Z"))),
	}
	if c.WorkflowURL != "" {
		fields = append(fields, document.F("workflow_url", document.NewString(c.WorkflowURL)))
	}
	if c.Lease != "" {
		fields = append(fields, document.F("lease", document.NewString(c.Lease)))
	}
	return document.NewMap(fields...)
}

// DecodeReceipt reads a Receipt. All its faults come as document.Errors.
func DecodeReceipt(file string, data []byte) (*Receipt, error) {
	n, err := document.DecodeLenient(file, data)
	if err != nil {
		return nil, err
	}
	return ReceiptFromNode(file, n)
}

// ReceiptFromNode reads a Receipt from a parsed document.
func ReceiptFromNode(file string, n *document.Node) (*Receipt, error) {
	if _, err := kindOf(file, n, CoreAPI, []string{"Receipt"}); err != nil {
		return nil, err
	}
	kind := n.Path("spec", "subject", "kind").Str()
	shape, ok := unitDocuments[kind]
	if !ok {
		shape.result = anyReceiptShape
	}
	if err := checkShape(file, "", shape.result, n); err != nil {
		return nil, err
	}
	if err := checkLocalName(file, n, "name", "spec", "subject"); err != nil {
		return nil, err
	}
	if name, subject := n.Path("metadata", "name").Str(), n.Path("spec", "subject", "name").Str(); name != subject {
		return nil, faultAt(file, n, quote(name)+" is not the name of the subject, "+quote(subject), "", "metadata", "name")
	}
	return receiptOf(file, complete(shape.result, n)), nil
}

func receiptOf(file string, n *document.Node) *Receipt {
	spec, status := n.Get("spec"), n.Get("status")
	subject, desired := spec.Get("subject"), spec.Get("desired")
	return &Receipt{
		File:            file,
		Subject:         Subject{subject.Get("apiVersion").Str(), subject.Get("kind").Str(), subject.Get("name").Str(), subject.Get("qualifiedName").Str()},
		UnitBlob:        desired.Get("unitBlob").Str(),
		DesiredRevision: desired.Get("revision").Str(),
		ResolvedInputs:  spec.Get("resolvedInputs"),
		Controller:      status.Get("controller"),
		Result:          status.Get("result"),
		Artifacts:       descriptorsOf(status.Get("artifacts")),
	}
}

// NewReceipt makes the Receipt of a Unit. The result is checked and completed as the kind says.
func NewReceipt(u *Unit, qualified, unitBlob, desiredRevision string, controller, result *document.Node, artifacts []ArtifactDescriptor) (*Receipt, error) {
	r := &Receipt{
		Subject:         Subject{UnitAPI, u.Kind, u.Metadata.Name, qualified},
		UnitBlob:        unitBlob,
		DesiredRevision: desiredRevision,
		Controller:      controller,
		Result:          result,
		Artifacts:       artifacts,
	}
	if inputs := u.ResolvedInputs(); !inputs.IsNull() {
		r.ResolvedInputs = document.NewMap()
		for _, f := range inputs.Fields {
			if !f.Value.IsNull() {
				r.ResolvedInputs.Fields = append(r.ResolvedInputs.Fields, f)
			}
		}
	}
	return ReceiptFromNode("", r.Node())
}

// Current tells whether the Receipt is about the desired document with that blob id.
func (r *Receipt) Current(unitBlob string) bool { return r.UnitBlob == unitBlob }

// Artifact returns the descriptor of an artifact.
func (r *Receipt) Artifact(name string) (ArtifactDescriptor, bool) {
	for _, a := range r.Artifacts {
		if a.Name == name {
			return a, true
		}
	}
	return ArtifactDescriptor{}, false
}

// Node returns the whole document in written order, "$schema" included.
func (r *Receipt) Node() *document.Node {
	gvk := GVK{r.Subject.APIVersion, r.Subject.Kind}
	desired := document.NewMap(document.F("unitBlob", document.NewString(r.UnitBlob)))
	if r.DesiredRevision != "" {
		desired.Fields = append(desired.Fields, document.F("revision", document.NewString(r.DesiredRevision)))
	}
	spec := document.NewMap(
		document.F("subject", document.NewMap(
			document.F("apiVersion", document.NewString(r.Subject.APIVersion)),
			document.F("kind", document.NewString(r.Subject.Kind)),
			document.F("name", document.NewString(r.Subject.Name)),
			document.F("qualifiedName", document.NewString(r.Subject.QualifiedName)))),
		document.F("desired", desired))
	if !r.ResolvedInputs.IsNull() {
		spec.Fields = append(spec.Fields, document.F("resolvedInputs", r.ResolvedInputs))
	}
	status := document.NewMap(document.F("controller", r.Controller), document.F("result", r.Result))
	if len(r.Artifacts) > 0 {
		status.Fields = append(status.Fields, document.F("artifacts", descriptorsNode(r.Artifacts)))
	}
	return document.NewMap(
		document.F(schemaKey, document.NewString(SchemaURL(gvk, Observed))),
		document.F("apiVersion", document.NewString(CoreAPI)),
		document.F("kind", document.NewString("Receipt")),
		document.F("metadata", document.NewMap(document.F("name", document.NewString(r.Subject.Name)))),
		document.F("spec", spec),
		document.F("status", status))
}

// Encode writes the document. Receipts that exist are never written again: their blob ids are recorded elsewhere.
func (r *Receipt) Encode(f document.Format) ([]byte, error) { return document.Encode(f, r.Node()) }

// SemanticResult is what two Receipts of one desired document are compared by: the result, and the artifacts without
// their paths and media types (chapter D, section 4.3).
func (r *Receipt) SemanticResult() *document.Node {
	n := r.Result
	if len(r.Artifacts) == 0 {
		return n
	}
	artifacts := document.NewMap()
	for _, a := range r.Artifacts {
		artifacts.Fields = append(artifacts.Fields, document.F(a.Name, document.NewMap(
			document.F("apiVersion", document.NewString(a.GVK.APIVersion)),
			document.F("kind", document.NewString(a.GVK.Kind)),
			document.F("digest", document.NewString(a.Digest)))))
	}
	return n.With("artifacts", artifacts)
}

// anyReceiptShape is the shape of Receipts in general; unitDocuments has those of each kind.
var anyReceiptShape = receiptDocument("The evidence that one version of a desired Unit was made true.",
	object("The Unit.",
		need("apiVersion", oneOf(UnitAPI), "API version of the Unit."),
		need("kind", oneOf(UnitKinds()...), "Kind of the Unit."),
		need("name", text(localName), "Local name of the Unit."),
		need("qualifiedName", text(qualifiedName), "NAME, or STACK/NAME.")),
	anyObject, table("Artifacts by name.", nil, descriptorShape))

func receiptShape(subject GVK, result *shape) *shape {
	artifacts := object("Artifacts by name.")
	kind, _ := UnitKindOf(subject.Kind)
	for _, name := range slices.Sorted(maps.Keys(kind.Artifacts)) {
		artifacts.fields = append(artifacts.fields, need(name, descriptorOf(kind.Artifacts[name]), "Where the artifact is."))
	}
	return receiptDocument("The evidence that one version of a "+subject.Kind+" Unit was made true.",
		object("The Unit.",
			need("apiVersion", oneOf(subject.APIVersion), "API version of the Unit."),
			need("kind", oneOf(subject.Kind), "Kind of the Unit."),
			need("name", text(localName), "Local name of the Unit."),
			need("qualifiedName", text(qualifiedName), "NAME, or STACK/NAME.")),
		result, artifacts)
}

func receiptDocument(doc string, subject, result, artifacts *shape) *shape {
	published := leave("artifacts", orNull(artifacts), "Artifacts by name; absent when the kind has none.")
	if artifacts.kind == objectShape && len(artifacts.fields) > 0 {
		published = need("artifacts", artifacts, "Artifacts by name.")
	}
	resolved := object("Fingerprints of what references were resolved from.")
	for _, f := range resolvedInputsShape.fields {
		f.shape, f.presence = orNull(f.shape), omitted
		resolved.fields = append(resolved.fields, f)
	}
	return envelopeShape(GVK{CoreAPI, "Receipt"}, doc, authoredMetadata(localName),
		need("spec", object("What the Receipt is about.",
			need("subject", subject, "The Unit."),
			need("desired", object("The desired document that was applied.",
				need("unitBlob", text(objectID), "Git blob id of the desired document."),
				leave("revision", orNull(text(objectID)), "Commit of the desired ref that held it.")), "The desired document that was applied."),
			leave("resolvedInputs", orNull(resolved), "Fingerprints of what references were resolved from.")), "What the Receipt is about."),
		need("status", object("What was observed.",
			need("controller", anyObject, "Who observed it, and when."),
			need("result", result, "What the driver left."),
			published), "What was observed."))
}
