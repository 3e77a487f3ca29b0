package resource

import (
	"strings"
	"testing"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/google/go-cmp/cmp"
)

func TestUIDs(t *testing.T) {
	t.Parallel()
	var rows []struct{ Case, Provenance, UID string }
	readJSONVector(t, "a-documents/uids.json", &rows)
	want := map[string]string{}
	for _, r := range rows {
		want[r.Case] = r.UID
	}
	one := strings.Repeat("1", 40)
	source := &Source{Path: "infra/web", Revision: one, DriverVersion: 2, InputHash: "sha256:" + strings.Repeat("2", 64), Inputs: []string{"**/*.tf"}}
	payload := document.NewMap(
		document.F("apiVersion", document.NewString("x/y")),
		document.F("spec", document.NewMap(document.F("a", document.NewInt(1)))))
	got := map[string]string{
		"raw":                    document.UID("hello"),
		"empty":                  document.UID(""),
		"non-ascii":              document.UID("é"),
		"root unit finalized=[]": UnitProvenance{Kind: "Terraform", Name: "web", Source: source, SourceRevision: one}.UID(),
		"root unit finalized=['d1-b', 'd1-a', 'd1-b']": UnitProvenance{Kind: "Terraform", Name: "web", Source: source, SourceRevision: one,
			FinalizedUIDs: []string{"d1-b", "d1-a", "d1-b"}}.UID(),
		"root unit nulls in source": UnitProvenance{Kind: "Terraform", Name: "web", Source: &Source{Path: "infra/web", Revision: one}, SourceRevision: one}.UID(),
		"Stack":                     RootUID("Stack", "shop", one, nil),
		"StackTemplate":             RootUID("StackTemplate", "shop", one, nil),
		"Stack after two finalized": RootUID("Stack", "shop", one, []string{"d1-b", "d1-a"}),
		"stack-owned unit":          OwnedUID("api", "shop", "d1-"+strings.Repeat("3", 32)),
		"opaque root":               OpaqueUID("old", one, payload),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("UIDs (-want +got):\n%s", diff)
	}
}

func TestUIDsOfChapterB(t *testing.T) {
	t.Parallel()
	revision := "a357dfb9a8256a0b336236ce8c0e5582fa4780f7"
	net := UnitProvenance{Kind: "Terraform", Name: "net", SourceRevision: revision, Source: &Source{Path: "net", Revision: revision, DriverVersion: 2,
		InputHash: "sha256:d0fa1aa36da68b80d11d6f70a030dfa13235658d5f14f0e50d348a93814b3e2e", Inputs: []string{"*.tf"}}}
	web := UnitProvenance{Kind: "FrontendS3Cloudfront", Name: "web"}
	want := []string{"d1-eebb2d61b78ddb8719fcff5930f49a24", "d1-01ed596650bb3e90cc6307a737d3947e"}
	if diff := cmp.Diff(want, []string{net.UID(), web.UID()}); diff != "" {
		t.Errorf("UIDs (-want +got):\n%s", diff)
	}
}

// The UIDs of the sample run follow from the published documents themselves.
func TestUIDsOfSampleRun(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"app", "infrastructure"} {
		u, err := DecodeUnit(name+".yaml", readVector(t, "a-documents/sample-run/desired/"+name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		source := u.Source()
		got := UnitProvenance{Kind: u.Kind, Name: name, Source: source, SourceRevision: source.Revision}.UID()
		if got != u.Metadata.UID {
			t.Errorf("UID of %s: want %s, got %s", name, u.Metadata.UID, got)
		}
	}
}
