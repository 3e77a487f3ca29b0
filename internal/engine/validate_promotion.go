package engine

import (
	"io/fs"
	"path"

	"github.com/gitopsctr/gitopsctr/internal/desired"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// promotions checks what the Units of an environment read from the environments that may be promoted into it. Only a
// pointer that no Unit has is a fault; what today's documents of the sources do not have is a warning.
func (v *validation) promotions(env *resource.Environment, units map[string]*resource.AuthoredUnit) error {
	sources := map[string]map[string]*resource.AuthoredUnit{}
	for _, name := range sortedKeys(units) {
		u := units[name]
		if !readsPromotion(desired.Document{Unit: u}) {
			continue
		}
		if len(sources) == 0 {
			for _, source := range env.AllowedSources {
				sources[source] = v.authoredUnits(source)
			}
		}
		faults, doubts := desired.CheckPromotionReferences(u, sources)
		for _, fault := range faults {
			if err := v.fault(fault); err != nil {
				return err
			}
		}
		for _, d := range doubts {
			at := report.Position{File: u.File, Pointer: "/spec" + d.Reference.At}
			if n := d.Reference.Node; n != nil {
				at.Line, at.Column = n.Line, n.Column
			}
			v.problems = append(v.problems, report.Problem{Severity: report.Warning, Unit: name, Position: at, Message: d.Reason})
		}
	}
	return nil
}

// authoredUnits reads the Units of another environment as far as they can be read: their faults are told when that
// environment is validated.
func (v *validation) authoredUnits(environment string) map[string]*resource.AuthoredUnit {
	units := map[string]*resource.AuthoredUnit{}
	dir := path.Join(v.project.EnvironmentsPath, environment, "units")
	entries, err := fs.ReadDir(v.engine.work, dir)
	if err != nil {
		return units
	}
	for _, entry := range entries {
		file := path.Join(dir, entry.Name())
		if _, ok := resource.QualifiedNameOf("units/"+entry.Name(), "units"); !ok || entry.IsDir() {
			continue
		}
		data, err := fs.ReadFile(v.engine.work, file)
		if err != nil {
			continue
		}
		if u, err := resource.DecodeAuthoredUnit(file, data); err == nil {
			units[u.Name] = u
		}
	}
	return units
}
