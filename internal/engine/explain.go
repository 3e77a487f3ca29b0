package engine

import (
	"context"
	"errors"
	"io/fs"

	"github.com/gitopsctr/gitopsctr/internal/desired"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// explain says why a ready Unit changed: what differs between the document that its Receipt is about and the present one
// (chapter H, section 6). It looks for the old document in all three formats.
func (e *Engine) explain(ctx context.Context, s *scope, p *planes, status observed.Status) ([]string, error) {
	if status.Condition != observed.Ready {
		return nil, nil
	}
	const none = "no prior desired unit is available for comparison"
	receipt, err := p.state.Receipt(status.Unit)
	if err != nil {
		return nil, err
	}
	u := p.state.Unit(status.Unit)
	if receipt == nil || receipt.DesiredRevision == "" || u == nil {
		return []string{none}, nil
	}
	snapshot, err := e.store.SourceSnapshot(ctx, receipt.DesiredRevision)
	if err != nil {
		return []string{none}, nil //nolint:nilerr // the explanation is for people; an old commit may be gone
	}
	for _, path := range resource.Representations(resource.UnitsPath + "/" + status.Unit) {
		data, err := snapshot.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		prior, err := resource.DecodeUnit(path, data)
		if err != nil {
			break
		}
		return desired.Causes(prior, u.Unit), nil
	}
	return []string{none}, nil
}
