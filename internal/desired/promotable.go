package desired

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/expression"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// CheckEnvironmentReferences validates the fromEnvironment pointers of a Unit against the Environment document, which is
// the very document that they are resolved from. Faults come in document order.
func CheckEnvironmentReferences(u *resource.AuthoredUnit, env *resource.Environment) []*document.Error {
	var faults []*document.Error
	value := env.ReferenceValue()
	eachReference(u, func(r *expression.Reference) {
		if r.Kind != expression.FromEnvironment {
			return
		}
		if _, err := value.At(r.Pointer); err != nil {
			e := &document.Error{File: u.File, Pointer: "/spec" + r.At, Message: fmt.Sprintf("%s can never be resolved: %s", r, err),
				Fix: "correct the pointer, or add the value to " + env.File}
			e.Line, e.Column = r.Node.Line, r.Node.Column
			faults = append(faults, e)
		}
	})
	return faults
}

// A PromotionDoubt is a fromPromotion that no promotion of the environments' present documents could resolve. It is no
// fault: what is promoted may be an older state of the source, or one that is still to come.
type PromotionDoubt struct {
	Reference *expression.Reference
	Reason    string
}

// CheckPromotionReferences looks at the fromPromotion references of a Unit. sources are the environments that may be
// promoted from, with their authored Units by name. A pointer that no desired Unit of any kind has is a fault.
func CheckPromotionReferences(u *resource.AuthoredUnit, sources map[string]map[string]*resource.AuthoredUnit) (faults []*document.Error, doubts []PromotionDoubt) {
	eachReference(u, func(r *expression.Reference) {
		if r.Kind != expression.FromPromotion {
			return
		}
		pointer, unit := r.Pointer, r.Unit
		if !r.HasPointer {
			pointer = r.At
		}
		if unit == "" {
			unit = u.Name
		}
		if err := inAnySpec(u.Kind, pointer); err != nil {
			e := &document.Error{File: u.File, Pointer: "/spec" + r.At, Message: fmt.Sprintf("%s can never be resolved: %s", r, err),
				Fix: "the pointer starts at the promoted Unit's spec"}
			e.Line, e.Column = r.Node.Line, r.Node.Column
			faults = append(faults, e)
			return
		}
		if reason := doubt(u, r, unit, pointer, sources); reason != "" {
			doubts = append(doubts, PromotionDoubt{r, reason})
		}
	})
	return faults, doubts
}

// doubt says why none of the sources can serve the reference, "" when one can.
func doubt(u *resource.AuthoredUnit, r *expression.Reference, unit, pointer string, sources map[string]map[string]*resource.AuthoredUnit) string {
	if len(sources) == 0 {
		return "nothing can be promoted into this environment, so the reference waits for ever; list the environments to promote from in spec.promotion.allowedSources of the Environment"
	}
	reason := fmt.Sprintf("no environment that may be promoted from defines the Unit %q", unit)
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		from := sources[name][unit]
		if from == nil {
			continue
		}
		err := resource.CheckSpecPointer(from.Kind, pointer)
		switch {
		case !r.HasPointer && from.Kind != u.Kind:
			reason = fmt.Sprintf("the Unit %q of environment %s is a %s, this one is a %s; give the pointer into its spec", unit, name, from.Kind, u.Kind)
		case err != nil:
			reason = fmt.Sprintf("the Unit %q of environment %s: %s", unit, name, err)
		default:
			return ""
		}
	}
	return reason
}

// inAnySpec tells whether the desired spec of some kind can hold the pointer; the error is about the kind given.
func inAnySpec(kind, pointer string) error {
	for _, other := range resource.UnitKinds() {
		if resource.CheckSpecPointer(other, pointer) == nil {
			return nil
		}
	}
	return resource.CheckSpecPointer(kind, pointer)
}

// eachReference visits all references of a Unit, those in fallbacks included; faults of parsing are reported elsewhere.
func eachReference(u *resource.AuthoredUnit, visit func(*expression.Reference)) {
	var walk func(r *expression.Reference) error
	walk = func(r *expression.Reference) error {
		visit(r)
		if r.Fallback == nil {
			return nil
		}
		return expression.Walk(r.At, r.Fallback, walk)
	}
	_ = expression.Walk("", u.Spec, walk) // what cannot be parsed is no reference
}
