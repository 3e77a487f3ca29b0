package desired

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// TestCheckReferences: what can be known of a reference without evidence. strict rows are faults for validate only: apply
// takes them as waiting, as the reference implementation does (chapter B, 2.3).
func TestCheckReferences(t *testing.T) {
	t.Parallel()
	const kubernetes = "apiVersion: unit.gitopsctr.io/v1\nkind: KubernetesManifests\nmetadata: {name: k8s}\nspec: {source: {path: k8s}, materialize: {type: plain}, delivery: "
	producers := map[string]string{
		"net": netUnit,
		"img": imageUnit,
		"web": terraformUnit("web", "a: 1"),
		"ext": kubernetes + "{mode: external}}\n",
		"arg": kubernetes + "{mode: external, observer: {type: argocd, access: kubernetes, application: a, applicationNamespace: n, kubeContext: c}}}\n",
		"dir": kubernetes + "{mode: direct, kubeContext: c}}\n",
		"vit": "apiVersion: unit.gitopsctr.io/v1\nkind: ViteOciBundle\nmetadata: {name: vit}\nspec: {source: {path: vit}}\n",
	}
	known := func(name string) (string, *document.Node, bool) {
		text, ok := producers[name]
		if !ok {
			return "", nil, false
		}
		u := authoredDocument(t, name+".yaml", text).Unit
		return u.Kind, u.Spec, true
	}
	artifact := func(unit, name, kind, pointer string) string {
		return "{fromArtifact: {unit: " + unit + ", name: " + name + ", apiVersion: artifact.gitopsctr.io/v1, kind: " + kind + ", pointer: " + pointer + "}}"
	}
	receipt := func(unit, pointer string) string {
		return "{fromReceipt: {unit: " + unit + ", pointer: " + pointer + "}}"
	}
	for _, tt := range []struct{ in, strict, apply string }{
		{in: receipt("net", "/outputs/host")},
		{in: receipt("net", "/outputs/list/0")},
		{in: receipt("net", "/outputs")},
		{in: receipt("net", "''")},
		{in: receipt("nobody", "/whatever")},
		{in: receipt("net", "/outputs/hots"), strict: `its observeOutputs are ["host" "gone" "list"]`},
		{in: receipt("web", "/outputs/host"), strict: "its observeOutputs are none"},
		{in: receipt("net", "/result/outputs"), strict: `token "result": is not there; known there: applied, outputs`},
		{in: receipt("img", "/images"), strict: `it makes "containers" of type artifact.gitopsctr.io/v1/ContainerImages, to be read with fromArtifact`},
		{in: receipt("img", "''")},
		{in: receipt("dir", "/applied/inventory/0/name")},
		{in: receipt("dir", "/observed/syncStatus"), strict: `with its mode of delivery the Unit leaves "applied"`},
		{in: receipt("arg", "/observed/syncStatus")},
		{in: receipt("arg", "/applied"), strict: `with its mode of delivery the Unit leaves "observed"`},
		{in: receipt("ext", "''"), apply: "it never has a Receipt to read"},
		{in: receipt("app", "/outputs/x"), strict: `Unit "app" reads its own evidence`},
		{in: artifact("img", "containers", "ContainerImages", "/images/app/uri")},
		{in: artifact("img", "containers", "ContainerImages", "/images")},
		{in: artifact("img", "containers", "ContainerImages", "/producer/name")},
		{in: artifact("img", "containers", "ContainerImages", "/images/web/uri"), strict: `its targets are ["app"]`},
		{in: artifact("img", "containers", "ContainerImages", "/images/app/digest"), strict: "known there: uri"},
		{in: artifact("vit", "frontend", "FrontendBundle", "/bundle/uri")},
		{in: artifact("vit", "frontend", "FrontendBundle", "/images"), strict: "known there: apiVersion, bundle, kind, metadata, producer"},
		{in: artifact("img", "charts", "ContainerImages", "''"), apply: `makes no artifact "charts"`},
		{in: artifact("img", "containers", "FrontendBundle", "''"), apply: `makes no artifact "containers" of type artifact.gitopsctr.io/v1/FrontendBundle`},
		{in: artifact("nobody", "containers", "Charts", "''"), apply: "is no installed artifact type"},
		{in: "{fromReceipt: {unit: nobody, dryFallback: " + receipt("net", "/nope") + "}}", strict: "fromReceipt net /nope can never be resolved"},
		{in: "{fromReceipt: {unit: nobody, dryFallback: {a: [" + artifact("nobody", "x", "Charts", "''") + "]}}}", strict: "is no installed artifact type"},
		{in: "{fromPromotion: {pointer: /metadata}}"},
	} {
		u := authoredDocument(t, "app.yaml", terraformUnit("app", "v: "+tt.in)).Unit
		for _, strict := range []bool{false, true} {
			want := tt.apply
			if strict && want == "" {
				want = tt.strict
			}
			err := CheckReferences(u, known, strict)
			switch {
			case want == "" && err != nil:
				t.Errorf("%s, strict %v: %v", tt.in, strict, err)
			case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "app.yaml:8:")):
				t.Errorf("%s, strict %v: want %q at its line, got %v", tt.in, strict, want, err)
			}
		}
	}
}

