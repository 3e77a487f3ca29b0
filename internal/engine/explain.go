package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// mostOfEach is how many lines of a kind an explanation has, unless it is asked to say everything.
const mostOfEach = 5

// An explainer says why ready Units changed: what differs between the document that the Receipt is about and the present
// one, and which commits and files did it (chapter H, section 6). It is for people: what it cannot read, an old commit that
// is gone for example, it leaves out.
type explainer struct {
	engine  *Engine
	scope   *scope
	planes  *planes
	verbose bool
	sources sourceHistory
}

func (e *Engine) newExplainer(s *scope, p *planes, verbose bool) *explainer {
	return &explainer{engine: e, scope: s, planes: p, verbose: verbose, sources: sourceHistory{engine: e, scope: s}}
}

// explain returns the lines below a Unit's READY line; none for other Units.
func (x *explainer) explain(ctx context.Context, status observed.Status) ([]report.Note, error) {
	if status.Condition != observed.Ready {
		return nil, nil
	}
	receipt, err := x.planes.state.Receipt(status.Unit)
	if err != nil {
		return nil, err
	}
	current := x.planes.state.Unit(status.Unit)
	var prior *resource.Unit
	if receipt != nil && current != nil {
		prior = x.prior(ctx, status.Unit, receipt)
	}
	if prior == nil {
		return []report.Note{{Word: "CAUSE", Text: "no prior desired unit is available for comparison"}}, nil
	}
	before, now := sourceRevision(prior), sourceRevision(current.Unit)
	notes := []report.Note{
		{Word: "LAST", Text: "desired " + x.described(ctx, receipt.DesiredRevision) + "; source " + x.described(ctx, before)},
		{Word: "CURRENT", Text: "desired " + x.described(ctx, x.planes.desired.Revision()) + "; source " + x.described(ctx, now)},
	}
	files := x.sources.changedFiles(ctx, before, now, current.Unit)
	notes = append(notes, x.lines("CAUSE", causes(prior, current.Unit, len(files) > 0))...)
	if len(files) > 0 {
		notes = append(notes, x.lines("COMMIT", x.sources.commits(ctx, before, now, current.Unit))...)
	}
	notes = append(notes, x.lines("FILE", files)...)
	return append(notes, x.lines("FIELD", changedFields("", specification(prior), specification(current.Unit)))...), nil
}

// prior is the desired document that a Receipt is about, in whichever format it was; nil when it cannot be read.
func (x *explainer) prior(ctx context.Context, name string, receipt *observed.Receipt) *resource.Unit {
	if receipt.DesiredRevision == "" {
		return nil
	}
	snapshot, err := x.engine.store.SourceSnapshot(ctx, receipt.DesiredRevision)
	if err != nil {
		return nil
	}
	for _, path := range resource.Representations(resource.UnitsPath + "/" + name) {
		data, err := snapshot.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil
		}
		if prior, err := resource.DecodeUnit(path, data); err == nil {
			return prior
		}
	}
	return nil
}

// lines makes a line of each text, and one that counts those left out.
func (x *explainer) lines(word string, texts []string) []report.Note {
	shown := len(texts)
	if !x.verbose && shown > mostOfEach {
		shown = mostOfEach
	}
	notes := make([]report.Note, 0, shown+1)
	for _, text := range texts[:shown] {
		notes = append(notes, report.Note{Word: word, Text: text})
	}
	if left := len(texts) - shown; left > 0 {
		notes = append(notes, report.Note{Word: word, Text: fmt.Sprintf("... and %d more; use --verbose to show all", left)})
	}
	return notes
}

// described is a revision as people read it: 12 digits, and the commit's subject when it can be had.
func (x *explainer) described(ctx context.Context, revision string) string {
	if revision == "" {
		return "none"
	}
	text := report.Abbreviate(revision)
	if snapshot, err := x.engine.store.SourceSnapshot(ctx, revision); err == nil && snapshot.Subject() != "" {
		text += " (" + snapshot.Subject() + ")"
	}
	return text
}

func sourceRevision(u *resource.Unit) string {
	if s := u.Source(); s != nil {
		return s.Revision
	}
	return ""
}

// specification is the part of a Unit's spec that its authors write.
func specification(u *resource.Unit) *document.Node {
	return u.Spec.Without("source").Without("resolvedInputs")
}
