package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// A change is what an operation wants to make of the desired ref. Directly published it is one commit; behind a change gate
// the same commit stands on a candidate ref, to be reviewed and merged by people (chapter F, section 5).
type change struct {
	// operation is the token of chapter F, 2.3; context is what identifies the change besides its content.
	operation string
	context   *document.Node
	// message is the commit's; it is compared when a candidate is used again, so its bytes matter.
	message string
	edits   []gitstate.Edit
	units   []string // whose files change, sorted
	// review is the pull request to open; nil leaves that to the calling workflow. Head and Base are filled in here.
	review *PullRequest
}

// A CandidateError refuses to publish a candidate: its ref is taken by another proposal.
type CandidateError struct{ Ref, Revision, Subject, Want string }

func (e *CandidateError) Error() string {
	return fmt.Sprintf("the candidate ref %s holds another proposal, %s %q, and this one is %q: merge or close that one and delete its branch, or name another ref with --candidate-ref",
		e.Ref, report.Abbreviate(e.Revision), e.Subject, e.Want)
}

// maxProposals bounds how often a change is built anew because its base moved.
const maxProposals = 5

// publishChange brings a change to the environment's desired ref, or proposes it where a change gate protects the ref. build
// makes the change for what p holds; it is called again, on newer planes, when somebody else published in between. A change
// without edits is a no-op: the publication is empty then.
func (e *Engine) publishChange(ctx context.Context, s *scope, p *planes, build func() (*change, error)) (Publication, error) {
	if s.environment.ChangeGate == resource.PullRequestGate {
		return e.propose(ctx, s, p, build)
	}
	var c *change
	old := p.desired.Revision()
	result, err := e.store.Update(ctx, s.refs.Desired, func(current *gitstate.Snapshot) (_ []gitstate.Change, err error) {
		if current.Revision() != p.desired.Revision() {
			e.emit(report.Note{Word: "RETRY", Text: s.refs.Desired + " moved; building the desired state again on its new head"})
			if err := e.refetch(ctx, s, p, current); err != nil {
				return nil, err
			}
		}
		old = current.Revision()
		if c, err = build(); err != nil || len(c.edits) == 0 {
			return nil, err
		}
		if err := e.refuseLeased(ctx, s, p, c.edits); err != nil {
			return nil, err
		}
		return []gitstate.Change{{Message: c.message, Edits: c.edits}}, nil
	})
	if err != nil {
		return Publication{}, err
	}
	p.desired = result.After
	if err := p.load(s); err != nil {
		return Publication{}, err
	}
	if len(result.Commits) == 0 {
		e.emit(report.RefKept{Plane: "desired", Ref: s.refs.Desired, Revision: p.desired.Revision()})
		return Publication{}, nil
	}
	e.emit(report.RefUpdated{Plane: "desired", Ref: s.refs.Desired, Old: old, New: p.desired.Revision(), Message: c.message, Units: c.units})
	return Publication{Revision: p.desired.Revision(), TargetRef: s.refs.Desired, Status: "published"}, nil
}

// propose publishes a change as a candidate. A desired ref that does not exist yet gets its inert first commit, which a pull
// request needs as its base; p moves to it.
func (e *Engine) propose(ctx context.Context, s *scope, p *planes, build func() (*change, error)) (Publication, error) {
	for range maxProposals {
		c, err := build()
		if err != nil {
			return Publication{}, err
		}
		if len(c.edits) == 0 {
			e.emit(report.RefKept{Plane: "desired", Ref: s.refs.Desired, Revision: p.desired.Revision()})
			return Publication{}, nil
		}
		if p.desired.Revision() == "" {
			if err := e.initialize(ctx, s, p); err != nil {
				return Publication{}, err
			}
			continue // the candidate replaces what the first commit holds
		}
		if err := e.checkChange(ctx, s, p, c); err != nil {
			return Publication{}, err
		}
		publication, err := e.offer(ctx, s, p, c)
		if err == nil || !errors.Is(err, errBaseMoved) {
			return publication, err
		}
		e.emit(report.Note{Word: "RETRY", Text: s.refs.Desired + " moved; building the desired state again on its new head"})
		if err := e.reread(ctx, s, p); err != nil {
			return Publication{}, err
		}
	}
	return Publication{}, fmt.Errorf("%s moved each of the %d times that a candidate was built on it: find out who else publishes there, then run this again",
		s.refs.Desired, maxProposals)
}

