package resource

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const projectHead = "apiVersion: gitopsctr.io/v1\nkind: Project\nmetadata: {name: demo}\nspec: "

func TestDecodeProject(t *testing.T) {
	t.Parallel()
	policy := SourceRevisionPolicy{OutsideCandidateHistory, Refresh, Refuse}
	for _, tt := range []struct {
		name, text string
		want       *Project
	}{
		{"scaffold", string(readVector(t, "a-documents/scaffolds/gitopsctr.yaml")), &Project{
			File: "gitopsctr.yaml", Name: "demo", WriteFormat: document.YAML,
			EnvironmentsPath: "deployment/environments", StackTemplatesPath: "deployment/stack-templates",
			DesiredTemplate: "gitopsctr/desired/{environment}", ObservedTemplate: "gitopsctr/observed/{environment}",
			CandidateTemplate: "gitopsctr/candidates/{environment}/{id}", SourceRevisionPolicy: policy, LeaseTemplate: "gitopsctr/leases"}},
		{"defaults", projectHead + "{effectLease: null}", &Project{
			File: "gitopsctr.yaml", Name: "demo", WriteFormat: document.YAML,
			EnvironmentsPath: "deployment/environments", StackTemplatesPath: "deployment/stack-templates",
			DesiredTemplate: "gitopsctr/desired/{environment}", ObservedTemplate: "gitopsctr/observed/{environment}",
			CandidateTemplate: "gitopsctr/candidates/{environment}/{id}", SourceRevisionPolicy: policy}},
		{"everything set", projectHead + `
  writeFormat: json
  environmentsPath: ./a//b/
  stackTemplatesPath: .
  environmentDefaults: {refs: {desired: 'd/{environment}'}}
  sourceRevisionPolicy: {unavailableWhen: missing, whenUnavailableDuringApply: error, whenUnavailableDuringPlan: refresh}
  effectLease: {store: null}`, &Project{
			File: "gitopsctr.yaml", Name: "demo", WriteFormat: document.JSON, EnvironmentsPath: "a/b", StackTemplatesPath: ".",
			DesiredTemplate: "d/{environment}", ObservedTemplate: "gitopsctr/observed/{environment}",
			CandidateTemplate: "gitopsctr/candidates/{environment}/{id}", SourceRevisionPolicy: SourceRevisionPolicy{Missing, Refuse, Refresh}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := DecodeProject("gitopsctr.yaml", []byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(Project{}, "Document")); diff != "" {
				t.Errorf("project (-want +got):\n%s", diff)
			}
		})
	}
}

