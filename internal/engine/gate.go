package engine

import (
	"context"
	"fmt"

	"github.com/gitopsctr/gitopsctr/internal/desired"
)

// A GateError refuses to change a desired ref that a change gate protects.
type GateError struct{ Environment, Ref string }

func (e *GateError) Error() string {
	return fmt.Sprintf("environment %s has the change gate pullRequest, and this version of gitopsctr does not propose candidates for apply yet: %s was left as it is; "+
		"set spec.changeGate to none, or let a version that opens pull requests apply it", e.Environment, e.Ref)
}

// publishCandidate proposes the candidate behind a pull-request gate. It never goes past the gate.
func (a *applier) publishCandidate(context.Context, *planes, *desired.Candidate) (Publication, error) {
	return Publication{}, &GateError{Environment: a.scope.Environment, Ref: a.scope.refs.Desired}
}
