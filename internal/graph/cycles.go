package graph

import (
	"slices"
	"strings"
)

// Cycles returns one cycle for every group of nodes that depend on each other in a circle: the shortest through the
// group's first name, which stands first and again last, each node followed by the producer that it needs. Groups are
// sorted by that name. Joined by " → " a cycle reads as a sentence.
func (g *Graph) Cycles() [][]string {
	var cycles [][]string
	for _, group := range g.groups() {
		slices.Sort(group)
		first := group[0]
		if len(group) == 1 && !g.producers[first][first] {
			continue
		}
		cycles = append(cycles, g.Restrict(group).shortestCycle(first))
	}
	slices.SortFunc(cycles, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	return cycles
}

// shortestCycle finds the way from a node to itself, which must exist, by breadth.
func (g *Graph) shortestCycle(node string) []string {
	from := map[string]string{}
	for front := []string{node}; len(front) > 0; {
		at := front[0]
		front = front[1:]
		for _, p := range g.Producers(at) {
			if p == node {
				cycle := []string{node}
				for n := at; n != node; n = from[n] {
					cycle = append(cycle, n)
				}
				cycle = append(cycle, node)
				slices.Reverse(cycle)
				return cycle
			}
			if _, seen := from[p]; !seen {
				from[p] = at
				front = append(front, p)
			}
		}
	}
	return nil
}

// groups returns the strongly connected components, by Kosaraju's way: nodes in the order in which a walk along the
// producers leaves them, then backwards along the consumers, last left first.
func (g *Graph) groups() [][]string {
	order := g.Order()
	consumers := g.ConsumersOfAll()
	taken := map[string]bool{}
	var groups [][]string
	for _, start := range slices.Backward(order) {
		if taken[start] {
			continue
		}
		taken[start] = true
		group := []string{start}
		for i := 0; i < len(group); i++ {
			for _, c := range consumers[group[i]] {
				if !taken[c] {
					taken[c] = true
					group = append(group, c)
				}
			}
		}
		groups = append(groups, group)
	}
	return groups
}
