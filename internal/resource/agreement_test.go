package resource

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/schemas"
)

// samples are valid documents that no vector has, one per text.
var samples = []string{`
apiVersion: gitopsctr.io/v1
kind: Project
metadata: {name: demo.example}
spec:
  writeFormat: json
  environmentsPath: ./envs/
  environmentDefaults: {refs: {desired: 'd/{environment}', observed: 'o/{environment}', candidate: 'c/{environment}/{operation}/{id}'}}
  sourceRevisionPolicy: {unavailableWhen: missing, whenUnavailableDuringApply: error, whenUnavailableDuringPlan: refresh}
  effectLease: {store: {branch: {ref: 'leases/{environment}'}}}
`, `
$schema: https://example.test/environment
apiVersion: gitopsctr.io/v1
kind: Environment
metadata: {name: qa}
spec:
  changeGate: pullRequest
  refs: {desired: d/qa, observed: null, candidate: 'c/{environment}'}
  promotion: {allowedSources: [dev, test]}
  promotionPolicy: {minimumEvidence: materialized}
`, `
apiVersion: gitopsctr.io/v1
kind: Stack
metadata: {name: shop}
spec:
  template: web
  parameters: {size: 2}
  units: [infra]
  artifactImports: [{unit: img, name: containers, apiVersion: artifact.gitopsctr.io/v1, kind: ContainerImages, fromPromotion: {stack: shop}}]
`, `
apiVersion: gitopsctr.io/v1
kind: StackTemplate
metadata: {name: web}
spec:
  parameters: [{name: size, type: integer}]
  unitTemplates:
    a: {apiVersion: unit.gitopsctr.io/v1, kind: Terraform, spec: {x: {fromParameter: {name: size}}}, dependsOn: [b]}
    b: {apiVersion: unit.gitopsctr.io/v1, kind: Terraform, spec: {}}
`, `
apiVersion: gitopsctr.io/v1
kind: StackTemplate
metadata: {name: web}
spec: {source: {fromGit: {repository: ., revision: main, path: stacks/web.yaml, documentDigest: null}}}
`, `
apiVersion: gitopsctr.io/v1
kind: StackTemplate
metadata: {name: web}
spec: {source: {fromPromotion: {stack: shop}}}
`, `
apiVersion: unit.gitopsctr.io/v1
kind: Terraform
metadata: {name: net}
spec:
  source: {path: net, inputs: ['*.tf']}
  terraform:
    backend: {a: x, b: 1, c: true}
    variables:
      plain: [1, {x: null}]
      receipt: {fromReceipt: {unit: s/a, pointer: /x, dryFallback: {fromEnvironment: {pointer: /name}}}}
      artifact: [{fromArtifact: {unit: a, name: n, apiVersion: artifact.gitopsctr.io/v1, kind: ContainerImages}}]
      promotion: {fromPromotion: {unit: b, pointer: ''}}
    observeOutputs: [url]
    checks: [{type: http, urlOutput: url, path: /healthz}]
  inputs: {e: {fromEnvironment: {}}}
`, `
apiVersion: unit.gitopsctr.io/v1
kind: OciImages
metadata: {name: img}
spec:
  source: {path: ., revision: '1111111111111111111111111111111111111111'}
  build: {dockerfile: Dockerfile, platform: linux/amd64}
  publish:
    targets: {r: {type: registry, repository: r.test/x}, k: {type: kind, cluster: c}, m: {type: minikube, profile: p}}
    credentialProvider: {type: aws-ecr}
  environment: qa
`, `
apiVersion: unit.gitopsctr.io/v1
kind: ViteOciBundle
metadata: {name: web}
spec: {source: {path: web}, build: {nodeVersion: '24'}, publish: {repository: r.test/w, credentialProvider: null}}
`, `
apiVersion: unit.gitopsctr.io/v1
kind: FrontendS3Cloudfront
metadata: {name: site}
spec:
  source: {path: web}
  inputs:
    bundle: {fromArtifact: {unit: bundle, name: frontend, apiVersion: artifact.gitopsctr.io/v1, kind: FrontendBundle, pointer: /bundle/uri}}
    bucket: b
    distributionId: {fromReceipt: {unit: i}}
    url: null
    runtimeConfig: {schema: 1, apiBase: x, auth: {mode: cognito, issuer: {fromPromotion: {}}, clientId: c}}
  pull: {credentialProvider: {type: aws-ecr}}
`, `
apiVersion: unit.gitopsctr.io/v1
kind: KubernetesManifests
metadata: {name: k}
spec:
  source: {path: chart}
  materialize: {type: helm, releaseName: r, namespace: n, values: {i: {fromReceipt: {unit: a}}}, allowSecrets: true}
  delivery: {mode: direct, kubeContext: c, prune: true, wait: [{resource: deployment/x, namespace: n, condition: Available, timeoutSeconds: 5}]}
`, `
apiVersion: unit.gitopsctr.io/v1
kind: KubernetesManifests
metadata: {name: k}
spec:
  source: {path: m}
  materialize: {type: plain, paths: ['*.yaml']}
  delivery: {mode: external, observer: {type: argocd, access: api, application: a, applicationNamespace: n, argocdContext: c, timeoutSeconds: 5}}
`, `
apiVersion: inspection.gitopsctr.io/v1
kind: ResourceList
metadata: {}
items:
- provenance: {environment: qa, plane: desired, ref: d, revision: null, path: units/a.yaml}
  address: {family: unit, scope: environment, namespace: qa, qualifiedName: a}
  document: {a: 1}
  inspection: {authentication: CURRENT}
`}

