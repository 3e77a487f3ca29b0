package desired

import (
	"errors"

	"github.com/gitopsctr/gitopsctr/internal/expression"
)

// foretelling is a lookup that a plan asks: where a producer's Receipt is missing or stale, because the producer is to run
// first, it serves what the producer's own plan foretells.
type foretelling struct {
	expression.Lookup
	foretold func(unit string) (expression.Evidence, bool)
}

// Receipt implements expression.Lookup. Evidence that is there always wins over what is foretold.
func (f foretelling) Receipt(unit string) (expression.Evidence, error) {
	e, err := f.Lookup.Receipt(unit)
	var missing *expression.Unavailable
	if !errors.As(err, &missing) {
		return e, err
	}
	if foretold, ok := f.foretold(unit); ok {
		foretold.Foretold = true
		return foretold, nil
	}
	return e, err
}
