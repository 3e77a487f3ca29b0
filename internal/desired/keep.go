package desired

import (
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// Keep takes back what the candidate would do to a Unit's documents and payload: they stay as they are now. It is for
// Units that somebody's effect holds while the rest of the candidate is published (chapter D, 6.7).
func (c *Candidate) Keep(name string) {
	belongs := func(path string) bool {
		for _, collection := range []string{resource.UnitsPath, resource.CleanupPath} {
			if found, ok := resource.QualifiedNameOf(path, collection); ok && found == name {
				return true
			}
		}
		return strings.HasPrefix(path, resource.MaterializedPath+"/"+name+"/")
	}
	for path := range c.Files {
		if belongs(path) {
			delete(c.Files, path)
		}
	}
	for _, f := range c.current.Files("") {
		if belongs(f.Path) {
			c.carry(f)
		}
	}
	delete(c.units, name)
	for i := range c.Decisions {
		if c.Decisions[i].Unit == name {
			c.Decisions[i].Changed = false
		}
	}
}
