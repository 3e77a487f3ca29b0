package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/gitopsctr/gitopsctr/internal/gitstate"
)

// TestCheckCandidateComputesTheIDAgain takes a promotion and a rollback, whose commits say what they were made of, and
// changes something of each.
func TestCheckCandidateComputesTheIDAgain(t *testing.T) {
	t.Parallel()
	f := newGateFixture(t, stagingFiles, nil)
	s, p := f.open(t, "")
	promotion, err := f.propose(t.Context(), s, p, func() (*change, error) { return vectorChange(t, p.desired), nil })
	if err != nil {
		t.Fatal(err)
	}
	base := p.desired.Revision()
	head := func(edits []gitstate.Edit, message string) *gitstate.Snapshot {
		t.Helper()
		tree, err := f.store.BuildTree(p.desired, edits)
		if err != nil {
			t.Fatal(err)
		}
		commit, err := f.store.Commit(t.Context(), tree, []string{base}, message)
		if err != nil {
			t.Fatal(err)
		}
		return commit
	}
	vector := vectorChange(t, p.desired)
	b := &rollback{scope: s, request: RollbackRequest{Reason: "incident 7", Units: []string{"b", "a"}}, materialized: []string{"a", "b", "c"}, proof: sourceRev}
	message := rollbackMessage{environment: "staging", from: sourceRev, target: base, proof: sourceRev, requested: b.requested(), materialized: b.materialized, reason: "incident 7"}.String()
	back := head(vector.edits, message)
	rollbackID, err := candidateID(s, base, &change{operation: "rollback", context: b.provenanceOf(sourceRev, base)}, back)
	if err != nil {
		t.Fatal(err)
	}
	sneaked := slices.Concat(vector.edits, []gitstate.Edit{{Path: "units/sneaked.txt", Content: []byte("x\n")}})
	tests := []struct {
		name string
		head *gitstate.Snapshot
		ref  string
		want string // in the error, "" for none
	}{
		{name: "a promotion as it was proposed", head: head(vector.edits, vector.message), ref: promotion.CandidateRef},
		{name: "a promotion with another file", head: head(sneaked, vector.message), ref: promotion.CandidateRef, want: promotion.CandidateRef + " was changed since it was proposed"},
		{name: "a rollback as it was proposed", head: back, ref: "gitopsctr/candidates/staging/" + rollbackID},
		{name: "a rollback with another file", head: head(sneaked, message), ref: "gitopsctr/candidates/staging/" + rollbackID, want: "was changed since it was proposed"},
		{name: "a rollback with another reason", head: head(vector.edits, strings.Replace(message, "incident 7", "incident 8", 1)), ref: "gitopsctr/candidates/staging/" + rollbackID, want: "was changed since it was proposed"},
		{name: "a branch that was named by hand", head: head(sneaked, vector.message), ref: "review/mine"},
		{name: "an apply, whose context is not in the commit", head: head(sneaked, "Apply desired resources to staging"), ref: promotion.CandidateRef},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := checkIdentity(tt.head, base, CandidateCheck{HeadRef: tt.ref, BaseRef: s.refs.Desired})
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestRollbackIsBuiltAgainOnALostRace moves the branch between the checks and the publication.
func TestRollbackIsBuiltAgainOnALostRace(t *testing.T) {
	t.Parallel()
	f := newHistoryFixture(t)
	units := func(value, other string) map[string]string {
		return map[string]string{"units/lone.yaml": terraform("lone", "d1-l", value, ""), "units/net.yaml": terraform("net", "d1-n", other, "")}
	}
	good := f.publish(units("one", "one"))
	f.observe()
	f.publish(units("two", "two"))
	s, p := f.open(t, "")
	winner := f.publish(units("two", "three")) // after the planes were read
	publication, err := f.publishChange(t.Context(), s, p, func() (*change, error) {
		b, err := f.prepareRollback(t.Context(), s, p, RollbackRequest{Target: s.Target, ToDesiredRevision: good, Reason: "r", Units: []string{"lone"}})
		if err != nil {
			return nil, err
		}
		return b.change()
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := f.git(t, "--git-dir", f.remote, "log", "-1", "--format=%P", publication.Revision); got != winner {
		t.Errorf("the rollback stands on %s, want the winner's commit %s", got, winner)
	}
	if got := []string{f.variable("lone"), f.variable("net")}; got[0] != "one" || got[1] != "three" {
		t.Errorf("lone and net have %v, want one, and three as the winner published it", got)
	}
	if message := f.git(t, "--git-dir", f.remote, "log", "-1", "--format=%B", publication.Revision); !strings.Contains(message, "From-Desired-Revision: "+winner) {
		t.Errorf("the message does not name the head that it was built on:\n%s", message)
	}
}
