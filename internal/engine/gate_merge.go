package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// A MergeError refuses to make a desired state true that nobody has reviewed: the merge of a candidate gave another tree than
// the candidate's, because the branch moved on after the candidate was made, or because somebody changed it while merging.
type MergeError struct {
	Ref, Revision, Candidate string
	// Paths are files that differ, at most a few.
	Paths []string
	// Moved tells that the candidate was made for an earlier head.
	Moved bool
}

func (e *MergeError) Error() string {
	why := "somebody changed it while merging"
	if e.Moved {
		why = "the branch had moved on since the candidate was made"
	}
	return fmt.Sprintf("%s at %s is a merge of the candidate %s, but its content is not the candidate's (%s): %s; nobody has reviewed this state, so no driver runs for it: "+
		"make a new candidate on it (promote, apply or rollback again) and merge that one",
		e.Ref, report.Abbreviate(e.Revision), report.Abbreviate(e.Candidate), strings.Join(e.Paths, ", "), why)
}

// checkMerged checks a merge commit at the head of a gated desired ref: what was merged must be exactly the candidate that
// was reviewed. Squashes, rebases and fast-forwards leave no trace of their candidate; there the tree alone counts, as it
// does for commits that people made by hand (chapter F, 5.4).
func (e *Engine) checkMerged(ctx context.Context, s *scope, head *gitstate.Snapshot) error {
	parents := head.Parents()
	if s.environment.ChangeGate != resource.PullRequestGate || len(parents) != 2 {
		return nil
	}
	candidate, err := e.mergedCandidate(ctx, parents[1])
	if err != nil {
		return err
	}
	made := candidate.Parents()
	if len(made) != 1 || !proposes(candidate.Subject(), s.Environment) || candidate.TreeID() == head.TreeID() {
		return nil
	}
	return &MergeError{Ref: s.refs.Desired, Revision: head.Revision(), Candidate: candidate.Revision(), Paths: differing(head, candidate), Moved: made[0] != parents[0]}
}

// mergedCandidate finds the candidate behind the branch that was merged: its head, or what that was before somebody brought
// the branch up to date by merging the accepted state into it.
func (e *Engine) mergedCandidate(ctx context.Context, revision string) (*gitstate.Snapshot, error) {
	const most = 20 // such merges
	for n := 0; ; n++ {
		commit, err := e.store.SourceSnapshot(ctx, revision)
		if err != nil {
			return nil, err
		}
		parents := commit.Parents()
		if len(parents) != 2 || n == most {
			return commit, nil
		}
		revision = parents[0]
	}
}

// proposes tells whether a commit's subject is that of a candidate for the environment.
func proposes(subject, environment string) bool {
	return subject == "Apply desired resources to "+environment || subject == "Advance durable Stack projections in "+environment ||
		strings.HasPrefix(subject, "Rollback "+environment+" to ") ||
		strings.HasPrefix(subject, "Promote ") && strings.Contains(subject, " to "+environment+" from ")
}

// differing names some of the files in which two trees differ.
func differing(a, b *gitstate.Snapshot) []string {
	const most = 5
	var out []string
	visit := func(x, y *gitstate.Snapshot, both bool) {
		for _, f := range x.Files("") {
			blob, ok := y.Blob(f.Path)
			if !ok || both && blob != f.Blob {
				out = append(out, f.Path)
			}
		}
	}
	visit(a, b, true)
	visit(b, a, false)
	if len(out) > most {
		out = append(out[:most:most], fmt.Sprintf("and %d more", len(out)-most))
	}
	return out
}
