// Package driver defines what a Unit's driver can do, as small optional interfaces found by type assertion, and how
// driver processes are run: in a process group of their own, with a scrubbed environment, their output as one stream.
//
// A driver knows one Unit at a time. It does not know git, refs, Receipts' envelopes or other Units (chapter G).
package driver

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

// A Driver is one installed Unit kind. What it can do shows in the other interfaces that it implements.
type Driver interface {
	// Kind is the Unit kind, for example "Terraform".
	Kind() string
}

// A Planner tells what Reconcile would do, without side effects.
type Planner interface {
	Plan(ctx context.Context, u Unit) (Plan, error)
}

// A Reconciler makes the world as the Unit says and returns the evidence.
type Reconciler interface {
	Reconcile(ctx context.Context, u Unit) (Result, error)
}

// A Verifier compares the world with the Unit, without side effects.
type Verifier interface {
	Verify(ctx context.Context, u Unit) (Drift, error)
}

// A Destroyer removes what Reconcile made.
type Destroyer interface {
	// Destroy returns the details of the teardown evidence. ErrUnsupported means: not for this Unit; it keeps waiting.
	Destroy(ctx context.Context, u Unit) (*document.Node, error)
}

// A Checker finds faults in an authored spec that its schema lets pass and that would only show when the driver runs
// (chapter G, 9). The error is an *Error with a Pointer. Parts that are not written yet are no faults.
type Checker interface {
	Check(authored *document.Node) error
}

// A Unit is one desired Unit and the place to work on it.
type Unit struct {
	Environment   string
	Name          string // local name, metadata.name
	QualifiedName string // "name", or "stack/name"
	Kind          string
	UID           string
	// DeletionGeneration is set for Destroy.
	DeletionGeneration int64
	// Spec is the desired spec: complete, ordered, without references.
	Spec *document.Node
	// DesiredRevision is the commit of the desired ref that holds this document.
	DesiredRevision string
	// SourceDir is an absolute, private directory with the tree of source.revision: the driver may write into it. It is
	// "" for a Unit without source.
	SourceDir string
	// TempDir is an absolute, private directory, removed after the call.
	TempDir string
	// ReportDir is the absolute directory for plan files that the user asked for, "" for none.
	ReportDir string
	// Previous is status.result of the Unit's last Receipt, nil when there is none.
	Previous *document.Node
	// Log receives the transcript, line by line. Never nil.
	Log io.Writer
}

// A Plan says what a Reconcile would change.
type Plan struct {
	Changes Changes
	// Text is the tool's own human-readable plan, sensitive values hidden; "" when there is none.
	Text string
	// Outputs are the output values that the plan shows as known after apply would be done; nil when unknown.
	Outputs *document.Node
}

// Changes counts the resources that a plan touches and lists them, destroys and replacements first.
type Changes struct {
	Create, Update, Replace, Destroy int
	// Outputs counts changed outputs.
	Outputs int
	// Resources lists each changed resource once.
	Resources []ResourceChange
}

// Any tells whether the plan changes anything.
func (c Changes) Any() bool { return c.Create+c.Update+c.Replace+c.Destroy+c.Outputs > 0 }

// String returns the counts as "1 to create, 2 to update, 1 to replace, 3 to destroy", zero counts left out, or "no changes".
func (c Changes) String() string {
	s := ""
	add := func(n int, what string) {
		if n > 0 {
			if s != "" {
				s += ", "
			}
			s += fmt.Sprintf("%d %s", n, what)
		}
	}
	add(c.Create, "to create")
	add(c.Update, "to update")
	add(c.Replace, "to replace")
	add(c.Destroy, "to destroy")
	if s == "" {
		if c.Outputs > 0 {
			return fmt.Sprintf("%d outputs to change", c.Outputs)
		}
		return "no changes"
	}
	return s
}

// A ResourceChange is one changed resource of a plan. Action is create, update, replace or destroy.
type ResourceChange struct{ Address, Action string }

// A Result is the evidence of a Reconcile.
type Result struct {
	// Result is status.result of the Receipt, in the kind's shape and key order (chapter G, 1.5).
	Result *document.Node
	// Artifacts are the payloads of the declared artifacts by name: the members that follow producer, in order.
	Artifacts map[string]*document.Node
	// Changes is what the applied plan said, for reports only.
	Changes Changes
}

// A Drift is the outcome of a Verify.
type Drift struct {
	Drifted bool
	Changes Changes
	// Text is the tool's own description of the drift, sensitive values hidden.
	Text string
}

// A Registry finds drivers by Unit kind.
type Registry map[string]Driver

// NewRegistry returns a Registry of the drivers.
func NewRegistry(drivers ...Driver) Registry {
	r := Registry{}
	for _, d := range drivers {
		r[d.Kind()] = d
	}
	return r
}

// An Error is a driver's failure: what failed, and the tool's last words. Its text holds no argv and no secret.
type Error struct {
	// Op is what was tried: "terraform apply".
	Op string
	// Detail is what the tool said, or what is wrong with the Unit.
	Detail string
	// Pointer is the JSON Pointer below spec that caused it, "" when no single field did.
	Pointer string
	// Fix says what to do next, "" when the detail says it.
	Fix string
	// EffectUnknown tells that the tool was killed, so that it may or may not have changed something.
	EffectUnknown bool
	Err           error
}

func (e *Error) Error() string {
	s := e.Op
	if e.Detail != "" {
		if s != "" {
			s += ": "
		}
		s += e.Detail
	} else if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Fix != "" {
		s += "; " + e.Fix
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// ErrUnsupported is returned by a driver that cannot do this for this Unit.
var ErrUnsupported = fmt.Errorf("not supported for this Unit")

// Timeouts bound what a driver does.
type Timeouts struct {
	// Grace is how long a tool has after SIGINT before it is killed; 0 is DefaultGrace.
	Grace time.Duration
	// Lock is how long terraform waits for a state lock; 0 is not at all.
	Lock time.Duration
}
