package expression_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/expression"
	"github.com/google/go-cmp/cmp"
)

// evidence is a Lookup over fixed documents; what it does not hold is unavailable.
type evidence struct {
	receipts, artifacts, promotions map[string]*document.Node
	environment                     *document.Node
	reads                           int
}

func (e *evidence) Receipt(unit string) (expression.Evidence, error) {
	e.reads++
	if n := e.receipts[unit]; n != nil {
		return expression.Evidence{Document: n, Fingerprint: "blob-" + unit}, nil
	}
	return expression.Evidence{}, &expression.Unavailable{Cause: expression.NoReceipt, Producer: unit}
}

func (e *evidence) Artifact(ref *expression.Reference) (expression.Evidence, error) {
	if n := e.artifacts[ref.Unit+"/"+ref.Name]; n != nil {
		return expression.Evidence{Document: n, Fingerprint: "sha256:" + ref.Name}, nil
	}
	return expression.Evidence{}, &expression.Unavailable{Cause: expression.NoReceipt, Producer: ref.Unit}
}

func (e *evidence) Promotion(unit string, inferred bool) (expression.Evidence, error) {
	if e.promotions == nil {
		return expression.Evidence{}, &expression.Unavailable{Cause: expression.NoPromotion}
	}
	if n := e.promotions[unit]; n != nil {
		return expression.Evidence{Document: n, Fingerprint: fmt.Sprint("src-", unit, "-", inferred)}, nil
	}
	return expression.Evidence{}, errors.New("the promotion's source has no Unit " + unit)
}

func (e *evidence) Environment() *document.Node { return e.environment }

const artifactRef = `"unit":"img","name":"containers","apiVersion":"artifact.gitopsctr.io/v1","kind":"ContainerImages"`

