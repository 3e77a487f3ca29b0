package observed

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/expression"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// Evidence serves Receipts and Artifacts of a State to references: only evidence of exactly the Unit that Candidate knows.
// It implements the environment's part of expression.Lookup.
type Evidence struct {
	State *State
	// Candidate returns the desired Unit that a producer is, with its file's blob id; ok is false when there is none (yet).
	Candidate func(name string) (u *resource.Unit, blob string, ok bool)
	// Env is {name, …spec} of the Environment as authored.
	Env *document.Node

	// checked and artifacts keep what passed the checks, for the next reference to it; what did not is looked at again,
	// because the candidate grows.
	checked   map[string]checkedReceipt
	artifacts map[string]expression.Evidence
}

type checkedReceipt struct {
	receipt *Receipt
	unit    *Unit
}

// Environment implements expression.Lookup.
func (e *Evidence) Environment() *document.Node { return e.Env }

// Receipt implements expression.Lookup: the checks of chapter B, 5.3 in their order.
func (e *Evidence) Receipt(name string) (expression.Evidence, error) {
	r, _, err := e.current(name)
	if err != nil {
		return expression.Evidence{}, err
	}
	return expression.Evidence{Document: r.Result, Fingerprint: r.Blob}, nil
}

// current returns the Receipt of exactly the candidate's document of the Unit.
func (e *Evidence) current(name string) (*Receipt, *Unit, error) {
	if e.State.Observed.Revision == "" {
		// The wording of a missing Receipt: nothing is observed yet, and the next run will say the same of the Receipt.
		return nil, nil, &expression.Unavailable{Cause: expression.NoReceipt, Producer: name}
	}
	receipt, err := e.State.Receipt(name)
	if err != nil {
		return nil, nil, err
	}
	if receipt == nil {
		return nil, nil, &expression.Unavailable{Cause: expression.NoReceipt, Producer: name}
	}
	producer, blob, ok := e.Candidate(name)
	if !ok || receipt.UnitBlob != blob {
		return nil, nil, &expression.Unavailable{Cause: expression.StaleReceipt, Producer: name}
	}
	if known, ok := e.checked[name]; ok {
		return known.receipt, known.unit, nil
	}
	u := &Unit{Unit: producer, Name: name, Blob: blob}
	if err := e.State.checkArtifactSet(u, receipt); err != nil {
		return nil, nil, err
	}
	if e.checked == nil {
		e.checked = map[string]checkedReceipt{}
	}
	e.checked[name] = checkedReceipt{receipt, u}
	return receipt, u, nil
}

// Artifact implements expression.Lookup.
func (e *Evidence) Artifact(ref *expression.Reference) (expression.Evidence, error) {
	wanted := resource.GVK{APIVersion: ref.APIVersion, Kind: ref.ArtifactKind}
	if !isArtifact(wanted) {
		return expression.Evidence{}, fmt.Errorf("%s is no installed artifact type", wanted)
	}
	receipt, producer, err := e.current(ref.Unit)
	if err != nil {
		return expression.Evidence{}, err
	}
	kind, _ := resource.UnitKindOf(producer.Kind)
	if declared, ok := kind.Artifacts[ref.Name]; !ok || declared != wanted {
		return expression.Evidence{}, fmt.Errorf("Unit %s (%s) makes no artifact %q of type %s", ref.Unit, producer.Kind, ref.Name, wanted)
	}
	descriptor, _ := receipt.Artifact(ref.Name) // it is there: the set was checked
	key := producer.Blob + " " + receipt.Blob + " " + descriptor.Path
	if known, ok := e.artifacts[key]; ok {
		return known, nil
	}
	doc, err := e.State.artifact(producer, descriptor)
	var differs artifactMismatch
	switch {
	case errors.As(err, &differs):
		return expression.Evidence{}, &expression.Unavailable{Cause: expression.BadArtifact, Producer: ref.Unit, Detail: differs.Error()}
	case err != nil:
		return expression.Evidence{}, fmt.Errorf("read %s: %w", e.State.Observed.Ref, err)
	}
	evidence := expression.Evidence{Document: doc, Fingerprint: descriptor.Digest}
	if e.artifacts == nil {
		e.artifacts = map[string]expression.Evidence{}
	}
	e.artifacts[key] = evidence
	return evidence, nil
}

// artifactMismatch says how an artifact differs from what its Receipt or its Unit says of it. A reference to it waits; it
// holds no digest and no revision, because it becomes part of a stored reason (chapter B, sections 5.3 and 6).
type artifactMismatch string

func (m artifactMismatch) Error() string { return string(m) }

func mismatch(format string, args ...any) error {
	return artifactMismatch(fmt.Sprintf(format, args...))
}

