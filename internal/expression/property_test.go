package expression_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/expression"
)

// templates makes random templates from a seed, so that a failing one can be made again.
type templates struct{ *rand.Rand }

func (r templates) template(depth int, references bool) *document.Node {
	choice := r.IntN(10)
	switch {
	case depth > 0 && choice < 3:
		n := document.NewMap()
		for i := range r.IntN(4) {
			n.Fields = append(n.Fields, document.F(fmt.Sprintf("k%d~/", i), r.template(depth-1, references)))
		}
		return n
	case depth > 0 && choice < 5:
		n := document.NewList()
		for range r.IntN(4) {
			n.Items = append(n.Items, r.template(depth-1, references))
		}
		return n
	case references && choice < 8:
		return r.reference(depth)
	}
	return []*document.Node{document.NewNull(), document.NewBool(true), document.NewInt(7), document.NewFloat(1), document.NewString("s")}[r.IntN(5)]
}

func (r templates) reference(depth int) *document.Node {
	units := []string{"a", "b", "absent"}
	text := func(key string, values ...string) document.Field {
		return document.F(key, document.NewString(values[r.IntN(len(values))]))
	}
	kind, target := "fromReceipt", document.NewMap(text("unit", units...), text("pointer", "", "/x"))
	switch r.IntN(4) {
	case 0:
		kind, target = "fromArtifact", document.NewMap(text("unit", units...), text("name", "n"), text("apiVersion", "g/v1"), text("kind", "K"), text("pointer", "/x"))
	case 1:
		kind, target = "fromPromotion", document.NewMap(text("unit", units...), text("pointer", "", "/x"))
	case 2:
		return document.NewMap(document.F("fromEnvironment", document.NewMap(text("pointer", "", "/name"))))
	}
	if depth > 0 && r.IntN(2) == 0 {
		target.Fields = append(target.Fields, document.F("dryFallback", r.template(depth-1, true)))
	}
	return document.NewMap(document.F(kind, target))
}

// recorder is evidence that notes what was read, and of which version.
type recorder struct {
	version string
	read    map[string]bool
}

func (e *recorder) get(group, key, unit string) (expression.Evidence, error) {
	if unit == "absent" {
		return expression.Evidence{}, &expression.Unavailable{Cause: expression.NoReceipt, Producer: unit}
	}
	e.read[group+" "+key] = true
	return expression.Evidence{Document: document.NewMap(document.F("x", document.NewString(unit))), Fingerprint: e.version + unit}, nil
}

func (e *recorder) Receipt(unit string) (expression.Evidence, error) {
	return e.get("receipts", unit, unit)
}

func (e *recorder) Artifact(r *expression.Reference) (expression.Evidence, error) {
	return e.get("artifacts", r.Unit+"/"+r.Name, r.Unit)
}

func (e *recorder) Promotion(unit string, _ bool) (expression.Evidence, error) {
	return e.get("promotions", unit, unit)
}

func (e *recorder) Environment() *document.Node {
	return document.NewMap(document.F("name", document.NewString("dev")))
}

// TestProperties checks on random templates what must hold for every one: resolving is deterministic and changes nothing in
// the template; a value without references resolves to itself; a complete value holds no reference; the fingerprints are
// those of exactly what was read.
func TestProperties(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		random := templates{rand.New(rand.NewPCG(seed, 1))}
		references, dry := seed%4 != 0, seed%2 == 1
		n := random.template(4, references)
		before := written(n)
		evidence := &recorder{version: "v1-", read: map[string]bool{}}
		first, err := expression.Resolve("/v", "own", n, evidence, dry)
		if err != nil {
			t.Fatalf("seed %d: %s: %v", seed, before, err)
		}
		second, err := expression.Resolve("/v", "own", n, &recorder{version: "v1-", read: map[string]bool{}}, dry)
		if err != nil || written(first.Value) != written(second.Value) || written(first.Inputs.Node()) != written(second.Inputs.Node()) || len(first.Waits) != len(second.Waits) {
			t.Errorf("seed %d: two runs differ for %s", seed, before)
		}
		if got := written(n); got != before {
			t.Errorf("seed %d: resolving changed its template from %s to %s", seed, before, got)
		}
		if !references && written(first.Value) != before {
			t.Errorf("seed %d: want %s itself, got %s", seed, before, written(first.Value))
		}
		if (first.Value == nil) != (len(first.Waits) > 0) {
			t.Errorf("seed %d: %d waits and the value %s", seed, len(first.Waits), written(first.Value))
		}
		if first.Value == nil {
			continue
		}
		err = expression.Walk("", first.Value, func(r *expression.Reference) error { return fmt.Errorf("%s is left", r) })
		if err != nil {
			t.Errorf("seed %d: %s resolves to %s: %v", seed, before, written(first.Value), err)
		}
		if diff := cmp.Diff(sortedKeys(evidence.read), fingerprinted(first)); diff != "" {
			t.Errorf("seed %d: fingerprints of %s (-read +got):\n%s", seed, before, diff)
		}
		// Another version of what was read changes every fingerprint and nothing else.
		other, err := expression.Resolve("/v", "own", n, &recorder{version: "v2-", read: map[string]bool{}}, dry)
		if err != nil || written(other.Value) != written(first.Value) || len(evidence.read) > 0 && written(other.Inputs.Node()) == written(first.Inputs.Node()) {
			t.Errorf("seed %d: fingerprints of %s do not follow the version", seed, before)
		}
	}
}

// fingerprinted are the documents in the result's fingerprints, without the pointers of promotions, sorted; and what is
// wrong with their values.
func fingerprinted(r expression.Result) []string {
	keys := map[string]bool{}
	inputs := r.Inputs.Node()
	if inputs.IsNull() {
		return nil
	}
	for _, group := range inputs.Fields {
		if group.Value.IsNull() {
			continue
		}
		for _, f := range group.Value.Fields {
			key, _, _ := strings.Cut(f.Key, "#")
			keys[group.Key+" "+key] = true
			if unit, _, _ := strings.Cut(key, "/"); f.Value.Str() != "v1-"+unit {
				keys[f.Key+" has the fingerprint "+f.Value.Str()] = true
			}
		}
	}
	return sortedKeys(keys)
}

func sortedKeys(m map[string]bool) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
