package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// TestRollbackOfAnEnvironmentWithAStack shows that everything is keyed by qualified names: the reference fails here.
func TestRollbackOfAnEnvironmentWithAStack(t *testing.T) {
	t.Parallel()
	f := newHistoryFixture(t)
	good := f.publish(f.state("one", "one", ""))
	proof := f.observe()
	bad := f.publish(f.state("two", "two", ""))
	f.observe()

	outcome, err := f.rollback(good)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("Rollback staging to %s\n\nFrom-Desired-Revision: %s\nTarget-Desired-Revision: %s\nTarget-Observed-Revision: %s\nRequested-Units: all\nMaterialized-Units: app/svc, app/web, lone\nReason: r\n",
		good, bad, good, proof)
	snapshot, err := f.store.SourceSnapshot(t.Context(), outcome.Publication.Revision)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, snapshot.Message()); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
	if got := []string{f.variable("app/svc"), f.variable("lone")}; !slices.Equal(got, []string{"one", "one"}) {
		t.Errorf("after the rollback svc and lone have %v, want one and one", got)
	}
	if got := snapshot.Parents(); !slices.Equal(got, []string{bad}) {
		t.Errorf("the rollback's parents are %v, want the old head %s", got, bad)
	}

	if _, err := f.rollback(bad, "app/svc"); err == nil || !strings.Contains(err.Error(), "belongs to the Stack app and does not go back alone") {
		t.Errorf("rollback of a Stack's Unit: got %v, want a refusal", err)
	}
	if _, err := f.rollback(bad, "lone"); err != nil {
		t.Fatal(err)
	}
	if got := []string{f.variable("app/svc"), f.variable("lone")}; !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("after the rollback of lone svc and lone have %v, want one and two", got)
	}
}

func TestRollbackKeepsWhatAStackIs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		now  func(f historyFixture) map[string]string
		want string
	}{
		{name: "another Stack of the same name", want: "Stack app has the UID " + otherUID + " now and had " + stackUID + " then", now: func(f historyFixture) map[string]string {
			units := map[string]string{"svc": terraform("svc", "d1-s", "two", owned(otherUID)), "web": terraform("web", "d1-w", "same", owned(otherUID))}
			return map[string]string{"stacks/app.yaml": f.stack(otherUID, units), "units/app/svc.yaml": units["svc"], "units/app/web.yaml": units["web"], "units/lone.yaml": terraform("lone", "d1-l", "two", "")}
		}},
		{name: "a Unit less", want: "Stack app owns the Units app/svc now and owned app/svc, app/web then", now: func(f historyFixture) map[string]string {
			units := map[string]string{"svc": terraform("svc", "d1-s", "two", owned(stackUID))}
			return map[string]string{"stacks/app.yaml": f.stack(stackUID, units), "units/app/svc.yaml": units["svc"], "units/lone.yaml": terraform("lone", "d1-l", "two", "")}
		}},
		{name: "another Unit of the same name", want: "the Unit app/svc of Stack app has the UID d1-new now and had d1-s then", now: func(f historyFixture) map[string]string {
			units := map[string]string{"svc": terraform("svc", "d1-new", "two", owned(stackUID)), "web": terraform("web", "d1-w", "same", owned(stackUID))}
			return map[string]string{"stacks/app.yaml": f.stack(stackUID, units), "units/app/svc.yaml": units["svc"], "units/app/web.yaml": units["web"], "units/lone.yaml": terraform("lone", "d1-l", "two", "")}
		}},
		{name: "no Stack any more", want: "the Stacks and StackTemplates are none now and were Stack app then", now: func(historyFixture) map[string]string {
			return map[string]string{"units/lone.yaml": terraform("lone", "d1-l", "two", "")}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newHistoryFixture(t)
			good := f.publish(f.state("one", "one", ""))
			f.observe()
			head := f.publish(tt.now(f))
			if _, err := f.rollback(good); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
			if _, p := f.open(t, ""); p.desired.Revision() != head {
				t.Errorf("the refused rollback moved the branch to %s", p.desired.Revision())
			}
		})
	}
}