// CheckArtifacts validates the artifacts that a current Receipt describes (chapter D, 4.4). The error names the artifact.
func (s *State) CheckArtifacts(u *Unit, r *Receipt) error {
	if err := s.checkArtifactSet(u, r); err != nil {
		return err
	}
	for _, d := range r.Artifacts {
		if _, err := s.artifact(u, d); err != nil {
			return fmt.Errorf("artifact %s/%s on %s: %w", u.Name, d.Name, s.Observed.Ref, err)
		}
	}
	return nil
}

// checkArtifactSet checks that the Receipt describes exactly the declared artifacts and that the files are exactly those.
func (s *State) checkArtifactSet(u *Unit, r *Receipt) error {
	kind, _ := resource.UnitKindOf(u.Kind)
	if r.Subject.Kind != u.Kind {
		return fmt.Errorf("the Receipt of %s on %s is of kind %s, but the Unit is of kind %s", u.Name, s.Observed.Ref, r.Subject.Kind, u.Kind)
	}
	if len(kind.Artifacts) == 0 && len(r.Artifacts) == 0 {
		return nil
	}
	var described, files []string
	for _, d := range r.Artifacts {
		if _, ok := kind.Artifacts[d.Name]; !ok {
			return fmt.Errorf("the Receipt of %s describes the artifact %q, which kind %s does not make", u.Name, d.Name, u.Kind)
		}
		described = append(described, d.Path)
	}
	if len(described) != len(kind.Artifacts) {
		return fmt.Errorf("the Receipt of %s describes %d artifacts, kind %s makes %d", u.Name, len(described), u.Kind, len(kind.Artifacts))
	}
	for _, f := range s.Observed.Tree.Files("artifacts/" + u.Name + "/") {
		files = append(files, f.Path)
	}
	slices.Sort(described)
	if !slices.Equal(described, files) {
		return fmt.Errorf("the artifact files of %s are %s, but its Receipt describes %s", u.Name, list(files), list(described))
	}
	return nil
}

// artifact reads one described artifact and checks it against its descriptor and its producer. What does not match is an
// artifactMismatch; a document that breaks its contract is none.
func (s *State) artifact(u *Unit, d resource.ArtifactDescriptor) (*document.Node, error) {
	a, err := s.describedArtifact(u, d)
	if err != nil {
		return nil, err
	}
	producer, err := resource.ProducerOf(u.Unit, u.Name)
	if err != nil {
		return nil, err
	}
	if a.Name != d.Name || a.Producer != producer {
		return nil, mismatch("it was made from another version of its Unit")
	}
	return a.ReferenceValue(), nil
}

// describedArtifact reads one described artifact and checks it against its descriptor only.
func (s *State) describedArtifact(u *Unit, d resource.ArtifactDescriptor) (*resource.Artifact, error) {
	format := document.FormatOf(d.Path)
	if want := resource.ArtifactPath(u.Name, d.Name, format); d.Path != want || path.Clean(d.Path) != d.Path {
		return nil, mismatch("its path is %q, not %q", d.Path, want)
	}
	data, err := s.Observed.Tree.ReadFile(d.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, mismatch("the file does not exist")
	}
	if err != nil {
		return nil, err
	}
	kind, _ := resource.UnitKindOf(u.Kind)
	if d.GVK != kind.Artifacts[d.Name] {
		return nil, mismatch("its type is %s, not %s", d.GVK, kind.Artifacts[d.Name])
	}
	if want := resource.MediaType(d.GVK.Kind, d.Path); d.MediaType != want {
		return nil, mismatch("its media type is %q, not %q", d.MediaType, want)
	}
	if resource.ContentHash(data) != d.Digest {
		return nil, mismatch("its digest is not the described one")
	}
	a, err := resource.DecodeArtifact(d.Path, data)
	if err != nil {
		return nil, err
	}
	return a, nil
}

func (s *State) checkMaterialization(u *Unit) error {
	var files []resource.InputFile
	prefix := resource.MaterializedPath + "/" + u.Name + "/"
	for _, f := range s.Desired.Tree.Files(prefix) {
		data, err := s.Desired.Tree.ReadFile(f.Path)
		if err != nil {
			return err
		}
		files = append(files, resource.InputFile{Path: strings.TrimPrefix(f.Path, prefix), Mode: "100644", SHA256: document.SHA256Hex(data)})
	}
	want := u.Spec.Path("materialization", "digest").Str()
	if got := resource.MaterializationDigest(files); got != want {
		return fmt.Errorf("materialized payload of %s on %s: its digest is %s, but the Unit says %s", u.Name, s.Desired.Ref, got, want)
	}
	return nil
}

func isArtifact(gvk resource.GVK) bool {
	return gvk.APIVersion == resource.ArtifactAPI && slices.Contains(resource.ArtifactKinds(), gvk.Kind)
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