func TestResolve(t *testing.T) {
	t.Parallel()
	look := func(t *testing.T) *evidence {
		return &evidence{
			receipts:    map[string]*document.Node{"net": parse(t, `{"outputs":{"host":"h","n":1.0,"nul":null,"tpl":{"fromReceipt":{"unit":"zzz"}},"list":[10,20]}}`)},
			artifacts:   map[string]*document.Node{"img/containers": parse(t, `{"images":{"app":{"uri":"r/app@sha256:1"}}}`)},
			environment: parse(t, `{"name":"dev","changeGate":"none"}`),
		}
	}
	for name, test := range map[string]struct {
		in, value, inputs, waits, err string
		dry, promoted                 bool
	}{
		"plain data resolves to itself":      {in: `{"b":[1,1.0,{"c":null}],"a":"x"}`, value: `{"b":[1,1.0,{"c":null}],"a":"x"}`, inputs: `null`},
		"receipt pointer":                    {in: `{"fromReceipt":{"unit":"net","pointer":"/outputs/host"}}`, value: `"h"`, inputs: `{"receipts":{"net":"blob-net"}}`},
		"receipt whole result":               {in: `{"fromReceipt":{"unit":"net","pointer":"/outputs/list"}}`, value: `[10,20]`, inputs: `{"receipts":{"net":"blob-net"}}`},
		"present null is a value":            {in: `{"fromReceipt":{"unit":"net","pointer":"/outputs/nul","dryFallback":1}}`, value: `null`, inputs: `{"receipts":{"net":"blob-net"}}`},
		"float stays a float":                {in: `{"fromReceipt":{"unit":"net","pointer":"/outputs/n"}}`, value: `1.0`, inputs: `{"receipts":{"net":"blob-net"}}`},
		"missing key is an error":            {in: `{"fromReceipt":{"unit":"net","pointer":"/outputs/nope"}}`, err: `/spec/v: fromReceipt net /outputs/nope cannot be resolved: `},
		"missing key is an error, even dry":  {in: `{"fromReceipt":{"unit":"net","pointer":"/outputs/nope","dryFallback":1}}`, dry: true, err: `/spec/v: fromReceipt net /outputs/nope`},
		"no receipt waits":                   {in: `[{"fromReceipt":{"unit":"app"}},{"fromReceipt":{"unit":"db"}}]`, waits: `receipt does not exist: app @/v/0; receipt does not exist: db @/v/1`},
		"error after a wait is not reported": {in: `[{"fromReceipt":{"unit":"app"}},{"fromReceipt":{"unit":"net","pointer":"/x"}}]`, waits: `receipt does not exist: app @/v/0`},
		"error before a wait is":             {in: `[{"fromReceipt":{"unit":"net","pointer":"/x"}},{"fromReceipt":{"unit":"app"}}]`, err: `/spec/v/0: fromReceipt net /x`},
		"fallback is ignored in a real run":  {in: `{"fromReceipt":{"unit":"app","dryFallback":7}}`, waits: `receipt does not exist: app @/v`},
		"scalar fallback, dry":               {in: `{"fromReceipt":{"unit":"app","dryFallback":7}}`, dry: true, value: `7`, inputs: `null`},
		"null fallback, dry":                 {in: `{"fromReceipt":{"unit":"app","dryFallback":null}}`, dry: true, value: `null`, inputs: `null`},
		"nested fallback leaves its own fingerprint": {in: `{"fromReceipt":{"unit":"app","dryFallback":{"h":{"fromReceipt":{"unit":"net","pointer":"/outputs/host"}}}}}`, dry: true,
			value: `{"h":"h"}`, inputs: `{"receipts":{"net":"blob-net"}}`},
		"nested wait propagates":            {in: `{"fromReceipt":{"unit":"app","dryFallback":{"fromReceipt":{"unit":"db"}}}}`, dry: true, waits: `receipt does not exist: db @/v`},
		"artifact":                          {in: `{"fromArtifact":{` + artifactRef + `,"pointer":"/images/app/uri"}}`, value: `"r/app@sha256:1"`, inputs: `{"artifacts":{"img/containers":"sha256:containers"}}`},
		"environment leaves no fingerprint": {in: `{"fromEnvironment":{"pointer":"/name"}}`, value: `"dev"`, inputs: `null`},
		"environment pointer missing":       {in: `{"fromEnvironment":{"pointer":"/region"}}`, err: `/spec/v: fromEnvironment /region cannot be resolved: `},
		"no active promotion waits":         {in: `{"fromPromotion":{}}`, waits: `no promotion is active @/v`},
		"promotion infers its pointer":      {in: `{"fromPromotion":{}}`, promoted: true, value: `"1.2"`, inputs: `{"promotions":{"me#/v":"src-me-true"}}`},
		"promotion with an explicit whole":  {in: `{"fromPromotion":{"unit":"other","pointer":""}}`, promoted: true, value: `{"x":1}`, inputs: `{"promotions":{"other#":"src-other-false"}}`},
		"promotion from a missing Unit":     {in: `{"fromPromotion":{"unit":"none","dryFallback":1}}`, promoted: true, dry: true, err: `/spec/v: fromPromotion none cannot be resolved: the promotion's source has no Unit none`},
		"parameter outside a template":      {in: `{"fromParameter":{"name":"p"}}`, err: `/spec/v: fromParameter stands outside a StackTemplate`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := look(t)
			if test.promoted {
				l.promotions = map[string]*document.Node{"me": parse(t, `{"v":"1.2"}`), "other": parse(t, `{"x":1}`)}
			}
			r, err := expression.Resolve("/v", "me", parse(t, test.in), l, test.dry)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("want an error with %q, got %v", test.err, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var waits []string
			for _, w := range r.Waits {
				waits = append(waits, w.Error()+" @"+w.Reference.At)
			}
			if diff := cmp.Diff(test.waits, strings.Join(waits, "; ")); diff != "" {
				t.Fatalf("waits (-want +got):\n%s", diff)
			}
			if test.waits != "" {
				if r.Value != nil {
					t.Errorf("a waiting result has the value %s", written(r.Value))
				}
				return
			}
			if diff := cmp.Diff(written(parse(t, test.value)), written(r.Value)); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
			want := parse(t, test.inputs)
			if !want.IsNull() {
				for _, key := range []string{"promotions", "receipts", "artifacts", "importedArtifacts", "importedArtifactEvidence"} {
					if !want.Has(key) {
						want = want.With(key, document.NewNull())
					}
				}
			}
			if diff := cmp.Diff(written(want), written(r.Inputs.Node())); diff != "" {
				t.Errorf("resolvedInputs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReferencesInResolvedValuesAreNotExpanded(t *testing.T) {
	t.Parallel()
	l := &evidence{receipts: map[string]*document.Node{"net": parse(t, `{"t":{"fromReceipt":{"unit":"other"}}}`)}}
	r, err := expression.Resolve("/v", "me", parse(t, `{"fromReceipt":{"unit":"net","pointer":"/t"}}`), l, false)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"fromReceipt":{"unit":"other"}}`, written(r.Value)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if l.reads != 1 {
		t.Errorf("want 1 look-up, got %d", l.reads)
	}
}

func TestInputsKeepFirstReadingOrder(t *testing.T) {
	t.Parallel()
	l := &evidence{receipts: map[string]*document.Node{"z": parse(t, `1`), "a": parse(t, `2`)}}
	r, err := expression.Resolve("", "me", parse(t, `[{"fromReceipt":{"unit":"z"}},{"fromReceipt":{"unit":"a"}},{"fromReceipt":{"unit":"z"}}]`), l, false)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, f := range r.Inputs.Node().Get("receipts").Fields {
		keys = append(keys, f.Key)
	}
	if diff := cmp.Diff([]string{"z", "a"}, keys); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzResolve(f *testing.F) {
	f.Add(`{"fromReceipt":{"unit":"net","pointer":"/a/0","dryFallback":{"fromEnvironment":{}}}}`)
	f.Add(`[{"fromPromotion":{}},{"fromParameter":{"name":"x"}}]`)
	f.Fuzz(func(t *testing.T, text string) {
		n, err := document.Decode("t.json", []byte(`{"v":`+text+`}`))
		if err != nil {
			return
		}
		l := &evidence{receipts: map[string]*document.Node{"net": document.NewMap(document.F("a", document.NewList(document.NewInt(1))))}, environment: document.NewMap()}
		first, err := expression.Resolve("", "me", n, l, true)
		second, again := expression.Resolve("", "me", n, l, true)
		if (err == nil) != (again == nil) || written(first.Value) != written(second.Value) {
			t.Fatalf("two runs differ: %v / %v", err, again)
		}
		if normal, err := expression.Normal(n, false); err == nil {
			twice, err := expression.Normal(normal, false)
			if err != nil || written(normal) != written(twice) {
				t.Fatalf("the normal form of %s is not stable: %v", written(normal), err)
			}
		}
	})
}
