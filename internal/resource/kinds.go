// Package resource holds the typed documents of gitopsctr: their kinds, names, addresses and metadata, strict decoding
// and canonical encoding, digests and UIDs (specification, chapter A). It knows no git, no drivers and no file access.
package resource

import "github.com/gitopsctr/gitopsctr/internal/document"

// API versions of the documents (chapter A, section 7).
const (
	CoreAPI     = "gitopsctr.io/v1"
	UnitAPI     = "unit.gitopsctr.io/v1"
	ArtifactAPI = "artifact.gitopsctr.io/v1"
)

// A GVK names a document type, as apiVersion and kind do in the document.
type GVK struct{ APIVersion, Kind string }

// String returns "apiVersion/Kind".
func (g GVK) String() string { return g.APIVersion + "/" + g.Kind }

// A UnitKind is what the formats need to know of a driver without importing it (chapter G, section 1).
type UnitKind struct {
	Kind string
	// Driver and DriverVersion enter the input hash and desired documents.
	Driver        string
	DriverVersion int
	// Artifacts are the artifacts that every Receipt of the kind describes, by name; most kinds have none.
	Artifacts map[string]GVK
	// Destroys tells whether the driver can tear a Unit down.
	Destroys bool
}

var unitKinds = map[string]UnitKind{
	"Terraform":            {Kind: "Terraform", Driver: "terraform", DriverVersion: 2, Destroys: true},
	"OciImages":            {Kind: "OciImages", Driver: "oci-images", DriverVersion: 1, Destroys: true, Artifacts: map[string]GVK{"containers": {ArtifactAPI, "ContainerImages"}}},
	"ViteOciBundle":        {Kind: "ViteOciBundle", Driver: "vite-oci-bundle", DriverVersion: 1, Artifacts: map[string]GVK{"frontend": {ArtifactAPI, "FrontendBundle"}}},
	"FrontendS3Cloudfront": {Kind: "FrontendS3Cloudfront", Driver: "frontend-s3-cloudfront", DriverVersion: 1},
	"KubernetesManifests":  {Kind: "KubernetesManifests", Driver: "kubernetes-manifests", DriverVersion: 1, Destroys: true},
}

// UnitKindOf returns the facts about an installed Unit kind.
func UnitKindOf(kind string) (UnitKind, bool) {
	k, ok := unitKinds[kind]
	return k, ok
}

// UnitKinds lists the installed Unit kinds in code point order.
func UnitKinds() []string {
	return []string{"FrontendS3Cloudfront", "KubernetesManifests", "OciImages", "Terraform", "ViteOciBundle"}
}

// Reconciles tells whether a Unit of this kind and spec is ever run and observed. KubernetesManifests with external
// delivery and no observer is published only: its state is MATERIALIZED and it never has a Receipt (chapter D, 2.1).
func (k UnitKind) Reconciles(spec *document.Node) bool {
	if k.Kind != "KubernetesManifests" {
		return true
	}
	delivery := spec.Get("delivery")
	return delivery.Get("mode").Str() != "external" || !delivery.Get("observer").IsNull()
}

// Materializes tells whether the kind publishes a payload tree beside its desired document.
func (k UnitKind) Materializes() bool { return k.Kind == "KubernetesManifests" }
