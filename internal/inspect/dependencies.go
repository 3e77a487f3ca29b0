package inspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/graph"
)

// Dependencies are the producers that some Units need, directly or not (chapter H, 7).
type Dependencies struct {
	Environment string
	// SourceRevision or DesiredRevision is the commit that was read; both are "" for the working tree.
	SourceRevision, DesiredRevision string
	// Targets are sorted; Graph holds them and what they need, Depth edges away at most.
	Targets []string
	Graph   *graph.Graph
	Depth   int
}

// Select makes the Dependencies of targets from the graph of all Units. An unknown target, or a producer that no Unit is, is
// an error.
func (d Dependencies) Select(all *graph.Graph, targets []string, depth int) (Dependencies, error) {
	targets = slices.Sorted(slices.Values(targets))
	d.Targets, d.Depth = slices.Compact(targets), depth
	for _, t := range d.Targets {
		if !all.Has(t) {
			return d, &NotFoundError{Family: "unit", Name: t, Where: "environment " + d.Environment, Known: all.Nodes()}
		}
	}
	scope, err := all.Closure(d.Targets, depth)
	if err != nil {
		return d, err
	}
	if missing := followed(all, d.Targets, depth); len(missing) > 0 {
		return d, fmt.Errorf("unit %s needs %q, which environment %s does not define%s", missing[0].Consumer, missing[0].Producer,
			d.Environment, suggest(missing[0].Producer, all.Nodes()))
	}
	d.Graph = all.Restrict(scope)
	return d, nil
}

// followed are the edges to producers that are no Units, as far as edges are followed.
func followed(all *graph.Graph, targets []string, depth int) []graph.Edge {
	if depth == 0 {
		return nil
	}
	consumers, err := all.Closure(targets, max(depth-1, graph.All))
	if err != nil || len(consumers) == 0 {
		return nil
	}
	return all.Missing(consumers...)
}

// Tree draws one tree for each target, producers below their consumer. paint colours a name.
func (d Dependencies) Tree(paint func(string) string) string {
	var b strings.Builder
	for i, target := range d.Targets {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(paint(target) + "\n")
		d.branch(&b, paint, target, "", []string{target})
	}
	return b.String()
}

func (d Dependencies) branch(b *strings.Builder, paint func(string) string, node, prefix string, ancestors []string) {
	if d.Depth >= 0 && len(ancestors) > d.Depth {
		return
	}
	producers := d.Graph.Producers(node)
	for i, p := range producers {
		joint, below := "├── ", "│   "
		if i == len(producers)-1 {
			joint, below = "└── ", "    "
		}
		b.WriteString(prefix + joint + paint(p))
		if slices.Contains(ancestors, p) {
			b.WriteString(" [cycle]\n")
			continue
		}
		b.WriteByte('\n')
		d.branch(b, paint, p, prefix+below, append(ancestors, p))
	}
}

// List lists the Units, producers first, one on a line.
func (d Dependencies) List() string { return strings.Join(d.Graph.Order(), "\n") + "\n" }

// JSON is the graph for programs.
func (d Dependencies) JSON() []byte {
	units := document.NewList()
	for _, name := range d.Graph.Order() {
		units.Items = append(units.Items, document.NewMap(
			document.F("name", document.NewString(name)),
			document.F("dependencies", document.NewStrings(d.Graph.Producers(name)))))
	}
	n := document.NewMap(
		document.F("schema", document.NewInt(1)),
		document.F("environment", document.NewString(d.Environment)),
		document.F("sourceRevision", orNull(d.SourceRevision)),
		document.F("targets", document.NewStrings(d.Targets)),
		document.F("units", units))
	if d.DesiredRevision != "" {
		n = n.With("desiredRevision", document.NewString(d.DesiredRevision))
	}
	return document.EncodeJSON(n)
}

// DOT draws the graph for Graphviz, arrows from producer to consumer as in Mermaid.
func (d Dependencies) DOT() string {
	var b strings.Builder
	b.WriteString("digraph units {\n  rankdir=LR;\n")
	for _, n := range d.Graph.Nodes() {
		fmt.Fprintf(&b, "  %q;\n", n)
	}
	for _, e := range d.Graph.Edges() {
		fmt.Fprintf(&b, "  %q -> %q;\n", e.Producer, e.Consumer)
	}
	b.WriteString("}\n")
	return b.String()
}
