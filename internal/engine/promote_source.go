package engine

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// A promotionSource is the state of another environment that a promotion takes values from, pinned to one commit of each
// of its refs.
type promotionSource struct {
	environment       *resource.Environment
	refs              resource.Refs
	desired, observed *gitstate.Snapshot
	// head is the desired ref's present commit; the pinned one may be older.
	head string
}

// An UncleanError refuses to promote from a state that is not proven to work (chapter F, 3.2).
type UncleanError struct {
	Environment, Revision string
	// Units are those that are not clean, and what they are instead.
	Units []observed.Status
	// Searched tells that the whole observed history was searched for evidence of an older state.
	Searched bool
}

func (e *UncleanError) Error() string {
	parts := make([]string, len(e.Units))
	for i, u := range e.Units {
		parts[i] = fmt.Sprintf("%s (%s: %s)", u.Unit, strings.ToLower(string(u.Condition)), u.Reason)
	}
	fix := fmt.Sprintf("run converge for %s first, or promote an earlier state with --source-desired-revision", e.Environment)
	if e.Searched {
		fix = "no commit of its observed history proves that this state worked; choose a revision that was reconciled as a whole"
	}
	return fmt.Sprintf("environment %s is not clean at %s: %s; %s", e.Environment, report.Abbreviate(e.Revision), strings.Join(parts, ", "), fix)
}

// pinSource reads and pins the source: the chosen desired commit, and the observed commit that proves it. For the desired
// head this is the observed head. For an older desired commit it is the newest observed commit under which it was clean
// (chapter F, 3.1 steps 5 to 7, and "Do better" 4).
func (e *Engine) pinSource(ctx context.Context, environment *resource.Environment, refs resource.Refs, revision string) (*promotionSource, error) {
	s := &promotionSource{environment: environment, refs: refs, observed: gitstate.EmptySnapshot()}
	heads, err := e.store.Fetch(ctx, refs.Desired, refs.Observed)
	if err != nil {
		return nil, err
	}
	if s.desired = heads[refs.Desired]; s.desired == nil {
		return nil, fmt.Errorf("environment %s has no desired state to promote: the branch %s does not exist; apply and converge %s first", environment.Name, refs.Desired, environment.Name)
	}
	if o := heads[refs.Observed]; o != nil {
		s.observed = o
	}
	s.head = s.desired.Revision()
	if revision != "" {
		full, err := e.store.ResolveIn(ctx, s.head, revision)
		if err != nil {
			return nil, fmt.Errorf("source desired revision: %w; choose a commit of %s", err, refs.Desired)
		}
		if full != s.head {
			if s.desired, err = e.store.SourceSnapshot(ctx, full); err != nil {
				return nil, err
			}
		}
	}
	cache := observed.NewCache()
	faults, err := s.check(s.observed, cache)
	if err != nil || len(faults) == 0 {
		return s, err
	}
	unclean := &UncleanError{Environment: environment.Name, Revision: s.desired.Revision(), Units: faults}
	if s.desired.Revision() == s.head || s.observed.Revision() == "" {
		return nil, unclean
	}
	proof, err := e.provenAt(ctx, s.observed, func(at *gitstate.Snapshot) (observed.Status, error) {
		faults, err := s.check(at, cache)
		if err != nil || len(faults) == 0 {
			return observed.Status{}, err
		}
		return faults[0], nil
	})
	if err != nil {
		return nil, err
	}
	if proof == nil {
		unclean.Searched = true
		return nil, unclean
	}
	s.observed = proof
	e.emit(report.Note{Word: "OBSERVED", Text: fmt.Sprintf("%s was clean at %s of %s", report.Abbreviate(s.desired.Revision()), report.Abbreviate(proof.Revision()), refs.Observed)})
	return s, nil
}

// check returns the Units of the pinned desired state that the evidence at does not accept.
func (s *promotionSource) check(at *gitstate.Snapshot, cache *observed.Cache) ([]observed.Status, error) {
	state, err := observed.Load(
		observed.Plane{Ref: s.refs.Desired, Revision: s.desired.Revision(), Tree: s.desired},
		observed.Plane{Ref: s.refs.Observed, Revision: at.Revision(), Tree: at}, cache)
	if err != nil {
		return nil, err
	}
	if len(state.Names()) == 0 {
		return nil, fmt.Errorf("environment %s has no Units at %s, so there is nothing to promote; apply its Units first", s.environment.Name, report.Abbreviate(s.desired.Revision()))
	}
	if err := noReferences(state); err != nil {
		return nil, err
	}
	statuses, err := state.Statuses(state.Names())
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(statuses, func(u observed.Status) bool {
		return u.Condition == observed.Clean || u.Condition == observed.Materialized && s.environment.MinimumEvidence == resource.MaterializedEvidence
	}), nil
}

// provenAt searches the history of an observed ref, newest first, for the first commit that check accepts, nil when there
// is none. check returns a Unit that the commit does not prove, and the zero Status when all are proven. A commit in which
// that Unit's Receipt is the same as in the last one is not asked about.
func (e *Engine) provenAt(ctx context.Context, head *gitstate.Snapshot, check func(at *gitstate.Snapshot) (observed.Status, error)) (*gitstate.Snapshot, error) {
	var found *gitstate.Snapshot
	missing, last := "", ""
	err := e.store.History(ctx, head.Revision(), func(at *gitstate.Snapshot) (bool, error) {
		if missing != "" && receiptBlobs(at, missing) == last {
			return true, nil
		}
		status, err := check(at)
		if err != nil {
			return false, err
		}
		if status.Unit == "" {
			found = at
			return false, nil
		}
		missing, last = status.Unit, receiptBlobs(at, status.Unit)
		return true, nil
	})
	return found, err
}

// receiptBlobs identifies the Receipt of a Unit in an observed tree, in whatever format, with its artifacts.
func receiptBlobs(at *gitstate.Snapshot, unit string) string {
	var all []string
	for _, path := range resource.Representations(resource.UnitsPath + "/" + unit) {
		blob, _ := at.Blob(path)
		all = append(all, blob)
	}
	for _, f := range at.Files(resource.ArtifactsPath + "/" + unit) {
		all = append(all, f.Path+"="+f.Blob)
	}
	return strings.Join(all, " ")
}

var immutableImage = regexp.MustCompile(`@sha256:[0-9a-f]{64}$`)

// images are the immutable image references in the source's direct Units, sorted (chapter F, 8.4).
func (s *promotionSource) images() ([]string, error) {
	var out []string
	var visit func(n *document.Node)
	visit = func(n *document.Node) {
		if n == nil {
			return
		}
		if n.Kind == document.String && immutableImage.MatchString(n.Text) {
			out = append(out, n.Text)
		}
		for _, item := range n.Items {
			visit(item)
		}
		for _, f := range n.Fields {
			visit(f.Value)
		}
	}
	for _, f := range s.desired.Files(resource.UnitsPath) {
		if name, ok := resource.QualifiedNameOf(f.Path, resource.UnitsPath); !ok || resource.StackOf(name) != "" {
			continue
		}
		data, err := s.desired.ReadFile(f.Path)
		if err != nil {
			return nil, err
		}
		n, err := document.DecodeLenient(f.Path, data)
		if err != nil {
			return nil, err
		}
		visit(n)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
