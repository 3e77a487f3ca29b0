package scaffold

import (
	"fmt"
	"path"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// A Unit is a new Unit of an environment.
type Unit struct {
	Environment, Name string
	// Kind is one of resource.UnitKinds, SourcePath the directory of its files.
	Kind, SourcePath string
}

// KindOf returns the Unit kind that a person means by the name of a kind or of its driver.
func KindOf(name string) (kind string, ok bool) {
	for _, k := range resource.UnitKinds() {
		if facts, _ := resource.UnitKindOf(k); strings.EqualFold(name, k) || name == facts.Driver {
			return k, true
		}
	}
	return "", false
}

// Stem implements Document.
func (u Unit) Stem(l Layout) string {
	return path.Join(l.EnvironmentsPath, u.Environment, "units", u.Name)
}

// Check implements Document.
func (u Unit) Check(file string, data []byte) error {
	decoded, err := resource.DecodeAuthoredUnit(file, data)
	if err != nil {
		return err
	}
	return decoded.CheckDirect()
}

// YAML implements Document.
func (u Unit) YAML() string {
	gvk := resource.GVK{APIVersion: resource.UnitAPI, Kind: u.Kind}
	return head(gvk, resource.Authored, u.Name) + "spec:\n" + u.source() + strings.ReplaceAll(bodies[u.Kind], "NAME", u.Name)
}

func (u Unit) source() string {
	if u.Kind == "FrontendS3Cloudfront" {
		return ""
	}
	pattern := map[string]string{"Terraform": "**/*.tf", "KubernetesManifests": "**/*.yaml"}[u.Kind]
	if pattern == "" {
		pattern = "**/*"
	}
	return fmt.Sprintf(`  source:
    # Directory of the Unit's files, relative to the repository root.
    path: %s
    # Files whose change makes the Unit new, relative to path. Without inputs all files of path count.
    inputs: ["%s"]
`, scalar(u.SourcePath), pattern)
}

// bodies are what follows the source, by kind.
var bodies = map[string]string{
	"Terraform": `  terraform:
    # Settings of the state backend; each becomes one -backend-config of terraform init.
    # backend:
    #   bucket: my-terraform-state
    #   key: NAME.tfstate
    # Values of input variables. A reference makes the Unit wait until its producer has been applied.
    # variables:
    #   environment:
    #     fromEnvironment: {pointer: /name}
    #   network_id:
    #     fromReceipt: {unit: network, pointer: /outputs/network_id}
    # Outputs to record, where other Units can read them.
    observeOutputs: []
`,
	"OciImages": `  build:
    # Relative to the repository root, which is also the build context.
    dockerfile: Dockerfile
    platform: linux/amd64
  publish:
    # Each target is one image in the artifact "containers": other Units read
    #   fromArtifact: {unit: NAME, name: containers, apiVersion: artifact.gitopsctr.io/v1, kind: ContainerImages, pointer: /images/main/uri}
    targets:
      main:
        type: registry
        repository: registry.example.com/team/NAME
`,
	"ViteOciBundle": `  build:
    # Major version of Node.js, in quotes.
    nodeVersion: "24"
  publish:
    repository: registry.example.com/team/NAME
`,
	"KubernetesManifests": `  # plain copies manifest files; helm renders a chart at source.path.
  materialize:
    type: plain
  # direct applies to the cluster; external leaves it to a controller such as Argo CD, which reads the desired ref.
  delivery:
    mode: direct
    kubeContext: my-cluster
    # Delete objects that are gone from the manifests.
    prune: false
    # wait:
    #   - {resource: deployment/NAME, namespace: default, condition: Available, timeoutSeconds: 300}
`,
	"FrontendS3Cloudfront": `  inputs:
    # The bundle, by digest: the artifact of a ViteOciBundle Unit.
    bundle:
      fromArtifact: {unit: frontend, name: frontend, apiVersion: artifact.gitopsctr.io/v1, kind: FrontendBundle, pointer: /bundle/uri}
    bucket: my-bucket
    distributionId: E0000000000000
    # Where the frontend is served; it is checked after publication.
    url: https://NAME.example.com
    # Content of runtime-config.json.
    runtimeConfig:
      schema: 1
      apiBase: https://api.example.com
      auth: {mode: cognito, issuer: "https://issuer.example.com", clientId: client}
`,
}
