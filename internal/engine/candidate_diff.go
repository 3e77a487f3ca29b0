package engine

import (
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/gitopsctr/gitopsctr/internal/desired"
	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// proposedUnits compares a candidate with the state that it is built on, Unit by Unit, and adds what waits.
func proposedUnits(base *gitstate.Snapshot, c *desired.Candidate) []report.ProposedUnit {
	units := changedUnits(base, c.Edits())
	for _, d := range c.Decisions {
		i := slices.IndexFunc(units, func(u report.ProposedUnit) bool { return u.Unit == d.Unit })
		waits := d.Reason != "" && d.Disposition != desired.Untouched
		switch {
		case i < 0 && !waits:
			continue
		case i < 0:
			units = append(units, report.ProposedUnit{Unit: d.Unit, Change: "waits", Reason: waitReason(d)})
		case waits:
			units[i].Reason = waitReason(d)
		default:
			units[i].Reason = strings.Join(d.Causes, ", ")
		}
		if i >= 0 && d.Disposition == desired.Marked {
			units[i].Change = "marked for deletion"
		}
	}
	slices.SortFunc(units, func(a, b report.ProposedUnit) int { return strings.Compare(a.Unit, b.Unit) })
	return units
}

// changedUnits are the Units whose desired documents some edits of a tree change, sorted.
func changedUnits(base *gitstate.Snapshot, edits []gitstate.Edit) []report.ProposedUnit {
	type versions struct{ oldPath, newPath, old, next string }
	all := map[string]*versions{}
	var names []string
	for _, edit := range edits {
		name, ok := resource.QualifiedNameOf(edit.Path, resource.UnitsPath)
		if !ok {
			continue
		}
		v := all[name]
		if v == nil {
			v = &versions{oldPath: "/dev/null", newPath: "/dev/null"}
			all[name] = v
			names = append(names, name)
		}
		if data, err := base.ReadFile(edit.Path); err == nil { // it was readable when the state was loaded; new files are not there
			v.oldPath, v.old = edit.Path, string(data)
		}
		if edit.Delete {
			continue
		}
		v.newPath, v.next = edit.Path, string(edit.Content)
		if edit.Blob != "" {
			if data, err := base.ReadBlob(edit.Blob); err == nil {
				v.next = string(data)
			}
		}
	}
	slices.Sort(names)
	out := make([]report.ProposedUnit, 0, len(names))
	for _, name := range names {
		v := all[name]
		u := report.ProposedUnit{Unit: name, Change: "changed"}
		switch {
		case v.oldPath == "/dev/null":
			u.Change = "added"
		case v.newPath == "/dev/null":
			u.Change = "removed"
		}
		_, u.Diff, _ = strings.Cut(string(diff.Diff(v.oldPath, []byte(v.old), v.newPath, []byte(v.next))), "\n") // without diff's own headline
		out = append(out, u)
	}
	return out
}
