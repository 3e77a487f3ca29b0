// Package terraform is the driver of Terraform Units, for terraform and OpenTofu alike (specification, chapter G 2).
//
// It runs the tool's own commands on a private copy of the Unit's source, and keeps to what users of the tool know: their
// environment, backends and variables work as in a terminal. It refuses to know where the source and the desired
// document come from, and who publishes the evidence. Its central idea is the session: one Unit's directory, tool, variables and plan file
// for the length of one operation, in which every command is one step. What the tool marks as sensitive stays in the session.
package terraform

import (
	"context"
	"net/http"
	"path/filepath"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/driver"
)

// Options configure the driver; the zero value runs the "terraform" or "tofu" of an empty environment, that is: none.
type Options struct {
	// Env is the complete environment of the tool ("NAME=value"), already scrubbed (driver.Environment).
	Env []string
	// Tool is the program to use for every Unit, "" to choose. It wins over everything else.
	Tool string
	// TerraformVersion or TofuVersion is the exact version to use for every Unit, "" to choose; at most one is set.
	TerraformVersion, TofuVersion string
	// Installer fetches an exact version that is not in PATH; nil means that nothing is fetched.
	Installer Installer
	// PluginCacheDir is the absolute directory in which all Units share providers, unless Env sets TF_PLUGIN_CACHE_DIR.
	// "" is no cache.
	PluginCacheDir string
	Timeouts       driver.Timeouts
	// Mask hides secrets in the transcript, in plans and in errors.
	Mask *driver.Masker
	// HTTPClient does the HTTP checks; nil is a plain client. Redirects are never followed.
	HTTPClient *http.Client
	// Sleep waits between the tries of a check; nil waits for real.
	Sleep func(context.Context, time.Duration) error
}

// A Driver reconciles Terraform Units. It is safe for concurrent use with different Units.
type Driver struct {
	options   Options
	tools     *tools
	providers *providerCache
	// dataDir is held during a whole operation when the user's TF_DATA_DIR is one directory for all Units.
	dataDir *semaphore.Weighted
}

var (
	_ driver.Planner    = (*Driver)(nil)
	_ driver.Reconciler = (*Driver)(nil)
	_ driver.Verifier   = (*Driver)(nil)
	_ driver.Destroyer  = (*Driver)(nil)
)

// New returns the driver.
func New(o Options) *Driver {
	if o.HTTPClient == nil {
		o.HTTPClient = &http.Client{}
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	d := &Driver{options: o, tools: newTools(o), providers: newProviderCache(o.Env, o.PluginCacheDir)}
	if dir, _ := driver.Lookup(o.Env, "TF_DATA_DIR"); filepath.IsAbs(dir) {
		d.dataDir = semaphore.NewWeighted(1)
	}
	return d
}

// Kind returns "Terraform".
func (*Driver) Kind() string { return "Terraform" }

// Plan shows what Reconcile would do against the recorded state, without refreshing or locking it.
func (d *Driver) Plan(ctx context.Context, u driver.Unit) (driver.Plan, error) {
	s, err := d.open(ctx, u)
	if err != nil {
		return driver.Plan{}, err
	}
	defer s.close()
	if err := s.init(ctx); err != nil {
		return driver.Plan{}, err
	}
	if _, err := s.plan(ctx, "-refresh=false", "-lock=false"); err != nil {
		return driver.Plan{}, err
	}
	p, err := s.readPlan(ctx)
	if err != nil {
		return driver.Plan{}, err
	}
	text, err := s.showPlan(ctx)
	if err != nil {
		return driver.Plan{}, err
	}
	if err := s.checkObservable(p); err != nil {
		return driver.Plan{}, err
	}
	return driver.Plan{Changes: p.changes(), Text: text, Outputs: p.knownOutputs(s.spec.Observe)}, nil
}

// Reconcile plans, applies exactly that plan, reads the observed outputs and runs the HTTP checks. An output that must
// not be observed is refused before anything is applied.
func (d *Driver) Reconcile(ctx context.Context, u driver.Unit) (driver.Result, error) {
	s, err := d.open(ctx, u)
	if err != nil {
		return driver.Result{}, err
	}
	defer s.close()
	if err := s.init(ctx); err != nil {
		return driver.Result{}, err
	}
	if _, err := s.plan(ctx, s.lock()...); err != nil {
		return driver.Result{}, err
	}
	p, err := s.readPlan(ctx)
	if err != nil {
		return driver.Result{}, err
	}
	if s.unit.ReportDir != "" {
		if _, err := s.showPlan(ctx); err != nil {
			return driver.Result{}, err
		}
	}
	if err := s.checkObservable(p); err != nil {
		return driver.Result{}, err
	}
	if err := s.apply(ctx); err != nil {
		return driver.Result{}, err
	}
	outputs, err := s.outputsAfterEffect(ctx)
	if err != nil {
		return driver.Result{}, err
	}
	if err := s.runChecks(ctx, outputs); err != nil {
		return driver.Result{}, err
	}
	return driver.Result{Changes: p.changes(), Result: document.NewMap(
		document.F("applied", document.NewMap(
			document.F("sourceRevision", document.NewString(s.spec.SourceRevision)),
			document.F("path", document.NewString(s.spec.Path)),
		)),
		document.F("outputs", outputs.values()),
	)}, nil
}

// Verify compares the real resources with the Unit: drift is whatever a plan with refresh would change.
func (d *Driver) Verify(ctx context.Context, u driver.Unit) (driver.Drift, error) {
	s, err := d.open(ctx, u)
	if err != nil {
		return driver.Drift{}, err
	}
	defer s.close()
	if err := s.init(ctx); err != nil {
		return driver.Drift{}, err
	}
	drifted, err := s.plan(ctx, append(s.lock(), "-detailed-exitcode")...)
	if err != nil || !drifted {
		return driver.Drift{}, err
	}
	p, err := s.readPlan(ctx)
	if err != nil {
		return driver.Drift{}, err
	}
	text, err := s.showPlan(ctx)
	if err != nil {
		return driver.Drift{}, err
	}
	return driver.Drift{Drifted: true, Changes: p.changes(), Text: text}, nil
}

// Destroy destroys everything in the Unit's state and returns resourceUid and deletionGeneration.
func (d *Driver) Destroy(ctx context.Context, u driver.Unit) (*document.Node, error) {
	s, err := d.open(ctx, u)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if err := s.init(ctx); err != nil {
		return nil, err
	}
	if err := s.destroy(ctx); err != nil {
		return nil, err
	}
	return document.NewMap(
		document.F("resourceUid", document.NewString(u.UID)),
		document.F("deletionGeneration", document.NewInt(u.DeletionGeneration)),
	), nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
