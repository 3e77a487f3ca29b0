package resource

import "github.com/gitopsctr/gitopsctr/internal/document"

// A StackTemplate is a desired StackTemplate: parameters and Unit templates, as they were acquired (chapter E, section 3).
type StackTemplate struct {
	// File is where it was read from, "" for a new one.
	File     string
	Metadata Metadata
	// Spec is complete and in written order.
	Spec *document.Node
}

// An AuthoredStackTemplate is a StackTemplate as people write it: inline, or with the place where it comes from.
type AuthoredStackTemplate struct {
	File, Name string
	// Spec is complete: {parameters, unitTemplates}, or {source: {fromGit | fromPromotion}}.
	Spec *document.Node
}

var stackTemplateGVK = GVK{CoreAPI, "StackTemplate"}

// DecodeStackTemplate reads a desired StackTemplate. All its faults come as document.Errors.
func DecodeStackTemplate(file string, data []byte) (*StackTemplate, error) {
	n, err := document.DecodeLenient(file, data)
	if err != nil {
		return nil, err
	}
	metadata, spec, err := desiredRoot(file, n, "StackTemplate", stackTemplateShape)
	if err != nil {
		return nil, err
	}
	return &StackTemplate{file, metadata, spec}, nil
}

// Node returns the whole document in written order, "$schema" included.
func (s *StackTemplate) Node() *document.Node {
	return document.NewMap(append(envelope(stackTemplateGVK, Desired, s.Metadata.Node()), document.F("spec", s.Spec))...)
}

// Encode writes the document.
func (s *StackTemplate) Encode(f document.Format) ([]byte, error) {
	return document.Encode(f, s.Node())
}

// DecodeAuthoredStackTemplate reads an authored StackTemplate. All its faults come as document.Errors.
func DecodeAuthoredStackTemplate(file string, data []byte) (*AuthoredStackTemplate, error) {
	n, err := document.Decode(file, data)
	if err != nil {
		return nil, err
	}
	return AuthoredStackTemplateFromNode(file, n)
}

// AuthoredStackTemplateFromNode reads an authored StackTemplate from a parsed document.
func AuthoredStackTemplateFromNode(file string, n *document.Node) (*AuthoredStackTemplate, error) {
	name, spec, err := authoredRoot(file, n, "StackTemplate", authoredStackTemplateShape)
	if err != nil {
		return nil, err
	}
	return &AuthoredStackTemplate{file, name, spec}, nil
}

// Node returns the authored document in written order.
func (s *AuthoredStackTemplate) Node() *document.Node {
	return authoredNode(stackTemplateGVK, s.Name, s.Spec)
}

var templateParameters = list(object("A parameter; each Stack gives it a value.",
	need("name", text(identifier), "Name of the parameter."),
	need("type", oneOf("string", "integer", "number", "boolean", "object", "array"), "Type of its values.")))

func unitTemplates(spec *shape) *shape {
	s := table("Unit templates by local name.", identifier, object("A Unit of each Stack.",
		need("apiVersion", text(apiVersion), "API version of the Unit, unit.gitopsctr.io/v1."),
		need("kind", text(kindName), "Kind of the Unit."),
		need("spec", spec, "Spec of the Unit, in which values may be parameters."),
		with("dependsOn", &shape{kind: listShape, elem: text(identifier), unique: true}, document.NewList(), "Units of the template that come first.")))
	s.minItems = 1
	return s
}

var gitTemplateSource = object("A document in a Git repository.",
	need("repository", text(gitRepository), "URL or path of the repository; . is this one."),
	need("revision", text(gitRevision), "Branch, tag or commit."),
	need("path", text(portablePath), "Path of the document in the repository."),
	may("documentDigest", text(sha256Digest), "Digest that the document must have; null: any."))

var authoredStackTemplateShape = envelopeShape(stackTemplateGVK, "Parameters and Unit templates, from which Stacks are made.", authoredMetadata(identifier),
	need("spec", union("The template, or where it comes from.", "",
		variant{"source", object("Where the template comes from.",
			need("source", union("", "",
				variant{"fromGit", object("", need("fromGit", gitTemplateSource, "A document in a Git repository."))},
				variant{"fromPromotion", object("", need("fromPromotion", object("",
					need("stack", text(identifier), "The Stack of the promoted environment whose template is taken.")), "The template of a promoted Stack."))},
			), "Where the template comes from."))},
		variant{"", object("The template itself.",
			need("parameters", templateParameters, "Parameters of the template."),
			need("unitTemplates", unitTemplates(stackTemplated), "Unit templates by local name."))},
	), "The template."))

var stackTemplateShape = envelopeShape(stackTemplateGVK, "Parameters and Unit templates, as published.", desiredMetadata(identifier),
	need("spec", object("",
		need("parameters", templateParameters, "Parameters of the template."),
		need("unitTemplates", unitTemplates(stackTemplated), "Unit templates by local name."),
		need("contentDigest", text(sha256Digest), "Digest of parameters and Unit templates."),
		need("acquisition", object("How the template was acquired.",
			need("documentDigest", text(sha256Digest), "Digest of the document as it was found."),
			need("requestedSource", union("", "",
				variant{"fromInput", object("", need("fromInput", noMembers, "From the applied document."))},
				variant{"fromGit", object("", need("fromGit", gitTemplateSource, "From a Git repository."))},
				variant{"fromPromotion", object("", need("fromPromotion", object("",
					need("stack", text(identifier), "The Stack of the promoted environment.")), "From a promoted Stack."))},
			), "What was asked for."),
			need("resolvedSource", union("", "",
				variant{"fromInput", object("", need("fromInput", noMembers, "From the applied document."))},
				variant{"fromGit", object("", need("fromGit", object("",
					need("repository", text(gitRepository), "Identity of the repository."),
					need("revision", text(objectID), "Commit."),
					need("path", text(portablePath), "Path of the document.")), "From a Git repository."))},
				variant{"fromPromotion", object("", need("fromPromotion", object("",
					need("environment", text(localName), "The promoted environment."),
					need("desiredRef", text(nonEmpty), "Its desired branch."),
					need("desiredRevision", text(objectID), "Its desired commit."),
					need("stack", text(identifier), "Its Stack."),
					need("stackUid", text(identifier), "UID of the Stack."),
					need("template", text(identifier), "Its StackTemplate."),
					need("templateUid", text(identifier), "UID of the StackTemplate."),
					need("templateContentDigest", text(sha256Digest), "Content digest of the StackTemplate.")), "From a promoted Stack."))},
			), "What was taken.")), "How the template was acquired."),
		may("sourceContext", object("The repository and commit that sources of the Unit templates are taken from.",
			need("repository", text(gitRepository), "Identity of the repository; . is this one."),
			need("revision", text(objectID), "Commit.")), "Where sources are taken from; null when no Unit has one.")), "The template."))
