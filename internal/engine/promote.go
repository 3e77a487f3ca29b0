package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/gitopsctr/gitopsctr/internal/desired"
	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
	"github.com/gitopsctr/gitopsctr/internal/source"
)

// A PromoteRequest asks to build an environment's desired state from explicit documents, with the proven state of another
// environment for fromPromotion to read (chapter F, section 3).
type PromoteRequest struct {
	From, To string
	// Files are paths of documents and directories in the specification revision. Authored adds the target's own units and
	// stacks directories.
	Files     []string
	Authored  bool
	Partition string
	// SourceDesiredRevision picks an older commit of the source's desired ref; "" is its head.
	SourceDesiredRevision string
	// SpecificationRevision is the commit that documents and configuration are read from; "" is HEAD.
	SpecificationRevision string
	CandidateRef          string
	// Dry shows what would change and publishes nothing.
	Dry bool
}

// Promote builds and publishes the target's desired state, behind its change gate where there is one. The order of the
// steps decides which error wins when several things are wrong (chapter F, 3.1).
func (e *Engine) Promote(ctx context.Context, r PromoteRequest) (Outcome, error) {
	start := e.Now()
	t, err := e.openPromotionTarget(ctx, r)
	if err != nil {
		return Outcome{}, err
	}
	e.emit(report.RunStarted{Operation: "promote", Environment: r.To})
	a, err := t.applier(ctx, r)
	if err != nil {
		return Outcome{}, err
	}
	p, err := e.fetch(ctx, t.scope)
	if err != nil {
		return Outcome{}, err
	}
	e.emitRefs(t.scope, p)
	run := e.newRun("promote", t.scope, p)
	run.SourceRevision = t.revision
	base := p.desired
	candidate, publication, err := a.apply(ctx, p)
	if err != nil {
		return Outcome{Run: e.failedRun(run, start)}, err
	}
	run.DesiredRevision = p.desired.Revision()
	if run.Units, err = a.results(p, candidate); err != nil {
		return Outcome{}, err
	}
	markProposed(run.Units, candidate, publication)
	outcome := Outcome{Publication: publication}
	run.Result = report.RunUnchanged
	switch {
	case r.Dry:
		if edits := candidate.Edits(); len(edits) > 0 {
			run.Result = report.RunPlanned
			e.emitDiffs(proposedUnits(base, candidate))
		}
	case publication.Revision != "":
		run.Result = publication.result()
		outcome.Promotion, err = t.record(publication)
	case p.desired.Revision() != "":
		// A promotion that changes nothing says what stands published (3.1 step 17).
		outcome.Publication = Publication{Revision: p.desired.Revision(), TargetRef: t.scope.refs.Desired, Status: "published"}
		outcome.Promotion = &Promotion{SourceDesiredRevision: t.source.desired.Revision()}
	}
	if err != nil {
		return Outcome{}, err
	}
	if !r.Dry {
		e.tellLineage(ctx, &run, p.desired)
	}
	run.Duration = e.Now().Sub(start)
	e.emit(report.RunFinished{Run: run})
	outcome.Run = run
	return outcome, nil
}

// A Promotion is what a promotion tells beside its publication.
type Promotion struct {
	// CandidateRevision is "" without a change gate.
	CandidateRevision, SourceDesiredRevision string
	// Summary is Markdown for the job summary; "" when nothing was published.
	Summary string
}

// A promotionTarget is the environment that a promotion goes to, as the specification revision has it, and its source.
type promotionTarget struct {
	engine   *Engine
	scope    *scope
	revision string // of the specification
	// from is the source environment's document, fromRefs are its branches.
	from     *resource.Environment
	fromRefs resource.Refs
	source   *promotionSource
}

// openPromotionTarget reads the configuration of both environments from the specification revision: what the checkout says
// does not matter (chapter F, 2.2).
func (e *Engine) openPromotionTarget(ctx context.Context, r PromoteRequest) (*promotionTarget, error) {
	if slices.Contains(r.Files, "-") {
		return nil, fmt.Errorf("a promotion reads its documents from the specification revision, not from standard input; commit the document and name its file")
	}
	if r.From == r.To {
		return nil, fmt.Errorf("environment %s cannot be promoted to itself; name two environments", r.To)
	}
	revision := r.SpecificationRevision
	if revision == "" {
		revision = "HEAD"
	}
	full, err := e.store.Resolve(ctx, revision)
	if err != nil {
		return nil, fmt.Errorf("specification revision: %w", err)
	}
	tree, err := e.store.SourceSnapshot(ctx, full)
	if err != nil {
		return nil, err
	}
	p, err := e.loadProject(tree)
	if err != nil {
		return nil, err
	}
	t := &promotionTarget{engine: e, revision: full}
	to, _, err := loadEnvironment(tree, p, r.To)
	if err != nil {
		return nil, err
	}
	refs, err := p.Refs(to, resource.RefOverrides{})
	if err != nil {
		return nil, err
	}
	if t.from, _, err = loadEnvironment(tree, p, r.From); err != nil {
		return nil, err
	}
	if t.fromRefs, err = p.Refs(t.from, resource.RefOverrides{}); err != nil {
		return nil, err
	}
	lease, err := p.LeaseRef(r.From)
	if err != nil {
		return nil, err
	}
	reserved := []resource.RefRole{{Role: "source's desired", Ref: t.fromRefs.Desired}, {Role: "source's observed", Ref: t.fromRefs.Observed}, {Role: "source's lease", Ref: lease}}
	if err := resource.CheckDistinct(append([]resource.RefRole{{Role: "desired", Ref: refs.Desired}, {Role: "observed", Ref: refs.Observed}}, reserved[:2]...)...); err != nil {
		return nil, err
	}
	leases, err := e.openLeases(p, r.To, refs)
	if err != nil {
		return nil, err
	}
	t.scope = &scope{Target: Target{Environment: r.To, CandidateRef: r.CandidateRef}, project: p, environment: to, refs: refs, leases: leases, reserved: reserved}
	return t, nil
}

