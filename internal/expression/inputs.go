package expression

import "github.com/gitopsctr/gitopsctr/internal/document"

// Fingerprints maps what was read to what identifies that version of it, in the order of first reading.
type Fingerprints struct {
	fields []document.Field
	places map[string]int // key → index in fields
}

// Len returns the number of entries.
func (f *Fingerprints) Len() int { return len(f.fields) }

func (f *Fingerprints) set(key string, value *document.Node) {
	if i, known := f.places[key]; known {
		f.fields[i].Value = value
		return
	}
	if f.places == nil {
		f.places = map[string]int{}
	}
	f.places[key] = len(f.fields)
	f.fields = append(f.fields, document.F(key, value))
}

func (f *Fingerprints) merge(other Fingerprints) {
	for _, field := range other.fields {
		f.set(field.Key, field.Value)
	}
}

func (f *Fingerprints) node() *document.Node {
	if len(f.fields) == 0 {
		return document.NewNull()
	}
	return document.NewMap(f.fields...)
}

// Inputs are the fingerprints of everything that a Unit's references read, by kind of evidence (chapter B, 5.3).
type Inputs struct {
	Promotions, Receipts, Artifacts, ImportedArtifacts, ImportedEvidence Fingerprints
}

// Merge adds the entries of other; an equal key keeps its place and takes the later value.
func (i *Inputs) Merge(other Inputs) {
	i.Promotions.merge(other.Promotions)
	i.Receipts.merge(other.Receipts)
	i.Artifacts.merge(other.Artifacts)
	i.ImportedArtifacts.merge(other.ImportedArtifacts)
	i.ImportedEvidence.merge(other.ImportedEvidence)
}

// Node returns spec.resolvedInputs: null without fingerprints, else an object with all five keys, null where empty.
func (i *Inputs) Node() *document.Node {
	if i.Promotions.Len()+i.Receipts.Len()+i.Artifacts.Len()+i.ImportedArtifacts.Len()+i.ImportedEvidence.Len() == 0 {
		return document.NewNull()
	}
	return document.NewMap(
		document.F("promotions", i.Promotions.node()),
		document.F("receipts", i.Receipts.node()),
		document.F("artifacts", i.Artifacts.node()),
		document.F("importedArtifacts", i.ImportedArtifacts.node()),
		document.F("importedArtifactEvidence", i.ImportedEvidence.node()),
	)
}