func TestProjectFaults(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"no lease setting", projectHead + "{}", `p.yaml:4:7: /spec: missing field "effectLease"; add it: a mapping`},
		{"path out of the repository", projectHead + "{effectLease: null, environmentsPath: a/../..}",
			`p.yaml:4:45: /spec/environmentsPath: "a/../.." is not a path inside the repository: relative, not empty, without ".."`},
		{"two dots in a name are fine", projectHead + "{effectLease: null, environmentsPath: ..x}", ""},
		{"empty defaults", projectHead + "{effectLease: null, environmentDefaults: {}}", `p.yaml:4:48: /spec/environmentDefaults: missing field "refs"; add it: a mapping`},
		{"empty refs", projectHead + "{effectLease: null, environmentDefaults: {refs: {}}}",
			"p.yaml:4:55: /spec/environmentDefaults/refs: must not be empty; set one of desired, observed or candidate, or remove it"},
		{"template without environment", projectHead + "{effectLease: null, environmentDefaults: {refs: {desired: d}}}",
			`p.yaml:4:65: /spec/environmentDefaults/refs/desired: "d" is not a ref template: it must contain {environment}, and no other braces`},
		{"template with another placeholder", projectHead + "{effectLease: null, environmentDefaults: {refs: {candidate: 'c/{environment}/{x}'}}}",
			`p.yaml:4:67: /spec/environmentDefaults/refs/candidate: "c/{environment}/{x}" is not a candidate ref template: it must contain {environment}, may contain {id} and {operation}, and no other braces`},
		{"name with a line break", strings.Replace(projectHead, "demo", `"p\n"`, 1) + "{effectLease: null}",
			`p.yaml:3:18: /metadata/name: "p\n" is not a DNS name: labels of lower-case letters, digits and dashes, joined by dots, 253 characters at most`},
		{"null format", projectHead + "{effectLease: null, writeFormat: null}", `p.yaml:4:40: /spec/writeFormat: must be "yaml" or "json", not null`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := DecodeProject("p.yaml", []byte(tt.text))
			if diff := cmp.Diff(tt.want, message(err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFindProject(t *testing.T) {
	t.Parallel()
	file := &fstest.MapFile{Data: []byte(projectHead + "{effectLease: null}")}
	if _, _, err := FindProject(fstest.MapFS{"other.yaml": file}); !errors.Is(err, ErrNoProject) {
		t.Errorf("want ErrNoProject, got %v", err)
	}
	_, _, err := FindProject(fstest.MapFS{"gitopsctr.yml": file, ".gitopsctr.yaml": file})
	if want := "more than one Project file: gitopsctr.yml, .gitopsctr.yaml; keep one of them"; message(err) != want {
		t.Errorf("want %q, got %q", want, message(err))
	}
	p, name, err := FindProject(fstest.MapFS{".gitopsctr.yml": file, "a/gitopsctr.yaml": file})
	if err != nil {
		t.Fatal(err)
	}
	if name != ".gitopsctr.yml" || p.Name != "demo" {
		t.Errorf("want the project demo of .gitopsctr.yml, got %s of %s", p.Name, name)
	}
}

func TestDecodeEnvironment(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: gitopsctr.io/v1\nkind: Environment\nmetadata: {name: qa}\n"
	e, err := DecodeEnvironment("environment.yaml", []byte(head+`spec:
  changeGate: pullRequest
  refs: {desired: d/qa, observed: null, candidate: 'c/{environment}'}
  promotion: {allowedSources: [dev]}
  promotionPolicy: {minimumEvidence: materialized}
`), "qa")
	if err != nil {
		t.Fatal(err)
	}
	want := &Environment{File: "environment.yaml", Name: "qa", ChangeGate: PullRequestGate, DesiredRef: "d/qa", CandidateTemplate: "c/{environment}",
		AllowedSources: []string{"dev"}, MinimumEvidence: MaterializedEvidence}
	if diff := cmp.Diff(want, e, cmpopts.IgnoreFields(Environment{}, "Document")); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
	const value = `{"name":"qa","changeGate":"pullRequest","refs":{"desired":"d/qa","observed":null,"candidate":"c/{environment}"},"promotion":{"allowedSources":["dev"]},"promotionPolicy":{"minimumEvidence":"materialized"}}`
	if diff := cmp.Diff(value, inOrder(e.ReferenceValue())); diff != "" {
		t.Errorf("value for fromEnvironment (-want +got):\n%s", diff)
	}
	for _, tt := range []struct{ name, spec, dir, want string }{
		{"defaults", "{}", "qa", ""},
		{"nulls are absent", "{refs: null, promotion: null, promotionPolicy: null}", "qa", ""},
		{"other directory", "{}", "dev", `e.yaml:3:18: /metadata/name: must be "dev", the name of the directory, not "qa"`},
		{"null gate", "{changeGate: null}", "qa", `e.yaml:4:20: /spec/changeGate: must be "none" or "pullRequest", not null`},
		{"no sources", "{promotion: {allowedSources: []}}", "qa", "e.yaml:4:36: /spec/promotion/allowedSources: needs at least 1 item"},
		{"source twice", "{promotion: {allowedSources: [a, a]}}", "qa", "e.yaml:4:40: /spec/promotion/allowedSources/1: is listed twice; remove one of the two"},
		{"empty policy", "{promotionPolicy: {}}", "qa", `e.yaml:4:25: /spec/promotionPolicy: missing field "minimumEvidence"; add it: "reconciled" or "materialized"`},
		{"template for a literal ref", "{refs: {desired: 'd/{environment}'}}", "qa",
			`e.yaml:4:24: /spec/refs/desired: "d/{environment}" is not a branch name (placeholders are only for the Project's refs and for candidate)`},
		{"name inside spec", "{name: qa}", "qa", `e.yaml:4:8: /spec/name: unknown field "name"; known here: changeGate, refs, promotion, promotionPolicy`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := DecodeEnvironment("e.yaml", []byte(head+"spec: "+tt.spec+"\n"), tt.dir)
			if diff := cmp.Diff(tt.want, message(err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnpromotedEnvironment(t *testing.T) {
	t.Parallel()
	got, err := UnpromotedEnvironment("staging", document.YAML)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(readVector(t, "f-promotion/promotion-candidate/init-environment.yaml")), string(got)); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

func TestCanonicalRef(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ ref, want, err string }{
		{"gitopsctr/desired/qa", "gitopsctr/desired/qa", ""},
		{"refs/heads/main", "main", ""},
		{"@", "@", ""},
		{"gitopsctr/pinsx", "gitopsctr/pinsx", ""},
		{"é", "é", ""},
		{"a-b.c_d", "a-b.c_d", ""},
		{"", "", "the ref is empty"},
		{"refs/heads/", "", "the ref is empty"},
		{"refs/tags/v1", "", `"refs/tags/v1" is not a branch; use a branch name`},
		{"refs/heads/refs/heads/x", "", `"refs/heads/refs/heads/x" is not a branch; use a branch name`},
		{"HEAD", "", `"HEAD" cannot be a branch here; use another name`},
		{"-x", "", `"-x" cannot be a branch here; use another name`},
		{"gitopsctr/pins", "", `"gitopsctr/pins" is reserved; use a name outside gitopsctr/pins`},
		{"gitopsctr/locks/a", "", `"gitopsctr/locks/a" is reserved; use a name outside gitopsctr/locks`},
		{"gitopsctr/owners/a", "", `"gitopsctr/owners/a" is reserved; use a name outside gitopsctr/owners`},
		{"a//b", "", `"a//b" is not a valid branch name: it has an empty part`},
		{"a/", "", `"a/" is not a valid branch name: it has an empty part`},
		{"a/.b", "", `"a/.b" is not a valid branch name: a part starts with a dot`},
		{"a.lock/b", "", `"a.lock/b" is not a valid branch name: a part ends in .lock`},
		{"a..b", "", `"a..b" is not a valid branch name: it contains ".."`},
		{"a@{b", "", `"a@{b" is not a valid branch name: it contains "@{"`},
		{"a.", "", `"a." is not a valid branch name: it ends in a dot`},
		{"a b", "", `"a b" is not a valid branch name: it contains " "`},
		{`a\b`, "", `"a\\b" is not a valid branch name: it contains "\\"`},
		{"a\x7f", "", `"a\x7f" is not a valid branch name: it contains "\x7f"`},
		{"a*", "", `"a*" is not a valid branch name: it contains "*"`},
	} {
		got, err := CanonicalRef(tt.ref)
		if got != tt.want || message(err) != tt.err {
			t.Errorf("CanonicalRef(%q): want %q, %q, got %q, %q", tt.ref, tt.want, tt.err, got, message(err))
		}
	}
}

func TestRefs(t *testing.T) {
	t.Parallel()
	p, err := DecodeProject("p.yaml", []byte(projectHead+`{effectLease: {store: {branch: {ref: 'refs/heads/leases/{environment}'}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name      string
		env       Environment
		overrides RefOverrides
		want      Refs
		err       string
	}{
		{"from the Project", Environment{Name: "qa"}, RefOverrides{}, Refs{"gitopsctr/desired/qa", "gitopsctr/observed/qa"}, ""},
		{"from the Environment", Environment{Name: "qa", DesiredRef: "refs/heads/d"}, RefOverrides{}, Refs{"d", "gitopsctr/observed/qa"}, ""},
		{"from the caller", Environment{Name: "qa", DesiredRef: "d", ObservedRef: "o"}, RefOverrides{Desired: "x", Observed: "y"}, Refs{"x", "y"}, ""},
		{"equal", Environment{Name: "qa", DesiredRef: "d"}, RefOverrides{Observed: "refs/heads/d"}, Refs{}, `the desired and the observed ref of qa are both "d"; give them different names`},
		{"invalid", Environment{Name: "qa"}, RefOverrides{Observed: "a b"}, Refs{}, `observed ref of qa: "a b" is not a valid branch name: it contains " "`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := p.Refs(&tt.env, tt.overrides)
			if diff := cmp.Diff(tt.want, got); diff != "" || message(err) != tt.err {
				t.Errorf("want error %q, got %q; refs (-want +got):\n%s", tt.err, message(err), diff)
			}
		})
	}
	candidate, err := p.CandidateRef(&Environment{Name: "qa", CandidateTemplate: "c/{environment}/{operation}/{id}"}, RefOverrides{}, "apply", "b418ad69590c")
	if want := "c/qa/apply/b418ad69590c"; candidate != want || err != nil {
		t.Errorf("candidate: want %q, got %q, %v", want, candidate, err)
	}
	lease, err := p.LeaseRef("qa")
	if want := "leases/qa"; lease != want || err != nil {
		t.Errorf("lease: want %q, got %q, %v", want, lease, err)
	}
	perUnit := &Project{LeaseTemplate: "l/{unit}"}
	if _, err := perUnit.LeaseRef("qa"); message(err) != `the lease ref "l/{unit}": one branch per Unit is not supported; remove {unit}` {
		t.Errorf("lease per Unit: got %v", err)
	}
	if lease, err := (&Project{}).LeaseRef("qa"); lease != "" || err != nil {
		t.Errorf("no leases: got %q, %v", lease, err)
	}
	err = CheckDistinct(RefRole{"desired", "a"}, RefRole{"lease", ""}, RefRole{"candidate", "a"})
	if want := `the desired and the candidate ref are both "a"; give them different names`; message(err) != want {
		t.Errorf("distinct: want %q, got %v", want, err)
	}
}
