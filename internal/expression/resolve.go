package expression

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

// A Lookup finds the evidence that references read. An *Unavailable error makes the Unit wait (its Reference is filled in
// here); any other error ends the whole command.
type Lookup interface {
	// Receipt returns status.result of the Unit's current Receipt, and the Receipt file's blob id.
	Receipt(unit string) (Evidence, error)
	// Artifact returns the whole artifact document, and its descriptor's digest.
	Artifact(ref *Reference) (Evidence, error)
	// Promotion returns the spec of a Unit in the promotion's source, and its file's blob id. inferred tells that the
	// pointer is not authored, so that the kinds must be equal.
	Promotion(unit string, inferred bool) (Evidence, error)
	// Environment returns {name, …spec} of the Environment as authored.
	Environment() *document.Node
}

// Evidence is a document that a reference reads from, and what identifies exactly this version of it.
type Evidence struct {
	Document    *document.Node
	Fingerprint string
	// Imported is the evidence object of an artifact that a Stack imports, nil for an artifact of this environment.
	Imported *document.Node
	// Foretold tells that the Document holds only what a plan foretells: a member of a member of it is complete, but more of
	// them may come. So a pointer that leads nowhere, or not that deep, waits.
	Foretold bool
}

// Cause is the kind of thing that a waiting reference lacks.
type Cause string

// The causes.
const (
	NoReceipt     Cause = "receipt does not exist"
	StaleReceipt  Cause = "receipt is stale"
	NoObservedRef Cause = "observed state does not exist"
	BadArtifact   Cause = "artifact does not match its descriptor"
	NoPromotion   Cause = "no promotion is active"
	// LapsedPromotion is a recorded promotion whose source was rewritten or removed since. No fallback hides it.
	LapsedPromotion Cause = "promotion is no longer valid"
	// NotForetold is a value that the producer's plan does not know. It occurs in plans only.
	NotForetold Cause = "value is known after apply"
)

// Unavailable is the error of a reference whose evidence is not there yet.
type Unavailable struct {
	Reference *Reference
	Cause     Cause
	// Producer is the qualified name of the Unit that has to be observed first, "" when it is no Unit's evidence.
	Producer string
	// Detail adds to the cause what a person needs, "" for nothing.
	Detail string
	// Hint says why the evidence is not there, as far as it is known, "" for nothing. It is for reports and no part of the
	// stored reason.
	Hint string
}

// Error returns the text that is stored as the block's reason. It holds no revision and no time, so that the same cause
// gives the same bytes (chapter B, section 6).
func (u *Unavailable) Error() string {
	s := string(u.Cause)
	if u.Producer != "" {
		s += ": " + u.Producer
	}
	if u.Detail != "" {
		s += " (" + u.Detail + ")"
	}
	return s
}

// A Result is the outcome of resolving templates.
type Result struct {
	// Value is the template with every reference replaced; nil when something waits.
	Value *document.Node
	// Inputs are the fingerprints of what was read.
	Inputs Inputs
	// Waits are the references without evidence, in document order; empty when Value is complete.
	Waits []*Unavailable
	// Fallbacks are the references whose dryFallback stands in Value.
	Fallbacks []*Reference
}

// Resolve replaces every reference in the template n, whose place below spec is at. own is the Unit's own qualified name.
// With dry, a waiting reference takes its dryFallback. The result waits, or the value holds no reference. An error is a
// *document.Error with the place of the reference that failed.
func Resolve(at, own string, n *document.Node, lookup Lookup, dry bool) (Result, error) {
	r := resolver{lookup: lookup, own: own, dry: dry}
	value, err := r.template(at, n)
	if err != nil {
		return Result{}, err
	}
	result := Result{Value: value, Inputs: r.inputs, Waits: r.waits, Fallbacks: r.fallbacks}
	if len(result.Waits) > 0 {
		result.Value = nil
	}
	return result, nil
}

type resolver struct {
	lookup    Lookup
	own       string
	dry       bool
	inputs    Inputs
	waits     []*Unavailable
	fallbacks []*Reference
}

func (r *resolver) template(at string, n *document.Node) (*document.Node, error) {
	ref, err := Parse(at, n)
	if err != nil {
		return nil, err
	}
	if ref != nil {
		return r.reference(at, ref)
	}
	if n == nil {
		return nil, nil
	}
	switch n.Kind {
	case document.List:
		c := *n
		c.Items = make([]*document.Node, len(n.Items))
		for i, item := range n.Items {
			if c.Items[i], err = r.template(fmt.Sprintf("%s/%d", at, i), item); err != nil {
				return nil, err
			}
		}
		return &c, nil
	case document.Map:
		c := *n
		c.Fields = slices.Clone(n.Fields)
		for i := range c.Fields {
			if c.Fields[i].Value, err = r.template(at+"/"+document.PointerToken(c.Fields[i].Key), c.Fields[i].Value); err != nil {
				return nil, err
			}
		}
		return &c, nil
	}
	return n, nil
}

