package engine

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// A CandidateCheck asks whether what a pull request or a merge queue is about to merge is exactly one candidate
// (chapter F, 5.6).
type CandidateCheck struct {
	// Head and Base are the revisions of the event.
	Head, Base string
	// HeadRef and BaseRef are the short branch names, "" when the event has none. With both, the content is checked too.
	HeadRef, BaseRef string
}

var objectID = regexp.MustCompile(`^([0-9a-fA-F]{40}|[0-9a-fA-F]{64})$`)

// CheckCandidate checks that the checked-out commit is the candidate, that it stands directly on the base, that it can be
// read, and where its id can be computed again that nobody changed it since it was proposed.
func (e *Engine) CheckCandidate(ctx context.Context, c CandidateCheck) error {
	for name, revision := range map[string]string{"head": c.Head, "base": c.Base} {
		if !objectID.MatchString(revision) {
			return &UsageError{Message: fmt.Sprintf("the %s revision must be a full commit id, not %q", name, revision)}
		}
	}
	head, base := strings.ToLower(c.Head), strings.ToLower(c.Base)
	checkedOut, err := e.store.Resolve(ctx, "HEAD")
	if err != nil {
		return err
	}
	if checkedOut != head {
		return fmt.Errorf("the checked-out commit is %s, and the candidate is %s: check out the head of the pull request (with: ref: its head.sha), not the merge that the forge makes of it",
			report.Abbreviate(checkedOut), report.Abbreviate(head))
	}
	candidate, err := e.store.SourceSnapshot(ctx, head)
	if err != nil {
		return err
	}
	switch parents := candidate.Parents(); {
	case len(parents) != 1:
		return fmt.Errorf("the candidate %s has %d parents, and a candidate is one commit on the accepted state: propose it again", report.Abbreviate(head), len(parents))
	case parents[0] != base:
		return fmt.Errorf("the candidate %s was made on %s, and the accepted state is %s now: propose it again on the new state and close this one",
			report.Abbreviate(head), report.Abbreviate(parents[0]), report.Abbreviate(base))
	}
	state, err := observed.Load(observed.Plane{Ref: c.HeadRef, Revision: head, Tree: candidate}, observed.Plane{Tree: gitstate.EmptySnapshot()}, nil)
	if err == nil {
		err = state.CheckGraph()
	}
	if err != nil {
		return fmt.Errorf("the candidate cannot be read: %w", err)
	}
	if err := checkIdentity(candidate, base, c); err != nil {
		return err
	}
	e.emit(report.Note{Word: "CANDIDATE", Text: fmt.Sprintf("%s stands directly on %s: %s", report.Abbreviate(head), report.Abbreviate(base), candidate.Subject())})
	return nil
}

var candidateIDs = regexp.MustCompile(`(?:^|[^0-9a-f])([0-9a-f]{12})(?:$|[^0-9a-f])`)

// checkIdentity computes the id of a promotion or a rollback again, and compares it with the one in the branch's name. The
// context of other operations is not in the commit; a branch may also have been named by hand.
func checkIdentity(candidate *gitstate.Snapshot, base string, c CandidateCheck) error {
	found := candidateIDs.FindStringSubmatch(c.HeadRef)
	if found == nil || c.BaseRef == "" {
		return nil
	}
	change, environment, err := recognize(candidate)
	if err != nil || change == nil {
		return err
	}
	s := &scope{Target: Target{Environment: environment}, refs: resource.Refs{Desired: c.BaseRef}}
	id, err := candidateID(s, base, change, candidate)
	if err != nil || id == found[1] {
		return err
	}
	return fmt.Errorf("%s was changed since it was proposed: its branch says %s, and its content is %s; propose it again", c.HeadRef, found[1], id)
}

var (
	promotionSubject = regexp.MustCompile(`^Promote [a-z0-9-]+ to ([a-z0-9][a-z0-9-]*) from [0-9a-f]{40}$`)
	rollbackText     = regexp.MustCompile(`^Rollback (\S+) to [0-9a-f]{40}\n\nFrom-Desired-Revision: ([0-9a-f]{40})\nTarget-Desired-Revision: ([0-9a-f]{40})\n` +
		`Target-Observed-Revision: (None|[0-9a-f]{40})\nRequested-Units: ([^\n]*)\nMaterialized-Units: ([^\n]*)\nReason: ((?s:.*?))\n*$`)
)

// recognize reads from a candidate's commit what it was made of; nil for an operation whose context is not in the commit.
func recognize(candidate *gitstate.Snapshot) (*change, string, error) {
	if m := promotionSubject.FindStringSubmatch(candidate.Subject()); m != nil {
		file, _, err := promotionFile(candidate)
		if err != nil || file == "" {
			return nil, "", err
		}
		data, err := candidate.ReadFile(file)
		if err != nil {
			return nil, "", err
		}
		promotion, err := resource.DecodePromotion(file, data)
		if err != nil {
			return nil, "", err
		}
		return &change{operation: "promotion", context: promotion.CandidateContext()}, m[1], nil
	}
	m := rollbackText.FindStringSubmatch(candidate.Message())
	if m == nil {
		return nil, "", nil
	}
	list := func(text string) []string {
		if text == "" {
			return []string{}
		}
		return strings.Split(text, ", ")
	}
	b := &rollback{scope: &scope{Target: Target{Environment: m[1]}}, request: RollbackRequest{Reason: m[7]}, materialized: list(m[6])}
	if m[4] != "None" {
		b.proof = m[4]
	}
	if m[5] != "all" {
		b.request.Units = list(m[5])
	}
	return &change{operation: "rollback", context: b.provenanceOf(m[2], m[3])}, m[1], nil
}
