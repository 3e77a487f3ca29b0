package desired

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/expression"
)

// reason is the text to store in the Unit's block: the stored one while the Unit waits for the same producer for the same
// kind of cause, so that two implementations do not rewrite each other's words with a commit each time (specification
// README, decision 4). Nothing else is ever read out of that text.
func (b *builder) reason(in *unitInput) string {
	first := in.waits[0]
	stored, ok := b.State.Blocks[in.name]
	if ok && saysSame(stored, first) {
		return stored
	}
	return first.Error()
}

// saysSame tells whether a stored reason, in whoever's words, tells of this wait.
func saysSame(stored string, wait *expression.Unavailable) bool {
	words := strings.ToLower(stored)
	if wait.Producer == "" {
		lapsed := strings.Contains(words, "valid")
		return strings.Contains(words, "promotion") && lapsed == (wait.Cause == expression.LapsedPromotion)
	}
	return mentions(stored, wait.Producer) && causeIn(words) == causeOf(wait.Cause)
}

// The kinds of cause that a stored reason can be told apart by.
type causeKind uint8

const (
	missing causeKind = iota
	stale
	differs
)

func causeOf(c expression.Cause) causeKind {
	switch c {
	case expression.StaleReceipt:
		return stale
	case expression.BadArtifact:
		return differs
	}
	return missing
}

func causeIn(words string) causeKind {
	switch {
	case strings.Contains(words, "stale"), strings.Contains(words, "outdated"):
		return stale
	case strings.Contains(words, "artifact") && !strings.Contains(words, "receipt"), strings.Contains(words, "digest"), strings.Contains(words, "descriptor"):
		return differs
	}
	return missing
}

// hint says why a producer's evidence is not there, for a person who reads what the Unit waits for. Above all it tells a
// misspelt name, which would wait for ever, from a producer that only has to run.
func (b *builder) hint(in *unitInput, wait *expression.Unavailable) string {
	producer := b.inputs[wait.Producer]
	current := b.State.Unit(wait.Producer)
	switch {
	case wait.Producer == "":
		return ""
	case wait.Producer == in.name:
		return "it reads its own evidence, which can never be there first"
	case producer == nil && current == nil:
		return fmt.Sprintf("no Unit %q is known; correct the name, or apply that Unit", wait.Producer)
	case producer == nil && current.Metadata.Deletion != nil:
		return fmt.Sprintf("Unit %q is being deleted", wait.Producer)
	case producer != nil && (len(producer.waits) > 0 || producer.blocked != ""):
		return fmt.Sprintf("Unit %q waits itself", wait.Producer)
	}
	return ""
}

// mentions tells whether text has name as a whole word.
func mentions(text, name string) bool {
	return slices.Contains(strings.FieldsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '/'
	}), name)
}