// errBaseMoved tells that a candidate was built on a head that is no longer the head.
var errBaseMoved = errors.New("the desired ref moved")

// initialize publishes the first commit of a desired ref behind a gate (chapter F, 5.1). Somebody else may be faster.
func (e *Engine) initialize(ctx context.Context, s *scope, p *planes) error {
	data, err := resource.UnpromotedEnvironment(s.Environment, s.project.WriteFormat)
	if err != nil {
		return err
	}
	message := fmt.Sprintf("Initialize desired %s state", s.Environment)
	result, err := e.store.Update(ctx, s.refs.Desired, func(current *gitstate.Snapshot) ([]gitstate.Change, error) {
		if current.Revision() != "" {
			return nil, nil
		}
		path := "environment" + s.project.WriteFormat.Suffix()
		return []gitstate.Change{{Message: message, Edits: []gitstate.Edit{{Path: path, Content: data}}}}, nil
	})
	if err != nil {
		return err
	}
	if len(result.Commits) > 0 {
		e.emit(report.Note{Word: "INIT", Text: fmt.Sprintf("%s now exists, empty, at %s: the base of pull requests", s.refs.Desired, report.Abbreviate(result.After.Revision()))})
	}
	return e.refetch(ctx, s, p, result.After)
}

// reread moves p to the present heads of both refs.
func (e *Engine) reread(ctx context.Context, s *scope, p *planes) error {
	heads, err := e.store.Fetch(ctx, s.refs.Desired, s.refs.Observed)
	if err != nil {
		return err
	}
	p.desired, p.observed = gitstate.EmptySnapshot(), gitstate.EmptySnapshot()
	if d := heads[s.refs.Desired]; d != nil {
		p.desired = d
	}
	if o := heads[s.refs.Observed]; o != nil {
		p.observed = o
	}
	return p.load(s)
}

// offer publishes one candidate, one commit directly on the desired head, or finds that it is there already (5.2).
func (e *Engine) offer(ctx context.Context, s *scope, p *planes, c *change) (Publication, error) {
	tree, err := e.store.BuildTree(p.desired, c.edits)
	if err != nil {
		return Publication{}, err
	}
	commit, err := e.store.Commit(ctx, tree, []string{p.desired.Revision()}, c.message)
	if err != nil {
		return Publication{}, err
	}
	id, err := candidateID(s, p.desired.Revision(), c, commit)
	if err != nil {
		return Publication{}, err
	}
	ref, err := s.candidateRef(c.operation, id)
	if err != nil {
		return Publication{}, err
	}
	heads, err := e.store.Fetch(ctx, s.refs.Desired, ref)
	if err != nil {
		return Publication{}, err
	}
	if h := heads[s.refs.Desired]; h == nil || h.Revision() != p.desired.Revision() {
		return Publication{}, errBaseMoved
	}
	var revision string
	if existing := heads[ref]; existing == nil {
		if revision, err = e.store.Publish(ctx, ref, commit.Revision(), ""); err != nil {
			var push *gitstate.PushError
			if errors.As(err, &push) && push.Kind == gitstate.Moved {
				return Publication{}, errBaseMoved // another run proposes too: look again who was first
			}
			return Publication{}, err
		}
		e.emit(report.Note{Word: "CANDIDATE", Text: fmt.Sprintf("%s is at %s: %s", ref, report.Abbreviate(revision), commit.Subject())})
	} else {
		if !sameProposal(existing, commit) {
			return Publication{}, &CandidateError{Ref: ref, Revision: existing.Revision(), Subject: existing.Subject(), Want: commit.Subject()}
		}
		revision = existing.Revision()
		e.emit(report.Note{Word: "KEEP", Text: fmt.Sprintf("%s proposes exactly this already, at %s: %s", ref, report.Abbreviate(revision), commit.Subject())})
	}
	publication := Publication{Revision: revision, TargetRef: s.refs.Desired, CandidateRef: ref}
	publication.Status, publication.URL = e.review(ctx, s, c, ref)
	return publication, nil
}

