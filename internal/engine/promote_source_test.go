package engine

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// manifests is a recorded Unit that is only published for external delivery, with its payload.
func manifests(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range []string{"units/cm.yaml", "materialized/cm/cm.yaml"} {
		data, err := os.ReadFile("../../testdata/vectors/b-apply-references/desired/first/" + name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(data)
	}
	return files
}

// TestSourceMustBeClean shows what evidence a promotion asks of its source (chapter F, 3.2).
func TestSourceMustBeClean(t *testing.T) {
	t.Parallel()
	lone := terraform("lone", "d1-l", "one", "")
	blocks := func(names ...string) string {
		all := resource.TransitionBlocks{}
		for _, name := range names {
			all[name] = "receipt does not exist: lone"
		}
		data, err := all.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	tests := []struct {
		name     string
		files    map[string]string
		evidence resource.MinimumEvidence
		observe  bool
		want     []observed.Status // nil is clean
		err      string
	}{
		{name: "observed", files: map[string]string{"units/lone.yaml": lone}, observe: true},
		{name: "not observed", files: map[string]string{"units/lone.yaml": lone},
			want: []observed.Status{{Unit: "lone", Condition: observed.Ready, Reason: "no observation receipt"}}},
		{name: "published for external delivery", files: manifests(t),
			want: []observed.Status{{Unit: "cm", Condition: observed.Materialized, Reason: "desired payload is published for external delivery"}}},
		{name: "published is enough", files: manifests(t), evidence: resource.MaterializedEvidence},
		{name: "published is not enough for a Unit that is observed", files: map[string]string{"units/lone.yaml": lone}, evidence: resource.MaterializedEvidence,
			want: []observed.Status{{Unit: "lone", Condition: observed.Ready, Reason: "no observation receipt"}}},
		{name: "blocked", files: map[string]string{"units/lone.yaml": lone, resource.BlocksPath: blocks("lone")}, observe: true,
			want: []observed.Status{{Unit: "lone", Condition: observed.Wait, Reason: "receipt does not exist: lone"}}},
		{name: "a block of a Unit that is not there does not count", files: map[string]string{"units/lone.yaml": lone, resource.BlocksPath: blocks("other")}, observe: true},
		{name: "being deleted", observe: true,
			files: map[string]string{"units/lone.yaml": terraform("lone", "d1-l", "one", "  deletion: {generation: 1, resourceDigest: '"+digestOne+"'}\n")},
			want:  []observed.Status{{Unit: "lone", Condition: observed.Wait, Reason: "deletion pending finalization (UID d1-l, generation 1)"}}},
		{name: "no Units", files: map[string]string{"promotion.txt": "x"}, err: "environment staging has no Units at"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newHistoryFixture(t)
			f.publish(tt.files)
			if tt.observe {
				f.observe()
			}
			s, err := f.Engine.open(Target{Environment: "staging"})
			if err != nil {
				t.Fatal(err)
			}
			environment := *s.environment
			environment.MinimumEvidence = tt.evidence
			if tt.evidence == "" {
				environment.MinimumEvidence = resource.ReconciledEvidence
			}
			_, err = f.pinSource(t.Context(), &environment, s.refs, "")
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("got %v, want an error with %q", err, tt.err)
				}
				return
			}
			var unclean *UncleanError
			if err != nil && !errors.As(err, &unclean) {
				t.Fatal(err)
			}
			var got []observed.Status
			if unclean != nil {
				got = unclean.Units
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("unclean Units (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSourceImages finds the immutable images in the source's direct Units.
func TestSourceImages(t *testing.T) {
	t.Parallel()
	f := newHistoryFixture(t)
	image := "registry.example.test/web@" + digestOne
	units := map[string]string{"svc": terraform("svc", "d1-s", "'registry.example.test/owned@"+digestOne+"'", owned(stackUID))}
	f.publish(map[string]string{
		"units/a.yaml": terraform("a", "d1-a", "'"+image+"'", ""), "units/b.yaml": terraform("b", "d1-b", "'"+image+"'", ""),
		"units/c.yaml":    terraform("c", "d1-c", "'registry.example.test/web:latest'", ""),
		"stacks/app.yaml": f.stack(stackUID, units), "units/app/svc.yaml": units["svc"],
	})
	_, p := f.open(t, "")
	got, err := (&promotionSource{desired: p.desired}).images()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{image}, got); diff != "" {
		t.Errorf("images (-want +got):\n%s", diff)
	}
}

// TestRollbackTakesThePayloadAlong goes back to an earlier payload of a Unit for external delivery; nothing of it is ever
// observed, so nothing proves it.
func TestRollbackTakesThePayloadAlong(t *testing.T) {
	t.Parallel()
	f := newHistoryFixture(t)
	files := manifests(t)
	good := f.publish(files)
	payload := files["materialized/cm/cm.yaml"]
	changed := manifests(t)
	changed["materialized/cm/cm.yaml"] = strings.ReplaceAll(payload, "settings", "settings2")
	u := f.unit(changed["units/cm.yaml"])
	digest := resource.MaterializationDigest([]resource.InputFile{{Path: "cm.yaml", Mode: "100644", SHA256: document.SHA256Hex([]byte(changed["materialized/cm/cm.yaml"]))}})
	changed["units/cm.yaml"] = strings.Replace(changed["units/cm.yaml"], u.Spec.Path("materialization", "digest").Str(), digest, 1)
	f.publish(changed)
	if _, err := f.rollback(good, "cm"); err != nil {
		t.Fatal(err)
	}
	_, p := f.open(t, "")
	data, err := p.desired.ReadFile("materialized/cm/cm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(payload, string(data)); diff != "" {
		t.Errorf("payload (-want +got):\n%s", diff)
	}
	if err := p.state.CheckPayload("cm"); err != nil {
		t.Error(err)
	}
	if !strings.Contains(p.desired.Message(), "Target-Observed-Revision: None\n") {
		t.Errorf("the message says that something was observed:\n%s", p.desired.Message())
	}
}
