package resource

import (
	"github.com/gitopsctr/gitopsctr/internal/document"
)

// An Environment is one target of delivery (chapter A, section 5).
type Environment struct {
	// File is where it was read from.
	File string
	Name string
	// ChangeGate says how changes of desired state get in.
	ChangeGate ChangeGate
	// DesiredRef, ObservedRef and CandidateTemplate override those of the Project; "" is no override.
	DesiredRef, ObservedRef, CandidateTemplate string
	// AllowedSources are the environments that may be promoted from; nil is none.
	AllowedSources []string
	// MinimumEvidence is what a source environment must have reached before a promotion.
	MinimumEvidence MinimumEvidence
	// Document is the whole document as authored.
	Document *document.Node
}

// A ChangeGate says how changes of desired state get in.
type ChangeGate string

// The change gates.
const (
	NoGate          ChangeGate = "none"
	PullRequestGate ChangeGate = "pullRequest"
)

// MinimumEvidence says what a source environment must have reached before a promotion.
type MinimumEvidence string

// The minimum evidence.
const (
	ReconciledEvidence   MinimumEvidence = "reconciled"
	MaterializedEvidence MinimumEvidence = "materialized"
)

// DecodeEnvironment reads the Environment of the directory dirName, strictly. All its faults come as document.Errors.
func DecodeEnvironment(file string, data []byte, dirName string) (*Environment, error) {
	n, err := document.Decode(file, data)
	if err != nil {
		return nil, err
	}
	if _, err := kindOf(file, n, CoreAPI, []string{"Environment"}); err != nil {
		return nil, err
	}
	if err := checkShape(file, "", environmentShape, n); err != nil {
		return nil, err
	}
	if name := n.Path("metadata", "name").Str(); name != dirName {
		return nil, faultAt(file, n, "must be "+quote(dirName)+", the name of the directory, not "+quote(name), "", "metadata", "name")
	}
	spec := n.Get("spec")
	refs := spec.Get("refs")
	return &Environment{
		File:              file,
		Name:              dirName,
		ChangeGate:        ChangeGate(or(spec.Get("changeGate").Str(), string(NoGate))),
		DesiredRef:        refs.Get("desired").Str(),
		ObservedRef:       refs.Get("observed").Str(),
		CandidateTemplate: refs.Get("candidate").Str(),
		AllowedSources:    spec.Path("promotion", "allowedSources").Strs(),
		MinimumEvidence:   MinimumEvidence(or(spec.Path("promotionPolicy", "minimumEvidence").Str(), string(ReconciledEvidence))),
		Document:          n,
	}, nil
}

// ReferenceValue is the value that fromEnvironment points into: {name, …spec}, as authored, no defaults added.
func (e *Environment) ReferenceValue() *document.Node {
	n := document.NewMap(document.F("name", document.NewString(e.Name)))
	if spec := e.Document.Get("spec"); !spec.IsNull() {
		n.Fields = append(n.Fields, spec.Fields...)
	}
	return n
}

// UnpromotedEnvironment writes the document that alone stands in the first commit of a desired ref behind a pull request
// (chapter B, section 4.1). It is a sign for people; nothing reads it.
func UnpromotedEnvironment(name string, f document.Format) ([]byte, error) {
	metadata := document.NewMap(document.F("name", document.NewString(name)))
	spec := document.NewMap(document.F("state", document.NewString("unpromoted")))
	return document.Encode(f, document.NewMap(append(envelope(GVK{CoreAPI, "Environment"}, NoProfile, metadata), document.F("spec", spec))...))
}

var environmentShape = envelopeShape(GVK{CoreAPI, "Environment"}, "A target of delivery; its directory holds its Units.",
	authoredMetadata(localName),
	need("spec", object("The environment.",
		with("changeGate", oneOf(string(NoGate), string(PullRequestGate)), document.NewString(string(NoGate)), "none: changes are published at once; pullRequest: they wait for a merge."),
		may("refs", object("Branches of this environment.",
			may("desired", text(literalRef), "Branch of the desired state."),
			may("observed", text(literalRef), "Branch of the observed state."),
			may("candidate", text(candidateTemplate), "Branch of a change under review; must contain {environment}, may contain {id} and {operation}."),
		), "Branches of this environment, in place of the Project's."),
		may("promotion", object("Promotion into this environment.",
			need("allowedSources", &shape{kind: listShape, elem: text(localName), minItems: 1, unique: true}, "Environments that may be promoted from.")), "Promotion into this environment."),
		may("promotionPolicy", object("What a promotion asks of the source.",
			need("minimumEvidence", oneOf(string(ReconciledEvidence), string(MaterializedEvidence)), "reconciled: all Units have a current Receipt; materialized: their desired state is enough.")), "What a promotion asks of the source."),
	), "The environment."))
