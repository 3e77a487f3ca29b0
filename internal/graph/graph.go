// Package graph answers questions about who depends on whom: order, cycles, levels, and what a selection needs.
//
// Its central idea: an edge goes from a consumer to its producer, and every answer is in one order that depends on names
// only, so that the same graph always gives the same text. Nodes are plain names. The package does not know what they
// stand for, where the edges come from (chapter B, section 9), or how nodes are run.
package graph

import (
	"maps"
	"slices"
)

// A Graph is a set of named nodes with edges from consumer to producer. The zero value is an empty graph. It may be read
// concurrently once it is no longer added to.
type Graph struct {
	producers map[string]map[string]bool
}

// An Edge is one dependency.
type Edge struct{ Consumer, Producer string }

// New returns the graph of the keys with their producers.
func New(producers map[string][]string) *Graph {
	g := &Graph{}
	for node, of := range producers {
		g.Add(node, of...)
	}
	return g
}

// Add adds a node, and edges from it to its producers. Producers do not become nodes by that. Adding a node again adds to
// its edges.
func (g *Graph) Add(node string, producers ...string) {
	if g.producers == nil {
		g.producers = map[string]map[string]bool{}
	}
	if g.producers[node] == nil {
		g.producers[node] = map[string]bool{}
	}
	for _, p := range producers {
		g.producers[node][p] = true
	}
}

// Has tells whether a node was added.
func (g *Graph) Has(node string) bool { return g.producers[node] != nil }

// Nodes lists the nodes, sorted.
func (g *Graph) Nodes() []string { return slices.Sorted(maps.Keys(g.producers)) }

// Producers lists the nodes that a node depends on directly, sorted, without missing ones.
func (g *Graph) Producers(node string) []string {
	var known []string
	for p := range g.producers[node] {
		if g.Has(p) {
			known = append(known, p)
		}
	}
	slices.Sort(known)
	return known
}

// Consumers lists the nodes that depend on a node directly, sorted. The node need not have been added: the consumers of a
// missing producer are found too. It looks at the whole graph: for many questions, ask ConsumersOfAll.
func (g *Graph) Consumers(node string) []string {
	var consumers []string
	for c, producers := range g.producers {
		if producers[node] {
			consumers = append(consumers, c)
		}
	}
	slices.Sort(consumers)
	return consumers
}

// ConsumersOfAll lists the direct consumers of every producer, sorted.
func (g *Graph) ConsumersOfAll() map[string][]string {
	consumers := map[string][]string{}
	for _, c := range g.Nodes() {
		for p := range g.producers[c] {
			consumers[p] = append(consumers[p], c)
		}
	}
	return consumers
}

// Edges lists the edges between nodes, sorted by consumer and producer.
func (g *Graph) Edges() []Edge {
	var edges []Edge
	for _, c := range g.Nodes() {
		for _, p := range g.Producers(c) {
			edges = append(edges, Edge{c, p})
		}
	}
	return edges
}

// Missing lists the edges to producers that are no nodes, sorted: of the given consumers, or of all when none is given.
func (g *Graph) Missing(consumers ...string) []Edge {
	if len(consumers) == 0 {
		consumers = g.Nodes()
	} else {
		consumers = slices.Compact(slices.Sorted(slices.Values(consumers)))
	}
	var edges []Edge
	for _, c := range consumers {
		for _, p := range slices.Sorted(maps.Keys(g.producers[c])) {
			if !g.Has(p) {
				edges = append(edges, Edge{c, p})
			}
		}
	}
	return edges
}

// Restrict returns the graph of those of the nodes that g has, and the edges between them.
func (g *Graph) Restrict(nodes []string) *Graph {
	out := &Graph{}
	for _, n := range nodes {
		if g.Has(n) {
			out.Add(n)
		}
	}
	for n := range out.producers {
		for p := range g.producers[n] {
			if out.Has(p) {
				out.Add(n, p)
			}
		}
	}
	return out
}
