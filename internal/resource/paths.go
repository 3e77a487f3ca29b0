package resource

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

// The collections of the desired and observed refs (chapter A, section 6).
const (
	UnitsPath          = "units"           // desired Units; on the observed ref, Receipts
	StacksPath         = "stacks"          // desired Stacks
	StackTemplatesPath = "stack-templates" // desired StackTemplates
	ArtifactsPath      = "artifacts"       // artifacts, on the observed ref
	MaterializedPath   = "materialized"    // payloads
	PromotionStem      = "promotion"       // the Promotion, with a suffix
	BlocksPath         = ".gitopsctr/transition-blocks.json"
	CleanupPath        = ".gitopsctr/cleanup/units"
	TombstonesPath     = ".gitopsctr/incarnations/resources"
	ContextsPath       = ".gitopsctr/projection-contexts"
	TeardownsPath      = ".gitopsctr/teardowns/units"
	LeasesPath         = ".gitopsctr/effect-leases/units"
	LeaseStorePath     = ".gitopsctr/effect-leases/.store"
)

// UnitPath returns the path of a desired Unit.
func UnitPath(qualified string, f document.Format) string {
	return UnitsPath + "/" + qualified + f.Suffix()
}

// ReceiptPath returns the path of a Unit's Receipt on the observed ref.
func ReceiptPath(qualified string, f document.Format) string { return UnitPath(qualified, f) }

// ArtifactPath returns the path of an artifact on the observed ref.
func ArtifactPath(qualified, name string, f document.Format) string {
	return ArtifactsPath + "/" + qualified + "/" + name + f.Suffix()
}

// Representations returns the paths that a document with this path stem may have, in the order in which they are looked
// for.
func Representations(stem string) []string {
	return []string{stem + ".yaml", stem + ".yml", stem + ".json"}
}

// A DuplicateRepresentationError says that one document exists in several formats.
type DuplicateRepresentationError struct {
	// Paths are the files of the document, sorted.
	Paths []string
}

func (e *DuplicateRepresentationError) Error() string {
	return fmt.Sprintf("one document in several files: %s; remove all but one", strings.Join(e.Paths, ", "))
}

// Representation returns the one path of a document that exists, "" when none does.
func Representation(stem string, exists func(path string) bool) (string, error) {
	var found []string
	for _, p := range Representations(stem) {
		if exists(p) {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		return "", nil
	case 1:
		return found[0], nil
	}
	slices.Sort(found)
	return "", &DuplicateRepresentationError{found}
}

// QualifiedNameOf returns the qualified name of the document at a path below a collection, and whether the path is that
// of a document at all: below the collection, with one of the suffixes, each segment a name.
func QualifiedNameOf(path, collection string) (string, bool) {
	rest, ok := strings.CutPrefix(path, collection+"/")
	if !ok {
		return "", false
	}
	for _, suffix := range []string{".yaml", ".yml", ".json"} {
		if name, ok := strings.CutSuffix(rest, suffix); ok {
			return name, isQualifiedName(name)
		}
	}
	return "", false
}

// LocalName returns the last segment of a qualified name.
func LocalName(qualified string) string { return qualified[strings.LastIndexByte(qualified, '/')+1:] }

// StackOf returns the Stack that a qualified Unit name belongs to, "" for a Unit of its own.
func StackOf(qualified string) string {
	stack, _, owned := strings.Cut(qualified, "/")
	if !owned {
		return ""
	}
	return stack
}

// Index finds the documents of a collection among the paths: qualified name to path. A document in several files is a
// *DuplicateRepresentationError, a document whose path is no name a *document.Error.
func Index(paths []string, collection string) (map[string]string, error) {
	found := map[string]string{}
	for _, p := range paths {
		name, ok := QualifiedNameOf(p, collection)
		switch {
		case name == "":
			continue
		case !ok:
			return nil, &document.Error{File: p, Message: quote(name) + " is not " + qualifiedName.says, Fix: "rename or remove the file"}
		}
		if other, twice := found[name]; twice {
			pair := []string{other, p}
			slices.Sort(pair)
			return nil, &DuplicateRepresentationError{pair}
		}
		found[name] = p
	}
	return found, nil
}

// CheckPath checks that a document with this local name may lie at the qualified name.
func CheckPath(file, qualified, local string) error {
	if LocalName(qualified) == local {
		return nil
	}
	return &document.Error{File: file, Pointer: "/metadata/name",
		Message: fmt.Sprintf("must be %s, the name of the file, not %s", quote(LocalName(qualified)), quote(local))}
}
