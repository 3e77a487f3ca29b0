package lease

import (
	"fmt"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// A Tree is the content of one commit.
type Tree interface {
	Files(prefix string) []gitstate.File
	ReadFile(path string) ([]byte, error)
	Blob(path string) (id string, ok bool)
}

// Find returns the lease of a Unit, nil when nobody holds it.
func Find(tree Tree, unit string) (*resource.EffectLease, error) {
	path, err := representation(tree, resource.LeasesPath+"/"+unit)
	if err != nil || path == "" {
		return nil, err
	}
	return read(tree, path, unit)
}

// All are the leases on the branch, sorted by path. A lease file that cannot be read is an error: nobody knows what it
// protects.
func All(tree Tree) ([]*resource.EffectLease, error) {
	var paths []string
	for _, f := range tree.Files(resource.LeasesPath) {
		paths = append(paths, f.Path)
	}
	index, err := resource.Index(paths, resource.LeasesPath)
	if err != nil {
		return nil, err
	}
	var out []*resource.EffectLease
	for _, path := range paths {
		name, ok := resource.QualifiedNameOf(path, resource.LeasesPath)
		if !ok || index[name] != path {
			continue
		}
		l, err := read(tree, path, name)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}

func read(tree Tree, path, unit string) (*resource.EffectLease, error) {
	data, err := tree.ReadFile(path)
	if err != nil {
		return nil, err
	}
	l, err := resource.DecodeEffectLease(path, data)
	if err != nil {
		return nil, err
	}
	if l.QualifiedName != unit {
		return nil, &document.Error{File: path, Pointer: "/qualifiedName", Message: fmt.Sprintf("names %q, but the file is the lease of %q", l.QualifiedName, unit)}
	}
	return l, nil
}

// SnapshotOf describes a Unit of the desired branch as leases record it; every field is "" for a Unit that is not there
// (chapter D, 6.2).
func SnapshotOf(tree Tree, unit string) (*resource.LeaseSnapshot, error) {
	s := &resource.LeaseSnapshot{}
	path, err := representation(tree, resource.UnitsPath+"/"+unit)
	if err != nil {
		return nil, err
	}
	if path != "" {
		data, err := tree.ReadFile(path)
		if err != nil {
			return nil, err
		}
		u, err := resource.DecodeUnit(path, data)
		if err != nil {
			return nil, err
		}
		kind, _ := resource.UnitKindOf(u.Kind)
		s.UnitPath, s.GVK, s.Driver = path, u.GVK(), kind.Driver
		s.UnitBlob, _ = tree.Blob(path)
		if source := u.Source(); source != nil {
			s.SourceRevision = source.Revision
		}
	}
	if s.CleanupPath, err = representation(tree, resource.CleanupPath+"/"+unit); err != nil {
		return nil, err
	}
	if s.CleanupPath != "" {
		s.CleanupBlob, _ = tree.Blob(s.CleanupPath)
	}
	return s, nil
}

func representation(tree Tree, stem string) (string, error) {
	return resource.Representation(stem, func(path string) bool {
		_, ok := tree.Blob(path)
		return ok
	})
}
