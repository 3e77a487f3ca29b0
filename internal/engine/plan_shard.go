package engine

import (
	"cmp"
	"context"
	"slices"
)

// Shards splits the Units of an environment, desired and among the documents, into at most n groups that share no
// dependency, so that each can be converged by a job of its own. Groups are made of connected components of the dependency
// graph, which stay whole; they are balanced by their number of Units. There are fewer groups than n when there are fewer
// components.
func (e *Engine) Shards(ctx context.Context, r ApplyRequest, n int) ([][]string, error) {
	s, err := e.open(r.Target)
	if err != nil {
		return nil, err
	}
	a, err := e.newApplier(ctx, s, r)
	if err != nil {
		return nil, err
	}
	p, err := e.fetch(ctx, s)
	if err != nil {
		return nil, err
	}
	producers := map[string][]string{}
	for _, name := range unitNames(p.state, a.inputs.documents) {
		producers[name] = nil
		if u := p.state.Unit(name); u != nil {
			producers[name] = u.Producers()
		}
	}
	for i := range a.inputs.documents {
		if d := &a.inputs.documents[i]; d.Unit != nil {
			producers[d.Name()] = append(producers[d.Name()], authoredProducers(d.Unit)...)
		}
	}
	return balance(components(producers), n), nil
}

// components are the connected components of the graph of Units and their producers: sorted names, sorted by the first.
func components(producers map[string][]string) [][]string {
	neighbours := map[string][]string{}
	for name, from := range producers {
		for _, p := range from {
			if _, known := producers[p]; known {
				neighbours[name] = append(neighbours[name], p)
				neighbours[p] = append(neighbours[p], name)
			}
		}
	}
	seen := map[string]bool{}
	var out [][]string
	for name := range producers {
		if seen[name] {
			continue
		}
		seen[name] = true
		component := []string{name}
		for i := 0; i < len(component); i++ {
			for _, next := range neighbours[component[i]] {
				if !seen[next] {
					seen[next] = true
					component = append(component, next)
				}
			}
		}
		slices.Sort(component)
		out = append(out, component)
	}
	slices.SortFunc(out, func(a, b []string) int { return cmp.Compare(a[0], b[0]) })
	return out
}

// balance puts the components into at most n groups: the largest first, each into the group that is smallest so far.
func balance(components [][]string, n int) [][]string {
	components = slices.Clone(components)
	slices.SortStableFunc(components, func(a, b []string) int { return cmp.Compare(len(b), len(a)) })
	groups := make([][]string, min(max(n, 1), len(components)))
	for _, component := range components {
		smallest := 0
		for i := range groups {
			if len(groups[i]) < len(groups[smallest]) {
				smallest = i
			}
		}
		groups[smallest] = append(groups[smallest], component...)
	}
	for _, group := range groups {
		slices.Sort(group)
	}
	return groups
}
