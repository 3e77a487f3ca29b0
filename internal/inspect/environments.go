package inspect

import (
	"fmt"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// Authored answers the query for one authored Environment. survey is nil when no rows are asked for.
func (q *Query) Authored(env *resource.Environment, survey *observed.Survey) List {
	if q.Name != "" && q.Name != env.Name {
		return List{}
	}
	item := Item{
		Family: EnvironmentFamily, Plane: "source", Path: env.File, Name: env.Name, Type: resource.CoreAPI + "/Environment",
		Document: env.Document, Labels: map[string]string{},
	}
	if labels := env.Document.Path("metadata", "labels"); labels != nil {
		for _, f := range labels.Fields {
			item.Labels[f.Key] = f.Value.Str()
		}
	}
	for key, value := range q.Labels {
		if got, ok := item.Labels[key]; !ok || got != value {
			return List{}
		}
	}
	list := List{}
	if survey != nil {
		for _, fault := range survey.Faults() {
			list.Add(List{Faults: []error{fault.Err}})
		}
		cells, err := environmentCells(env.Name, survey)
		if err != nil {
			list.Add(List{Faults: []error{err}})
		}
		if len(list.Faults) > 0 {
			cells[len(cells)-1] = invalid
		}
		item.Cells = cells
	}
	list.Items = []Item{item}
	return list
}

// environmentCells are the row of an Environment (chapter H, 3.2).
func environmentCells(name string, v *observed.Survey) ([]string, error) {
	at := func(p observed.Plane) string {
		if p.Revision == "" {
			return p.Ref + "@missing"
		}
		return p.Ref + "@" + shortRevision(p.Revision)
	}
	counts, err := v.Conditions()
	var parts []string
	for _, condition := range []observed.Condition{observed.Clean, observed.Ready, observed.Wait, observed.Materialized} {
		if n := counts[condition]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", strings.ToLower(string(condition)), n))
		}
	}
	reconciliation := strings.Join(parts, " ")
	switch {
	case err != nil:
		reconciliation = invalid
	case reconciliation == "":
		reconciliation = "none"
	}
	return []string{name, at(v.Desired), at(v.Observed), reconciliation}, err
}
