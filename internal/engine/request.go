package engine

import "github.com/gitopsctr/gitopsctr/internal/report"

// An ApplyRequest asks to build the desired state from explicit documents (chapter B).
type ApplyRequest struct {
	Target
	// Files are paths of documents and directories, or "-" for standard input.
	Files []string
	// Authored adds the environment's own units and stacks directories to Files.
	Authored bool
	// SourceRevision is a git revision to read everything from; "" reads the worktree.
	SourceRevision string
	// Partition is the partition that the documents are all of; "" is none.
	Partition string
	// Dry resolves with fallbacks and publishes nothing.
	Dry bool
}

// A ReconcileRequest asks to run one Unit's driver (chapter D, section 3).
type ReconcileRequest struct {
	Target
	Unit            string
	DesiredRevision string
	Plan            bool
	Reapply         bool
	ReportDir       string
}

// A ConvergeRequest asks to run what is not clean until nothing changes (chapter D, section 8).
type ConvergeRequest struct {
	ApplyRequest
	// Units are the targets, nil for all. Their producers are run with them, unless WithoutDependencies is set.
	Units               []string
	WithoutDependencies bool
	// MaxSteps bounds the number of driver runs; 0 is no bound beyond the rule that a step must not repeat itself.
	MaxSteps     int
	FailOnRepeat bool
}

// A VerifyRequest asks to compare the world with the desired Units (chapter D, 9.1).
type VerifyRequest struct {
	Target
	Units []string
	// Able leaves out Units whose kind cannot be verified, instead of refusing the whole request for one.
	Able bool
}

// A StatusRequest asks for every Unit's state (chapter H, section 6).
type StatusRequest struct {
	Target
	Unit            string
	DesiredRevision string
	Verbose         bool
}

// A Publication is what an operation published on the desired ref, or would have.
type Publication struct {
	// Revision is the published commit, "" when nothing was published.
	Revision string
	// TargetRef is the desired ref, CandidateRef the candidate ref behind a change gate ("" without one).
	TargetRef, CandidateRef string
	// Status is "published" or "manual".
	Status string
	// URL is the pull request, "" when there is none.
	URL string
}

// An Outcome is what an operation reports: the run for people, and the facts for outputs.
type Outcome struct {
	Run         report.Run
	Publication Publication
	// Reconciled tells whether something was run or finalized; nil when the operation does not say.
	Reconciled *bool
	// Provenance is what a rollback records, as JSON.
	Provenance []byte
	// Promotion is set by promote, but not by its dry run.
	Promotion *Promotion
	// Revision is the resolved desired revision of prepare.
	Revision string
}
