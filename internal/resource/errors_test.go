package resource

import (
	"errors"
	"strings"
	"testing"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/google/go-cmp/cmp"
)

// TestFaultsOfAuthoredUnits has one row for each way in which an authored Unit can be wrong.
func TestFaultsOfAuthoredUnits(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: unit.gitopsctr.io/v1\nkind: Terraform\nmetadata:\n  name: net\n"
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"unknown field", head + "spec:\n  source:\n    path: a\n  terrafrom: {}\n",
			[]string{`u.yaml:8:3: /spec/terrafrom: unknown field "terrafrom"; did you mean "terraform"?`}},
		{"unknown field far from any known one", head + "spec:\n  source:\n    path: a\n    branch: main\n",
			[]string{`u.yaml:8:5: /spec/source/branch: unknown field "branch"; known here: path, revision, inputs`}},
		{"wrong type", head + "spec:\n  source:\n    path: [a]\n",
			[]string{"u.yaml:7:11: /spec/source/path: must be a string, not a list"}},
		{"number for a text", head + "spec:\n  source:\n    path: 5\n",
			[]string{"u.yaml:7:11: /spec/source/path: must be a string, not an integer; put it in quotes"}},
		{"null for a text", head + "spec:\n  source:\n    path:\n",
			[]string{"u.yaml:7:10: /spec/source/path: must be a string, not null"}},
		{"duplicate key", head + "spec:\n  source:\n    path: a\n    path: b\n",
			[]string{`u.yaml:8:5: /spec/source/path: `}},
		{"missing field", head + "spec:\n  source:\n    inputs: []\n",
			[]string{`u.yaml:7:5: /spec/source: missing field "path"; add it: a string`}},
		{"bad name", strings.Replace(head, "net", "Net_1", 1) + "spec: {source: {path: a}}\n",
			[]string{`u.yaml:4:9: /metadata/name: "Net_1" is not a name: lower-case letters, digits and dashes, starting with a letter or digit`}},
		{"more metadata", head + "  labels: {}\nspec: {source: {path: a}}\n",
			[]string{`u.yaml:5:3: /metadata/labels: unknown field "labels"; known here: name`}},
		{"unknown kind", "apiVersion: unit.gitopsctr.io/v1\nkind: Teraform\n",
			[]string{`u.yaml:2:7: /kind: must be "FrontendS3Cloudfront", "KubernetesManifests", "OciImages", "Terraform" or "ViteOciBundle", not "Teraform"`}},
		{"other API version", "apiVersion: v1\nkind: Terraform\n",
			[]string{`u.yaml:1:13: /apiVersion: must be "unit.gitopsctr.io/v1", not "v1"`}},
		{"no envelope", "a: 1\n",
			[]string{`u.yaml:1:1: missing field "apiVersion"; add it: "unit.gitopsctr.io/v1"`,
				`u.yaml:1:1: missing field "kind"; add it: "FrontendS3Cloudfront", "KubernetesManifests", "OciImages", "Terraform" or "ViteOciBundle"`}},
		{"path out of the source", head + "spec: {source: {path: ../a}}\n",
			[]string{`u.yaml:5:23: /spec/source/path: "../a" is not a path inside the repository: relative, not empty, without ".."`}},
		{"input out of the source", head + "spec: {source: {path: a, inputs: [/etc, ok]}}\n",
			[]string{`u.yaml:5:35: /spec/source/inputs/0: "/etc" is not a path inside the repository: relative, not empty, without ".."`}},
		{"list in backend", head + "spec: {source: {path: a}, terraform: {backend: {x: []}}}\n",
			[]string{"u.yaml:5:52: /spec/terraform/backend/x: must be a string, a number, true or false, not a list"}},
		{"reference in backend", head + "spec: {source: {path: a}, terraform: {backend: {x: {fromReceipt: {unit: b}}}}}\n",
			[]string{"u.yaml:5:52: /spec/terraform/backend/x: must be a string, a number, true or false, not a mapping"}},
		{"other check", head + "spec: {source: {path: a}, terraform: {checks: [{type: tcp, urlOutput: u}]}}\n",
			[]string{`u.yaml:5:55: /spec/terraform/checks/0/type: must be "http", not "tcp"`}},
		{"reference with a wrong field", head + "spec: {source: {path: a}, terraform: {variables: {x: {fromReceipt: {unit: b, pionter: /x}}}}}\n",
			[]string{`u.yaml:5:78: /spec/terraform/variables/x/fromReceipt/pionter: unknown field "pionter"; did you mean "pointer"?`}},
		{"reference with a sibling", head + "spec: {source: {path: a}, inputs: {x: {fromReceipt: {unit: b}, y: 1}}}\n",
			[]string{`u.yaml:5:64: /spec/inputs/x/y: unknown field "y"; known here: fromReceipt`}},
		{"reference with a wrong pointer", head + "spec: {source: {path: a}, inputs: {x: {fromReceipt: {unit: b, pointer: outputs}}}}\n",
			[]string{`u.yaml:5:72: /spec/inputs/x/fromReceipt/pointer: "outputs" is not a JSON Pointer: empty, or "/" and keys separated by "/" ("~" is written ~0, "/" is written ~1)`}},
		{"reference in an unused fallback", head + "spec: {source: {path: a}, inputs: {x: {fromReceipt: {unit: b, dryFallback: [{fromReceipt: {}}]}}}}\n",
			[]string{`u.yaml:5:91: /spec/inputs/x/fromReceipt/dryFallback/0/fromReceipt: missing field "unit"; add it: a string`}},
		{"parameter outside a StackTemplate", head + "spec: {source: {path: a}, inputs: {x: {fromParameter: {name: p}}}}\n",
			[]string{"u.yaml:5:39: /spec/inputs/x: fromParameter is only for StackTemplates; write the value itself"}},
		{"all variables as one reference", head + "spec: {source: {path: a}, terraform: {variables: {fromReceipt: {unit: b}}}}\n",
			[]string{"u.yaml:5:50: /spec/terraform/variables: cannot itself be a reference; make it a mapping and put references in its values"}},
		{"unknown variant", "apiVersion: unit.gitopsctr.io/v1\nkind: KubernetesManifests\nmetadata: {name: k}\nspec:\n  source: {path: a}\n  materialize: {type: kustomize}\n  delivery: {}\n",
			[]string{`u.yaml:6:23: /spec/materialize/type: must be "helm" or "plain", not "kustomize"`,
				`u.yaml:7:13: /spec/delivery: missing field "mode"; add it: "direct" or "external"`}},
		{"several faults", head + "spec:\n  source: {path: ''}\n  terraform: {observeOutputs: url}\n",
			[]string{`u.yaml:6:18: /spec/source/path: "" is not a path inside the repository: relative, not empty, without ".."`,
				"u.yaml:7:31: /spec/terraform/observeOutputs: must be a list, not a string"}},
		{"$schema that is no text", "$schema: 1\n" + head + "spec: {source: {path: a}}\n",
			[]string{"u.yaml:1:10: /$schema: must be a string, not an integer; put it in quotes"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := DecodeAuthoredUnit("u.yaml", []byte(tt.text))
			if err == nil {
				t.Fatal("want an error, got none")
			}
			got := strings.Split(err.Error(), "\n")
			if tt.name == "duplicate key" { // worded by package document
				got = []string{got[0][:len(tt.want[0])]}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
			var one *document.Error
			if !errors.As(err, &one) || one.File != "u.yaml" {
				t.Errorf("want a *document.Error of u.yaml, got %#v", err)
			}
		})
	}
}

