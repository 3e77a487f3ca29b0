package resource

import (
	"strings"
	"testing"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/google/go-cmp/cmp"
)

func TestTransitionBlocks(t *testing.T) {
	t.Parallel()
	got, err := TransitionBlocks{"z": "receipt does not exist: net", "core/a": "x"}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(readVector(t, "d-reconcile/transition-blocks.json")), string(got)); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	if got, err := (TransitionBlocks{}).Encode(); got != nil || err != nil {
		t.Errorf("without blocks: want no file, got %q, %v", got, err)
	}
	for _, tt := range []struct {
		name, text string
		want       TransitionBlocks
		err        string
	}{
		{"other members do not matter", `{"blocks": {"a": "b"}, "schema": 7, "more": 1}`, TransitionBlocks{"a": "b"}, ""},
		{"missing", `{"schema": 1}`, nil, `b.json:1:1: missing field "blocks"; add it: a mapping`},
		{"reason that is no text", `{"blocks": {"a": 1}}`, nil, "b.json:1:18: /blocks/a: must be a string, not an integer; put it in quotes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := DecodeTransitionBlocks("b.json", []byte(tt.text))
			if diff := cmp.Diff(tt.want, got); diff != "" || message(err) != tt.err {
				t.Errorf("want error %q, got %q; blocks (-want +got):\n%s", tt.err, message(err), diff)
			}
		})
	}
}

