package graph

import (
	"fmt"
	"slices"
	"strings"
)

// Order lists the nodes, producers before consumers: depth-first from the names in sorted order, producers sorted,
// post-order, cycles cut where they come back to a node that is still open (chapter B, section 9; chapter D, 8.2).
func (g *Graph) Order() []string {
	order := make([]string, 0, len(g.producers))
	g.visit(func(node string) { order = append(order, node) }, func(Edge) {})
	return order
}

// Acyclic returns the graph without the edges at which Order cuts cycles, so that a walk of it reaches every node. Missing
// producers are left out.
func (g *Graph) Acyclic() *Graph {
	cut := map[Edge]bool{}
	g.visit(func(string) {}, func(e Edge) { cut[e] = true })
	out := &Graph{}
	for _, n := range g.Nodes() {
		out.Add(n)
		for _, p := range g.Producers(n) {
			if !cut[Edge{n, p}] {
				out.Add(n, p)
			}
		}
	}
	return out
}

// visit walks the graph as Order tells: done is called for every node, cut for every edge that closes a cycle.
func (g *Graph) visit(done func(node string), cut func(Edge)) {
	type frame struct {
		node string
		left []string // producers not looked at yet
	}
	const open, closed = 1, 2
	state := map[string]int{}
	for _, start := range g.Nodes() {
		if state[start] != 0 {
			continue
		}
		// A stack of our own, because a chain may be longer than what recursion should take.
		state[start] = open
		stack := []frame{{start, g.Producers(start)}}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if len(top.left) == 0 {
				state[top.node] = closed
				done(top.node)
				stack = stack[:len(stack)-1]
				continue
			}
			next := top.left[0]
			top.left = top.left[1:]
			switch state[next] {
			case open:
				cut(Edge{top.node, next})
			case closed:
			default:
				state[next] = open
				stack = append(stack, frame{next, g.Producers(next)})
			}
		}
	}
}

// Levels groups the nodes: the first level needs no other node, each later one needs at least one node of the level before
// it. Each level is sorted. Cycles are cut as in Order.
func (g *Graph) Levels() [][]string {
	var levels [][]string
	level := map[string]int{}
	acyclic := g.Acyclic()
	for _, n := range acyclic.Order() {
		for _, p := range acyclic.Producers(n) {
			level[n] = max(level[n], level[p]+1)
		}
		if level[n] == len(levels) {
			levels = append(levels, nil)
		}
		levels[level[n]] = append(levels[level[n]], n)
	}
	for _, l := range levels {
		slices.Sort(l)
	}
	return levels
}

// An UnknownError names nodes that were asked for and are not in the graph.
type UnknownError struct{ Nodes []string }

func (e *UnknownError) Error() string {
	quoted := make([]string, len(e.Nodes))
	for i, n := range e.Nodes {
		quoted[i] = fmt.Sprintf("%q", n)
	}
	return "unknown: " + strings.Join(quoted, ", ")
}

// All is the depth of a Closure without bound.
const All = -1

// Closure lists the targets and their producers up to depth edges away, sorted; depth 0 is the targets only. Targets that
// are no nodes are an *UnknownError. Missing producers are left out; Missing of the result tells them.
func (g *Graph) Closure(targets []string, depth int) ([]string, error) {
	if unknown := slices.DeleteFunc(slices.Sorted(slices.Values(targets)), g.Has); len(unknown) > 0 {
		return nil, &UnknownError{slices.Compact(unknown)}
	}
	return spread(targets, depth, g.Producers), nil
}

// Dependents lists all nodes that depend on one of the nodes, directly or not, sorted, and without the nodes themselves
// unless they are in a cycle with another of the result.
func (g *Graph) Dependents(nodes ...string) []string {
	consumers := g.ConsumersOfAll()
	var first []string
	for _, n := range nodes {
		first = append(first, consumers[n]...)
	}
	return spread(first, All, func(n string) []string { return consumers[n] })
}

// spread lists what is reached from the start in at most depth steps, sorted.
func spread(start []string, depth int, next func(string) []string) []string {
	reached := map[string]bool{}
	var all []string
	for front := start; len(front) > 0; depth-- {
		var following []string
		for _, n := range front {
			if reached[n] {
				continue
			}
			reached[n] = true
			all = append(all, n)
			if depth != 0 {
				following = append(following, next(n)...)
			}
		}
		front = following
	}
	slices.Sort(all)
	return all
}
