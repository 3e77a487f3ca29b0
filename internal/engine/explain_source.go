package engine

import (
	"context"
	"slices"

	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
	"github.com/gitopsctr/gitopsctr/internal/source"
)

// mostCommits bounds how far back an explanation looks for commits.
const mostCommits = 200

// A sourceHistory tells which files and commits changed the inputs of Units. It reads each revision once.
type sourceHistory struct {
	engine  *Engine
	scope   *scope
	indexes map[string]*source.Index
}

// changedFiles compares a Unit's inputs at two revisions: "M", "A" or "D", a tab, and the path, sorted by path.
func (h *sourceHistory) changedFiles(ctx context.Context, before, now string, u *resource.Unit) []string {
	if before == "" || now == "" || before == now {
		return nil
	}
	old, new := h.inputs(ctx, before, u), h.inputs(ctx, now, u)
	if old == nil || new == nil {
		return nil
	}
	return compareInputs(old, new)
}

func compareInputs(old, new map[string]source.File) []string {
	var paths []string
	for path := range old {
		paths = append(paths, path)
	}
	for path := range new {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	var out []string
	for _, path := range slices.Compact(paths) {
		a, had := old[path]
		b, has := new[path]
		switch {
		case !had:
			out = append(out, "A\t"+path)
		case !has:
			out = append(out, "D\t"+path)
		case a.Blob != b.Blob || a.Mode != b.Mode:
			out = append(out, "M\t"+path)
		}
	}
	return out
}

// commits are the commits between two revisions that changed the Unit's inputs, newest first, merges left out.
func (h *sourceHistory) commits(ctx context.Context, before, now string, u *resource.Unit) []string {
	var out []string
	seen := 0
	_ = h.engine.store.History(ctx, now, func(c *gitstate.Snapshot) (bool, error) { // what cannot be read is left out
		seen++
		if c.Revision() == before || seen > mostCommits {
			return false, nil
		}
		parents := c.Parents()
		if len(parents) != 1 {
			return true, nil
		}
		old, new := h.inputs(ctx, parents[0], u), h.inputs(ctx, c.Revision(), u)
		if len(compareInputs(old, new)) > 0 {
			out = append(out, report.Abbreviate(c.Revision())+" "+c.Subject())
		}
		return true, nil
	})
	return out
}

// inputs are the files that the Unit's source selects at a revision, by path; nil when there is no telling.
func (h *sourceHistory) inputs(ctx context.Context, revision string, u *resource.Unit) map[string]source.File {
	index, ok := h.indexes[revision]
	if !ok {
		if snapshot, err := h.engine.store.SourceSnapshot(ctx, revision); err == nil {
			index, _ = source.NewIndex(overlaySource(snapshotSource{snapshot}, h.scope, nil)) // nil: no telling
		}
		if h.indexes == nil {
			h.indexes = map[string]*source.Index{}
		}
		h.indexes[revision] = index
	}
	s := u.Source()
	if index == nil || s == nil {
		return nil
	}
	selected, err := index.Select(s.Path, s.Inputs, s.Inputs != nil)
	if err != nil {
		return nil
	}
	out := make(map[string]source.File, len(selected))
	for _, in := range selected {
		out[in.File.Path] = in.File
	}
	return out
}
