package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// A treeFile is a file of the tree that a rollback publishes: a blob that is there, or new content.
type treeFile struct {
	blob    string
	content []byte
}

// rollbackTree is a tree on its way: path to file.
type rollbackTree map[string]treeFile

func (t rollbackTree) copyFrom(s *gitstate.Snapshot, prefix string) {
	for _, f := range s.Files(prefix) {
		t[f.Path] = treeFile{blob: f.Blob}
	}
}

func (t rollbackTree) removeBelow(prefix string) {
	for path := range t {
		if path == prefix || strings.HasPrefix(path, prefix+"/") {
			delete(t, path)
		}
	}
}

// replace takes everything at or below prefix from s.
func (t rollbackTree) replace(s *gitstate.Snapshot, prefix string) {
	t.removeBelow(prefix)
	t.copyFrom(s, prefix)
}

// replaceUnit takes a Unit's document and payload from s; what s does not have is removed.
func (t rollbackTree) replaceUnit(s *gitstate.Snapshot, name string) {
	for _, path := range resource.Representations(resource.UnitsPath + "/" + name) {
		t.replace(s, path)
	}
	t.replace(s, resource.MaterializedPath+"/"+name)
}

// change builds the tree and the commit of the rollback (4.1 steps 9 to 12).
func (b *rollback) change() (*change, error) {
	t := rollbackTree{}
	if len(b.request.Units) == 0 {
		t.copyFrom(b.target, "")
	} else {
		t.copyFrom(b.head, "")
		for _, name := range b.materialized {
			t.replaceUnit(b.target, name)
		}
	}
	kept := b.keepCleanup(t)
	if err := b.keepBlocks(t, kept); err != nil {
		return nil, err
	}
	for _, name := range b.materialized {
		if !kept[name] {
			if err := b.adopt(t, name); err != nil {
				return nil, err
			}
		}
	}
	if err := b.checkTransition(t); err != nil {
		return nil, err
	}
	edits := t.edits(b.head)
	c := &change{operation: "rollback", context: b.provenance(), message: b.message(), edits: edits}
	for _, u := range changedUnits(b.head, edits) {
		c.units = append(c.units, u.Unit)
	}
	c.review = b.review(changedUnits(b.head, edits))
	return c, nil
}

// keepCleanup takes what the present state knows of deletions and leases: history must not undo them (step 10). It returns
// the Units whose present documents stay.
func (b *rollback) keepCleanup(t rollbackTree) map[string]bool {
	for _, prefix := range []string{resource.TombstonesPath, resource.CleanupPath, leasesDir} {
		if prefix == resource.TombstonesPath {
			t.copyFrom(b.head, prefix)
			continue
		}
		t.replace(b.head, prefix)
	}
	kept := map[string]bool{}
	for _, name := range b.current.Names() {
		if b.current.Unit(name).Metadata.Deletion != nil {
			t.replaceUnit(b.head, name)
			kept[name] = true
		}
	}
	return kept
}

// leasesDir holds the leases of a lease store that shares the desired branch.
const leasesDir = ".gitopsctr/effect-leases"

// keepBlocks takes the present transition blocks, and the present documents of the blocked Units: a rollback does not make a
// blocked Unit go on, a new promotion or apply does (step 10 and 4.2). A full rollback brings back what Stacks own whole.
func (b *rollback) keepBlocks(t rollbackTree, kept map[string]bool) error {
	blocks := resource.TransitionBlocks{}
	for name, reason := range b.current.Blocks {
		if len(b.request.Units) == 0 && resource.StackOf(name) != "" {
			continue
		}
		blocks[name] = reason
		if b.current.Unit(name) == nil || kept[name] {
			continue
		}
		t.replaceUnit(b.head, name)
		kept[name] = true
		if slices.Contains(b.materialized, name) {
			b.engine.emit(report.Note{Word: "RETAIN", Text: fmt.Sprintf("%s stays as it is: it waits (%s), and a rollback does not end that", name, reason)})
		}
	}
	if maps.Equal(blocks, b.current.Blocks) {
		t.replace(b.head, resource.BlocksPath)
		return nil
	}
	delete(t, resource.BlocksPath)
	data, err := blocks.Encode()
	if data != nil {
		t[resource.BlocksPath] = treeFile{blob: document.BlobID(data), content: data}
	}
	return err
}

// adopt gives a historic document the identity that it has now: the present metadata; for a Unit that was finalized since, a
// new UID, as a new Unit of that source would get; else what it had (step 11).
func (b *rollback) adopt(t rollbackTree, name string) error {
	u := b.historic.Unit(name)
	metadata := u.Metadata
	if now := b.current.Unit(name); now != nil {
		metadata = now.Metadata
	} else if finalized := b.current.FinalizedUIDs(u.Kind, name); len(finalized) > 0 {
		metadata.UID = rebornUID(u, finalized)
	}
	data, err := u.With(metadata).Encode(document.FormatOf(u.Path))
	if err != nil {
		return fmt.Errorf("Unit %s: %w", name, err)
	}
	t[u.Path] = treeFile{blob: document.BlobID(data), content: data}
	return nil
}

// rebornUID is the UID of a Unit that comes back after it was finalized (chapter F, 4.2).
func rebornUID(u *observed.Unit, finalized []string) string {
	p := resource.UnitProvenance{Kind: u.Kind, Name: u.Metadata.Name, Source: u.Source(), FinalizedUIDs: finalized}
	if p.Source != nil {
		p.SourceRevision = p.Source.Revision
	}
	return p.UID()
}

// checkTransition checks that nothing that lives now vanishes without being finalized (chapter A, section 7). UIDs are the
// present ones by construction.
func (b *rollback) checkTransition(t rollbackTree) error {
	var lost []string
	for _, name := range b.current.Names() {
		if !slices.ContainsFunc(resource.Representations(resource.UnitsPath+"/"+name), func(path string) bool { _, ok := t[path]; return ok }) {
			lost = append(lost, name)
		}
	}
	if len(lost) > 0 {
		return fmt.Errorf("going back to %s would drop what lives now: %s; delete it first (gitopsctr delete), then roll back, or roll back single Units with --unit",
			report.Abbreviate(b.target.Revision()), join(lost))
	}
	return nil
}

// edits are the differences between the head and the tree, sorted by path.
func (t rollbackTree) edits(head *gitstate.Snapshot) []gitstate.Edit {
	var edits []gitstate.Edit
	old := map[string]string{}
	for _, f := range head.Files("") {
		old[f.Path] = f.Blob
		if _, kept := t[f.Path]; !kept {
			edits = append(edits, gitstate.Edit{Path: f.Path, Delete: true})
		}
	}
	for _, path := range slices.Sorted(maps.Keys(t)) {
		switch f := t[path]; {
		case old[path] == f.blob:
		case f.content != nil:
			edits = append(edits, gitstate.Edit{Path: path, Content: f.content})
		default:
			edits = append(edits, gitstate.Edit{Path: path, Blob: f.blob})
		}
	}
	slices.SortFunc(edits, func(a, b gitstate.Edit) int { return strings.Compare(a.Path, b.Path) })
	return edits
}
