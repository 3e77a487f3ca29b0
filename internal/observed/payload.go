package observed

import "github.com/gitopsctr/gitopsctr/internal/resource"

// CheckPayload validates the materialized payload beside a desired Unit against the digest that its document names. A Unit of
// a kind without payload, and one that does not exist, pass.
func (s *State) CheckPayload(name string) error {
	u := s.units[name]
	if u == nil {
		return nil
	}
	if kind, _ := resource.UnitKindOf(u.Kind); !kind.Materializes() {
		return nil
	}
	return s.checkMaterialization(u)
}