// TestRollbackBesideADeletion shows that a deletion under way survives a full rollback and blocks one of single Units, and
// that a finalized Unit comes back as a new one.
func TestRollbackBesideADeletion(t *testing.T) {
	t.Parallel()
	f := newHistoryFixture(t)
	plain := func(lone, extra string) map[string]string {
		return map[string]string{"units/lone.yaml": terraform("lone", "d1-l", lone, extra), "units/net.yaml": terraform("net", "d1-n", lone, "")}
	}
	good := f.publish(plain("one", ""))
	f.observe()
	deletion := "  deletion: {generation: 1, resourceDigest: '" + digestOne + "'}\n"
	f.publish(plain("two", deletion))

	if _, err := f.rollback(good, "net"); err == nil || !strings.Contains(err.Error(), "has the Unit lone that is being deleted") {
		t.Errorf("rollback of one Unit beside a deletion: got %v, want a refusal", err)
	}
	if _, err := f.rollback(good); err != nil {
		t.Fatal(err)
	}
	_, p := f.open(t, "")
	if got := p.state.Unit("lone").Metadata.Deletion; got == nil || got.Generation != 1 {
		t.Errorf("after a full rollback lone has the deletion %v, want the mark that it had", got)
	}
	if got := []string{f.variable("lone"), f.variable("net")}; !slices.Equal(got, []string{"two", "one"}) {
		t.Errorf("after a full rollback lone and net have %v, want two (frozen) and one", got)
	}

	tombstone := &resource.Tombstone{GVK: resource.GVK{APIVersion: resource.UnitAPI, Kind: "Terraform"}, Name: "lone", QualifiedName: "lone", UID: "d1-l", DeletionGeneration: 1}
	data, err := tombstone.Encode()
	if err != nil {
		t.Fatal(err)
	}
	f.publish(map[string]string{"units/net.yaml": terraform("net", "d1-n", "three", ""), tombstone.Path(): string(data)})
	if _, err := f.rollback(good); err != nil {
		t.Fatal(err)
	}
	_, p = f.open(t, "")
	lone := p.state.Unit("lone")
	if want := rebornUID(&observed.Unit{Unit: lone.Unit}, []string{"d1-l"}); lone.Metadata.UID != want {
		t.Errorf("lone came back with the UID %s, want the new one %s", lone.Metadata.UID, want)
	}
	if _, ok := p.desired.Blob(tombstone.Path()); !ok {
		t.Error("the rollback lost the tombstone")
	}
}

// TestRollbackDoesNotEndAWait shows that a waiting Unit keeps its present document and its reason, and that the log says so.
func TestRollbackDoesNotEndAWait(t *testing.T) {
	t.Parallel()
	f := newHistoryFixture(t)
	units := func(value string) map[string]string {
		return map[string]string{"units/lone.yaml": terraform("lone", "d1-l", value, ""), "units/net.yaml": terraform("net", "d1-n", value, "")}
	}
	good := f.publish(units("one"))
	f.observe()
	blocked := units("two")
	data, err := resource.TransitionBlocks{"lone": "receipt does not exist: net"}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	blocked[resource.BlocksPath] = string(data)
	f.publish(blocked)
	if _, err := f.rollback(good); err != nil {
		t.Fatal(err)
	}
	if got := []string{f.variable("lone"), f.variable("net")}; !slices.Equal(got, []string{"two", "one"}) {
		t.Errorf("lone and net have %v, want two (it waits) and one", got)
	}
	_, p := f.open(t, "")
	if diff := cmp.Diff(resource.TransitionBlocks{"lone": "receipt does not exist: net"}, p.state.Blocks); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	want := report.Note{Word: "RETAIN", Text: "lone stays as it is: it waits (receipt does not exist: net), and a rollback does not end that"}
	if !slices.ContainsFunc(f.events, func(e report.Event) bool { return e == want }) {
		t.Errorf("the log does not say %q", want.Text)
	}
}

// TestRollbackWaitsForEffects shows that a lease anywhere in the environment forbids a rollback, of other Units too.
func TestRollbackWaitsForEffects(t *testing.T) {
	t.Parallel()
	files := maps.Clone(stagingFiles)
	files["gitopsctr.yaml"] = "apiVersion: gitopsctr.io/v1\nkind: Project\nmetadata: {name: shop}\nspec: {effectLease: {store: {branch: {ref: gitopsctr/leases}}}}\n"
	files["deployment/environments/staging/environment.yaml"] = "apiVersion: gitopsctr.io/v1\nkind: Environment\nmetadata: {name: staging}\nspec: {}\n"
	f := historyFixture{newGateFixture(t, files, nil), t}
	units := func(value string) map[string]string {
		return map[string]string{"units/lone.yaml": terraform("lone", "d1-l", value, ""), "units/net.yaml": terraform("net", "d1-n", value, "")}
	}
	good := f.publish(units("one"))
	f.observe()
	head := f.publish(units("two"))
	held := &resource.EffectLease{Name: "lone", QualifiedName: "lone", UID: "d1-l", Token: "lease-" + strings.Repeat("0", 64), Owner: "someone", DesiredRevision: head}
	data, err := held.Encode()
	if err != nil {
		t.Fatal(err)
	}
	lease := func(edit gitstate.Edit) {
		t.Helper()
		edit.Path = held.Path()
		edits := []gitstate.Edit{edit, {Path: resource.LeaseStorePath, Content: []byte("branch\n")}}
		if _, err := f.store.Update(t.Context(), "gitopsctr/leases", func(*gitstate.Snapshot) ([]gitstate.Change, error) {
			return []gitstate.Change{{Message: "lease", Edits: edits}}, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	lease(gitstate.Edit{Content: data})
	_, err = f.rollback(good, "net")
	var leased *LeasedError
	if !errors.As(err, &leased) {
		t.Fatalf("got %v, want a LeasedError", err)
	}
	if got := sortedKeys(leased.Reasons); !slices.Equal(got, []string{"lone"}) {
		t.Errorf("the leased Units are %v, want lone", got)
	}
	lease(gitstate.Edit{Delete: true})
	if _, err := f.rollback(good, "net"); err != nil {
		t.Errorf("after the lease was released: %v", err)
	}
}
