package resource

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

// The functions here tell of a JSON Pointer, before there is any document to follow it in, whether it can lead to a value
// at all. The shapes of the documents decide; where a shape leaves everything open, everything is reachable. The error is
// a *document.PointerError that names what is known at the place where the pointer goes wrong.

// CheckResultPointer checks a pointer into status.result of the Receipts of a Unit kind.
func CheckResultPointer(kind, pointer string) error {
	return shapesOf(kind).result.reach(pointer)
}

// CheckSpecPointer checks a pointer into the desired spec of a Unit kind.
func CheckSpecPointer(kind, pointer string) error {
	return shapesOf(kind).desired.reach(pointer)
}

// CheckArtifactPointer checks a pointer into the artifacts of a type.
func CheckArtifactPointer(gvk GVK, pointer string) error {
	shape, ok := artifactShapes[gvk.Kind]
	if !ok || gvk.APIVersion != ArtifactAPI {
		return fmt.Errorf("%s is no installed artifact type", gvk)
	}
	return shape.reach(pointer)
}

func (s *shape) reach(pointer string) error {
	tokens, err := document.ParsePointer(pointer)
	if err != nil {
		return err
	}
	at := []*shape{s} // more than one behind a union
	for i, token := range tokens {
		var next []*shape
		var known []string
		for _, s := range at {
			below, names := s.step(token)
			next, known = append(next, below...), append(known, names...)
		}
		if len(next) == 0 {
			return &document.PointerError{Pointer: pointer, Token: token, Index: i, Reason: nothingThere(known)}
		}
		at = next
	}
	return nil
}

// step returns the shapes that one token leads to, and the names that are known when it leads nowhere.
func (s *shape) step(token string) (below []*shape, known []string) {
	switch s.kind {
	case objectShape:
		f := s.field(token)
		if f == nil || token == schemaKey || f.presence == dropped {
			return nil, s.fieldNames()
		}
		return []*shape{f.shape}, nil
	case tableShape:
		return []*shape{s.elem}, nil
	case listShape:
		if isIndex(token) {
			return []*shape{s.elem}, nil
		}
		return nil, []string{"0"}
	case valueShape, freeShape, resolvedShape, templateShape, bindingsShape:
		return []*shape{anyValue}, nil
	case typedShape:
		return s.elem.step(token)
	case unionShape:
		for _, v := range s.variants {
			more, names := v.shape.step(token)
			below, known = append(below, more...), append(known, names...)
		}
	}
	return below, known
}

func nothingThere(known []string) string {
	if len(known) == 0 {
		return "there is nothing below that place"
	}
	slices.Sort(known)
	return "is not there; known there: " + strings.Join(slices.Compact(known), ", ")
}

// isIndex tells whether a reference token can be a list index.
func isIndex(token string) bool {
	if token == "" || len(token) > 1 && token[0] == '0' {
		return false
	}
	return !strings.ContainsFunc(token, func(r rune) bool { return r < '0' || r > '9' })
}
