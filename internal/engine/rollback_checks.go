package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// checkLeases refuses to roll back while an effect may be under way anywhere in the environment (4.1 step 3).
func (b *rollback) checkLeases(ctx context.Context, p *planes) error {
	e, s := b.engine, b.scope
	leases, err := e.allLeases(ctx, s)
	if err != nil {
		return err
	}
	reasons := map[string]string{}
	for _, l := range leases {
		ours, err := e.takenHere(ctx, p.desired, l)
		if err != nil {
			return err
		}
		ended, err := e.endedByReceipt(ctx, p.desired, p.observed, l)
		if err != nil {
			return err
		}
		if ours && !ended {
			reasons[l.QualifiedName] = e.heldReason(ctx, s, l, "")
		}
	}
	if len(reasons) > 0 {
		return &LeasedError{Ref: s.refs.Desired, Reasons: reasons}
	}
	return nil
}

// checkInventory checks that a state can be published as it is: nothing of it is on its way out, unresolved, damaged, made
// for another version of its driver, or without a Unit that it reads from (4.1 step 6).
func checkInventory(state *observed.State, what string) error {
	dependencies, err := dependencyEdges(state)
	if err != nil {
		return err
	}
	at := fmt.Sprintf("%s, %s,", what, report.Abbreviate(state.Desired.Revision))
	for _, name := range state.Names() {
		u := state.Unit(name)
		kind, _ := resource.UnitKindOf(u.Kind)
		switch source := u.Source(); {
		case u.Metadata.Deletion != nil:
			return fmt.Errorf("%s has the Unit %s that is being deleted; finish the deletion with converge, or choose another revision", at, name)
		case u.HasReferences():
			return fmt.Errorf("%s has the Unit %s with an unresolved reference; choose another revision", at, name)
		case source != nil && source.DriverVersion != 0 && source.DriverVersion != int64(kind.DriverVersion):
			return fmt.Errorf("%s has the Unit %s for version %d of the driver %s, and this program has version %d; use a program that has it, or choose another revision",
				at, name, source.DriverVersion, kind.Driver, kind.DriverVersion)
		}
		if err := state.CheckPayload(name); err != nil {
			return fmt.Errorf("%s is damaged: %w", at, err)
		}
		for _, producer := range dependencies[name] {
			if state.Unit(producer) == nil {
				return fmt.Errorf("%s has the Unit %s but not the Unit %s that it depends on; choose another revision", at, name, producer)
			}
		}
	}
	return nil
}

// dependencyEdges are the Units that each Unit of a state depends on: those that it was resolved from, and those that its
// Stack puts before it.
func dependencyEdges(state *observed.State) (map[string][]string, error) {
	edges := map[string][]string{}
	for _, name := range state.Names() {
		edges[name] = state.Unit(name).Producers()
	}
	stacks, err := stacksOf(state)
	if err != nil {
		return nil, err
	}
	for _, stack := range stacks {
		units := stack.Spec.Path("activeProjection", "units")
		if units.IsNull() {
			continue
		}
		for _, binding := range units.Fields {
			name := stack.Name + "/" + binding.Key
			for _, before := range binding.Value.Get("dependsOn").Strs() {
				edges[name] = append(edges[name], stack.Name+"/"+before)
			}
		}
	}
	return edges, nil
}

// roots are the Stacks and StackTemplates of a state by kind and name.
func rootsOf(state *observed.State) (map[string]*observed.Root, error) {
	survey := observed.NewSurvey(state.Desired, state.Observed)
	out := map[string]*observed.Root{}
	for _, fault := range survey.Faults() {
		if fault.Family == observed.StackFamily || fault.Family == observed.StackTemplateFamily {
			return nil, fault.Err
		}
	}
	for name, root := range survey.Stacks {
		out["Stack "+name] = root
	}
	for name, root := range survey.Templates {
		out["StackTemplate "+name] = root
	}
	return out, nil
}

func stacksOf(state *observed.State) ([]*observed.Root, error) {
	if len(state.Desired.Tree.Files(resource.StacksPath)) == 0 {
		return nil, nil
	}
	roots, err := rootsOf(state)
	if err != nil {
		return nil, err
	}
	var out []*observed.Root
	for _, key := range slices.Sorted(maps.Keys(roots)) {
		if roots[key].Kind == "Stack" {
			out = append(out, roots[key])
		}
	}
	return out, nil
}