func TestDirectUnits(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 64)
	for _, tt := range []struct{ name, metadata, source, want string }{
		{"fine", "net", "{path: a, revision: null}", ""},
		{"pinned", "net", "{path: a, revision: 1f" + strings.Repeat("0", 38) + "}",
			"u.yaml:4:36: /spec/source/revision: a Unit outside a Stack takes its revision from the run; remove it"},
		{"long name", long, "{path: a}",
			`u.yaml: /metadata/name: "` + long[:60] + `…" is not an identifier: 1 to 63 lower-case letters, digits and dashes, starting with a letter or digit; shorten it`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			u, err := DecodeAuthoredUnit("u.yaml", []byte("apiVersion: unit.gitopsctr.io/v1\nkind: Terraform\nmetadata: {name: "+tt.metadata+"}\nspec: {source: "+tt.source+"}\n"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, message(u.CheckDirect())); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestFaultsOfPublishedDocuments changes one line of a published document.
func TestFaultsOfPublishedDocuments(t *testing.T) {
	t.Parallel()
	unit := func(file string, data []byte) error { _, err := DecodeUnit(file, data); return err }
	receipt := func(file string, data []byte) error { _, err := DecodeReceipt(file, data); return err }
	artifact := func(file string, data []byte) error { _, err := DecodeArtifact(file, data); return err }
	promotion := func(file string, data []byte) error { _, err := DecodePromotion(file, data); return err }
	for _, tt := range []struct {
		name, vector string
		decode       func(string, []byte) error
		old, changed string
		want         string
	}{
		{"bad uid", "a-documents/unit-desired.yaml", unit, "uid: d1-99999999999999999999999999999999", "uid: " + strings.Repeat("a", 64),
			`x.yaml:6:8: /metadata/uid: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…" is not an identifier: 1 to 63 lower-case letters, digits and dashes, starting with a letter or digit`},
		{"empty partition", "a-documents/unit-desired.yaml", unit, "partition: blue", "partition: ''",
			`x.yaml:9:29: /metadata/labels/gitopsctr.io~1partition: "" is not an identifier: 1 to 63 lower-case letters, digits and dashes, starting with a letter or digit`},
		{"partition of an owned Unit", "a-documents/unit-desired.yaml", unit, "partition: blue", "partition: blue\n  ownerReferences: [{apiVersion: gitopsctr.io/v1, kind: Stack, name: s, uid: u}]",
			"x.yaml:9:29: /metadata/labels/gitopsctr.io~1partition: an owned resource has no partition of its own; remove the label; the owner has it"},
		{"no owner in the list", "a-documents/unit-desired.yaml", unit, "  labels:", "  ownerReferences: []\n  labels:",
			"x.yaml:7:20: /metadata/ownerReferences: needs at least 1 item"},
		{"labels null", "d-reconcile/after.yaml", unit, "  deletion:", "  labels: null\n  deletion:", "x.yaml:7:11: /metadata/labels: must be a mapping, not null"},
		{"deletion of generation 0", "d-reconcile/after.yaml", unit, "generation: 1", "generation: 0", "x.yaml:8:17: /metadata/deletion/generation: must be an integer of at least 1"},
		{"short revision", "d-reconcile/after.yaml", unit, "'1111111111111111111111111111111111111111'", "'1111'",
			`x.yaml:13:15: /spec/source/revision: "1111" is not a full Git object id: 40 lower-case hexadecimal digits`},
		{"unresolved reference", "d-reconcile/after.yaml", unit, "size: 3", "size: {fromReceipt: {unit: a}}",
			`x.yaml:22:14: /spec/terraform/variables/size/fromReceipt: a desired document must not hold the key "fromReceipt"`},
		{"unknown field of the envelope", "d-reconcile/after.yaml", unit, "spec:", "status: {}\nspec:",
			`x.yaml:10:1: /status: unknown field "status"; known here: apiVersion, kind, metadata, spec`},
		{"name of another subject", "d-reconcile/receipt.yaml", receipt, "  name: db\nspec", "  name: dc\nspec", `x.yaml:5:9: /metadata/name: "dc" is not the name of the subject, "db"`},
		{"qualified name of another subject", "d-reconcile/receipt.yaml", receipt, "core/db", "core/dc",
			`x.yaml:11:20: /spec/subject/qualifiedName: "core/dc" does not end in the local name, "db"`},
		{"unknown subject", "d-reconcile/receipt.yaml", receipt, "kind: Terraform", "kind: Pulumi",
			`x.yaml:9:11: /spec/subject/kind: must be "FrontendS3Cloudfront", "KubernetesManifests", "OciImages", "Terraform" or "ViteOciBundle", not "Pulumi"`},
		{"result of another kind", "d-reconcile/receipt.yaml", receipt, "    applied:", "    published:",
			"x.yaml:27:5: /status/result: missing field \"applied\"; add it: a mapping\nx.yaml:27:5: /status/result/published: unknown field \"published\"; known here: applied, outputs"},
		{"artifact of a kind without", "d-reconcile/receipt.yaml", receipt, "  result:", "  artifacts: {x: {}}\n  result:",
			`x.yaml:26:15: /status/artifacts/x: unknown field "x"; remove it; no fields are known here`},
		{"missing artifact", "g-drivers/run1/observed/units/images.yaml", receipt, "    containers:", "    container:",
			"x.yaml:22:5: /status/artifacts: missing field \"containers\"; add it: a mapping\nx.yaml:22:5: /status/artifacts/container: unknown field \"container\"; did you mean \"containers\"?"},
		{"unsafe artifact path", "g-drivers/run1/observed/units/images.yaml", receipt, "path: artifacts/", "path: ../artifacts/",
			`x.yaml:25:13: /status/artifacts/containers/path: "../artifacts/images/containers.yaml" is not a relative path with "/" between its parts, without "." and ".." parts`},
		{"other hash version", "d-reconcile/artifact-containers.yaml", artifact, "inputHashVersion: 1", "inputHashVersion: 2", "x.yaml:13:21: /producer/inputHashVersion: must be the integer 1"},
		{"other producer name", "d-reconcile/artifact-containers.yaml", artifact, "shop/images", "shop/image",
			`x.yaml:10:18: /producer/qualifiedName: "shop/image" does not end in the local name, "images"`},
		{"no observed revision", "f-promotion/promotion-candidate/tree/promotion.yaml", promotion, "    observedRevision: 29ad6b2917903b4cc03fe9e0d85d200b669ea933\n", "",
			`x.yaml:8:5: /spec/source: missing field "observedRevision"; add it: a string`},
		{"name of another environment", "f-promotion/promotion-candidate/tree/promotion.yaml", promotion, "  name: dev", "  name: qa",
			`x.yaml:5:9: /metadata/name: must be the source environment, "dev"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			before := string(readVector(t, tt.vector))
			data := strings.Replace(before, tt.old, tt.changed, 1)
			if data == before {
				t.Fatalf("%q is not in %s", tt.old, tt.vector)
			}
			if diff := cmp.Diff(tt.want, message(tt.decode("x.yaml", []byte(data)))); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStackFaults(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"no units", "kind: Stack\nmetadata: {name: s}\nspec: {template: t, units: []}", "s.yaml:4:28: /spec/units: needs at least 1 item"},
		{"unit twice", "kind: Stack\nmetadata: {name: s}\nspec: {template: t, units: [a, a]}", "s.yaml:4:32: /spec/units/1: is listed twice; remove one of the two"},
		{"bad template name", "kind: Stack\nmetadata: {name: s}\nspec: {template: Web}",
			`s.yaml:4:18: /spec/template: "Web" is not an identifier: 1 to 63 lower-case letters, digits and dashes, starting with a letter or digit`},
		{"no templates", "kind: StackTemplate\nmetadata: {name: s}\nspec: {parameters: [], unitTemplates: {}}", "s.yaml:4:39: /spec/unitTemplates: needs at least 1 entry"},
		{"unknown source", "kind: StackTemplate\nmetadata: {name: s}\nspec: {source: {fromHttp: {}}}", "s.yaml:4:16: /spec/source: must hold fromGit or fromPromotion"},
		{"inline and source", "kind: StackTemplate\nmetadata: {name: s}\nspec: {source: {fromPromotion: {stack: x}}, parameters: []}",
			`s.yaml:4:45: /spec/parameters: unknown field "parameters"; known here: source`},
		{"unknown type", "kind: StackTemplate\nmetadata: {name: s}\nspec: {parameters: [{name: a, type: text}], unitTemplates: {a: {apiVersion: u/v1, kind: K, spec: {}}}}",
			`s.yaml:4:37: /spec/parameters/0/type: must be "string", "integer", "number", "boolean", "object" or "array", not "text"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			data := []byte("apiVersion: gitopsctr.io/v1\n" + tt.text)
			_, err := DecodeAuthoredStack("s.yaml", data)
			if strings.HasPrefix(tt.text, "kind: StackTemplate") {
				_, err = DecodeAuthoredStackTemplate("s.yaml", data)
			}
			if diff := cmp.Diff(tt.want, message(err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}
