package action

import (
	"time"
)

// An Operation is what a step does (chapter F, 8.1). Plan, Verify and Comment are ours.
type Operation string

// The operations.
const (
	Prepare   Operation = "prepare"
	Apply     Operation = "apply"
	Converge  Operation = "converge"
	Reconcile Operation = "reconcile"
	Promote   Operation = "promote"
	Rollback  Operation = "rollback"
	Plan      Operation = "plan"
	Verify    Operation = "verify"
	// Comment posts a plan that another run made; it is done by this package alone.
	Comment Operation = "comment"
)

// A Request is one checked call of an operation. What the operation does not use is zero; "" asks for the default.
type Request struct {
	Operation Operation
	// Directory is the absolute path of the repository; Files are relative to it.
	Directory   string
	Environment string
	// Units are qualified names: exactly one for Reconcile, none means all.
	Units []string
	// Files are the authored documents. Authored asks for all that the environment has instead.
	Files     []string
	Authored  bool
	Partition string

	FromEnvironment, ToEnvironment string // Promote
	DesiredRef, ObservedRef        string
	CandidateRef                   string
	// DesiredRevision picks a commit of the desired ref, for Prepare and Reconcile.
	DesiredRevision string
	// SourceRevision is the commit that the Files are read from; for Promote, of the source's desired ref.
	SourceRevision string
	// SpecificationRevision is the commit that a promotion's target documents and configuration are read from.
	SpecificationRevision string
	RollbackRevision      string
	Reason                string // of a Rollback

	// Dry leaves every ref alone. Plan makes a Reconcile show what it would do, Reapply makes it run a clean Unit.
	Dry, Plan, Reapply bool
	// Static forbids every driver, for code that nobody vouches for: documents are resolved and compared only.
	Static bool
	// ReportDir is where drivers put plan files, as given: relative to Directory, or absolute.
	ReportDir string

	Author                            Author
	Token                             Secret // for the forge and for pushes
	TerraformVersion, OpenTofuVersion string
	MaxParallel                       int           // 0: the default
	LockTimeout                       time.Duration // 0: the default
	FailOn                            FailOn
	// CommentMode is how a Plan is brought to its pull request: update, recreate or off.
	CommentMode string
	// PlanJSON is the file with the plan that a Comment posts.
	PlanJSON string
	// DriftIssue keeps an issue about the drift that a Verify finds.
	DriftIssue bool
	// BuildImages makes plans build the images that are not published yet.
	BuildImages bool
	// Shards is how many groups of Units a Prepare makes, 0 for none.
	Shards int
}

// environment is the one that reports name.
func (r Request) environment() string {
	if r.Operation == Promote {
		return r.ToEnvironment
	}
	return r.Environment
}

// An Author signs the commits that a step publishes.
type Author struct{ Name, Email string }

// FailOn says which outcomes that are no failures fail the step nevertheless. Destroy is about what a plan would destroy
// or replace.
type FailOn struct{ Waiting, Drift, Destroy bool }

// A Secret is a string that does not show when it is printed or encoded.
type Secret string

// String hides the secret.
func (Secret) String() string { return "***" }

// GoString hides the secret.
func (Secret) GoString() string { return "***" }

// MarshalText hides the secret.
func (Secret) MarshalText() ([]byte, error) { return []byte("***"), nil }

// Reveal returns the secret itself.
func (s Secret) Reveal() string { return string(s) }

// Published is what an operation made known besides its Run; the zero value is nothing.
type Published struct {
	// Prepared is set by Prepare.
	Prepared *Prepared
	// Shards are the groups that a Prepare with shards made.
	Shards []Shard
	// Change is set when a commit was published or proposed, and by a promotion without a difference. Not by a dry run.
	Change *Change
	// Promotion is set by Promote.
	Promotion *Promotion
	// Reconciled is set by Reconcile and Converge: did anything move?
	Reconciled *bool
	// Graph is the dependency graph of the Units as Mermaid text, for the summary.
	Graph string
	// Summary is Markdown that stands before the summary of the Run.
	Summary string
}

// Prepared tells whether the environment has a desired state yet, and which.
type Prepared struct {
	Active          bool
	DesiredRevision string
}

// A Change is a published or proposed commit (chapter F, 8.4). Refs are short; CandidateRef is "" without a gate.
type Change struct {
	Revision, TargetRef, CandidateRef string
	Status                            string // published, created, existing or manual
	URL                               string // of the pull request
}

// A Promotion names the commits that a Promote was made of and made. CandidateRevision is "" without a gate.
type Promotion struct{ CandidateRevision, SourceDesiredRevision string }

// Job is what the inputs and the event of a step ask for: Requests in order, each after the success of the one before.
type Job struct {
	Requests []Request
	// Warnings are for the user: inputs that have no effect.
	Warnings []string
}
