package terraform_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/driver"
	"github.com/gitopsctr/gitopsctr/internal/driver/terraform"
)

const vectors = "../../../testdata/vectors/g-drivers/terraform/"

func vector(t *testing.T, name string) *document.Node {
	t.Helper()
	data, err := os.ReadFile(vectors + name)
	if err != nil {
		t.Fatal(err)
	}
	n, err := document.Decode(name, data)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The recorded run of the reference: same source, same Unit, same Receipt; only the sensitive output needs our opt-in.
func TestReconcileMakesTheReceiptOfTheVector(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(vectors + "main.tf")
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, map[string]string{"main.tf": string(source), "publish.tf": "# gitopsctr:observe-sensitive secret\n"})
	spec := vector(t, "desired-infra.yaml").Get("spec")
	spec = spec.With("terraform", spec.Get("terraform").With("backend", document.NewMap(document.F("path", document.NewString(f.StateFile)))))
	u := f.with("{}")
	u.Spec, u.ReportDir = spec, filepath.Join(t.TempDir(), "report")
	var asked []string
	d := newDriver(t, func(o *terraform.Options) {
		o.HTTPClient = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			asked = append(asked, r.Method+" "+r.URL.String())
			return &http.Response{StatusCode: 200, Body: http.NoBody, Request: r}, nil
		})}
	})
	got, err := d.Reconcile(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	want := vector(t, "receipt-infra.yaml").Path("status", "result")
	if diff := cmp.Diff(orderedJSON(want), orderedJSON(got.Result)); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"GET https://z1.example.test/health"}, asked); diff != "" {
		t.Errorf("HTTP checks (-want +got):\n%s", diff)
	}
	wantChanges := driver.Changes{Create: 1, Outputs: 3, Resources: []driver.ResourceChange{{Address: "terraform_data.x", Action: "create"}}}
	if diff := cmp.Diff(wantChanges, got.Changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	for _, name := range []string{"plan.tfplan", "plan.txt"} {
		info, err := os.Stat(filepath.Join(u.ReportDir, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s: want mode 0600, got %v", name, info.Mode())
		}
	}
	if info, err := os.Stat(filepath.Join(u.TempDir, "unit.tfvars.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("variables file: %v, %v", info, err)
	}
	text, err := os.ReadFile(filepath.Join(u.ReportDir, "plan.txt"))
	if err != nil || !strings.Contains(string(text), "terraform_data.x will be created") {
		t.Errorf("plan.txt: %v\n%s", err, text)
	}
	for where, s := range map[string]string{"plan.txt": string(text), "log": f.Log.String()} {
		if strings.Contains(s, "s3cr3t") {
			t.Errorf("%s shows the sensitive value", where)
		}
	}
	for _, name := range []string{".reconcile.tfplan", "plan.tfplan"} {
		if _, err := os.Stat(filepath.Join(u.SourceDir, name)); err == nil {
			t.Errorf("%s is in the source", name)
		}
	}
}

const module = `
terraform {
  backend "local" {}
}
variable "zone" { type = string }
resource "terraform_data" "x" { input = var.zone }
resource "terraform_data" "y" { triggers_replace = var.zone }
output "zone" { value = terraform_data.x.input }
output "id" { value = terraform_data.x.id }
output "big" { value = 12345678901234567890 }
`

func TestUnitLife(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"main.tf": module})
	d := newDriver(t, nil)
	ctx := t.Context()
	zone := func(z string) driver.Unit {
		return f.with("{backend: BACKEND, variables: {zone: " + z + "}, observeOutputs: [zone, big], checks: null}")
	}
	reconcile := func(z string, want driver.Changes) {
		t.Helper()
		got, err := d.Reconcile(ctx, zone(z))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.Changes); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
		result := `{"applied":{"path":"infra","sourceRevision":"` + revision + `"},"outputs":{"big":12345678901234567890,"zone":"` + z + `"}}`
		if diff := cmp.Diff(result, jsonOf(got.Result)); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
	}
	created := driver.Changes{Create: 2, Outputs: 3, Resources: []driver.ResourceChange{{Address: "terraform_data.x", Action: "create"}, {Address: "terraform_data.y", Action: "create"}}}
	changed := driver.Changes{Update: 1, Replace: 1, Outputs: 1, Resources: []driver.ResourceChange{{Address: "terraform_data.y", Action: "replace"}, {Address: "terraform_data.x", Action: "update"}}}

	plan, err := d.Plan(ctx, f.with("{backend: BACKEND, variables: {zone: z1}, observeOutputs: [zone, id, big]}"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(created, plan.Changes); diff != "" {
		t.Errorf("first plan (-want +got):\n%s", diff)
	}
	if want, got := `{"big":12345678901234567890,"zone":"z1"}`, jsonOf(plan.Outputs); got != want {
		t.Errorf("outputs known in the plan: want %s, got %s", want, got)
	}
	if f.state() != nil {
		t.Fatal("the plan made a state")
	}

	reconcile("z1", created)
	reconcile("z1", driver.Changes{})
	plan, err = d.Plan(ctx, zone("z2"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(changed, plan.Changes); diff != "" {
		t.Errorf("second plan (-want +got):\n%s", diff)
	}
	if !strings.Contains(plan.Text, `"z1" -> "z2"`) || strings.Contains(plan.Text, "\x1b") {
		t.Errorf("plan text:\n%s", plan.Text)
	}
	reconcile("z2", changed)

	drift, err := d.Verify(ctx, zone("z2"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(driver.Drift{}, drift); diff != "" {
		t.Errorf("verify of the clean Unit (-want +got):\n%s", diff)
	}
	state, err := os.ReadFile(f.StateFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.StateFile, []byte(strings.ReplaceAll(string(state), `"z2"`, `"elsewhere"`)), 0o600); err != nil {
		t.Fatal(err)
	}
	drift, err = d.Verify(ctx, zone("z2"))
	if err != nil {
		t.Fatal(err)
	}
	if !drift.Drifted || drift.Changes.Update != 1 || !strings.Contains(drift.Text, `"elsewhere" -> "z2"`) {
		t.Errorf("verify of the drifted Unit: %+v", drift)
	}

	u := zone("z2")
	u.DeletionGeneration = 1
	details, err := d.Destroy(ctx, u)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(jsonOf(vector(t, "teardown-evidence.json").Get("details")), jsonOf(details)); diff != "" {
		t.Errorf("teardown details (-want +got):\n%s", diff)
	}
	if n := f.resources(); n != 0 {
		t.Errorf("%d resources are left", n)
	}
	if _, err := d.Destroy(ctx, zone("z2")); err != nil {
		t.Errorf("a second destroy: %v", err)
	}
}

func TestFailingConfiguration(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ source, wantOp, want string }{
		"does not parse": {`resource "terraform_data" {`, "terraform init", "Missing name for resource"},
		"fails in plan":  {"variable \"zone\" {\n  validation {\n    condition = var.zone == \"a\"\n    error_message = \"wrong zone hunter22\"\n  }\n}", "terraform plan", "wrong zone ***"},
		"fails in apply": {"variable \"zone\" {}\nresource \"terraform_data\" \"x\" {\n  provisioner \"local-exec\" {\n    command = \"echo broken; exit 3\"\n  }\n}", "terraform apply", "exit status 3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, map[string]string{"main.tf": test.source})
			u := f.with("{backend: {}, variables: {zone: b}, observeOutputs: []}")
			u.ReportDir = t.TempDir()
			d := newDriver(t, func(o *terraform.Options) { o.Mask = driver.NewMasker("hunter22") })
			_, err := d.Reconcile(t.Context(), u)
			e := driverError(t, err)
			if e.Op != strings.ReplaceAll(test.wantOp, "terraform", toolName(t)) || !strings.Contains(e.Detail, test.want) || e.EffectUnknown {
				t.Errorf("want %s with %q, got %#v", test.wantOp, test.want, e)
			}
			text, err := os.ReadFile(filepath.Join(u.ReportDir, "plan.txt"))
			if err != nil || !strings.Contains(string(text), test.want) {
				t.Errorf("plan.txt does not say why (%v):\n%s", err, text)
			}
			if code, ok := driver.ExitCode(e); !ok || code != 1 {
				t.Errorf("exit code: got %d, %t", code, ok)
			}
		})
	}
}

func toolName(t *testing.T) string {
	t.Helper()
	if _, err := driver.LookPath(realEnv(t), "terraform"); err != nil {
		return "tofu"
	}
	return "terraform"
}

func TestUsersEnvironmentWorks(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"main.tf": `
terraform {
  backend "local" {}
}
variable "from_env" {}
output "seen" { value = "${terraform.workspace} ${var.from_env}" }
`})
	dataDir, workspaces := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "spaces")
	d := newDriver(t, func(o *terraform.Options) {
		o.Env = append(o.Env, "TF_WORKSPACE=blue", "TF_VAR_from_env=value", "TF_DATA_DIR="+dataDir, "TF_CLI_ARGS_init=-backend-config=workspace_dir="+workspaces)
	})
	got, err := d.Reconcile(t.Context(), f.with("{backend: BACKEND, variables: {}, observeOutputs: [seen]}"))
	if err != nil {
		t.Fatal(err)
	}
	if want, got := `{"seen":"blue value"}`, jsonOf(got.Result.Get("outputs")); got != want {
		t.Errorf("outputs: want %s, got %s", want, got)
	}
	if f.state() != nil {
		t.Error("the default workspace has a state")
	}
	if _, err := os.Stat(filepath.Join(workspaces, "blue", "terraform.tfstate")); err != nil {
		t.Errorf("the state of workspace blue: %v", err)
	}
	if _, err := os.Stat(filepath.Join(f.Module, ".terraform")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("TF_DATA_DIR was not honoured: %v", err)
	}
}

