package engine

import (
	"context"
	"io/fs"

	"github.com/gitopsctr/gitopsctr/internal/graph"
	"github.com/gitopsctr/gitopsctr/internal/inspect"
)

// A DependencySource says where dependencies are read from.
type DependencySource string

// The sources.
const (
	FromSource   DependencySource = "source"   // a commit
	FromWorktree DependencySource = "worktree" // the working tree, uncommitted changes included
	FromDesired  DependencySource = "desired"  // the desired ref: what references were resolved from
)

// DependencySources lists the sources.
func DependencySources() []string {
	return []string{string(FromSource), string(FromWorktree), string(FromDesired)}
}

// A DependenciesRequest asks which producers some Units need (chapter H, 7).
type DependenciesRequest struct {
	Target
	Units []string
	From  DependencySource
	// SourceRevision is the commit to read with FromSource.
	SourceRevision string
	// Depth bounds how many edges are followed; graph.All is no bound.
	Depth int
}

// Dependencies reads the authored documents of one environment, or its desired ref, and writes nothing.
func (e *Engine) Dependencies(ctx context.Context, r DependenciesRequest) (inspect.Dependencies, error) {
	d := inspect.Dependencies{Environment: r.Environment}
	var all *graph.Graph
	var err error
	switch r.From {
	case FromDesired:
		all, d.DesiredRevision, err = e.desiredDependencies(ctx, r.Target)
	case FromWorktree:
		all, err = e.authoredDependencies(e.work, r)
	default:
		if d.SourceRevision, err = e.store.Resolve(ctx, r.SourceRevision); err != nil {
			return d, err
		}
		var tree fs.FS
		if tree, err = e.store.SourceSnapshot(ctx, d.SourceRevision); err != nil {
			return d, err
		}
		all, err = e.authoredDependencies(tree, r)
	}
	if err != nil {
		return d, err
	}
	return d.Select(all, r.Units, r.Depth)
}

// desiredDependencies are those that the desired Units were resolved with, and those that Stacks declare.
func (e *Engine) desiredDependencies(ctx context.Context, t Target) (*graph.Graph, string, error) {
	s, err := e.open(t)
	if err != nil {
		return nil, "", err
	}
	p, err := e.fetch(ctx, s)
	if err != nil {
		return nil, "", err
	}
	if err := p.requireDesired(s); err != nil {
		return nil, "", err
	}
	all := &graph.Graph{}
	for _, name := range p.state.Names() {
		all.Add(name, p.state.Unit(name).Producers()...)
	}
	stacks, err := p.state.DesiredStacks()
	if err != nil {
		return nil, "", err
	}
	for _, stack := range stacks {
		bindings := stack.Spec.Path("activeProjection", "units")
		if bindings.IsNull() {
			continue
		}
		for _, b := range bindings.Fields {
			name := stack.Metadata.Name + "/" + b.Key
			if !all.Has(name) {
				continue // it waits for its first desired document
			}
			for _, before := range b.Value.Get("dependsOn").Strs() {
				all.Add(name, stack.Metadata.Name+"/"+before)
			}
		}
	}
	return all, p.desired.Revision(), nil
}
