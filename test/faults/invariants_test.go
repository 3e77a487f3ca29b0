package faults

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// An inspector reads the remote with Git's plumbing and finds what must never be there (specification, invariants.md). It
// looks at every commit that came since it looked last, not only at the heads: a wrong state that was put right again is
// wrong all the same.
type inspector struct {
	shop  *shop
	heads map[string]string
	// trees are the desired and observed commits that it has seen, by id: path → blob.
	trees map[string]map[string]string
	// desired are all blobs that were ever on the desired ref, by path, with the input of the Unit.
	desired map[string]map[string]string
	texts   map[string]string // blob → content
	read    map[string]bool   // "PATH BLOB" of documents that were found readable
	// receipts are the observed commits that runs told to have published.
	receipts []string
	// repeats counts by Unit how often an effect may happen again: its lease was recovered, or its Receipt refused.
	repeats map[string]int
	faults  []string
}

func newInspector(s *shop) *inspector {
	return &inspector{shop: s, heads: map[string]string{}, trees: map[string]map[string]string{}, desired: map[string]map[string]string{},
		texts: map[string]string{}, read: map[string]bool{}, repeats: map[string]int{}}
}

func (i *inspector) fault(format string, args ...any) {
	i.faults = append(i.faults, fmt.Sprintf(format, args...))
}

