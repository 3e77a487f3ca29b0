package terraform_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/driver/terraform"
)

const secretModule = `
terraform {
  backend "local" {}
}
variable "password" {
  sensitive = true
}
resource "terraform_data" "db" { input = var.password }
output "password" {
  value     = terraform_data.db.output
  sensitive = true
}
output "nested" {
  value     = { user = "admin", password = var.password }
  sensitive = true
}
output "open" { value = "public" }
output "nothing" { value = null }
`

const canary = "canary-hunter22"

func TestSensitiveOutputs(t *testing.T) {
	t.Parallel()
	const optIn = "# gitopsctr:observe-sensitive "
	for name, test := range map[string]struct {
		optIn, observe string
		want           string // outputs
		wantErr        string
		wantPointer    string
		wantApplied    bool
	}{
		"refused before anything is applied":       {observe: "[open, password]", wantErr: `the output "password" is sensitive`, wantPointer: "/terraform/observeOutputs/1"},
		"a sensitive value with open parts":        {observe: "[nested]", wantErr: `the output "nested" is sensitive`, wantPointer: "/terraform/observeOutputs/0"},
		"allowed by the source":                    {optIn: optIn + "password", observe: "[open, password]", want: `{"open":"public","password":"` + canary + `"}`, wantApplied: true},
		"several allowed, in other spellings":      {optIn: "  // gitopsctr:observe-sensitive nested, password\r", observe: "[nested]", want: `{"nested":{"password":"` + canary + `","user":"admin"}}`, wantApplied: true},
		"another one allowed":                      {optIn: optIn + "nested", observe: "[password]", wantErr: `the output "password" is sensitive`, wantPointer: "/terraform/observeOutputs/0"},
		"a word within another comment is nothing": {optIn: "# see gitopsctr:observe-sensitive password", observe: "[password]", wantErr: `the output "password" is sensitive`, wantPointer: "/terraform/observeOutputs/0"},
		"not observed, no matter":                  {observe: "[open]", want: `{"open":"public"}`, wantApplied: true},
		"an output that is not declared":           {observe: "[open, absent]", wantErr: `the output "absent" is not declared`, wantPointer: "/terraform/observeOutputs/1"},
		"an output without value":                  {observe: "[nothing]", wantErr: `the output "nothing" has no value`, wantPointer: "/terraform/observeOutputs/0", wantApplied: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, map[string]string{"main.tf": secretModule, "opt.tf": test.optIn + "\n"})
			d := newDriver(t, nil)
			spec := "{backend: BACKEND, variables: {password: " + canary + "}, observeOutputs: " + test.observe + "}"
			u := f.with(spec)
			u.ReportDir = t.TempDir()
			plan, planErr := d.Plan(t.Context(), u)
			got, err := d.Reconcile(t.Context(), u)
			if applied := f.state() != nil; applied != test.wantApplied {
				t.Errorf("applied: want %t, got %t", test.wantApplied, applied)
			}
			report, readErr := os.ReadFile(filepath.Join(u.ReportDir, "plan.txt"))
			if readErr != nil {
				t.Error(readErr)
			}
			for where, text := range map[string]string{"log": f.Log.String(), "plan": plan.Text, "planned outputs": jsonOf(plan.Outputs), "plan.txt": string(report)} {
				if strings.Contains(text, canary) {
					t.Errorf("the %s shows the secret:\n%s", where, text)
				}
			}
			if test.wantErr == "" {
				if err != nil || planErr != nil {
					t.Fatalf("plan: %v, reconcile: %v", planErr, err)
				}
				if diff := cmp.Diff(test.want, jsonOf(got.Result.Get("outputs"))); diff != "" {
					t.Errorf("outputs (-want +got):\n%s", diff)
				}
				return
			}
			e := driverError(t, err)
			if !strings.Contains(e.Detail, test.wantErr) || e.Pointer != test.wantPointer || e.Fix == "" {
				t.Errorf("want %q at %s, got %#v", test.wantErr, test.wantPointer, e)
			}
			if strings.Contains(err.Error(), canary) {
				t.Errorf("the error shows the secret: %v", err)
			}
			if wantInPlan := !test.wantApplied; wantInPlan != (planErr != nil) {
				t.Errorf("error in plan: want %t, got %v", wantInPlan, planErr)
			}
		})
	}
}

// A tool that does not tell in its plan that an output is sensitive still cannot get it recorded.
func TestSensitiveOutputFoundAfterApply(t *testing.T) {
	t.Parallel()
	stub := newStub(t, `{"format_version":"1.2","configuration":{"root_module":{"outputs":{"a":{}}}}}`, `{"a":{"sensitive":true,"value":"`+canary+`"}}`)
	f := newFixture(t, nil)
	_, err := terraform.New(stub.options).Reconcile(t.Context(), f.with("{backend: {}, variables: {}, observeOutputs: [a]}"))
	if e := driverError(t, err); !strings.Contains(e.Detail, `the output "a" is sensitive`) {
		t.Errorf("got %v", err)
	}
	if strings.Contains(f.Log.String()+err.Error(), canary) {
		t.Error("the secret is shown")
	}
}
