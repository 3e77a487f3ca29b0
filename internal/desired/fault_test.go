package desired

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTypeFaultsNameBothEnds: a value that came through a reference and does not fit the desired contract is reported at the
// authored reference, with the document and the pointer that it was read from.
func TestTypeFaultsNameBothEnds(t *testing.T) {
	t.Parallel()
	const site = `apiVersion: unit.gitopsctr.io/v1
kind: FrontendS3Cloudfront
metadata: {name: site}
spec:
  inputs:
    bundle: example.test/b@sha256:1
    distributionId: D
    url: https://example.test
    bucket: %BUCKET%
    runtimeConfig:
      %CONFIG%
`
	const config = "{schema: 1, apiBase: /api, auth: {mode: cognito, issuer: i, clientId: c}}"
	for _, tt := range []struct {
		name, bucket, config, outputs, want string
		dry                                 bool
	}{
		{
			name: "a scalar of another type", bucket: "{fromReceipt: {unit: net, pointer: /outputs/host}}", config: config, outputs: `{"host":7}`,
			want: `site.yaml:9:5: /spec/inputs/bucket: must be a string, not an integer: the value is /outputs/host of the Receipt of Unit net; change what stands there, or read another value`,
		},
		{
			name: "deep inside a value that was read as a whole", bucket: "b", config: "fromReceipt: {unit: net, pointer: /outputs/host}",
			outputs: `{"host":{"schema":1,"apiBase":false,"auth":{"mode":"cognito","issuer":"i","clientId":"c"}}}`,
			want:    `site.yaml:10:5: /spec/inputs/runtimeConfig/apiBase: must be a string, not a boolean: the value is /outputs/host/apiBase of the Receipt of Unit net; change what stands there, or read another value`,
		},
		{
			name: "null where a value is needed", bucket: "{fromReceipt: {unit: net, pointer: /outputs/gone}}", config: config, outputs: `{"gone":null}`,
			want: `site.yaml:9:5: /spec/inputs/bucket: must be a string, not null: the value is /outputs/gone of the Receipt of Unit net; change what stands there, or read another value`,
		},
		{
			name: "the Environment", bucket: "{fromEnvironment: {}}", config: config, outputs: `{}`,
			want: `site.yaml:9:5: /spec/inputs/bucket: must be a string, not a mapping: the value is the Environment document; change what stands there, or read another value`,
		},
		{
			name: "a dryFallback", bucket: "{fromReceipt: {unit: none, dryFallback: [x]}}", config: config, outputs: `{}`, dry: true,
			want: `site.yaml:9:5: /spec/inputs/bucket: must be a string, not a list: the value is the dryFallback of fromReceipt none; change what stands there, or read another value`,
		},
		{
			name: "an authored value is at one end only", bucket: "b", config: "{schema: 2, apiBase: /api, auth: {mode: cognito, issuer: i, clientId: c}}", outputs: `{}`,
			want: `site.yaml:11:8: /spec/inputs/runtimeConfig/schema: must be the integer 1`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := setting{source: plane{"net/main.tf": ""}, authored: plane{"net.yaml": netUnit}}
			s.desired = after(s.build(t), nil)
			s.observed = plane{"units/net.yaml": receipt(t, s.desired, "net", `{"applied":{"sourceRevision":"1","path":"net"},"outputs":`+tt.outputs+`}`)}
			s.authored["site.yaml"] = replaceAll(site, "%BUCKET%", tt.bucket, "%CONFIG%", tt.config)
			s.dry = tt.dry
			_, err := Build(t.Context(), s.input(t))
			if err == nil {
				t.Fatal("want an error")
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestForbiddenKeysInValues: a Receipt cannot smuggle a reference into a desired document.
func TestForbiddenKeysInValues(t *testing.T) {
	t.Parallel()
	s := setting{source: plane{"net/main.tf": "", "app/main.tf": ""}, authored: plane{"net.yaml": netUnit}}
	s.desired = after(s.build(t), nil)
	s.observed = plane{"units/net.yaml": receipt(t, s.desired, "net", `{"applied":{"sourceRevision":"1"},"outputs":{"host":{"a":[{"fromReceipt":{"unit":"x"}}]}}}`)}
	s.authored["app.yaml"] = terraformUnit("app", "host: {fromReceipt: {unit: net, pointer: /outputs/host}}")
	_, err := Build(t.Context(), s.input(t))
	want := `app.yaml:8:7: /spec/terraform/variables/host/a/0/fromReceipt: a desired document must not hold the key "fromReceipt": ` +
		`the value is /outputs/host/a/0/fromReceipt of the Receipt of Unit net; change what stands there, or read another value`
	if err == nil {
		t.Fatal("want an error")
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAFaultIsReportedOnce: the consumers of a faulty Unit do not repeat its fault.
func TestAFaultIsReportedOnce(t *testing.T) {
	t.Parallel()
	s := pair(t)
	s.authored["net.yaml"] = replaceAll(netUnit, "terraform: {", "terraform: {variables: {a: {fromEnvironment: {pointer: /nope}}}, ")
	s.source["web/main.tf"], s.authored["web.yaml"] = "", terraformUnit("web", appVariables)
	_, err := Build(t.Context(), s.input(t))
	if err == nil {
		t.Fatal("want an error")
	}
	want := `net.yaml:6:30: /spec/terraform/variables/a: fromEnvironment /nope cannot be resolved: JSON Pointer "/nope": token "nope": no such key; known there: name`
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
