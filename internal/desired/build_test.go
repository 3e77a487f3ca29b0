package desired

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/resource"
	"github.com/gitopsctr/gitopsctr/internal/source"
)

// outcome is what a test says of a Decision.
type outcome struct {
	Unit        string
	Disposition Disposition
	Reason      string
	Changed     bool
}

func outcomes(c *Candidate) []outcome {
	var out []outcome
	for _, d := range c.Decisions {
		out = append(out, outcome{d.Unit, d.Disposition, d.Reason, d.Changed})
	}
	return out
}

const appVariables = "host: {fromReceipt: {unit: net, pointer: /outputs/host}}"

// pair is net and its consumer app, applied and observed: nothing waits.
func pair(t testing.TB) setting {
	t.Helper()
	s := setting{source: plane{"net/main.tf": "1", "app/main.tf": "1"}, authored: plane{"net.yaml": netUnit, "app.yaml": terraformUnit("app", appVariables)}}
	s.desired = after(s.build(t), nil)
	s.observed = plane{"units/net.yaml": receipt(t, s.desired, "net", netResult)}
	s.desired = after(s.build(t), s.desired)
	return s
}

// TestDispositions walks through chapter B, sections 6, 7 and 10: each row changes one thing in a settled environment and
// tells what becomes of its Units.
func TestDispositions(t *testing.T) {
	t.Parallel()
	const other = "b444444444444444444444444444444444444444"
	for _, tt := range []struct {
		name   string
		change func(*setting, *Input)
		want   []outcome
	}{
		{"nothing", func(*setting, *Input) {}, []outcome{{"app", Resolved, "", false}, {"net", Resolved, "", false}}},
		{"an unrelated commit", func(_ *setting, in *Input) { in.SourceRevision = other }, []outcome{{"app", Resolved, "", false}, {"net", Resolved, "", false}}},
		{"the producer's source", func(s *setting, _ *Input) { s.source["net/main.tf"] = "2" },
			[]outcome{{"app", Retained, "receipt is stale: net", false}, {"net", Resolved, "", true}}},
		{"the consumer's source while its producer changes", func(s *setting, _ *Input) { s.source["net/main.tf"], s.source["app/main.tf"] = "2", "2" },
			[]outcome{{"app", Retained, "receipt is stale: net", false}, {"net", Resolved, "", true}}},
		{"a history without the old commit", func(_ *setting, in *Input) {
			in.SourceRevision, in.Usable = other, func(context.Context, string) (bool, error) { return false, nil }
		}, []outcome{{"app", CarriedForward, "receipt is stale: net", true}, {"net", Resolved, "", true}}},
		{"a new Unit that waits", func(s *setting, _ *Input) {
			s.source["web/main.tf"], s.authored["web.yaml"] = "1", terraformUnit("web", "a: {fromReceipt: {unit: app}}")
		}, []outcome{{"app", Resolved, "", false}, {"net", Resolved, "", false}, {"web", Omitted, "receipt does not exist: app", false}}},
		{"the kind", func(s *setting, _ *Input) { s.authored["net.yaml"] = replaceAll(imageUnit, "name: img", "name: net") },
			[]outcome{{"app", Retained, "receipt is stale: net", false}, {"net", Marked, "kind changes from Terraform to OciImages: the old Unit is deleted first", true}}},
		{"the consumer alone is given: its producer counts as it is", func(s *setting, _ *Input) { delete(s.authored, "net.yaml") },
			[]outcome{{"app", Resolved, "", false}, {"net", Untouched, "", false}}},
		{"the partition adopts what it is given", func(s *setting, in *Input) {
			in.Partition = "p"
			delete(s.authored, "app.yaml")
		}, []outcome{{"app", Untouched, "", false}, {"net", Resolved, "", true}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := pair(t)
			probe := Input{}
			tt.change(&s, &probe)
			in := s.input(t)
			if probe.SourceRevision != "" {
				in.SourceRevision = probe.SourceRevision
			}
			if probe.Usable != nil {
				in.Usable = probe.Usable
			}
			in.Partition = probe.Partition
			c, err := Build(t.Context(), in)
			check(t, err)
			if diff := cmp.Diff(tt.want, outcomes(c)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestCarriedForward keeps the old values and moves the source revision only.
func TestCarriedForward(t *testing.T) {
	t.Parallel()
	s := pair(t)
	in := s.input(t)
	in.SourceRevision, in.Usable = strings.Repeat("b", 40), func(context.Context, string) (bool, error) { return false, nil }
	c, err := Build(t.Context(), in)
	check(t, err)
	want := strings.Replace(s.desired["units/app.yaml"], "revision: "+revision, "revision: "+strings.Repeat("b", 40), 1)
	if diff := cmp.Diff(want, after(c, s.desired)["units/app.yaml"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPartitionPrunes marks the members that are no longer given, as they are, and keeps everybody else's Units.
func TestPartitionPrunes(t *testing.T) {
	t.Parallel()
	s := pair(t)
	s.partition = "p"
	s.desired = after(s.build(t), s.desired)
	for _, unit := range []string{"net", "app"} {
		if !strings.Contains(s.desired["units/"+unit+".yaml"], "gitopsctr.io/partition: p") {
			t.Errorf("%s is not labelled:\n%s", unit, s.desired["units/"+unit+".yaml"])
		}
	}
	before, err := resource.DecodeUnit("app.yaml", []byte(s.desired["units/app.yaml"]))
	check(t, err)
	delete(s.authored, "app.yaml")
	c := s.build(t)
	next := after(c, s.desired)
	pruned, err := resource.DecodeUnit("app.yaml", []byte(next["units/app.yaml"]))
	check(t, err)
	want := before.Metadata
	want.Deletion = &resource.Deletion{Generation: 1, ResourceDigest: resource.ContentDigest(before.Node())}
	if diff := cmp.Diff(want, pruned.Metadata); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	if !document.Equal(before.Spec, pruned.Spec) {
		t.Error("the spec changed")
	}
	s.desired, s.authored["app.yaml"] = next, terraformUnit("app", appVariables)
	if _, err := Build(t.Context(), s.input(t)); err == nil || !strings.Contains(err.Error(), `app.yaml: /metadata/name: Unit "app" is being deleted; wait until its deletion is finalized`) {
		t.Errorf("want the deletion to stand in the way, got %v", err)
	}
}

// TestPromotedUnitsStayWithTheirValues: without a promotion, or after it has lapsed, a Unit with fromPromotion keeps the
// document that it has; while it holds, an apply changes nothing.
func TestPromotedUnitsStayWithTheirValues(t *testing.T) {
	t.Parallel()
	source := setting{source: plane{"web/main.tf": ""}, authored: plane{"web.yaml": terraformUnit("web", "release: v1")}}
	s := setting{source: source.source, authored: plane{"web.yaml": terraformUnit("web", "release: {fromPromotion: {}}")}}
	s.promotion = &Promotion{Environment: "test", Tree: after(source.build(t), nil)}
	s.desired = after(s.build(t), nil)
	if !strings.Contains(s.desired["units/web.yaml"], "release: v1") {
		t.Fatalf("the promoted value is not there:\n%s", s.desired["units/web.yaml"])
	}
	for _, tt := range []struct {
		name      string
		promotion *Promotion
		want      []outcome
	}{
		{"it holds", s.promotion, []outcome{{"web", Resolved, "", false}}},
		{"it has lapsed", &Promotion{Environment: "test", Lapsed: "the branch is gone"}, []outcome{{"web", Retained, "promotion is no longer valid (the branch is gone)", false}}},
		{"none is recorded", nil, []outcome{{"web", Retained, "no promotion is active", false}}},
	} {
		s.promotion = tt.promotion
		c := s.build(t)
		if diff := cmp.Diff(tt.want, outcomes(c)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if diff := cmp.Diff(s.desired["units/web.yaml"], after(c, s.desired)["units/web.yaml"]); diff != "" {
			t.Errorf("%s: the document (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestHints: what is known of the cause is told to people and kept out of the stored reason.
func TestHints(t *testing.T) {
	t.Parallel()
	s := setting{source: plane{"net/main.tf": "", "a/main.tf": "", "b/main.tf": "", "c/main.tf": "", "d/main.tf": ""}, authored: plane{
		"net.yaml": netUnit,
		"a.yaml":   terraformUnit("a", "v: {fromReceipt: {unit: net}}"),
		"b.yaml":   terraformUnit("b", "v: {fromReceipt: {unit: a}}"),
		"c.yaml":   terraformUnit("c", "v: {fromReceipt: {unit: nte}}"),
		"d.yaml":   terraformUnit("d", "v: {fromReceipt: {unit: d}}"),
	}}
	c := s.build(t)
	got := map[string]string{}
	for _, d := range c.Waiting() {
		got[d.Unit] = d.Waits[0].Hint
	}
	want := map[string]string{
		"a": "", "b": `Unit "a" waits itself`, "c": `no Unit "nte" is known; correct the name, or apply that Unit`,
		"d": "it reads its own evidence, which can never be there first",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hints (-want +got):\n%s", diff)
	}
	blocks := resource.TransitionBlocks{"a": "receipt does not exist: net", "b": "receipt does not exist: a", "c": "receipt does not exist: nte", "d": "receipt does not exist: d"}
	if diff := cmp.Diff(blocks, c.Blocks, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}

	s = pair(t)
	s.authored["net.yaml"] = replaceAll(imageUnit, "name: img", "name: net")
	d, _ := s.build(t).Decision("app")
	if diff := cmp.Diff(`Unit "net" waits itself`, d.Waits[0].Hint); diff != "" {
		t.Errorf("a producer whose kind changes (-want +got):\n%s", diff)
	}
}

// TestRefusals are the faults of the set of documents: each comes with its file, and all come at once.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*setting)
		want   string
	}{
		{"a name twice", func(s *setting) { s.authored["z.yaml"] = netUnit }, `z.yaml: /metadata/name: Unit "net" is given twice; the other document is net.yaml; remove or rename one of them`},
		{"an artifact that nobody makes", func(s *setting) {
			s.authored["app.yaml"] = terraformUnit("app", "i: {fromArtifact: {unit: net, name: containers, apiVersion: artifact.gitopsctr.io/v1, kind: ContainerImages}}")
		}, `app.yaml:8:37: /spec/terraform/variables/i/fromArtifact/name: Unit "net" (Terraform) makes no artifact "containers" of type artifact.gitopsctr.io/v1/ContainerImages; kind Terraform makes no artifacts`},
		{"a producer that never reconciles", func(s *setting) {
			s.authored["net.yaml"] = "apiVersion: unit.gitopsctr.io/v1\nkind: KubernetesManifests\nmetadata: {name: net}\nspec: {source: {path: net}, materialize: {type: plain}, delivery: {mode: external}}\n"
		}, `app.yaml:8:28: /spec/terraform/variables/host/fromReceipt/unit: Unit "net" is only published for external delivery: it never has a Receipt to read; give it an observer, or read another Unit`},
		{"inputs that are not there", func(s *setting) { delete(s.source, "net/main.tf") }, `net.yaml:5:12: /spec/source/path: `},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := pair(t)
			tt.change(&s)
			_, err := Build(t.Context(), s.input(t))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("want %q, got %v", tt.want, err)
			}
		})
	}
}

// TestSourceUnavailable: the Project decides what happens to a source revision that is not in the history any more.
func TestSourceUnavailable(t *testing.T) {
	t.Parallel()
	s := pair(t)
	s.project = replaceAll(projectText, "{effectLease: null}", "{effectLease: null, sourceRevisionPolicy: {whenUnavailableDuringApply: error}}")
	in := s.input(t)
	in.SourceRevision, in.Usable = strings.Repeat("b", 40), func(context.Context, string) (bool, error) { return false, nil }
	_, err := Build(t.Context(), in)
	var refused *SourceUnavailableError
	if !errors.As(err, &refused) {
		t.Fatalf("want a *SourceUnavailableError, got %v", err)
	}
	if diff := cmp.Diff(SourceUnavailableError{Unit: "app", Revision: revision}, *refused); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestInputHashesAreKept: a second build on the same documents and source reads no source file again.
func TestInputHashesAreKept(t *testing.T) {
	t.Parallel()
	s := pair(t)
	in := s.input(t)
	in.InputHashes = &InputHashes{}
	first, err := Build(t.Context(), in)
	check(t, err)
	clear(s.source) // from here on reading a file fails
	in.Hasher = &source.Hasher{}
	second, err := Build(t.Context(), in)
	check(t, err)
	if diff := cmp.Diff(after(first, s.desired), after(second, s.desired)); diff != "" {
		t.Errorf("(-first +second):\n%s", diff)
	}
	in.InputHashes = nil
	if _, err := Build(t.Context(), in); err == nil {
		t.Error("without the hashes: want an error of reading the source")
	}
}