// checkAggregates checks that a full rollback changes no Stack's identity or membership: what a Stack owns comes and goes
// with its template only (4.3). Different specs are fine.
func (b *rollback) checkAggregates() error {
	now, err := rootsOf(b.current)
	if err != nil {
		return err
	}
	then, err := rootsOf(b.historic)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(then)) {
		root := then[key]
		grave := resource.Tombstone{GVK: resource.GVK{APIVersion: resource.CoreAPI, Kind: root.Kind}, QualifiedName: root.Name, UID: root.Metadata.UID}
		if _, buried := b.head.Blob(grave.Path()); buried {
			return fmt.Errorf("%s was deleted since, for good: a rollback does not bring it back; apply it again as a new one, or choose a later revision", key)
		}
	}
	if a, c := slices.Sorted(maps.Keys(now)), slices.Sorted(maps.Keys(then)); !slices.Equal(a, c) {
		return fmt.Errorf("the Stacks and StackTemplates are %s now and were %s then: a rollback neither adds nor removes one; apply or delete what differs first, or roll back single Units with --unit",
			listOrNone(a), listOrNone(c))
	}
	for _, key := range slices.Sorted(maps.Keys(now)) {
		a, c := now[key], then[key]
		switch {
		case a.Metadata.Deletion != nil:
			return fmt.Errorf("%s is being deleted; finish the deletion with converge first", key)
		case a.Metadata.UID != c.Metadata.UID:
			return fmt.Errorf("%s has the UID %s now and had %s then: it is another one of the same name; roll back single Units with --unit", key, a.Metadata.UID, c.Metadata.UID)
		case a.Kind == "Stack":
			if err := b.checkMembers(key, a.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *rollback) checkMembers(key, stack string) error {
	members := func(state *observed.State) (names []string) {
		for _, name := range state.Names() {
			if strings.HasPrefix(name, stack+"/") {
				names = append(names, name)
			}
		}
		return names
	}
	now, then := members(b.current), members(b.historic)
	if !slices.Equal(now, then) {
		return fmt.Errorf("%s owns the Units %s now and owned %s then: a rollback neither adds nor removes one; roll back single Units with --unit", key, listOrNone(now), listOrNone(then))
	}
	for _, name := range now {
		if a, c := b.current.Unit(name).Metadata.UID, b.historic.Unit(name).Metadata.UID; a != c {
			return fmt.Errorf("the Unit %s of %s has the UID %s now and had %s then: it is another one of the same name", name, key, a, c)
		}
	}
	return nil
}

// selectUnits determines the Units whose documents come from history: all of the target, or the requested ones with every
// Unit that reads from them, directly or not, in the present state (4.1 step 7).
func (b *rollback) selectUnits() error {
	if len(b.request.Units) == 0 {
		b.materialized = b.historic.Names()
		return nil
	}
	for _, name := range b.requested() {
		if stack := resource.StackOf(name); stack != "" {
			return fmt.Errorf("the Unit %s belongs to the Stack %s and does not go back alone; roll back the whole environment, or change the Stack", name, stack)
		}
	}
	edges, err := dependencyEdges(b.current)
	if err != nil {
		return err
	}
	selected := map[string]string{} // Unit → the one that it follows
	for _, name := range b.requested() {
		selected[name] = ""
	}
	for grown := true; grown; {
		grown = false
		for _, name := range slices.Sorted(maps.Keys(edges)) {
			if _, in := selected[name]; in {
				continue
			}
			i := slices.IndexFunc(edges[name], func(p string) bool { _, in := selected[p]; return in })
			if i >= 0 {
				selected[name], grown = edges[name][i], true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(selected)) {
		why := ""
		if by := selected[name]; by != "" {
			why = fmt.Sprintf(" (it reads from %s, so it goes back too)", by)
		}
		now, then := b.current.Unit(name), b.historic.Unit(name)
		switch {
		case then == nil:
			return fmt.Errorf("the Unit %s%s does not exist at %s; choose a later revision", name, why, report.Abbreviate(b.target.Revision()))
		case now.Kind != then.Kind:
			return fmt.Errorf("the Unit %s%s is a %s now and was a %s at %s; a rollback does not change the driver", name, why, now.Kind, then.Kind, report.Abbreviate(b.target.Revision()))
		}
		b.materialized = append(b.materialized, name)
	}
	return nil
}

// reconciles tells whether a Unit is ever run and observed.
func reconciles(u *observed.Unit) bool {
	kind, _ := resource.UnitKindOf(u.Kind)
	return kind.Reconciles(u.Spec)
}
