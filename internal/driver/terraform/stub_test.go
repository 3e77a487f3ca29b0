package terraform_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/driver"
	"github.com/gitopsctr/gitopsctr/internal/driver/terraform"
)

// A stub is a program in place of the tool. It writes its arguments down and answers what the test gave.
type stub struct {
	options terraform.Options
	dir     string
}

// newStub returns a stub with the structured plan and the outputs that it prints. A file "exit-SUBCOMMAND" in its
// directory holds the exit code of that subcommand, or "kill".
func newStub(t *testing.T, plan, outputs string) *stub {
	t.Helper()
	s := &stub{dir: t.TempDir()}
	s.file(t, "plan.json", plan)
	s.file(t, "outputs.json", outputs)
	path := filepath.Join(s.dir, "terraform")
	script := fmt.Sprintf(`#!/bin/sh
trap '' INT
cd %q || exit 99
echo "$*" >> calls
env > env
for a in "$@"; do case $a in -out=*) echo plan > "${a#-out=}" ;; esac; done
case "$1 $*" in
*-json*) if [ "$1" = show ]; then cat plan.json; else cat outputs.json; fi ;;
"version "*) echo '{"terraform_version":"1.11.4"}' ;;
*) echo "$1 says hello" ;;
esac
if [ -f "exit-$1" ]; then
  code="$(cat "exit-$1")"
  if [ "$code" = kill ]; then kill -9 $$; fi
  exit "$code"
fi
`, s.dir)
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	s.options = terraform.Options{Tool: path, Env: baseEnv()}
	return s
}

func (s *stub) file(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// calls returns the command lines, with the given paths replaced by names.
func (s *stub) calls(t *testing.T, names map[string]string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, "calls"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	text := string(data)
	for path, name := range names {
		text = strings.ReplaceAll(text, path, name)
	}
	return strings.Split(strings.TrimSpace(text), "\n")
}

const emptyPlan = `{"format_version":"1.2"}`

func TestCommandLines(t *testing.T) {
	t.Parallel()
	const spec = `{backend: {path: a b, encrypt: true, retries: 5, ratio: 1.0}, variables: {password: ` + canary + `}, observeOutputs: []}`
	const initLine = "init -input=false -no-color -backend-config=path=a b -backend-config=encrypt=true -backend-config=retries=5 -backend-config=ratio=1.0"
	for name, test := range map[string]struct {
		run  func(*terraform.Driver, driver.Unit) error
		want []string
	}{
		"plan": {
			func(d *terraform.Driver, u driver.Unit) error { _, err := d.Plan(t.Context(), u); return err },
			[]string{initLine, "plan -input=false -no-color -out=TEMP/plan.tfplan -var-file=TEMP/unit.tfvars.json -refresh=false -lock=false", "show -no-color -json TEMP/plan.tfplan", "show -no-color TEMP/plan.tfplan"},
		},
		"reconcile": {
			func(d *terraform.Driver, u driver.Unit) error { _, err := d.Reconcile(t.Context(), u); return err },
			[]string{initLine, "plan -input=false -no-color -out=TEMP/plan.tfplan -var-file=TEMP/unit.tfvars.json -lock-timeout=1m30s", "show -no-color -json TEMP/plan.tfplan", "apply -auto-approve -input=false -no-color -lock-timeout=1m30s TEMP/plan.tfplan", "output -no-color -json"},
		},
		"verify": {
			func(d *terraform.Driver, u driver.Unit) error { _, err := d.Verify(t.Context(), u); return err },
			[]string{initLine, "plan -input=false -no-color -out=TEMP/plan.tfplan -var-file=TEMP/unit.tfvars.json -lock-timeout=1m30s -detailed-exitcode"},
		},
		"destroy": {
			func(d *terraform.Driver, u driver.Unit) error { _, err := d.Destroy(t.Context(), u); return err },
			[]string{initLine, "destroy -auto-approve -input=false -no-color -lock-timeout=1m30s -var-file=TEMP/unit.tfvars.json"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStub(t, emptyPlan, "{}")
			s.options.Timeouts.Lock = 90e9
			s.options.Env = append(s.options.Env, "TF_WORKSPACE=blue", "TF_VAR_x=1")
			u := newFixture(t, nil).with(spec)
			if err := test.run(terraform.New(s.options), u); err != nil {
				t.Fatal(err)
			}
			got := s.calls(t, map[string]string{u.TempDir: "TEMP"})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
			if strings.Contains(strings.Join(got, " "), canary) {
				t.Error("a variable is on a command line")
			}
			env, err := os.ReadFile(filepath.Join(s.dir, "env"))
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"TF_WORKSPACE=blue", "TF_VAR_x=1", "TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1"} {
				if !strings.Contains("\n"+string(env), "\n"+want+"\n") {
					t.Errorf("the environment lacks %s", want)
				}
			}
		})
	}
}

