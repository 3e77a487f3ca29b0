package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/desired"
	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// A purpose is why an applier changes the desired state: what its commits say, and what identifies its candidates
// (chapter F, 2.3). Apply and promote build and publish alike; they differ in this.
type purpose struct {
	operation string
	message   string
	context   *document.Node
	// review makes the pull request's text for a candidate; nil when the operation opens none itself.
	review func(p *planes, c *desired.Candidate) *PullRequest
	// promoted is the state that fromPromotion reads, and promotion the document that records it; nil but for promote.
	promoted  *desired.Promotion
	promotion *desired.File
	// promotionPath is where promotion lies.
	promotionPath string
}

// record puts the Promotion document into a candidate, in place of an earlier one in whatever format (3.5). A promotion that
// would begin an environment without any resource begins nothing (3.1 step 12).
func (u purpose) record(c *desired.Candidate, base string) {
	if u.promotion == nil {
		return
	}
	if base == "" && !holdsResources(c) {
		clear(c.Files)
		return
	}
	for _, path := range resource.Representations(resource.PromotionStem) {
		delete(c.Files, path)
	}
	c.Files[u.promotionPath] = *u.promotion
}

func holdsResources(c *desired.Candidate) bool {
	for path := range c.Files {
		for _, collection := range []string{resource.UnitsPath, resource.StacksPath, resource.StackTemplatesPath} {
			if strings.HasPrefix(path, collection+"/") {
				return true
			}
		}
	}
	return false
}

// markProposed says of the Units that a candidate changes that they wait for its merge.
func markProposed(units []report.UnitResult, c *desired.Candidate, p Publication) {
	if c == nil || p.CandidateRef == "" {
		return
	}
	changed := c.ChangedUnits()
	for i := range units {
		if slices.Contains(changed, units[i].Unit) {
			units[i].Reason = fmt.Sprintf("its new desired state waits for the merge of %s into %s", p.CandidateRef, p.TargetRef)
		}
	}
}

// result is what a run that ended in the publication has come to.
func (p Publication) result() report.Result {
	if p.CandidateRef != "" {
		return report.RunProposed
	}
	return report.RunPublished
}

// applyPurpose is that of apply, and of converge with documents.
func applyPurpose(environment string, in *inputs, partition string) purpose {
	return purpose{
		operation: "apply",
		message:   "Apply desired resources to " + environment,
		context: document.NewMap(
			document.F("partition", textOrNull(partition)),
			document.F("sourceRevision", textOrNull(in.revision))),
	}
}

func textOrNull(text string) *document.Node {
	if text == "" {
		return document.NewNull()
	}
	return document.NewString(text)
}

// change is the change that a candidate of this applier makes.
func (a *applier) change(p *planes, c *desired.Candidate) *change {
	out := &change{operation: a.purpose.operation, context: a.purpose.context, message: a.purpose.message, edits: c.Edits(), units: c.ChangedUnits()}
	if a.purpose.review != nil {
		out.review = a.purpose.review(p, c)
	}
	return out
}

// publishCandidate proposes the applier's candidate behind a pull-request gate; it never goes past the gate. The candidate
// is built again on another base: after the first commit of the ref, or when the ref moved.
func (a *applier) publishCandidate(ctx context.Context, p *planes, candidate *desired.Candidate) (*desired.Candidate, Publication, error) {
	base := p.desired.Revision()
	publication, err := a.engine.propose(ctx, a.scope, p, func() (*change, error) {
		if p.desired.Revision() != base {
			base = p.desired.Revision()
			var err error
			if candidate, err = a.build(ctx, p); err != nil {
				return nil, err
			}
			a.tell(candidate)
		}
		return a.change(p, candidate), nil
	})
	return candidate, publication, err
}