// sameProposal tells whether a candidate that is there is the one that is wanted: the same files on the same base with the
// same message. Who made it and when does not matter.
func sameProposal(existing, want *gitstate.Snapshot) bool {
	return existing.TreeID() == want.TreeID() && slices.Equal(existing.Parents(), want.Parents()) &&
		strings.TrimRight(existing.Message(), "\n") == strings.TrimRight(want.Message(), "\n")
}

// checkChange reads the state that a change would make as later operations will, so that nothing unreadable is published.
func (e *Engine) checkChange(ctx context.Context, s *scope, p *planes, c *change) error {
	if len(c.edits) == 0 {
		return nil
	}
	tree, err := e.store.BuildTree(p.desired, c.edits)
	if err != nil {
		return err
	}
	commit, err := e.store.Commit(ctx, tree, nil, c.message) // for its tree; it is never published
	if err != nil {
		return err
	}
	state, err := observed.Load(observed.Plane{Ref: s.refs.Desired, Revision: commit.Revision(), Tree: commit},
		observed.Plane{Ref: s.refs.Observed, Tree: gitstate.EmptySnapshot()}, p.cache)
	if err == nil {
		err = state.CheckGraph()
	}
	if err != nil {
		return fmt.Errorf("the desired state that would be published cannot be read: %w", err)
	}
	return nil
}

// candidateID is the id of a candidate: it covers the content and the base, so a rerun finds its own candidate again.
func candidateID(s *scope, base string, c *change, tree *gitstate.Snapshot) (string, error) {
	identity := resource.CandidateIdentity{Operation: c.operation, Environment: s.Environment, TargetRef: s.refs.Desired, TargetRevision: base, Context: c.context}
	for _, f := range tree.Files("") {
		data, err := tree.ReadFile(f.Path)
		if err != nil {
			return "", err
		}
		identity.Files = append(identity.Files, resource.InputFile{Path: f.Path, SHA256: document.SHA256Hex(data)})
	}
	return identity.ID(), nil
}

// candidateRef resolves the candidate ref and refuses one that is a deployment ref of the environment.
func (s *scope) candidateRef(operation, id string) (string, error) {
	ref, err := s.project.CandidateRef(s.environment, resource.RefOverrides{Candidate: s.CandidateRef}, operation, id)
	if err != nil {
		return "", err
	}
	lease, err := s.project.LeaseRef(s.Environment)
	if err != nil {
		return "", err
	}
	taken := append([]resource.RefRole{{Role: "desired", Ref: s.refs.Desired}, {Role: "observed", Ref: s.refs.Observed}, {Role: "lease", Ref: lease}}, s.reserved...)
	for _, role := range taken {
		if role.Ref == ref {
			return "", fmt.Errorf("the candidate ref of %s is %q, which is the %s ref: give the candidate a branch of its own", s.Environment, ref, role.Role)
		}
	}
	return ref, nil
}

// checkGate refuses a candidate ref for an environment without a gate, and one that is a deployment ref, before any work
// is done (chapter F, "Do better" 4).
func (s *scope) checkGate(operation string) error {
	if s.environment.ChangeGate != resource.PullRequestGate {
		if s.CandidateRef != "" {
			return fmt.Errorf("--candidate-ref is given, but environment %s has no change gate, so nothing is proposed there; leave it out, or set spec.changeGate: pullRequest", s.Environment)
		}
		return nil
	}
	_, err := s.candidateRef(operation, strings.Repeat("0", 12))
	return err
}
