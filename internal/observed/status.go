package observed

import (
	"fmt"

	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// A Condition is a Unit's reconciliation state (chapter D, 2.1).
type Condition string

// The conditions.
const (
	Clean        Condition = "CLEAN"
	Ready        Condition = "READY"
	Wait         Condition = "WAIT"
	Materialized Condition = "MATERIALIZED"
)

// The reasons of chapter H, 4.3: constants of the output format.
const (
	reasonNotMaterialized = "desired inputs are not materialized"
	reasonExternal        = "desired payload is published for external delivery"
	reasonNoReceipt       = "no observation receipt"
	reasonCurrent         = "observation matches desired state"
	reasonChanged         = "desired inputs changed since its last receipt"
)

// A Status is a Unit's condition and the reason for it.
type Status struct {
	Unit      string
	Condition Condition
	Reason    string
}

// Status classifies a Unit by its qualified name; the first rule of chapter D, 2.1 that holds decides. An error means that
// the recorded evidence contradicts itself.
func (s *State) Status(name string) (Status, error) {
	status := func(c Condition, reason string) (Status, error) {
		return Status{Unit: name, Condition: c, Reason: reason}, nil
	}
	u := s.units[name]
	if u != nil && u.Metadata.Deletion != nil {
		return status(Wait, fmt.Sprintf("deletion pending finalization (UID %s, generation %d)", u.Metadata.UID, u.Metadata.Deletion.Generation))
	}
	if reason, blocked := s.Blocks[name]; blocked {
		return status(Wait, reason)
	}
	if u == nil || u.HasReferences() {
		return status(Wait, reasonNotMaterialized)
	}
	kind, _ := resource.UnitKindOf(u.Kind)
	if kind.Materializes() {
		if err := s.checkMaterialization(u); err != nil {
			return Status{}, err
		}
	}
	if !kind.Reconciles(u.Spec) {
		return status(Materialized, reasonExternal)
	}
	receipt, err := s.Receipt(name)
	if err != nil {
		return Status{}, err
	}
	switch {
	case receipt == nil:
		return status(Ready, reasonNoReceipt)
	case receipt.UnitBlob == u.Blob:
		if err := s.CheckArtifacts(u, receipt); err != nil {
			return Status{}, err
		}
		return status(Clean, reasonCurrent)
	}
	return status(Ready, reasonChanged)
}

// Statuses classifies the named Units, then opaque cleanup roots, then deleting Units, each once (chapter D, 2.1).
func (s *State) Statuses(names []string) ([]Status, error) {
	seen := map[string]bool{}
	var out []Status
	add := func(name string) error {
		if seen[name] {
			return nil
		}
		seen[name] = true
		status, err := s.Status(name)
		out = append(out, status)
		return err
	}
	for _, name := range names {
		if err := add(name); err != nil {
			return nil, err
		}
	}
	for _, name := range s.opaque {
		if err := add(name); err != nil {
			return nil, err
		}
	}
	for _, name := range s.Names() {
		if s.units[name].Metadata.Deletion != nil {
			if err := add(name); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}
