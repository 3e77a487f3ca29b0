package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/report"
)

// A SupersededError tells that another run applied a newer commit while this one was at work. What this run was asked to
// apply is old by now: to apply it once more would take the newer state back, and nobody would notice.
type SupersededError struct {
	Ref  string
	Unit string
	// Ours is the commit that this run applies. Theirs is the newer one, "" when the Unit was deleted instead.
	Ours, Theirs string
}

func (e *SupersededError) Error() string {
	what := fmt.Sprintf("its Unit %s is now that of the newer commit %s", e.Unit, abbreviated(e.Theirs))
	if e.Theirs == "" {
		what = fmt.Sprintf("its Unit %s was deleted", e.Unit)
	}
	return fmt.Sprintf("%s was changed by another run meanwhile: %s, so that of commit %s was not applied; to go back to that commit on purpose, run again",
		e.Ref, what, abbreviated(e.Ours))
}

func abbreviated(revision string) string { return revision[:min(12, len(revision))] }

// checkSuperseded compares the Units on the desired ref with those that this run saw last. The first look is at what was
// there before the run: an older commit than that may be applied on purpose.
func (a *applier) checkSuperseded(ctx context.Context, p *planes) error {
	if a.seen == nil || a.inputs.revision == "" {
		a.see(p)
		return nil
	}
	fault := &SupersededError{Ref: a.scope.refs.Desired, Ours: a.inputs.revision}
	for i := range a.inputs.documents {
		name := a.inputs.documents[i].Name()
		before, known := a.seen[name]
		now := p.state.Unit(name)
		if known && !before.deleting && (now == nil && p.state.Blocks[name] == "" || now != nil && now.Metadata.Deletion != nil) {
			fault.Unit = name
			return fault
		}
	}
	for _, name := range p.state.Names() {
		u := p.state.Unit(name)
		src := u.Source()
		if src == nil || src.Revision == "" || src.Revision == a.inputs.revision || a.seen[name].blob == u.Blob {
			continue
		}
		newer, err := a.engine.store.IsAncestor(ctx, a.inputs.revision, src.Revision)
		var unreachable *gitstate.FetchError
		switch {
		case errors.As(err, &unreachable) || ctx.Err() != nil:
			return err
		case err == nil && newer: // a commit that nobody has any more is not newer
			fault.Unit, fault.Theirs = name, src.Revision
			return fault
		}
	}
	a.see(p)
	return nil
}

// seenUnit is a desired Unit when the run last looked.
type seenUnit struct {
	blob     string
	deleting bool
}

// see remembers the desired Units.
func (a *applier) see(p *planes) {
	a.seen = map[string]seenUnit{}
	for _, name := range p.state.Names() {
		u := p.state.Unit(name)
		a.seen[name] = seenUnit{u.Blob, u.Metadata.Deletion != nil}
	}
}

// supersededBy takes in that a newer commit was applied by another run: this one goes on with what the desired ref holds, and
// applies its own documents no more.
func (c *convergence) supersededBy(err error) bool {
	var superseded *SupersededError
	if !errors.As(err, &superseded) {
		return false
	}
	c.superseded, c.candidate = true, nil
	c.engine.emit(report.Note{Word: "STALE", Text: superseded.Error()})
	return true
}
