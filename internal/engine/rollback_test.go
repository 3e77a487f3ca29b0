package engine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// TestRollbackMessageIsTheRecordedOne compares the bytes of the message: a rerun finds its candidate by them.
func TestRollbackMessageIsTheRecordedOne(t *testing.T) {
	t.Parallel()
	_, want, _ := strings.Cut(string(readVector(t, "rollback-commit.txt")), "\n\n")
	got := rollbackMessage{
		environment: "dev", from: "eee266faa83436d42543a42e0864a3efd0f095bd", target: "6857e31c5145cb6e4ff978ce71a4f9d61ee7fad9",
		proof: "36e092346ce9a2206a5e241a781c92cc339afcde", requested: []string{"lone"}, materialized: []string{"lone"}, reason: "incident 7",
	}.String()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
	all := rollbackMessage{environment: "dev", from: "f", target: "t", materialized: []string{"a", "b"}, reason: "r"}.String()
	if want := "Rollback dev to t\n\nFrom-Desired-Revision: f\nTarget-Desired-Revision: t\nTarget-Observed-Revision: None\nRequested-Units: all\nMaterialized-Units: a, b\nReason: r\n"; all != want {
		t.Errorf("message of a full rollback\n got %q\nwant %q", all, want)
	}
}

// TestRebornUnitHasTheRecordedUID is the UID of a Unit that comes back after it was finalized (chapter F, 4.2).
func TestRebornUnitHasTheRecordedUID(t *testing.T) {
	t.Parallel()
	u, err := resource.DecodeUnit("units/extra.yaml", []byte(`apiVersion: unit.gitopsctr.io/v1
kind: Terraform
metadata: {name: extra, uid: d1-4ea381b1bd6d8b8ac0fab6993b942e23}
spec:
  source:
    path: net
    revision: 7a336c40dcba32ac06d0209540570b71ee3cda97
    driverVersion: 2
    inputHash: sha256:b821cffbc66c96e27e8c92ea70833fe9712029b5d6c8d22aca41361290d93f6e
    inputs: ["**/*.tf"]
  terraform: null
  inputs: null
  resolvedInputs: null
`))
	if err != nil {
		t.Fatal(err)
	}
	unit := &observed.Unit{Unit: u, Name: "extra"}
	if want, got := "d1-4ea381b1bd6d8b8ac0fab6993b942e23", rebornUID(unit, nil); got != want {
		t.Errorf("the UID of the first incarnation is %s, want %s", got, want)
	}
	if want, got := "d1-af31bb90ba53c37de3a1979f38ac2404", rebornUID(unit, []string{u.Metadata.UID}); got != want {
		t.Errorf("the UID of the second incarnation is %s, want %s", got, want)
	}
}

// TestRollbackProvenanceIsTheRecordedOne compares with the context that a recorded candidate id was made of.
func TestRollbackProvenanceIsTheRecordedOne(t *testing.T) {
	t.Parallel()
	payload, err := document.DecodeLenient("payload.json", readVector(t, "rollback-candidate-id-payload.json"))
	if err != nil {
		t.Fatal(err)
	}
	context := payload.Get("context")
	identity := resource.CandidateIdentity{Operation: payload.Get("operation").Str(), Environment: payload.Get("environment").Str(),
		TargetRef: payload.Get("targetRef").Str(), TargetRevision: payload.Get("targetRevision").Str(), Context: context}
	for _, f := range payload.Get("files").Items {
		identity.Files = append(identity.Files, resource.InputFile{Path: f.Get("path").Str(), SHA256: f.Get("contentHash").Str()})
	}
	if want, got := "e193ebbe52bb", identity.ID(); got != want {
		t.Errorf("candidate id %s, want %s", got, want)
	}
	b := &rollback{scope: &scope{Target: Target{Environment: "staging"}}, request: RollbackRequest{Reason: "bad release"},
		materialized: []string{"app"}, proof: context.Get("targetObservedRevision").Str()}
	got := b.provenanceOf(context.Get("fromDesiredRevision").Str(), context.Get("targetDesiredRevision").Str())
	if diff := cmp.Diff(string(document.CanonicalJSON(context)), string(document.CanonicalJSON(got))); diff != "" {
		t.Errorf("provenance (-want +got):\n%s", diff)
	}
}

func TestRollbackReasonIsOneLine(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, reason, want, err string }{
		{name: "trimmed", reason: "  incident 7\n", want: "incident 7"},
		{name: "folded", reason: "bad\r\nRequested-Units: none\n\nx", want: "bad Requested-Units: none x"},
		{name: "line separators of Unicode", reason: "a\u2028b\u2029c", want: "a b c"},
		{name: "control characters", reason: "a\x1b[31mb\x00", want: "a [31mb"},
		{name: "not ASCII", reason: "café „x“", want: "café „x“"},
		{name: "blank", reason: " \n\t", err: "the reason is blank"},
		{name: "not UTF-8", reason: "\xff", err: "not valid UTF-8"},
		{name: "too long", reason: strings.Repeat("é", maxReason+1), err: "has 1001 characters"},
		{name: "as long as it may be", reason: strings.Repeat("é", maxReason), want: strings.Repeat("é", maxReason)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := rollbackReason(tt.reason)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("got the error %v, want one with %q", err, tt.err)
				}
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("got %q and %v, want %q", got, err, tt.want)
			}
		})
	}
}
