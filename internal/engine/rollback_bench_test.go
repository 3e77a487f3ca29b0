package engine

import (
	"fmt"
	"testing"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// BenchmarkRollbackProof searches the evidence of 200 Units behind 400 observed commits of other Units.
func BenchmarkRollbackProof(b *testing.B) {
	const units, commits = 200, 400
	f := newHistoryFixture(b)
	files := map[string]string{}
	for i := range units {
		name := fmt.Sprintf("u%d", i)
		files["units/"+name+".yaml"] = terraform(name, "d1-"+name, "one", "")
	}
	good := f.publish(files)
	f.observe()
	for i := range units {
		name := fmt.Sprintf("u%d", i)
		files["units/"+name+".yaml"] = terraform(name, "d1-"+name, "two", "")
	}
	f.publish(files)
	f.observe()
	_, p := f.open(b, "")
	for i := range commits {
		u := p.state.Unit(fmt.Sprintf("u%d", i%units))
		outcome, err := document.Decode("result.json", []byte(fmt.Sprintf(`{"applied": {"sourceRevision": %q, "path": "net"}, "outputs": {"n": %d}}`, sourceRev, i)))
		if err != nil {
			b.Fatal(err)
		}
		r, err := resource.NewReceipt(u.Unit, u.Name, u.Blob, p.desired.Revision(), resource.Controller{Version: "test", Revision: sourceRev, ObservedAt: f.now}.Node(), outcome, nil)
		if err != nil {
			b.Fatal(err)
		}
		data, err := r.Encode(document.YAML)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := f.store.Update(b.Context(), "gitopsctr/observed/staging", func(*gitstate.Snapshot) ([]gitstate.Change, error) {
			return []gitstate.Change{{Message: "observed", Edits: []gitstate.Edit{{Path: resource.ReceiptPath(u.Name, document.YAML), Content: data}}}}, nil
		}); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	for b.Loop() {
		s, p := f.open(b, "")
		if _, err := f.prepareRollback(b.Context(), s, p, RollbackRequest{ToDesiredRevision: good, Reason: "r"}); err != nil {
			b.Fatal(err)
		}
	}
}