// entryOf returns the catalog entry that a document belongs to.
func entryOf(n *document.Node) (published, bool) {
	gvk, profile := GVK{n.Get("apiVersion").Str(), n.Get("kind").Str()}, NoProfile
	switch {
	case gvk.Kind == "Receipt":
		gvk, profile = GVK{n.Path("spec", "subject", "apiVersion").Str(), n.Path("spec", "subject", "kind").Str()}, Observed
	case gvk.APIVersion == UnitAPI, gvk.Kind == "Stack", gvk.Kind == "StackTemplate":
		profile = Authored
		if n.Path("metadata", "uid") != nil {
			profile = Desired
		}
	}
	for _, p := range catalog() {
		if p.gvk == gvk && p.profile == profile {
			return p, true
		}
	}
	return published{}, false
}

// TestSchemasAgreeWithShapes changes valid documents everywhere and in many ways, and compares what the shapes and the
// published schemas make of the result.
func TestSchemasAgreeWithShapes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	seen := map[string]int{}
	var documents []*document.Node
	for _, text := range samples {
		documents = append(documents, parse(t, text))
	}
	err := filepath.WalkDir(vectors, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" && filepath.Ext(path) != ".json" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n, err := document.DecodeLenient(path, data)
		if err != nil {
			return nil // not one of our documents
		}
		enough := 1
		if n.Path("spec", "subject", "kind").Str() == "KubernetesManifests" || n.Get("kind").Str() == "KubernetesManifests" {
			enough = 3 // its documents have variants
		}
		if p, ok := entryOf(n); ok && seen[p.name()] < enough && checkShape("", "", p.shape, n) == nil {
			seen[p.name()]++
			documents = append(documents, n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	covered := map[string]bool{}
	for _, n := range documents {
		p, ok := entryOf(n)
		if !ok {
			t.Fatalf("no schema for %s", n.Get("kind").Str())
		}
		covered[p.name()] = true
		entries := []published{p}
		if n.Path("spec", "subject", "kind").Str() == "OciImages" { // any Receipt is also one of the general kind
			entries = append(entries, published{GVK{CoreAPI, "Receipt"}, NoProfile, anyReceiptShape})
		}
		for _, p := range entries {
			agree(t, p, "as it is", n)
			if err := checkShape("", "", p.shape, n); err != nil {
				t.Errorf("%s: %v", p.name(), err)
			}
			mutate(n, func(what string, changed *document.Node) { agree(t, p, what, changed) })
		}
	}
	for _, p := range catalog() {
		if !covered[p.name()] && p.shape != anyReceiptShape {
			t.Errorf("no document for schema %s", p.name())
		}
	}
}

func agree(t *testing.T, p published, what string, n *document.Node) {
	t.Helper()
	faults := checkShape("", "", p.shape, n)
	violations, err := schemas.Validate(p.name(), n.Any())
	if err != nil {
		t.Fatal(err)
	}
	if (faults == nil) != (len(violations) == 0) {
		t.Errorf("%s, %s: the shape says %v, the schema says %v", p.name(), what, faults, violations)
	}
}

// mutate calls yield with many changed copies of a document, each changed in one place.
func mutate(n *document.Node, yield func(what string, changed *document.Node)) {
	values := []*document.Node{
		document.NewNull(), document.NewString(""), document.NewString("Not A Name"), document.NewString("../x"), document.NewInt(1), document.NewInt(-3),
		document.NewFloat(2), document.NewFloat(1.5), document.NewBool(true), document.NewList(), document.NewMap(), document.NewList(document.NewNull()),
		document.NewMap(document.F("fromReceipt", document.NewMap(document.F("unit", document.NewString("a"))))),
		document.NewMap(document.F("fromParameter", document.NewMap(document.F("name", document.NewString("a"))))),
	}
	var walk func(n *document.Node, pointer string, put func(*document.Node) *document.Node)
	walk = func(n *document.Node, pointer string, put func(*document.Node) *document.Node) {
		for i, v := range values {
			yield(fmt.Sprintf("%s replaced by value %d", pointer, i), put(v))
		}
		switch n.Kind {
		case document.Map:
			yield(pointer+" with an unknown field", put(n.With("unknown", document.NewInt(1))))
			yield(pointer+" with a key for a reference", put(n.With("fromPromotion", document.NewMap())))
			for _, f := range n.Fields {
				yield(pointer+" without "+f.Key, put(n.Without(f.Key)))
				walk(f.Value, pointer+"/"+document.PointerToken(f.Key), func(v *document.Node) *document.Node { return put(n.With(f.Key, v)) })
			}
		case document.List:
			for i, item := range n.Items {
				yield(fmt.Sprintf("%s with item %d twice", pointer, i), put(document.NewList(append(append([]*document.Node{}, n.Items...), item)...)))
				walk(item, fmt.Sprintf("%s/%d", pointer, i), func(v *document.Node) *document.Node {
					items := append([]*document.Node{}, n.Items...)
					items[i] = v
					return put(document.NewList(items...))
				})
			}
		}
	}
	walk(n, "", func(v *document.Node) *document.Node { return v })
}
