package engine

import (
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// causes are the differences between two desired documents of one Unit, in the words and the order of chapter H, 6.
// filesChanged tells that Git shows other files in the Unit's inputs.
func causes(prior, current *resource.Unit, filesChanged bool) []string {
	var out []string
	a, b := prior.Source(), current.Source()
	if prior.Kind != current.Kind || a != nil && b != nil && a.DriverVersion != b.DriverVersion {
		out = append(out, "reconciliation driver changed")
	}
	hashChanged := a != nil && b != nil && a.InputHash != b.InputHash
	if hashChanged && filesChanged {
		out = append(out, "source inputs changed")
	}
	resolved := func(key string) []string {
		return changedKeys(prior.Spec.Path("resolvedInputs", key), current.Spec.Path("resolvedInputs", key))
	}
	if names := resolved("receipts"); len(names) > 0 {
		out = append(out, "upstream observations changed: "+strings.Join(names, ", "))
	}
	for _, key := range []string{"artifacts", "importedArtifacts"} {
		if names := resolved(key); len(names) > 0 {
			out = append(out, "upstream artifacts changed: "+strings.Join(names, ", "))
		}
	}
	if keys := resolved("promotions"); len(keys) > 0 {
		out = append(out, "reviewed promotion inputs changed: "+strings.Join(keys, ", "))
	}
	if !document.Equal(specification(prior), specification(current)) {
		out = append(out, "unit specification changed")
	}
	switch {
	case len(out) > 0:
	case hashChanged:
		out = append(out, "source input fingerprint changed")
	default:
		out = append(out, "desired unit content changed")
	}
	return out
}

// changedKeys are the keys whose value differs between two mappings, sorted.
func changedKeys(a, b *document.Node) []string {
	var out []string
	for _, key := range keysOf(a, b) {
		if !document.Equal(a.Get(key), b.Get(key)) {
			out = append(out, key)
		}
	}
	return out
}

// keysOf are the keys that any of the mappings has, sorted.
func keysOf(maps ...*document.Node) []string {
	var out []string
	for _, m := range maps {
		if m.IsNull() {
			continue
		}
		for _, f := range m.Fields {
			out = append(out, f.Key)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// changedFields are the paths at which two specs differ. A list counts as one value.
func changedFields(at string, a, b *document.Node) []string {
	if document.Equal(a, b) {
		return nil
	}
	if a.IsNull() || b.IsNull() || a.Kind != document.Map || b.Kind != document.Map {
		return []string{at}
	}
	var out []string
	for _, key := range keysOf(a, b) {
		out = append(out, changedFields(at+"/"+document.PointerToken(key), a.Get(key), b.Get(key))...)
	}
	return out
}
