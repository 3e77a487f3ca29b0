package observed

import (
	"fmt"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// An Observation says how evidence stands to the desired Unit that it is about (chapter H, 4.1 to 4.3).
type Observation string

// The observations.
const (
	Missing       Observation = "MISSING" // a Unit without Receipt
	Current       Observation = "CURRENT"
	Stale         Observation = "STALE"
	Orphan        Observation = "ORPHAN"  // evidence without Unit
	NotApplicable Observation = "N/A"     // a Unit that is never observed
	Unknown       Observation = "UNKNOWN" // the Unit, or the evidence, cannot be read or contradicts itself
)

// Observation compares a Receipt with the desired Unit at its place: only the blob id of the desired document decides.
func (s *State) Observation(name string) (Observation, error) {
	receipt, err := s.Receipt(name)
	if err != nil {
		return Unknown, err
	}
	u := s.units[name]
	switch {
	case receipt == nil:
		return Missing, nil
	case u == nil:
		return Orphan, nil
	case receipt.Subject.APIVersion != resource.UnitAPI, receipt.Subject.Kind != u.Kind, receipt.Subject.Name != u.Metadata.Name:
		return Unknown, fmt.Errorf("read %s: %w", s.Observed.Ref, &document.Error{File: receipt.Path, Pointer: "/spec/subject",
			Message: fmt.Sprintf("is about the %s %q, but the Unit there is the %s %q", receipt.Subject.Kind, receipt.Subject.Name, u.Kind, u.Metadata.Name)})
	case receipt.UnitBlob == u.Blob:
		return Current, nil
	}
	return Stale, nil
}

// Observation is that of State; evidence of a Unit that cannot be read is of unknown standing.
func (v *Survey) Observation(name string) (Observation, error) {
	if v.unreadable[name] {
		return Unknown, nil
	}
	return v.State.Observation(name)
}

// UnitState is what a Unit's row says: its observation beside its condition.
type UnitState struct {
	Observation Observation
	Status
}

// UnitState classifies a desired Unit (chapter H, 4.3). On an error the observation is as far as it is known.
func (s *State) UnitState(name string) (UnitState, error) {
	observation, err := s.Observation(name)
	if err != nil {
		return UnitState{Observation: observation}, err
	}
	status, err := s.Status(name)
	if err != nil {
		return UnitState{Observation: observation}, err
	}
	if status.Condition == Materialized {
		observation = NotApplicable
	}
	return UnitState{observation, status}, nil
}

// Conditions counts the desired Units by condition (chapter H 3.2). An opaque cleanup root waits.
func (s *State) Conditions() (map[Condition]int, error) {
	counts := map[Condition]int{}
	local := map[string]string{}
	for _, name := range s.Names() {
		status, err := s.Status(name)
		if err != nil {
			return nil, err
		}
		counts[status.Condition]++
		local[s.units[name].Metadata.Name] = s.units[name].Path
	}
	for _, name := range s.opaque {
		if other := local[name]; other != "" {
			return nil, fmt.Errorf("read %s: the cleanup root %q has the name of another Unit, %s", s.Desired.Ref, name, other)
		}
		local[name] = resource.CleanupPath + "/" + name
		counts[Wait]++
	}
	return counts, nil
}
