package observed

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// An ArtifactFile is one artifact document of the observed ref.
type ArtifactFile struct {
	*resource.Artifact
	// Name is the qualified name: its producer's, a slash, its own.
	Name, Producer, Path string
	// Authentication is CURRENT, STALE, ORPHAN, or UNKNOWN when its Receipt describes another one.
	Authentication Observation
}

// Artifacts reads all artifacts and tells what each is worth: as much as the Receipt that describes it (chapter H, 4.2).
func (v *Survey) Artifacts() ([]ArtifactFile, []Fault) {
	var faults []Fault
	worth := map[string]Observation{} // by path
	broken := map[string]bool{}       // producers
	for _, name := range v.ReceiptNames() {
		observation, err := v.Observation(name)
		if err != nil || observation == Unknown {
			broken[name] = true // reported where Receipts are
			continue
		}
		receipt, err := v.Receipt(name)
		if err != nil || observation == Orphan {
			continue
		}
		if err := v.authenticate(v.units[name], receipt, observation); err != nil {
			broken[name] = true
			faults = append(faults, Fault{ArtifactFamily, name, err})
			continue
		}
		for _, d := range receipt.Artifacts {
			worth[d.Path] = observation
		}
	}
	files, readFaults := v.artifactFiles()
	for i := range files {
		f := &files[i]
		f.Authentication = Orphan
		if o, ok := worth[f.Path]; ok {
			f.Authentication = o
		} else if broken[f.Producer] {
			f.Authentication = Unknown
		}
	}
	return files, append(faults, readFaults...)
}

// artifactFiles decodes the artifact documents; a file that cannot be read is a fault.
func (v *Survey) artifactFiles() ([]ArtifactFile, []Fault) {
	var out []ArtifactFile
	before := len(v.faults)
	seen := map[string]string{}
	v.eachFile(ArtifactFamily, v.Observed, resource.ArtifactsPath, func(name, path, _ string) {
		producer, local := "", resource.LocalName(name)
		if i := strings.LastIndexByte(name, '/'); i >= 0 {
			producer = name[:i]
		}
		data, err := v.Observed.Tree.ReadFile(path)
		var artifact *resource.Artifact
		if err == nil {
			artifact, err = resource.DecodeArtifact(path, data)
		}
		switch {
		case err != nil:
		case producer == "":
			err = &document.Error{File: path, Message: "lies in no producer's directory", Fix: "remove it from the ref"}
		case seen[name] != "":
			err = &resource.DuplicateRepresentationError{Paths: []string{seen[name], path}}
		default:
			err = resource.CheckPath(path, local, artifact.Name)
		}
		if err != nil {
			v.fault(ArtifactFamily, name, v.Observed, err)
			return
		}
		seen[name] = path
		out = append(out, ArtifactFile{Artifact: artifact, Name: name, Producer: producer, Path: path})
	})
	faults := v.faults[before:]
	v.faults = v.faults[:before:before]
	return out, faults
}

// Described returns the artifacts that a Receipt describes, in the order of its descriptors' names. Only this Receipt's own
// artifacts have to be sound (chapter H, 5.3).
func (v *Survey) Described(name string) ([]ArtifactFile, error) {
	receipt, err := v.Receipt(name)
	if err != nil {
		return nil, err
	}
	u := v.units[name]
	if receipt == nil || u == nil || receipt.UnitBlob != u.Blob {
		return nil, fmt.Errorf("the Receipt of %s is not current, so its artifacts are not those of the desired Unit; converge it first", name)
	}
	if err := v.authenticate(u, receipt, Current); err != nil {
		return nil, err
	}
	out := make([]ArtifactFile, 0, len(receipt.Artifacts))
	for _, d := range receipt.Artifacts {
		artifact, err := v.describedArtifact(u, d)
		if err != nil {
			return nil, err
		}
		out = append(out, ArtifactFile{artifact, name + "/" + d.Name, name, d.Path, Current})
	}
	return out, nil
}

// authenticate checks all artifacts that a Receipt describes. Those of a stale one were made from an older version of the
// Unit, so only its identity is compared.
func (s *State) authenticate(u *Unit, r *Receipt, observation Observation) error {
	if observation == Current {
		return s.CheckArtifacts(u, r)
	}
	if err := s.checkArtifactSet(u, r); err != nil {
		return err
	}
	for _, d := range r.Artifacts {
		a, err := s.describedArtifact(u, d)
		if err == nil && (a.Name != d.Name || a.Producer.Kind != u.Kind || a.Producer.Name != u.Metadata.Name || a.Producer.QualifiedName != u.Name) {
			err = errors.New("it was made by another Unit")
		}
		if err != nil {
			return fmt.Errorf("artifact %s/%s on %s: %w", u.Name, d.Name, s.Observed.Ref, err)
		}
	}
	return nil
}
