package inspect

import (
	"fmt"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/observed"
)

// A Family is a sort of documents: those of an environment's planes, and Environment documents.
type Family = observed.Family

// EnvironmentFamily are the authored Environments of the working tree.
const EnvironmentFamily Family = "environment"

// families are all families in the order in which they are shown together.
var families = []Family{
	EnvironmentFamily, observed.UnitFamily, observed.StackFamily, observed.StackTemplateFamily,
	observed.PromotionFamily, observed.ReceiptFamily, observed.ArtifactFamily,
}

// Selectors lists what can be asked for, in the plural.
func Selectors() []string {
	out := []string{"all"}
	for _, f := range families {
		out = append(out, string(f)+"s")
	}
	return out
}

// An UnknownSelectorError tells that there is no family of the name.
type UnknownSelectorError struct{ Selector string }

func (e *UnknownSelectorError) Error() string {
	return fmt.Sprintf("there is nothing called %q to get%s; one of %s", e.Selector, suggest(strings.ToLower(e.Selector), Selectors()), strings.Join(Selectors(), ", "))
}

// CheckSelector returns an *UnknownSelectorError for what is no selector.
func CheckSelector(selector string) error {
	_, err := selected(selector)
	return err
}

// selected returns the families that a selector names; singular and plural are the same.
func selected(selector string) ([]Family, error) {
	if selector == "all" {
		return families[1:], nil
	}
	for _, f := range families {
		if selector == string(f) || selector == string(f)+"s" {
			return []Family{f}, nil
		}
	}
	return nil, &UnknownSelectorError{selector}
}

// columns are the headings of a family's table.
func columns(f Family, wide bool) []string {
	switch f {
	case EnvironmentFamily:
		return []string{"NAME", "DESIRED", "OBSERVED", "RECONCILIATION"}
	case observed.UnitFamily:
		return []string{"NAME", "KIND", "PARTITION", "DESIRED", "OBSERVATION", "RECONCILIATION", "REASON"}
	case observed.StackFamily:
		if wide {
			return []string{"NAME", "UID", "TEMPLATE", "TEMPLATE-UID", "TEMPLATE-DIGEST", "PARTITION", "STRUCTURAL", "ACTIVE", "TOPOLOGY", "OBSERVATION", "STATE"}
		}
		return []string{"NAME", "TEMPLATE", "TEMPLATE-DIGEST", "PARTITION", "UNITS", "OBSERVATION", "STATE"}
	case observed.StackTemplateFamily:
		if wide {
			return []string{"NAME", "UID", "CONTENT-DIGEST", "ACQUISITION", "SOURCE", "PARAMETERS", "UNITS", "PARTITION", "REFERENCES", "STATE"}
		}
		return []string{"NAME", "CONTENT-DIGEST", "SOURCE", "PARAMETERS", "UNITS", "PARTITION", "REFERENCES", "STATE"}
	case observed.PromotionFamily:
		return []string{"NAME", "SOURCE", "PARTITION", "DESIRED-REVISION", "OBSERVED-REVISION", "SPECIFICATION-REVISION"}
	case observed.ReceiptFamily:
		return []string{"NAME", "KIND", "PARTITION", "OBSERVATION", "ARTIFACTS"}
	case observed.ArtifactFamily:
		return []string{"NAME", "KIND", "PARTITION", "AUTHENTICATION"}
	}
	return nil
}

// readsDesired and readsObserved tell which planes a family's documents and rows need (chapter H, 2.1 and 2.3).
func readsDesired(f Family, rows bool) bool { return f != EnvironmentFamily || rows }

func readsObserved(f Family, rows bool) bool {
	switch f {
	case observed.ReceiptFamily, observed.ArtifactFamily:
		return true
	case EnvironmentFamily, observed.UnitFamily, observed.StackFamily:
		return rows
	}
	return false
}

// takesObserved tells whether an override of the observed plane means anything to a family.
func takesObserved(f Family) bool {
	return f != observed.StackTemplateFamily && f != observed.PromotionFamily
}