// Cancelling must let the tool store what it did and release its lock, and must leave no process behind.
func TestCancellationReleasesTheStateLock(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"main.tf": `
terraform {
  backend "local" {}
}
variable "seconds" {}
resource "terraform_data" "first" {}
resource "terraform_data" "slow" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" {
    command = "echo process $$; sleep ${var.seconds}"
  }
}
`})
	d := newDriver(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	lock := filepath.Join(filepath.Dir(f.StateFile), ".x.tfstate.lock.info")
	var process int
	var locked bool
	f.Log.on, f.Log.do = "): process ", func(line string) {
		process, _ = strconv.Atoi(regexp.MustCompile(`process (\d+)`).FindStringSubmatch(line)[1])
		locked = fileExists(lock)
		cancel()
	}
	_, err := d.Reconcile(ctx, f.with("{backend: BACKEND, variables: {seconds: 120}, observeOutputs: []}"))
	e := driverError(t, err)
	if !errors.Is(err, context.Canceled) || e.EffectUnknown || e.Op != toolName(t)+" apply" {
		t.Errorf("want the apply cancelled with known effect, got %#v", e)
	}
	if !locked || fileExists(lock) {
		t.Errorf("the state's lock was held: %t; is held: %t", locked, fileExists(lock))
	}
	if process == 0 || !gone(process) {
		t.Errorf("the provisioner's process %d still runs", process)
	}
	if n := f.resources(); n == 0 {
		t.Error("the state does not know what was done before the cancellation")
	}
	f.Log.do = nil
	got, err := d.Reconcile(t.Context(), f.with("{backend: BACKEND, variables: {seconds: 0}, observeOutputs: []}"))
	if err != nil {
		t.Fatalf("the next run: %v", err)
	}
	if want := []driver.ResourceChange{{Address: "terraform_data.slow", Action: "replace"}}; cmp.Diff(want, got.Changes.Resources) != "" {
		t.Errorf("the next run changed %v, want %v", got.Changes.Resources, want)
	}
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// gone waits a little for a process to end and be reaped.
func gone(pid int) bool {
	for range 100 {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
}
