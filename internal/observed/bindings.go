package observed

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

// StackObservation joins the observations of the Units that a Stack binds: the distinct ones, sorted; N/A without Units
// (chapter H, 4.5).
func (v *Survey) StackObservation(stack *Root) (string, error) {
	var out []string
	for _, b := range bindings(stack) {
		observation, err := v.bindingObservation(stack, b.Value)
		if err != nil {
			return "", err
		}
		out = append(out, observation)
	}
	if len(out) == 0 {
		return string(NotApplicable), nil
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), ","), nil
}

func (v *Survey) bindingObservation(stack *Root, b *document.Node) (string, error) {
	broken := func(why string) (string, error) { return fmt.Sprintf("BROKEN(%s:%s)", b.Get("name").Str(), why), nil }
	known := false
	for _, u := range v.byUID[b.Get("uid").Str()] {
		if !binds(b, u) {
			continue
		}
		known = true
		if u.BindingDigest() != b.Get("desiredDigest").Str() {
			continue
		}
		if o := u.Metadata.Owner; o == nil || o.Kind != "Stack" || o.Name != stack.Name || o.UID != stack.Metadata.UID {
			return broken("owner")
		}
		state, err := v.UnitState(u.Name)
		return string(state.Observation), err
	}
	if known {
		return broken("mismatch")
	}
	return broken("missing")
}
