package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gitopsctr/gitopsctr/internal/desired"
	"github.com/gitopsctr/gitopsctr/internal/expression"
	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// recordedPromotion gives an apply the promotion that the target's desired ref records, so that a Unit with fromPromotion
// resolves as it did when it was promoted, instead of waiting for the next promotion (chapter F, section 10, item 2). It
// asks once per version of the Promotion document and only when a document reads from it.
type recordedPromotion struct {
	wanted    bool
	blob      string
	promotion *desired.Promotion
}

func newRecordedPromotion(documents []desired.Document) recordedPromotion {
	return recordedPromotion{wanted: slices.ContainsFunc(documents, readsPromotion)}
}

// readsPromotion tells whether a document holds fromPromotion, in a dryFallback too.
func readsPromotion(d desired.Document) bool {
	if d.Unit == nil {
		return false
	}
	found := errors.New("found")
	var visit func(r *expression.Reference) error
	visit = func(r *expression.Reference) error {
		if r.Kind == expression.FromPromotion {
			return found
		}
		if r.Fallback == nil {
			return nil
		}
		return expression.Walk(r.At, r.Fallback, visit)
	}
	return errors.Is(expression.Walk("", d.Unit.Spec, visit), found)
}

// load returns the promotion that the desired snapshot records, nil for none.
func (r *recordedPromotion) load(ctx context.Context, e *Engine, target *gitstate.Snapshot) (*desired.Promotion, error) {
	if !r.wanted {
		return nil, nil
	}
	file, blob, err := promotionFile(target)
	if err != nil || file == "" {
		return nil, err
	}
	if blob == r.blob {
		return r.promotion, nil
	}
	data, err := target.ReadFile(file)
	if err != nil {
		return nil, err
	}
	recorded, err := resource.DecodePromotion(file, data)
	if err != nil {
		return nil, err
	}
	promotion, err := e.openPromotion(ctx, recorded)
	if err != nil {
		return nil, fmt.Errorf("the promotion from environment %s: %w", recorded.Environment, err)
	}
	r.blob, r.promotion = blob, promotion
	return promotion, nil
}

// promotionFile finds the Promotion document of a desired snapshot; "" when there is none.
func promotionFile(s *gitstate.Snapshot) (file, blob string, err error) {
	blobs := map[string]string{}
	file, err = resource.Representation(resource.PromotionStem, func(path string) bool {
		for _, f := range s.Files(path) {
			if f.Path == path {
				blobs[path] = f.Blob
			}
		}
		return blobs[path] != ""
	})
	return file, blobs[file], err
}

// openPromotion checks that a recorded promotion still holds and gives its source state: the promoted commits must be on
// the source's branches as they are now (chapter F, 3.4). One that does not hold is no error but lapses: what reads from
// it waits and keeps its values, all other Units go on.
func (e *Engine) openPromotion(ctx context.Context, recorded *resource.Promotion) (*desired.Promotion, error) {
	promotion := &desired.Promotion{Environment: recorded.Environment}
	heads, err := e.store.Fetch(ctx, recorded.DesiredRef, recorded.ObservedRef)
	if err != nil {
		return nil, err
	}
	for _, pinned := range []struct{ ref, revision string }{
		{recorded.DesiredRef, recorded.DesiredRevision}, {recorded.ObservedRef, recorded.ObservedRevision},
	} {
		if pinned.revision == "" {
			continue // the source had no observed state
		}
		head := heads[pinned.ref]
		if head == nil {
			promotion.Lapsed = fmt.Sprintf("the branch %s does not exist any more; promote %s again", pinned.ref, recorded.Environment)
			return promotion, nil
		}
		kept, err := e.store.IsAncestor(ctx, pinned.revision, head.Revision())
		if err != nil {
			return nil, fmt.Errorf("is the promoted commit still on %s: %w", pinned.ref, err)
		}
		if !kept {
			promotion.Lapsed = fmt.Sprintf("the branch %s was rewritten and does not hold the promoted commit any more; promote %s again", pinned.ref, recorded.Environment)
			return promotion, nil
		}
	}
	snapshot, err := e.store.SourceSnapshot(ctx, recorded.DesiredRevision)
	if err != nil {
		return nil, err
	}
	promotion.Tree = snapshot
	return promotion, nil
}
