package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/inspect"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// Get answers a query (chapter H, 2). It reads only the refs that the answer needs, each once, and writes nothing. What
// cannot be read is in the list's faults; an error is a query that has no answer.
func (e *Engine) Get(ctx context.Context, q inspect.Query) (inspect.List, error) {
	if err := q.Check(); err != nil {
		return inspect.List{}, err
	}
	p, err := e.loadProject(e.work)
	if err != nil {
		return inspect.List{}, err
	}
	known, err := e.environmentNames(p)
	if err != nil {
		return inspect.List{}, err
	}
	g := &getter{engine: e, Query: q, project: p}
	where := "environment " + q.Environment
	switch {
	case q.OfEnvironments():
		where = p.EnvironmentsPath
		err = g.open(known, true)
	case q.AllEnvironments:
		where = "all environments"
		err = g.open(known, true)
	case !slices.Contains(known, q.Environment):
		return inspect.List{}, &inspect.NotFoundError{Family: inspect.EnvironmentFamily, Name: q.Environment, Where: p.EnvironmentsPath, Known: known}
	default:
		err = g.open([]string{q.Environment}, false)
	}
	if err != nil {
		return inspect.List{}, err
	}
	if err := g.fetch(ctx); err != nil {
		return inspect.List{}, err
	}
	if err := g.collect(ctx); err != nil {
		return inspect.List{}, err
	}
	if q.Name != "" && len(g.list.Items) == 0 && len(g.list.Faults) == 0 {
		return inspect.List{}, g.notFound(ctx, where)
	}
	g.list.Sort()
	return g.list, nil
}

// environmentNames are the directories below the Project's environmentsPath.
func (e *Engine) environmentNames(p project) ([]string, error) {
	entries, err := fs.ReadDir(e.work, p.EnvironmentsPath)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list %s: %w", p.EnvironmentsPath, err)
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// heads reads the present heads of branches; offline, those that the clone last saw.
func (e *Engine) heads(ctx context.Context, refs ...string) (map[string]*gitstate.Snapshot, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	if !e.Offline {
		return e.store.Fetch(ctx, refs...)
	}
	out := map[string]*gitstate.Snapshot{}
	for _, ref := range refs {
		revision, err := e.store.Resolve(ctx, "refs/remotes/"+e.Git.RemoteName+"/"+ref)
		if err != nil {
			continue // never fetched: as if it did not exist
		}
		if out[ref], err = e.store.SourceSnapshot(ctx, revision); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// A getter answers one query.
type getter struct {
	inspect.Query
	engine  *Engine
	project project
	targets []getTarget
	heads   map[string]*gitstate.Snapshot
	list    inspect.List
}

// A getTarget is one environment of the answer.
type getTarget struct {
	environment *resource.Environment
	refs        resource.Refs
}

// open reads the Environments' documents. With several, a broken one is a fault and not the end.
func (g *getter) open(names []string, several bool) error {
	for _, name := range names {
		env, _, err := loadEnvironment(g.engine.work, g.project, name)
		var refs resource.Refs
		if err == nil {
			refs, err = g.project.Refs(env, g.overrides())
		}
		switch {
		case err == nil:
			g.targets = append(g.targets, getTarget{env, refs})
		case several:
			g.list.Add(inspect.List{Faults: []error{err}})
		default:
			return err
		}
	}
	return nil
}

// overrides are the other refs that the query names, of the planes that it reads.
func (g *getter) overrides() resource.RefOverrides {
	var o resource.RefOverrides
	if g.ReadsDesired() {
		o.Desired = g.DesiredRef
	}
	if g.ReadsObserved() {
		o.Observed = g.ObservedRef
	}
	return o
}

// fetch reads all refs of all environments at once.
func (g *getter) fetch(ctx context.Context) error {
	var refs []string
	for _, t := range g.targets {
		if g.ReadsDesired() {
			refs = append(refs, t.refs.Desired)
		}
		if g.ReadsObserved() {
			refs = append(refs, t.refs.Observed)
		}
	}
	var err error
	g.heads, err = g.engine.heads(ctx, refs...)
	return err
}

func (g *getter) collect(ctx context.Context) error {
	for _, t := range g.targets {
		survey, err := g.survey(ctx, t)
		if err != nil {
			return err
		}
		if g.OfEnvironments() {
			g.list.Add(g.Authored(t.environment, survey))
			continue
		}
		list, err := g.Collect(t.environment.Name, survey)
		if err != nil {
			return err
		}
		g.list.Add(list)
	}
	return nil
}

// survey reads the planes of one environment; nil when the query reads none.
func (g *getter) survey(ctx context.Context, t getTarget) (*observed.Survey, error) {
	if !g.ReadsDesired() && !g.ReadsObserved() {
		return nil, nil
	}
	desired, err := g.plane(ctx, g.ReadsDesired(), t.refs.Desired, g.DesiredRef != "", g.DesiredRevision)
	if err != nil {
		return nil, err
	}
	seen, err := g.plane(ctx, g.ReadsObserved(), t.refs.Observed, g.ObservedRef != "", g.ObservedRevision)
	if err != nil {
		return nil, err
	}
	return observed.NewSurvey(desired, seen), nil
}

// plane is a ref at its head, or at an older revision that was asked for. A ref that was named must exist.
func (g *getter) plane(ctx context.Context, read bool, ref string, named bool, revision string) (observed.Plane, error) {
	snapshot := g.heads[ref]
	switch {
	case !read:
		snapshot = gitstate.EmptySnapshot()
	case snapshot == nil && (named || revision != ""):
		return observed.Plane{}, &MissingRefError{Ref: ref}
	case snapshot == nil:
		snapshot = gitstate.EmptySnapshot()
	case revision != "":
		full, err := g.engine.store.ResolveIn(ctx, snapshot.Revision(), revision)
		if err != nil {
			return observed.Plane{}, fmt.Errorf("%s: %w", ref, err)
		}
		if full != snapshot.Revision() {
			if snapshot, err = g.engine.store.SourceSnapshot(ctx, full); err != nil {
				return observed.Plane{}, err
			}
		}
	}
	return observed.Plane{Ref: ref, Revision: snapshot.Revision(), Tree: snapshot}, nil
}

// notFound looks for the names that there are, so that the nearest can be suggested.
func (g *getter) notFound(ctx context.Context, where string) error {
	all := *g
	all.Name, all.Output, all.Artifact, all.Artifacts, all.Labels, all.list = "", inspect.Name, "", false, nil, inspect.List{}
	if g.OfEnvironments() {
		for _, t := range g.targets {
			all.list.Add(all.Authored(t.environment, nil))
		}
	} else if err := all.collect(ctx); err != nil {
		return err
	}
	return &inspect.NotFoundError{Family: g.Family(), Name: g.Name, Where: where, Known: all.list.Names()}
}
