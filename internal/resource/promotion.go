package resource

import "github.com/gitopsctr/gitopsctr/internal/document"

// A Promotion records which state of another environment the desired state was taken from (chapter F, section 3.5).
type Promotion struct {
	// File is where it was read from, "" for a new one.
	File string
	// Environment is the source environment, and metadata.name.
	Environment string
	// The refs are short branch names; ObservedRevision is "" when the source had no observed state.
	DesiredRef, DesiredRevision, ObservedRef, ObservedRevision string
	// SpecificationRevision is the commit whose authored documents were used.
	SpecificationRevision string
}

// DecodePromotion reads a Promotion. All its faults come as document.Errors.
func DecodePromotion(file string, data []byte) (*Promotion, error) {
	n, err := document.DecodeLenient(file, data)
	if err != nil {
		return nil, err
	}
	if _, err := kindOf(file, n, CoreAPI, []string{"Promotion"}); err != nil {
		return nil, err
	}
	if err := checkShape(file, "", promotionShape, n); err != nil {
		return nil, err
	}
	source := n.Path("spec", "source")
	p := &Promotion{
		File:                  file,
		Environment:           source.Get("environment").Str(),
		DesiredRef:            source.Get("desiredRef").Str(),
		DesiredRevision:       source.Get("desiredRevision").Str(),
		ObservedRef:           source.Get("observedRef").Str(),
		ObservedRevision:      source.Get("observedRevision").Str(),
		SpecificationRevision: n.Path("spec", "specificationRevision").Str(),
	}
	if name := n.Path("metadata", "name").Str(); name != p.Environment {
		return nil, faultAt(file, n, "must be the source environment, "+quote(p.Environment), "", "metadata", "name")
	}
	return p, nil
}

func (p *Promotion) spec() []document.Field {
	return []document.Field{
		document.F("source", document.NewMap(
			document.F("environment", document.NewString(p.Environment)),
			document.F("desiredRef", document.NewString(p.DesiredRef)),
			document.F("desiredRevision", document.NewString(p.DesiredRevision)),
			document.F("observedRef", document.NewString(p.ObservedRef)),
			document.F("observedRevision", nullable(p.ObservedRevision)))),
		document.F("specificationRevision", document.NewString(p.SpecificationRevision)),
	}
}

// Node returns the whole document in written order, "$schema" included.
func (p *Promotion) Node() *document.Node {
	metadata := document.NewMap(document.F("name", document.NewString(p.Environment)))
	return document.NewMap(append(envelope(GVK{CoreAPI, "Promotion"}, NoProfile, metadata), document.F("spec", document.NewMap(p.spec()...)))...)
}

// Encode writes the document.
func (p *Promotion) Encode(f document.Format) ([]byte, error) { return document.Encode(f, p.Node()) }

// CandidateContext is what identifies the promotion in a candidate id. Its "$schema" is not that of the document, but
// the one that candidate ids were first made with (chapter F, section 2.3).
func (p *Promotion) CandidateContext() *document.Node {
	return document.NewMap(append([]document.Field{
		document.F(schemaKey, document.NewString(SchemaRoot+"/core/v1/promotion.schema.json"))}, p.spec()...)...)
}

var promotionShape = envelopeShape(GVK{CoreAPI, "Promotion"}, "Which state of another environment the desired state was taken from.",
	authoredMetadata(localName),
	need("spec", object("What was promoted.",
		need("source", object("The promoted state.",
			need("environment", text(localName), "The environment."),
			need("desiredRef", text(nonEmpty), "Its desired branch."),
			need("desiredRevision", text(objectID), "Commit of its desired state."),
			need("observedRef", text(nonEmpty), "Its observed branch."),
			need("observedRevision", orNull(text(objectID)), "Commit of its observed state, null without one.")), "The promoted state."),
		need("specificationRevision", text(objectID), "Commit whose authored documents were used.")), "What was promoted."))