// applier makes the applier of a promotion: documents, then permission, then a clean source.
func (t *promotionTarget) applier(ctx context.Context, r PromoteRequest) (*applier, error) {
	e := t.engine
	request := ApplyRequest{Target: t.scope.Target, Files: r.Files, Authored: r.Authored, SourceRevision: t.revision, Partition: r.Partition, Dry: r.Dry}
	in, err := e.readInputs(ctx, t.scope, request)
	if err != nil {
		return nil, err
	}
	for _, d := range in.documents {
		if d.Unit == nil {
			return nil, &document.Error{File: d.File, Pointer: "/metadata/uid", Message: "a promotion takes authored documents, and this one is in desired form",
				Fix: "remove metadata.uid and write its references, or apply it"}
		}
	}
	if !slices.Contains(t.scope.environment.AllowedSources, r.From) {
		return nil, &document.Error{File: t.scope.environment.File, Pointer: "/spec/promotion/allowedSources",
			Message: fmt.Sprintf("environment %s may not be promoted from %s; allowed: %s", r.To, r.From, listOrNone(t.scope.environment.AllowedSources)),
			Fix:     "add it there in a commit of its own, and promote with that specification revision"}
	}
	if err := t.scope.checkGate("promotion"); err != nil {
		return nil, err
	}
	if t.source, err = e.pinSource(ctx, t.from, t.fromRefs, r.SourceDesiredRevision); err != nil {
		return nil, err
	}
	e.emit(report.RefRead{Plane: "source", Ref: t.fromRefs.Desired, Revision: t.source.desired.Revision(), Subject: t.source.desired.Subject()})
	purpose, err := t.purpose()
	if err != nil {
		return nil, err
	}
	return &applier{engine: e, scope: t.scope, request: request, inputs: in, purpose: purpose, hasher: &source.Hasher{}, usable: map[string]bool{}, told: map[string]string{}}, nil
}

// purpose says what the promotion's commit, candidate and document are.
func (t *promotionTarget) purpose() (purpose, error) {
	promotion := &resource.Promotion{
		Environment: t.from.Name,
		DesiredRef:  t.fromRefs.Desired, DesiredRevision: t.source.desired.Revision(),
		ObservedRef: t.fromRefs.Observed, ObservedRevision: t.source.observed.Revision(),
		SpecificationRevision: t.revision,
	}
	data, err := promotion.Encode(t.scope.project.WriteFormat)
	if err != nil {
		return purpose{}, err
	}
	return purpose{
		operation:     "promotion",
		message:       fmt.Sprintf("Promote %s to %s from %s", t.from.Name, t.scope.Environment, promotion.DesiredRevision),
		context:       promotion.CandidateContext(),
		promoted:      &desired.Promotion{Environment: t.from.Name, Tree: t.source.desired},
		promotion:     &desired.File{Blob: document.BlobID(data), Content: data},
		promotionPath: resource.PromotionStem + t.scope.project.WriteFormat.Suffix(),
		review:        t.review,
	}, nil
}

// review is the pull request's text.
func (t *promotionTarget) review(p *planes, c *desired.Candidate) *PullRequest {
	observedRevision := t.source.observed.Revision()
	if observedRevision == "" {
		observedRevision = "none"
	}
	return &PullRequest{
		Title: fmt.Sprintf("Promote %s to %s", t.from.Name, t.scope.Environment),
		Body: report.ProposalBody(report.Proposal{
			Lead: fmt.Sprintf("This promotes the reviewed and reconciled state of %s to %s.", t.from.Name, t.scope.Environment),
			Facts: []report.Fact{
				{Name: "Source desired revision", Value: t.source.desired.Revision()},
				{Name: "Source observed revision", Value: observedRevision},
				{Name: "Specification revision", Value: t.revision},
				{Name: "Built on", Value: p.desired.Revision()},
			},
			Units: proposedUnits(p.desired, c),
			Next: fmt.Sprintf("Merging this is the deployment decision. %s has to be reconciled after the merge: run converge for it. No driver has run for this proposal.",
				t.scope.Environment),
		}),
	}
}

// record is what the publication's summary says.
func (t *promotionTarget) record(p Publication) (*Promotion, error) {
	images, err := t.source.images()
	if err != nil {
		return nil, err
	}
	record := report.PromotionRecord{From: t.from.Name, To: t.scope.Environment, SourceDesired: t.source.desired.Revision(), SourceObserved: t.source.observed.Revision(),
		Specification: t.revision, Images: images}
	out := &Promotion{SourceDesiredRevision: t.source.desired.Revision()}
	if p.CandidateRef != "" {
		record.CandidateRef, record.CandidateRevision, out.CandidateRevision = p.CandidateRef, p.Revision, p.Revision
	} else {
		record.PublishedRef, record.PublishedRevision = p.TargetRef, p.Revision
	}
	out.Summary = report.PromotionSummary(record)
	return out, nil
}

// emitDiffs shows a dry run's planned changes in the log.
func (e *Engine) emitDiffs(units []report.ProposedUnit) {
	for _, u := range units {
		e.emit(report.Note{Word: "DIFF", Text: fmt.Sprintf("%s is %s", u.Unit, u.Change)})
		for _, line := range report.PlainLines(u.Diff) {
			e.emit(report.Note{Word: "|", Text: e.Masker.String(line)})
		}
	}
}