func TestVerifyByExitCode(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{"0": "clean", "2": "drifted", "1": "error", "3": "error"} {
		t.Run("exit "+code, func(t *testing.T) {
			t.Parallel()
			s := newStub(t, emptyPlan, "{}")
			s.file(t, "exit-plan", code)
			got := "clean"
			drift, err := terraform.New(s.options).Verify(t.Context(), newFixture(t, nil).with("{backend: {}, variables: {}, observeOutputs: []}"))
			switch {
			case err != nil:
				got = "error"
				if e := driverError(t, err); !strings.Contains(e.Detail, "plan says hello") {
					t.Errorf("the error does not say what the tool said: %v", err)
				}
			case drift.Drifted:
				got = "drifted"
			}
			if got != want {
				t.Errorf("want %s, got %s", want, got)
			}
		})
	}
}

// The outcome of an apply that somebody killed is not known; that of one that ended with an error is.
func TestKilledApply(t *testing.T) {
	t.Parallel()
	s := newStub(t, emptyPlan, "{}")
	s.file(t, "exit-apply", "kill")
	_, err := terraform.New(s.options).Reconcile(t.Context(), newFixture(t, nil).with("{backend: {}, variables: {}, observeOutputs: []}"))
	if e := driverError(t, err); !e.EffectUnknown {
		t.Errorf("want the effect unknown, got %#v", e)
	}
}

// An apply that ends well although the run was cancelled meanwhile has an effect, so it gets its evidence.
func TestApplyThatOutrunsTheCancellationIsRecorded(t *testing.T) {
	t.Parallel()
	s := newStub(t, `{"format_version":"1.2","configuration":{"root_module":{"outputs":{"a":{}}}}}`, `{"a":{"sensitive":false,"value":1}}`)
	f := newFixture(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	f.Log.on, f.Log.do = "apply says hello", func(string) { cancel() }
	got, err := terraform.New(s.options).Reconcile(ctx, f.with("{backend: {}, variables: {}, observeOutputs: [a]}"))
	if err != nil {
		t.Fatal(err)
	}
	if want, got := `{"a":1}`, jsonOf(got.Result.Get("outputs")); got != want {
		t.Errorf("outputs: want %s, got %s", want, got)
	}
}

func TestSpecsThatCannotRun(t *testing.T) {
	t.Parallel()
	const terraformSpec = "{backend: {}, variables: {}, observeOutputs: [a], checks: null}"
	for name, test := range map[string]struct{ spec, wantPointer string }{
		"no source":               {"source: null\nterraform: " + terraformSpec, "/source"},
		"an empty path":           {"source: {path: ''}\nterraform: " + terraformSpec, "/source/path"},
		"a path out of the tree":  {"source: {path: ../x}\nterraform: " + terraformSpec, "/source/path"},
		"an absolute path":        {"source: {path: /etc}\nterraform: " + terraformSpec, "/source/path"},
		"no such directory":       {"source: {path: absent}\nterraform: " + terraformSpec, "/source/path"},
		"no terraform":            {"source: {path: infra}\nterraform: null", "/terraform"},
		"no backend":              {"source: {path: infra}\nterraform: {backend: null, variables: {}, observeOutputs: []}", "/terraform/backend"},
		"no variables":            {"source: {path: infra}\nterraform: {backend: {}, variables: null, observeOutputs: []}", "/terraform/variables"},
		"no outputs":              {"source: {path: infra}\nterraform: {backend: {}, variables: {}, observeOutputs: null}", "/terraform/observeOutputs"},
		"a null backend setting":  {"source: {path: infra}\nterraform: {backend: {a/b: null}, variables: {}, observeOutputs: []}", "/terraform/backend/a~1b"},
		"a check of nothing":      {"source: {path: infra}\nterraform: {backend: {}, variables: {}, observeOutputs: [a], checks: [{type: http, urlOutput: a}, {type: http, urlOutput: b}]}", "/terraform/checks/1/urlOutput"},
		"a check of another sort": {"source: {path: infra}\nterraform: {backend: {}, variables: {}, observeOutputs: [a], checks: [{type: tcp, urlOutput: a}]}", "/terraform/checks/0/type"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStub(t, emptyPlan, "{}")
			u := newFixture(t, nil).with("{}")
			spec, err := document.Decode("spec.yaml", []byte(test.spec))
			if err != nil {
				t.Fatal(err)
			}
			u.Spec = spec
			_, err = terraform.New(s.options).Reconcile(t.Context(), u)
			if e := driverError(t, err); e.Pointer != test.wantPointer || e.Fix == "" {
				t.Errorf("want an error at %s with a fix, got %#v", test.wantPointer, e)
			}
			if calls := s.calls(t, nil); calls[0] != "" {
				t.Errorf("the tool ran: %q", calls)
			}
		})
	}
}
