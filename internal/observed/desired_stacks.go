package observed

import (
	"fmt"

	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// DesiredStacks decodes the desired Stacks, in the order of their files.
func (s *State) DesiredStacks() ([]*resource.Stack, error) {
	var out []*resource.Stack
	for _, f := range s.Desired.Tree.Files(resource.StacksPath) {
		if _, ok := resource.QualifiedNameOf(f.Path, resource.StacksPath); !ok {
			continue
		}
		data, err := s.Desired.Tree.ReadFile(f.Path)
		if err != nil {
			return nil, err
		}
		stack, err := resource.DecodeStack(f.Path, data)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", s.Desired.Ref, err)
		}
		out = append(out, stack)
	}
	return out, nil
}
