package desired

import (
	"fmt"

	"github.com/gitopsctr/gitopsctr/internal/expression"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// A Promotion serves fromPromotion: the desired Units of the environment that is promoted from, at the promoted commit
// (chapter F, 3.3). Promote gives the commit that it promotes; an apply gives the one that the desired ref's Promotion
// document records (chapter F, section 10, item 2).
type Promotion struct {
	// Environment is the name of the source environment.
	Environment string
	// Tree is its desired state at the promoted commit; it is not read when the promotion has lapsed.
	Tree observed.Tree
	// Lapsed says why a recorded promotion does not hold any more, "" when it does. What reads from it then waits. It
	// becomes part of a stored reason: no revision, no time.
	Lapsed string

	read map[string]promotedUnit
}

type promotedUnit struct {
	unit *resource.Unit
	blob string
	err  error
}

// unit returns a Unit of the promoted state, and the blob id of its file. A Unit that is not there is an error: the
// promoted state is fixed, so waiting would not help.
func (p *Promotion) unit(name string) (*resource.Unit, string, error) {
	known, ok := p.read[name]
	if !ok {
		known.unit, known.blob, known.err = p.load(name)
		if p.read == nil {
			p.read = map[string]promotedUnit{}
		}
		p.read[name] = known
	}
	return known.unit, known.blob, known.err
}

func (p *Promotion) load(name string) (*resource.Unit, string, error) {
	blobs := map[string]string{}
	path, err := resource.Representation(resource.UnitsPath+"/"+name, func(path string) bool {
		for _, f := range p.Tree.Files(path) {
			if f.Path == path {
				blobs[path] = f.Blob
				return true
			}
		}
		return false
	})
	if err != nil {
		return nil, "", fmt.Errorf("the promoted state of environment %s: %w", p.Environment, err)
	}
	if path == "" {
		return nil, "", fmt.Errorf("the promoted state of environment %s has no Unit %q; name one that it has, or promote a state that holds it", p.Environment, name)
	}
	data, err := p.Tree.ReadFile(path)
	if err != nil {
		return nil, "", fmt.Errorf("the promoted state of environment %s: %w", p.Environment, err)
	}
	u, err := resource.DecodeUnit(path, data)
	if err != nil {
		return nil, "", fmt.Errorf("the promoted state of environment %s: %w", p.Environment, err)
	}
	return u, blobs[path], nil
}

// unitLookup is the evidence that one Unit's references read.
type unitLookup struct {
	*observed.Evidence
	promotion *Promotion // nil: none is active
	kind      string     // of the Unit
}

// Promotion implements expression.Lookup.
func (l unitLookup) Promotion(unit string, inferred bool) (expression.Evidence, error) {
	switch {
	case l.promotion == nil:
		return expression.Evidence{}, &expression.Unavailable{Cause: expression.NoPromotion}
	case l.promotion.Lapsed != "":
		return expression.Evidence{}, &expression.Unavailable{Cause: expression.LapsedPromotion, Detail: l.promotion.Lapsed}
	}
	u, blob, err := l.promotion.unit(unit)
	if err != nil {
		return expression.Evidence{}, err
	}
	if inferred && u.Kind != l.kind {
		return expression.Evidence{}, fmt.Errorf("in environment %s the Unit %q is a %s, this one is a %s, and the same place need not mean the same in both; give the pointer into its spec",
			l.promotion.Environment, unit, u.Kind, l.kind)
	}
	return expression.Evidence{Document: u.Spec, Fingerprint: blob}, nil
}