// reference returns the value of one reference, or nil after noting that it waits. Once something waits, a failing
// reference is noted no more: its error shows when the wait is over, as if resolving had stopped at the wait.
func (r *resolver) reference(at string, ref *Reference) (*document.Node, error) {
	value, err := r.read(at, ref)
	var wait *Unavailable
	switch {
	case err == nil:
		return value, nil
	case errors.As(err, &wait):
		if r.dry && ref.Fallback != nil && wait.Cause != LapsedPromotion {
			r.fallbacks = append(r.fallbacks, ref)
			return r.template(at, ref.Fallback)
		}
		own := *wait
		own.Reference = ref
		r.waits = append(r.waits, &own)
		return nil, nil
	case len(r.waits) > 0:
		return nil, nil
	}
	if ref.Kind == FromParameter {
		return nil, fault(at, ref.Node, "fromParameter stands outside a StackTemplate", "only StackTemplates have parameters; write the value, or use another reference")
	}
	// The fault of another document is told at the reference, where the author can act.
	message := strings.ReplaceAll(err.Error(), "\n", "; ")
	fix := ""
	var missing *notThere
	if errors.As(err, &missing) {
		fix = missing.fix()
	}
	return nil, fault(at, ref.Node, fmt.Sprintf("%s cannot be resolved: %s", ref, message), fix)
}

func (r *resolver) read(at string, ref *Reference) (*document.Node, error) {
	switch ref.Kind {
	case FromReceipt:
		e, err := r.lookup.Receipt(ref.Unit)
		if err != nil {
			return nil, err
		}
		return r.take(e, ref.Pointer, &r.inputs.Receipts, ref.Unit, e.Fingerprint)
	case FromArtifact:
		e, err := r.lookup.Artifact(ref)
		if err != nil {
			return nil, err
		}
		key := ref.Unit + "/" + ref.Name
		if e.Imported == nil {
			return r.take(e, ref.Pointer, &r.inputs.Artifacts, key, e.Fingerprint)
		}
		value, err := r.take(e, ref.Pointer, &r.inputs.ImportedArtifacts, key, e.Fingerprint)
		if err == nil {
			r.inputs.ImportedEvidence.set(key, e.Imported)
		}
		return value, err
	case FromPromotion:
		unit, pointer := ref.Unit, ref.Pointer
		if unit == "" {
			unit = r.own
		}
		if !ref.HasPointer {
			pointer = at
		}
		e, err := r.lookup.Promotion(unit, !ref.HasPointer)
		if err != nil {
			return nil, err
		}
		return r.take(e, pointer, &r.inputs.Promotions, unit+"#"+pointer, e.Fingerprint)
	case FromEnvironment:
		return valueAt(r.lookup.Environment(), ref.Pointer)
	}
	return nil, errParameter
}

var errParameter = errors.New("direct Units have no parameters")

func (r *resolver) take(e Evidence, pointer string, into *Fingerprints, key, fingerprint string) (*document.Node, error) {
	value, err := valueAt(e.Document, pointer)
	if e.Foretold && (err != nil || strings.Count(pointer, "/") < 2) {
		return nil, &Unavailable{Cause: NotForetold, Producer: key}
	}
	if err != nil {
		return nil, err
	}
	into.set(key, document.NewString(fingerprint))
	return value, nil
}

// valueAt follows a pointer into evidence.
func valueAt(n *document.Node, pointer string) (*document.Node, error) {
	value, err := n.At(pointer)
	var fault *document.PointerError
	if errors.As(err, &fault) {
		return nil, &notThere{fault, n}
	}
	return value, err
}

// notThere is a pointer that leads nowhere in the evidence that it was followed in.
type notThere struct {
	*document.PointerError
	in *document.Node
}

// fix names the keys that stand where the pointer goes wrong; values are never named.
func (e *notThere) fix() string {
	tokens, err := document.ParsePointer(e.Pointer)
	if err != nil || e.Index < 0 || e.Index >= len(tokens) {
		return ""
	}
	at := e.in
	for _, token := range tokens[:e.Index] {
		if at, err = at.At("/" + document.PointerToken(token)); err != nil {
			return ""
		}
	}
	if at == nil || at.Kind != document.Map {
		return ""
	}
	if len(at.Fields) == 0 {
		return "there is nothing to read at that place"
	}
	const most = 12
	var keys []string
	for _, f := range at.Fields[:min(len(at.Fields), most)] {
		keys = append(keys, f.Key)
	}
	if len(at.Fields) > most {
		keys = append(keys, "…")
	}
	return "known there: " + strings.Join(keys, ", ")
}
