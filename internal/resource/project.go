package resource

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

// A Project is the configuration of a repository (chapter A, section 5).
type Project struct {
	// File is where it was read from.
	File string
	Name string
	// WriteFormat is the format of documents that are written anew.
	WriteFormat document.Format
	// EnvironmentsPath and StackTemplatesPath are clean paths relative to the repository root.
	EnvironmentsPath, StackTemplatesPath string
	// The ref templates hold {environment}; the candidate's also {id} and {operation}.
	DesiredTemplate, ObservedTemplate, CandidateTemplate string
	SourceRevisionPolicy                                 SourceRevisionPolicy
	// LeaseTemplate is the ref template of the lease store, "" when leases are off.
	LeaseTemplate string
	// Document is the whole document as authored.
	Document *document.Node
}

// A SourceRevisionPolicy says when a retained source revision counts as gone, and what then happens (chapter B, 3.4).
type SourceRevisionPolicy struct {
	UnavailableWhen UnavailableWhen
	DuringApply     WhenUnavailable
	DuringPlan      WhenUnavailable
}

// UnavailableWhen says which retained revisions count as gone.
type UnavailableWhen string

// The values of UnavailableWhen.
const (
	Missing                 UnavailableWhen = "missing"
	OutsideCandidateHistory UnavailableWhen = "outside-candidate-history"
)

// WhenUnavailable says what to do about a revision that is gone.
type WhenUnavailable string

// The values of WhenUnavailable.
const (
	Refresh WhenUnavailable = "refresh"
	Refuse  WhenUnavailable = "error"
)

// ProjectFileNames are the names that the Project file may have; a repository has exactly one of them in its root.
func ProjectFileNames() []string {
	return []string{"gitopsctr.yaml", "gitopsctr.yml", ".gitopsctr.yaml", ".gitopsctr.yml"}
}

// ErrNoProject is returned when a repository has no Project file.
var ErrNoProject = errors.New("no Project file; add gitopsctr.yaml to the root of the repository")

// FindProject reads the Project of a repository, and tells its file name.
func FindProject(root fs.FS) (*Project, string, error) {
	var found []string
	for _, name := range ProjectFileNames() {
		switch info, err := fs.Stat(root, name); {
		case err == nil && !info.IsDir():
			found = append(found, name)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, "", fmt.Errorf("looking for the Project file: %w", err)
		}
	}
	switch len(found) {
	case 0:
		return nil, "", ErrNoProject
	case 1:
	default:
		return nil, "", fmt.Errorf("more than one Project file: %s; keep one of them", strings.Join(found, ", "))
	}
	data, err := fs.ReadFile(root, found[0])
	if err != nil {
		return nil, found[0], fmt.Errorf("reading the Project file: %w", err)
	}
	p, err := DecodeProject(found[0], data)
	return p, found[0], err
}

// DecodeProject reads a Project. All its faults come as document.Errors.
func DecodeProject(file string, data []byte) (*Project, error) {
	n, err := document.Decode(file, data)
	if err != nil {
		return nil, err
	}
	if _, err := kindOf(file, n, CoreAPI, []string{"Project"}); err != nil {
		return nil, err
	}
	if err := checkShape(file, "", projectShape, n); err != nil {
		return nil, err
	}
	spec := complete(projectShape, n).Get("spec")
	refs, policy := spec.Path("environmentDefaults", "refs"), spec.Get("sourceRevisionPolicy")
	return &Project{
		File:               file,
		Name:               n.Path("metadata", "name").Str(),
		WriteFormat:        document.Format(spec.Get("writeFormat").Str()),
		EnvironmentsPath:   path.Clean(spec.Get("environmentsPath").Str()),
		StackTemplatesPath: path.Clean(spec.Get("stackTemplatesPath").Str()),
		DesiredTemplate:    or(refs.Get("desired").Str(), "gitopsctr/desired/{environment}"),
		ObservedTemplate:   or(refs.Get("observed").Str(), "gitopsctr/observed/{environment}"),
		CandidateTemplate:  or(refs.Get("candidate").Str(), "gitopsctr/candidates/{environment}/{id}"),
		SourceRevisionPolicy: SourceRevisionPolicy{
			UnavailableWhen: UnavailableWhen(or(policy.Get("unavailableWhen").Str(), string(OutsideCandidateHistory))),
			DuringApply:     WhenUnavailable(or(policy.Get("whenUnavailableDuringApply").Str(), string(Refresh))),
			DuringPlan:      WhenUnavailable(or(policy.Get("whenUnavailableDuringPlan").Str(), string(Refuse))),
		},
		LeaseTemplate: spec.Path("effectLease", "store", "branch", "ref").Str(),
		Document:      n,
	}, nil
}

func or(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

var projectShape = envelopeShape(GVK{CoreAPI, "Project"}, "Configuration of a repository whose environments gitopsctr delivers.",
	object("", need("name", text(projectName), "Name of the project.")),
	need("spec", object("The configuration.",
		with("writeFormat", oneOf("yaml", "json"), document.NewString("yaml"), "Format of the documents that are written."),
		with("environmentsPath", text(sourcePath), document.NewString("deployment/environments"), "Directory that holds one directory per environment."),
		with("stackTemplatesPath", text(sourcePath), document.NewString("deployment/stack-templates"), "Directory of the StackTemplates."),
		leave("environmentDefaults", object("Defaults of all environments.",
			need("refs", &shape{kind: objectShape, atLeastOne: true, doc: "Branches of an environment.", fields: []field{
				leave("desired", text(environmentTemplate), "Branch of the desired state; must contain {environment}."),
				leave("observed", text(environmentTemplate), "Branch of the observed state; must contain {environment}."),
				leave("candidate", text(candidateTemplate), "Branch of a change under review; must contain {environment}, may contain {id} and {operation}."),
			}}, "Branches of an environment.")), "Defaults of all environments."),
		leave("sourceRevisionPolicy", object("What to do when the commit that a Unit was made from is gone.",
			leave("unavailableWhen", oneOf(string(Missing), string(OutsideCandidateHistory)), "missing: the commit does not exist; outside-candidate-history (the default): it is also gone when it is no ancestor of the applied one."),
			leave("whenUnavailableDuringApply", oneOf(string(Refresh), string(Refuse)), "refresh (the default): take the applied commit; error: fail."),
			leave("whenUnavailableDuringPlan", oneOf(string(Refuse), string(Refresh)), "error (the default): fail; refresh: take the applied commit."),
		), "What to do when the commit that a Unit was made from is gone."),
		need("effectLease", orNull(object("Leases that keep two runs from changing the same Unit at once.",
			need("store", orNull(object("",
				need("branch", object("", need("ref", text(leaseTemplate), "Branch of the leases; may contain {environment}.")), "Leases are kept on a branch."),
			)), "Where leases are kept; null: no leases."))), "Leases between runs; null: no leases."),
	), "The configuration."))