func TestControlFilePaths(t *testing.T) {
	t.Parallel()
	tombstone, err := DecodeTombstone("t.json", readVector(t, "d-reconcile/tombstone-unit.json"))
	if err != nil {
		t.Fatal(err)
	}
	stack, err := DecodeTombstone("t.json", readVector(t, "d-reconcile/tombstone-stack.json"))
	if err != nil {
		t.Fatal(err)
	}
	evidence, err := DecodeTeardownEvidence("e.json", readVector(t, "d-reconcile/teardown-evidence.json"))
	if err != nil {
		t.Fatal(err)
	}
	lease, err := DecodeEffectLease("l.json", readVector(t, "d-reconcile/effect-lease.json"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		".gitopsctr/incarnations/resources/unit.gitopsctr.io/v1/Terraform/core/db/d1-00000000000000000000000000000000.json",
		".gitopsctr/incarnations/resources/gitopsctr.io/v1/Stack/core/d1-00000000000000000000000000000001.json",
		".gitopsctr/teardowns/units/core/db/d1-00000000000000000000000000000000.1.json",
		".gitopsctr/effect-leases/units/core/db.json",
		".gitopsctr/cleanup/units/old.yml",
	}
	got := []string{tombstone.Path(), stack.Path(), evidence.Path(), lease.Path(), (&OpaqueRoot{Metadata: Metadata{Name: "old"}}).Path(".yml")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

func TestControlFileFaults(t *testing.T) {
	t.Parallel()
	tombstone := func(data []byte) error { _, err := DecodeTombstone("c.json", data); return err }
	lease := func(data []byte) error { _, err := DecodeEffectLease("c.json", data); return err }
	evidence := func(data []byte) error { _, err := DecodeTeardownEvidence("c.json", data); return err }
	for _, tt := range []struct {
		name, vector string
		decode       func([]byte) error
		old, changed string
		want         string
	}{
		{"other schema", "d-reconcile/tombstone-unit.json", tombstone, `"schema": 1`, `"schema": 2`, "c.json:13:13: /schema: must be the integer 1"},
		{"schema true", "d-reconcile/tombstone-unit.json", tombstone, `"schema": 1`, `"schema": true`, "c.json:13:13: /schema: must be the integer 1, not a boolean"},
		{"lease with another member", "d-reconcile/effect-lease.json", lease, `"uid":`, `"expires": null, "uid":`, `c.json:18:3: /expires: unknown field "expires"; known here: schema, kind, unitName, qualifiedName, uid, token, owner, desiredRevision, snapshot`},
		{"lease with half a snapshot", "d-reconcile/effect-lease.json", lease, `"driver": "terraform",`, ``, `c.json:7:15: /snapshot: missing field "driver"; add it: a string`},
		{"lease of another name", "d-reconcile/effect-lease.json", lease, `"unitName": "db"`, `"unitName": "dc"`, `c.json:5:20: /qualifiedName: "core/db" does not end in the local name, "dc"`},
		{"tombstone of another name", "d-reconcile/tombstone-unit.json", tombstone, `"core/db"`, `"core/dc"`, `c.json:10:22: /resource/qualifiedName: "core/dc" does not end in the local name, "db"`},
		{"evidence of another name", "d-reconcile/teardown-evidence.json", evidence, `"core/db"`, `"core/dc"`, `c.json:7:20: /qualifiedName: "core/dc" does not end in the local name, "db"`},
		{"evidence of generation 0", "d-reconcile/teardown-evidence.json", evidence, `"deletionGeneration": 1`, `"deletionGeneration": 0`, "c.json:2:25: /deletionGeneration: must be an integer of at least 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			before := string(readVector(t, tt.vector))
			data := strings.Replace(before, tt.old, tt.changed, 1)
			if data == before {
				t.Fatalf("%q is not in %s", tt.old, tt.vector)
			}
			if diff := cmp.Diff(tt.want, message(tt.decode([]byte(data)))); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

// An old lease has no snapshot, and old evidence no details.
func TestOldControlFiles(t *testing.T) {
	t.Parallel()
	n, err := document.DecodeLenient("l.json", readVector(t, "d-reconcile/effect-lease.json"))
	if err != nil {
		t.Fatal(err)
	}
	lease, err := DecodeEffectLease("l.json", document.EncodeJSON(n.Without("snapshot")))
	if err != nil {
		t.Fatal(err)
	}
	if lease.Snapshot != nil {
		t.Errorf("want no snapshot, got %+v", lease.Snapshot)
	}
	n, err = document.DecodeLenient("e.json", readVector(t, "d-reconcile/teardown-evidence.json"))
	if err != nil {
		t.Fatal(err)
	}
	evidence, err := DecodeTeardownEvidence("e.json", document.EncodeJSON(n.Without("details")))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("{}", inOrder(evidence.Details)); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}

func TestOpaqueRoot(t *testing.T) {
	t.Parallel()
	const text = `schema: 1
kind: OpaqueCleanupRoot
metadata:
  name: old
  uid: d1-225d35a665ebcfa5b38d4345a50e3635
payload:
  z: 1
  apiVersion: x/y
`
	o, err := DecodeOpaqueRoot("old.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	got, err := o.Encode(document.YAML)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text, string(got)); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	want := ContentHash([]byte(`{"kind":"OpaqueCleanupRoot","metadata":{"name":"old","uid":"d1-225d35a665ebcfa5b38d4345a50e3635"},"payload":{"apiVersion":"x/y","z":1},"schema":1}`))
	if got := o.Digest(); got != want {
		t.Errorf("digest: want %s, got %s", want, got)
	}
	o.Metadata.Deletion = &Deletion{1, want}
	if got := o.Digest(); got != want {
		t.Errorf("digest of the marked root: want %s, got %s", want, got)
	}
}

func TestLabels(t *testing.T) {
	t.Parallel()
	m := Metadata{Name: "a", UID: "u", Labels: []Label{{PartitionLabel, "red"}, {"team", "core"}}}
	for _, tt := range []struct {
		name, want string
		metadata   Metadata
	}{
		{"an existing label keeps its place", `{"name":"a","uid":"u","labels":{"gitopsctr.io/partition":"blue","team":"core"}}`, m.WithLabel(PartitionLabel, "blue")},
		{"a new label comes last", `{"name":"a","uid":"u","labels":{"gitopsctr.io/partition":"red","team":"core","x":"y"}}`, m.WithLabel("x", "y")},
		{"a label is removed", `{"name":"a","uid":"u","labels":{"team":"core"}}`, m.WithoutLabel(PartitionLabel)},
		{"the last label takes the labels with it", `{"name":"a","uid":"u"}`, m.WithoutLabel("team").WithoutLabel(PartitionLabel)},
		{"empty labels stay", `{"name":"a","uid":"u","labels":{}}`, Metadata{Name: "a", UID: "u", Labels: []Label{}}},
		{"the original is untouched", `{"name":"a","uid":"u","labels":{"gitopsctr.io/partition":"red","team":"core"}}`, m},
	} {
		if diff := cmp.Diff(tt.want, inOrder(tt.metadata.Node())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if got := m.Partition(); got != "red" {
		t.Errorf("partition: want red, got %s", got)
	}
}
