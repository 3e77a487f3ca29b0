package inspect

import (
	"errors"
	"fmt"

	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// An Output is the form in which a List is printed.
type Output string

// The outputs. Name prints "family/name" lines, for scripts.
const (
	Table Output = "table"
	Wide  Output = "wide"
	YAML  Output = "yaml"
	JSON  Output = "json"
	Name  Output = "name"
)

// Outputs lists the outputs.
func Outputs() []string {
	return []string{string(Table), string(Wide), string(YAML), string(JSON), string(Name), string(JSONPath) + "=EXPRESSION", string(GoTemplate) + "=TEMPLATE"}
}

// A Query is what a person asks for (chapter H, 2).
type Query struct {
	// Selector is a family in the singular or plural, or "all".
	Selector string
	// Name is a qualified name, "" for all.
	Name string
	// Producer keeps only artifacts of this Unit.
	Producer        string
	Environment     string
	AllEnvironments bool
	// The overrides name other refs, and older commits of them; "" is none.
	DesiredRef, DesiredRevision   string
	ObservedRef, ObservedRevision string
	Output                        Output
	// Expression is what JSONPath and GoTemplate evaluate.
	Expression string
	// SortBy is a heading of the table, "" for the order by names.
	SortBy string
	// AsList asks for a ResourceList where one document would be printed.
	AsList bool
	// Artifact and Artifacts ask for what a Receipt describes.
	Artifact  string
	Artifacts bool
	// Labels keep the documents that have all of them.
	Labels map[string]string
}

// rows tells whether the answer is a table.
func (q *Query) rows() bool {
	return (q.Output == Table || q.Output == Wide) && !q.ofReceipt()
}

func (q *Query) documents() bool {
	return !q.rows() && q.Output != Name
}

// ofReceipt tells whether the artifacts of a Receipt are asked for.
func (q *Query) ofReceipt() bool { return q.Artifact != "" || q.Artifacts }

// Check checks the options against each other, in the order of chapter H, 2.2. Only an unknown selector is a mistake in
// the command line's form, an *UnknownSelectorError.
func (q *Query) Check() error {
	chosen, err := selected(q.Selector)
	if err != nil {
		return err
	}
	desired, seen := q.DesiredRef != "" || q.DesiredRevision != "", q.ObservedRef != "" || q.ObservedRevision != ""
	family := chosen[0]
	if q.Selector == "all" {
		family = ""
	}
	switch {
	case q.AsList && (q.rows() || q.Output == Name):
		return errors.New("--as-list needs -o yaml or -o json")
	case family == EnvironmentFamily && (q.Environment != "" || q.AllEnvironments || desired || seen):
		return errors.New("environments are those of the working tree: leave out --environment, --all-environments and every ref or revision")
	case family == EnvironmentFamily:
	case q.Environment == "" && !q.AllEnvironments:
		return fmt.Errorf("say which environment: --environment NAME, or --all-environments for %s of all", q.Selector)
	case q.Environment != "" && q.AllEnvironments:
		return errors.New("--environment and --all-environments exclude each other")
	case q.AllEnvironments && (desired || seen):
		return errors.New("refs and revisions belong to one environment: name it with --environment in place of --all-environments")
	case seen && family != "" && !takesObserved(family):
		return fmt.Errorf("%s does not depend on the observed ref: leave out --observed-ref and --observed-revision", q.Selector)
	}
	switch {
	case q.ofReceipt() && (family != observed.ReceiptFamily || q.Name == ""):
		return errors.New("--artifact and --artifacts belong to one Receipt: gitopsctr get receipt NAME --artifacts")
	case q.Artifact != "" && q.Artifacts:
		return errors.New("--artifact and --artifacts exclude each other")
	case q.Producer != "" && family != observed.ArtifactFamily:
		return errors.New("--producer belongs to artifacts")
	case family == "" && q.Name != "":
		return fmt.Errorf("all takes no name; name the family, for example: gitopsctr get unit %s", q.Name)
	}
	if err := q.checkSort(); err != nil {
		return err
	}
	return q.checkNames(family)
}

func (q *Query) checkNames(family Family) error {
	if q.Name != "" {
		check := resource.CheckQualifiedName
		if family != observed.UnitFamily && family != observed.ReceiptFamily && family != observed.ArtifactFamily {
			check = resource.CheckName
		}
		if err := check(q.Name); err != nil {
			return err
		}
	}
	if q.Producer != "" {
		return resource.CheckQualifiedName(q.Producer)
	}
	return nil
}

// ReadsDesired tells whether the answer needs the desired plane.
func (q *Query) ReadsDesired() bool { return q.reads(readsDesired) }

// ReadsObserved tells whether the answer needs the observed plane.
func (q *Query) ReadsObserved() bool { return q.reads(readsObserved) }

func (q *Query) reads(plane func(Family, bool) bool) bool {
	chosen, err := selected(q.Selector)
	if err != nil {
		return false
	}
	for _, f := range chosen {
		if plane(f, q.rows()) {
			return true
		}
	}
	return false
}

// Family is the family that is asked for; the first one for "all".
func (q *Query) Family() Family {
	if chosen, err := selected(q.Selector); err == nil {
		return chosen[0]
	}
	return ""
}

// OfEnvironments tells whether the Environments themselves are asked for.
func (q *Query) OfEnvironments() bool {
	return q.Family() == EnvironmentFamily
}

// A NotFoundError tells that nothing has the name.
type NotFoundError struct {
	Family Family
	Name   string
	// Where is the environment, or the ref.
	Where string
	// Known are the names that there are.
	Known []string
}

func (e *NotFoundError) Error() string {
	s := fmt.Sprintf("no %s %q in %s%s", e.Family, e.Name, e.Where, suggest(e.Name, e.Known))
	if len(e.Known) > 0 && len(e.Known) <= 10 {
		s += "; known: " + joined(e.Known)
	}
	return s
}
