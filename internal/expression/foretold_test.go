package expression_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/expression"
)

// foretold is a lookup whose Receipts are what a plan foretells.
type foretold struct{ expression.Lookup }

func (foretold) Receipt(string) (expression.Evidence, error) {
	outputs := document.NewMap(document.F("known", document.NewString("value")))
	return expression.Evidence{Document: document.NewMap(document.F("outputs", outputs)), Fingerprint: "f", Foretold: true}, nil
}

// A value that a plan does not know waits, and takes its dryFallback; a missing value in real evidence is an error instead.
func TestForetoldEvidence(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		template, value string
		waits           []string
		fallbacks       int
	}{
		"known":            {`{fromReceipt: {unit: p, pointer: /outputs/known, dryFallback: f}}`, "value", nil, 0},
		"not known":        {`{fromReceipt: {unit: p, pointer: /outputs/other}}`, "", []string{"value is known after apply: p"}, 0},
		"with a fallback":  {`{fromReceipt: {unit: p, pointer: /outputs/other, dryFallback: f}}`, "f", nil, 1},
		"another part":     {`{fromReceipt: {unit: p, pointer: /applied}}`, "", []string{"value is known after apply: p"}, 0},
		"all outputs":      {`{fromReceipt: {unit: p, pointer: /outputs}}`, "", []string{"value is known after apply: p"}, 0},
		"the whole result": {`{fromReceipt: {unit: p}}`, "", []string{"value is known after apply: p"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			template, err := document.Decode("t.yaml", []byte("v: "+tc.template))
			if err != nil {
				t.Fatal(err)
			}
			got, err := expression.Resolve("/inputs", "own", template.Get("v"), foretold{}, true)
			if err != nil {
				t.Fatal(err)
			}
			var waits []string
			for _, w := range got.Waits {
				waits = append(waits, w.Error())
			}
			if diff := cmp.Diff(tc.waits, waits); diff != "" || got.Value.Str() != tc.value || len(got.Fallbacks) != tc.fallbacks {
				t.Errorf("waits (-want +got):\n%svalue %q, want %q; %d fallbacks, want %d", diff, got.Value.Str(), tc.value, len(got.Fallbacks), tc.fallbacks)
			}
		})
	}
}