// TestCheckPromotionReferences: a pointer that no Unit has is a fault, everything else is a doubt.
func TestCheckPromotionReferences(t *testing.T) {
	t.Parallel()
	units := func(texts ...string) map[string]*resource.AuthoredUnit {
		out := map[string]*resource.AuthoredUnit{}
		for _, text := range texts {
			u := authoredDocument(t, "u.yaml", text).Unit
			out[u.Name] = u
		}
		return out
	}
	app := terraformUnit("app", "v: 1")
	sources := map[string]map[string]*resource.AuthoredUnit{"dev": units(app, imageUnit), "qa": units(app)}
	for _, tt := range []struct {
		in      string
		sources map[string]map[string]*resource.AuthoredUnit
		fault   string
		doubt   string
	}{
		{in: "{fromPromotion: {}}", sources: sources},
		{in: "{fromPromotion: {unit: img, pointer: /build/platform}}", sources: sources},
		{in: "{fromPromotion: {}}", doubt: "nothing can be promoted into this environment, so the reference waits for ever; list the environments to promote from in spec.promotion.allowedSources of the Environment"},
		{in: "{fromPromotion: {unit: web}}", sources: sources, doubt: `no environment that may be promoted from defines the Unit "web"`},
		{in: "{fromPromotion: {unit: img}}", sources: sources, doubt: `the Unit "img" of environment dev is a OciImages, this one is a Terraform; give the pointer into its spec`},
		{in: "{fromPromotion: {unit: img, pointer: /terraform/variables/v}}", sources: sources,
			doubt: `the Unit "img" of environment dev: JSON Pointer "/terraform/variables/v": token "terraform": is not there; known there: build, inputs, publish, resolvedInputs, source`},
		{in: "{fromPromotion: {pointer: /metadata/name}}", sources: sources,
			fault: `app.yaml:8:10: /spec/terraform/variables/v: fromPromotion /metadata/name can never be resolved: JSON Pointer "/metadata/name": token "metadata": is not there; known there: inputs, resolvedInputs, source, terraform; the pointer starts at the promoted Unit's spec`},
	} {
		u := authoredDocument(t, "app.yaml", terraformUnit("app", "v: "+tt.in)).Unit
		faults, doubts := CheckPromotionReferences(u, tt.sources)
		var fault, doubt string
		for _, f := range faults {
			fault += f.Error()
		}
		for _, d := range doubts {
			doubt += d.Reason
		}
		if diff := cmp.Diff([]string{tt.fault, tt.doubt}, []string{fault, doubt}); diff != "" {
			t.Errorf("%s: fault, doubt (-want +got):\n%s", tt.in, diff)
		}
	}
}