// hear takes in what a run told.
func (i *inspector) hear(t *testing.T, r run) {
	t.Helper()
	for line := range strings.Lines(r.stderr) {
		if strings.Contains(line, "its Receipt was not published") {
			fields := strings.Fields(line) // APPLY FAILED: NAME: …
			i.repeats[strings.TrimSuffix(fields[2], ":")]++
		}
	}
	if !strings.HasPrefix(r.stdout, "{") {
		return
	}
	var told struct {
		Units []struct {
			Outcome string
			Receipt struct{ Revision string }
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &told); err != nil {
		t.Fatalf("the run's JSON: %v\n%s", err, r.stdout)
	}
	for _, u := range told.Units {
		if u.Outcome == "applied" && u.Receipt.Revision != "" {
			i.receipts = append(i.receipts, u.Receipt.Revision)
		}
	}
}

// inspect returns what is wrong.
func (i *inspector) inspect(t *testing.T) []string {
	t.Helper()
	i.faults = nil
	heads := map[string]string{}
	for line := range strings.Lines(git(t, i.shop.bare, "for-each-ref", "--format=%(refname) %(objectname)")) {
		ref, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		heads[strings.TrimPrefix(ref, "refs/heads/")] = id
	}
	for ref, head := range heads {
		switch ref {
		case "main":
			if authored := git(t, i.shop.clone, "rev-parse", "HEAD"); head != authored {
				i.fault("forward only: the source branch is at %s, the author left it at %s", head, authored)
			}
		case desiredRef, observedRef, leaseRef:
		default:
			i.fault("forward only: there is a ref %s", ref)
		}
	}
	for _, ref := range []string{desiredRef, observedRef, leaseRef} {
		for _, id := range i.news(t, ref, heads[ref]) {
			i.inspectCommit(t, ref, id)
		}
		i.heads[ref] = heads[ref]
	}
	for _, id := range i.receipts {
		if _, seen := i.trees[id]; !seen {
			i.fault("no lost evidence: a run published %s, which is not in the history of %s", id, observedRef)
		}
	}
	i.inspectEffects(t)
	return i.faults
}

// news are the commits of a ref since the last inspection, oldest first.
func (i *inspector) news(t *testing.T, ref, head string) []string {
	t.Helper()
	old := i.heads[ref]
	switch {
	case head == old:
		return nil
	case head == "":
		i.fault("forward only: %s is gone", ref)
		return nil
	case old == "":
		return strings.Fields(git(t, i.shop.bare, "rev-list", "--reverse", head))
	}
	if git(t, i.shop.bare, "rev-list", "--max-count=1", old, "^"+head) != "" {
		i.fault("forward only: %s went from %s to %s, which is not built on it", ref, old, head)
	}
	return strings.Fields(git(t, i.shop.bare, "rev-list", "--reverse", old+".."+head))
}

func (i *inspector) inspectCommit(t *testing.T, ref, id string) {
	t.Helper()
	tree := map[string]string{}
	stems := map[string]string{}
	for _, f := range listTree(t, i.shop.bare, id) {
		tree[f.path] = f.blob
		stem := strings.TrimSuffix(f.path, path.Ext(f.path))
		if other := stems[stem]; other != "" && strings.HasPrefix(f.path, "units/") {
			i.fault("readable: commit %s has both %s and %s", id, other, f.path)
		}
		stems[stem] = f.path
		if key := f.path + " " + f.blob; !i.read[key] {
			i.read[key] = true
			if err := i.readable(ref, f.path, i.text(t, f.blob)); err != nil {
				i.fault("readable: commit %s of %s: %v", id, ref, err)
			}
		}
	}
	parent := map[string]string{}
	parents := strings.Fields(git(t, i.shop.bare, "log", "-1", "--format=%P", id))
	switch {
	case len(parents) > 1:
		i.fault("forward only: commit %s of %s is a merge", id, ref)
	case len(parents) == 1:
		parent = i.trees[parents[0]]
	}
	i.trees[id] = tree
	switch ref {
	case desiredRef:
		i.inspectDesired(t, id, parent, tree)
	case observedRef:
		i.inspectObserved(t, id, parent, tree)
	}
}

// readable decodes a document with the profile that its path asks for, and checks that this is its path.
func (i *inspector) readable(ref, file, text string) error {
	data := []byte(text)
	at := file
	var err error
	switch {
	case ref == leaseRef && file == ".gitopsctr/effect-leases/.store":
	case ref == leaseRef:
		var l *resource.EffectLease
		if l, err = resource.DecodeEffectLease(file, data); err == nil {
			at = l.Path()
		}
	case ref == observedRef && strings.HasPrefix(file, "units/"):
		var r *resource.Receipt
		if r, err = resource.DecodeReceipt(file, data); err == nil {
			at = "units/" + r.Subject.QualifiedName + path.Ext(file)
		}
	case ref == observedRef:
		var e *resource.TeardownEvidence
		if e, err = resource.DecodeTeardownEvidence(file, data); err == nil {
			at = e.Path()
		}
	case file == ".gitopsctr/transition-blocks.json":
		_, err = resource.DecodeTransitionBlocks(file, data)
	case strings.HasPrefix(file, "units/"):
		var u *resource.Unit
		if u, err = resource.DecodeUnit(file, data); err == nil {
			at = "units/" + u.Metadata.Name + path.Ext(file)
		}
	default:
		var s *resource.Tombstone
		if s, err = resource.DecodeTombstone(file, data); err == nil {
			at = s.Path()
		}
	}
	if err == nil && at != file {
		err = fmt.Errorf("%s holds the document of %s", file, at)
	}
	return err
}

// inspectDesired compares a desired commit with its parent: UIDs stay, marked documents are frozen, what is gone has a
// tombstone, and tombstones stay.
func (i *inspector) inspectDesired(t *testing.T, id string, parent, tree map[string]string) {
	t.Helper()
	graves := map[string]bool{}
	for file := range tree {
		if strings.HasPrefix(file, resource.TombstonesPath+"/") {
			graves[strings.TrimSuffix(path.Base(file), ".json")] = true
		}
	}
	for file, blob := range tree {
		if !strings.HasPrefix(file, "units/") {
			continue
		}
		u := i.unit(t, file, blob)
		if i.desired[file] == nil {
			i.desired[file] = map[string]string{}
		}
		i.desired[file][blob] = u.Spec.Path("terraform", "variables", "input").Str()
		if graves[u.Metadata.UID] {
			i.fault("identity: commit %s has %s with the UID %s of a tombstone", id, file, u.Metadata.UID)
		}
	}
	for file, blob := range parent {
		switch {
		case strings.HasPrefix(file, "units/"):
			old := i.unit(t, file, blob)
			now, lives := tree[file]
			switch {
			case !lives && !graves[old.Metadata.UID]:
				i.fault("identity: commit %s drops %s (UID %s) without a tombstone", id, file, old.Metadata.UID)
			case lives && i.unit(t, file, now).Metadata.UID != old.Metadata.UID:
				i.fault("identity: commit %s changes the UID of %s", id, file)
			case lives && old.Metadata.Deletion != nil && now != blob:
				i.fault("identity: commit %s changes %s, which is being deleted", id, file)
			}
		case strings.HasPrefix(file, resource.TombstonesPath+"/") && tree[file] != blob:
			i.fault("identity: commit %s drops or changes the tombstone %s", id, file)
		}
	}
}

// inspectObserved checks that each Receipt is for a document that was on the desired ref, and at the commit that it names;
// and that teardown evidence stays.
func (i *inspector) inspectObserved(t *testing.T, id string, parent, tree map[string]string) {
	t.Helper()
	for file, blob := range tree {
		if !strings.HasPrefix(file, "units/") || parent[file] == blob {
			continue
		}
		r, err := resource.DecodeReceipt(file, []byte(i.text(t, blob)))
		if err != nil {
			continue // told already
		}
		if _, known := i.desired[file][r.UnitBlob]; !known {
			i.fault("evidence: commit %s has %s for the document %s, which never was on %s", id, file, r.UnitBlob, desiredRef)
		}
		if at := i.trees[r.DesiredRevision][file]; at != r.UnitBlob {
			i.fault("evidence: commit %s has %s for %s at %s, where the document is %q", id, file, r.UnitBlob, r.DesiredRevision, at)
		}
		if len(r.Artifacts) > 0 {
			i.fault("evidence: commit %s has %s with artifacts, which nobody made", id, file)
		}
	}
	for file, blob := range parent {
		if strings.HasPrefix(file, resource.TeardownsPath+"/") && tree[file] != blob {
			i.fault("no lost evidence: commit %s drops or changes %s", id, file)
		}
	}
}

func (i *inspector) text(t *testing.T, blob string) string {
	t.Helper()
	if _, known := i.texts[blob]; !known {
		i.texts[blob] = gitRaw(t, i.shop.bare, "cat-file", "blob", blob)
		if strings.Contains(i.texts[blob], canary) {
			i.fault("secrecy: the token is in blob %s", blob)
		}
	}
	return i.texts[blob]
}

func (i *inspector) unit(t *testing.T, file, blob string) *resource.Unit {
	t.Helper()
	u, err := resource.DecodeUnit(file, []byte(i.text(t, blob)))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return u
}
