// Package inspect answers "what is there": it turns the planes of environments into rows and documents that people and
// scripts read (specification, chapter H, sections 2 to 5).
//
// Its central idea is that nothing is hidden: a document that cannot be read, or a relation that does not hold, becomes a
// fault beside the rows, and every other row is still there. What a state means is decided in package observed; here is
// only how it is asked for and shown. The package reads no ref by itself and writes nothing but what it is given.
package inspect

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/observed"
)

// An Item is one document with its place, and its row when a table was asked for.
type Item struct {
	Family Family
	// Environment is "" for the project's own documents.
	Environment string
	// Plane is "source", "desired" or "observed"; Ref and Revision are "" for the working tree.
	Plane, Ref, Revision, Path string
	// Name is the qualified name, Type "apiVersion/Kind".
	Name, Type string
	// Labels are those of the document's metadata.
	Labels map[string]string
	// Document is the persisted document, nil when only rows were asked for.
	Document *document.Node
	// Cells are the row, nil when only documents were asked for.
	Cells []string
	// Authentication says what an artifact is worth; "" for everything else.
	Authentication observed.Observation
}

// A List is the answer to a Query. Its items are in the order of chapter H, 3.1.
type List struct {
	Items []Item
	// Faults say what could not be read or does not hold.
	Faults []error
}

// Add appends the answer for another environment.
func (l *List) Add(other List) {
	l.Items = append(l.Items, other.Items...)
	for _, fault := range other.Faults {
		known := func(e error) bool { return e.Error() == fault.Error() }
		if !slices.ContainsFunc(l.Faults, known) {
			l.Faults = append(l.Faults, fault)
		}
	}
}

// Sort puts the items into their order: by family, environment, name and type, each by code point.
func (l *List) Sort() {
	slices.SortStableFunc(l.Items, func(a, b Item) int {
		return cmp.Or(
			cmp.Compare(slices.Index(families, a.Family), slices.Index(families, b.Family)),
			strings.Compare(a.Environment, b.Environment), strings.Compare(a.Name, b.Name), strings.Compare(a.Type, b.Type))
	})
}

// Names are the distinct qualified names of the items, sorted.
func (l *List) Names() []string {
	var names []string
	for i := range l.Items {
		names = append(names, l.Items[i].Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
