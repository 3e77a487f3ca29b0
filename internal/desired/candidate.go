// Package desired builds an environment's desired candidate: authored documents plus evidence become, Unit by Unit, a
// resolved document, a wait with its reason, or an error (specification, chapter B).
//
// Its central idea is that the candidate is the complete next tree of the desired ref, compared with the current one by
// blob ids: what did not change is carried as the bytes that are there. It publishes nothing and runs no driver.
package desired

import (
	"maps"
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/expression"
	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// A Disposition is what became of one Unit.
type Disposition string

// The dispositions.
const (
	Resolved       Disposition = "resolved"        // its document holds the present inputs
	CarriedForward Disposition = "carried forward" // waits; its old document was moved to the new source revision
	Retained       Disposition = "retained"        // waits; its old document stays
	Omitted        Disposition = "omitted"         // waits; it was never written
	Untouched      Disposition = "untouched"       // not among the documents of this apply
	Marked         Disposition = "marked"          // marked for deletion
)

// A Decision is what the candidate does with one Unit and why.
type Decision struct {
	Unit        string
	Disposition Disposition
	// Document is the authored document, nil for an untouched Unit.
	Document *Document
	// Waits are the references without evidence, in document order; Reason is what is stored in the block.
	Waits  []*expression.Unavailable
	Reason string
	// Fallbacks are the references whose dryFallback stands in the document (dry only).
	Fallbacks []*expression.Reference
	// Causes say what changed against the current document: "source inputs changed", ...
	Causes []string
	// Changed tells whether the Unit's file differs from the current one.
	Changed bool
}

// A File is one file of the candidate tree: carried by blob id, or new content.
type File struct {
	Blob    string
	Content []byte // nil when carried
}

// A Candidate is the next tree of the desired ref.
type Candidate struct {
	Files     map[string]File
	Decisions []Decision // sorted by Unit
	Blocks    resource.TransitionBlocks

	current observed.Tree
	units   map[string]*candidateUnit
}

type candidateUnit struct {
	*resource.Unit
	path, blob string
}

// Edits are the differences between the current tree and the candidate, sorted by path; none means a no-op.
func (c *Candidate) Edits() []gitstate.Edit {
	var edits []gitstate.Edit
	old := map[string]string{}
	for _, f := range c.current.Files("") {
		old[f.Path] = f.Blob
		if _, kept := c.Files[f.Path]; !kept {
			edits = append(edits, gitstate.Edit{Path: f.Path, Delete: true})
		}
	}
	for _, path := range slices.Sorted(maps.Keys(c.Files)) {
		f := c.Files[path]
		if old[path] == f.Blob {
			continue
		}
		edits = append(edits, gitstate.Edit{Path: path, Content: f.Content, Blob: carriedBlob(f)})
	}
	slices.SortFunc(edits, func(a, b gitstate.Edit) int { return strings.Compare(a.Path, b.Path) })
	return edits
}

// carriedBlob names the blob of a file without content of its own, which a copy below another path has.
func carriedBlob(f File) string {
	if f.Content == nil {
		return f.Blob
	}
	return ""
}

// Unit returns the candidate's document of a Unit, or nil.
func (c *Candidate) Unit(name string) *resource.Unit {
	if u := c.units[name]; u != nil {
		return u.Unit
	}
	return nil
}

// Decision is what the candidate does with a Unit; false when it has no such Unit.
func (c *Candidate) Decision(unit string) (Decision, bool) {
	i, ok := slices.BinarySearchFunc(c.Decisions, unit, func(d Decision, name string) int { return strings.Compare(d.Unit, name) })
	if !ok {
		return Decision{}, false
	}
	return c.Decisions[i], true
}

// Waiting are the decisions that wait, sorted by Unit.
func (c *Candidate) Waiting() []Decision {
	var out []Decision
	for _, d := range c.Decisions {
		if len(d.Waits) > 0 || d.Reason != "" {
			out = append(out, d)
		}
	}
	return out
}

// ChangedUnits are the qualified names of the Units whose file the candidate adds, changes or removes, sorted.
func (c *Candidate) ChangedUnits() []string {
	var out []string
	for _, e := range c.Edits() {
		if name, ok := resource.QualifiedNameOf(e.Path, "units"); ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (c *Candidate) put(path string, content []byte) {
	c.Files[path] = File{Blob: document.BlobID(content), Content: content}
}

func (c *Candidate) carry(f gitstate.File) { c.Files[f.Path] = File{Blob: f.Blob} }
