package engine

import (
	"fmt"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/report"
)

// provenance says what was rolled back, from where, and why. It is part of the candidate id, so a rerun finds its own
// candidate; it is stored nowhere but in the commit message (4.4 and 4.5).
func (b *rollback) provenance() *document.Node {
	return b.provenanceOf(b.head.Revision(), b.target.Revision())
}

func (b *rollback) provenanceOf(from, target string) *document.Node {
	requested := document.NewString("all")
	if len(b.request.Units) > 0 {
		requested = document.NewStrings(b.requested())
	}
	return document.NewMap(
		document.F("environment", document.NewString(b.scope.Environment)),
		document.F("reason", document.NewString(b.request.Reason)),
		document.F("fromDesiredRevision", document.NewString(from)),
		document.F("targetDesiredRevision", document.NewString(target)),
		document.F("targetObservedRevision", textOrNull(b.proof)),
		document.F("requestedUnits", requested),
		document.F("materializedUnits", document.NewStrings(b.materialized)))
}

// message is the commit message, byte for byte.
func (b *rollback) message() string {
	return rollbackMessage{
		environment: b.scope.Environment, from: b.head.Revision(), target: b.target.Revision(), proof: b.proof,
		requested: b.requested(), materialized: b.materialized, reason: b.request.Reason,
	}.String()
}

type rollbackMessage struct {
	environment, from, target, proof string
	requested, materialized          []string // no requested ones are all
	reason                           string
}

func (m rollbackMessage) String() string {
	proof, requested := m.proof, strings.Join(m.requested, ", ")
	if proof == "" {
		proof = "None"
	}
	if len(m.requested) == 0 {
		requested = "all"
	}
	return fmt.Sprintf("Rollback %s to %s\n\nFrom-Desired-Revision: %s\nTarget-Desired-Revision: %s\nTarget-Observed-Revision: %s\nRequested-Units: %s\nMaterialized-Units: %s\nReason: %s\n",
		m.environment, m.target, m.from, m.target, proof, requested, strings.Join(m.materialized, ", "), m.reason)
}

// review is the pull request's text.
func (b *rollback) review(units []report.ProposedUnit) *PullRequest {
	proof, requested := b.proof, strings.Join(b.requested(), ", ")
	if proof == "" {
		proof = "none: no Unit of it is ever observed"
	}
	if len(b.request.Units) == 0 {
		requested = "all"
	}
	return &PullRequest{
		Title: fmt.Sprintf("Roll back %s to %s", b.scope.Environment, report.Abbreviate(b.target.Revision())),
		Body: report.ProposalBody(report.Proposal{
			Lead: fmt.Sprintf("This takes %s back to an earlier desired state that was observed to work. Reason: %s", b.scope.Environment, b.request.Reason),
			Facts: []report.Fact{
				{Name: "Target revision", Value: b.target.Revision()},
				{Name: "Observed to work at", Value: proof},
				{Name: "Present revision", Value: b.head.Revision()},
				{Name: "Requested Units", Value: requested},
				{Name: "Units taken from history", Value: listOrNone(b.materialized)},
			},
			Units: units,
			Next: fmt.Sprintf("%s has to be reconciled after the merge: run converge for it. The authored files are as they were; revert them too, or the next apply rolls forward again.",
				b.scope.Environment),
		}),
	}
}

func describeUnits(units []report.ProposedUnit) string {
	if len(units) == 0 {
		return "no Unit changes"
	}
	parts := make([]string, len(units))
	for i, u := range units {
		parts[i] = u.Unit + " (" + u.Change + ")"
	}
	return strings.Join(parts, "; ")
}
