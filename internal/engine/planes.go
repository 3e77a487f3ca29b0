package engine

import (
	"context"
	"fmt"

	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/report"
)

// planes are the environment's two refs as this run knows them. They move forward when the run publishes, and are read
// anew when a publication shows that somebody else was faster.
type planes struct {
	desired, observed *gitstate.Snapshot
	state             *observed.State
	cache             *observed.Cache
}

// fetch reads both heads, as one consistent view.
func (e *Engine) fetch(ctx context.Context, s *scope) (*planes, error) {
	heads, err := e.heads(ctx, s.refs.Desired, s.refs.Observed)
	if err != nil {
		return nil, err
	}
	p := &planes{desired: gitstate.EmptySnapshot(), observed: gitstate.EmptySnapshot(), cache: observed.NewCache()}
	if d := heads[s.refs.Desired]; d != nil {
		p.desired = d
	}
	if o := heads[s.refs.Observed]; o != nil {
		p.observed = o
	}
	return p, p.load(s)
}

// load joins the two heads into the state of the Units.
func (p *planes) load(s *scope) error {
	state, err := observed.Load(
		observed.Plane{Ref: s.refs.Desired, Revision: p.desired.Revision(), Tree: p.desired},
		observed.Plane{Ref: s.refs.Observed, Revision: p.observed.Revision(), Tree: p.observed}, p.cache)
	if err != nil {
		return err
	}
	state.ReadReceipts()
	p.state = state
	return nil
}

// emitRefs tells which commits the run works on.
func (e *Engine) emitRefs(s *scope, p *planes) {
	e.emit(report.RefRead{Plane: "desired", Ref: s.refs.Desired, Revision: p.desired.Revision(), Subject: p.desired.Subject()})
	e.emit(report.RefRead{Plane: "observed", Ref: s.refs.Observed, Revision: p.observed.Revision(), Subject: p.observed.Subject()})
}

// requireDesired is an error when the environment has no desired state yet.
func (p *planes) requireDesired(s *scope) error {
	if p.desired.Revision() == "" {
		return fmt.Errorf("environment %s has no desired state: the branch %s does not exist; apply its Units first (gitopsctr apply --environment %s --authored --source-revision HEAD)",
			s.Environment, s.refs.Desired, s.Environment)
	}
	return nil
}
