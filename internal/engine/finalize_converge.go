package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// The deletions of a convergence run in the same loop as everything else: whenever it looks at the state, every marked Unit
// in scope that nothing depends on any more is started, before ready Units are and without asking for approval (chapter D,
// 8.2 step 10). So consumers go before their producers.

// makeWay finishes the deletions of Units that are among the documents: an apply refuses such a Unit until it is gone, and
// would do so for ever, since a mark is never taken back. A Unit that was left out of its partition and is back is deleted
// and made again.
func (c *convergence) makeWay(ctx context.Context) error {
	if c.applier == nil {
		return nil
	}
	given := map[string]bool{}
	for i := range c.applier.inputs.documents {
		given[c.applier.inputs.documents[i].Name()] = true
	}
	for {
		// What stands before one of them is gone first, although it is not among the documents.
		names := c.deletionsOf(slices.DeleteFunc(c.deletions(), func(name string) bool { return !given[name] }))
		err := c.startDeletions(ctx, names)
		started := c.running > 0
		for c.running > 0 {
			c.settle(<-c.done)
		}
		if err = errors.Join(err, ctx.Err()); err != nil || !started {
			return err
		}
		heads, err := c.engine.store.Fetch(ctx, c.scope.refs.Desired)
		if err != nil {
			return err
		}
		if head := heads[c.scope.refs.Desired]; head != nil {
			if err := c.engine.refetch(ctx, c.scope, c.planes, head); err != nil {
				return err
			}
		}
	}
}

// startDeletions starts those of the named deletions that may go now, as far as the limits allow.
func (c *convergence) startDeletions(ctx context.Context, names []string) error {
	for _, name := range names {
		if c.running >= c.engine.MaxParallel {
			return nil
		}
		u := c.planes.state.Unit(name)
		if record := c.ran[name]; record != nil && (record.running || record.blob == u.Blob) || len(deletionBlockers(c.planes.state, name)) > 0 {
			continue
		}
		if err := c.withinLimit(name); err != nil {
			return err
		}
		receipt, err := c.planes.state.Receipt(name)
		if err != nil {
			return err
		}
		evidence, err := teardownEvidence(c.planes.observed, u)
		if err != nil {
			return fmt.Errorf("read %s: %w", c.scope.refs.Observed, err)
		}
		c.ran[name] = &runRecord{blob: u.Blob, times: 1, running: true}
		c.steps++
		c.running++
		c.run.DriversRan = append(c.run.DriversRan, name)
		t := task{unit: u, desiredRevision: c.planes.desired.Revision(), receipt: receipt, evidence: evidence, reason: "marked for deletion"}
		go func() { c.done <- completion{unit: name, result: c.engine.runDeletion(ctx, c.work, t)} }()
	}
	return nil
}

// deletions are the marked Units that this run may delete, sorted by kind and name: the targets, and the marked Units that
// stand before them in the same partition, since a partition is an authority boundary (chapter D, 8.2).
func (c *convergence) deletions() []string {
	if c.targets == nil {
		return c.deletionsOf(c.planes.state.Names())
	}
	return c.deletionsOf(c.targets)
}

func (c *convergence) deletionsOf(targets []string) []string {
	state := c.planes.state
	chosen := map[string]bool{}
	var choose func(name string)
	choose = func(name string) {
		u := state.Unit(name)
		if u == nil || u.Metadata.Deletion == nil || chosen[name] {
			return
		}
		chosen[name] = true
		for _, blocker := range deletionBlockers(state, name) {
			if b := state.Unit(blocker); b != nil && partitionOf(state, b) == partitionOf(state, u) {
				choose(blocker)
			}
		}
	}
	for _, name := range targets {
		choose(name)
	}
	out := sortedKeys(chosen)
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(state.Unit(a).Kind, state.Unit(b).Kind) })
	return out
}

// withinLimit is an error when the limit of driver runs is reached.
func (c *convergence) withinLimit(next string) error {
	if c.request.MaxSteps > 0 && c.steps >= c.request.MaxSteps {
		return fmt.Errorf("the limit of %d driver runs is reached with work left (next: %s); raise --max-steps or run converge again", c.request.MaxSteps, next)
	}
	return nil
}

// notRun takes back what was noted at the start of a Unit whose driver did not run after all.
func (c *convergence) notRun(name string, record *runRecord) {
	record.times--
	c.steps--
	c.contended = c.contended || record.result.Outcome == report.Waiting || record.result.Outcome == report.Unchanged
	if i := slices.Index(c.run.DriversRan, name); i >= 0 {
		c.run.DriversRan = slices.Delete(c.run.DriversRan, i, i+1)
	}
}

// spread orders the Units that may start. Once another run turned out to work on the same ones, each run goes through them in
// an order of its own: in the same order all of them would ask for the same lease each time, and only one gets it.
func (c *convergence) spread(names []string) []string {
	if !c.contended {
		return names
	}
	rank := func(name string) string { return document.SHA256Hex([]byte(c.engine.LeaseOwner + "\x00" + name)) }
	return slices.SortedFunc(slices.Values(names), func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
}

// cleanUpLeases releases the leases that earlier runs left behind, where their effects have ended on record.
func (c *convergence) cleanUpLeases(ctx context.Context) error {
	released, err := c.engine.releaseEnded(ctx, c.scope, c.planes)
	c.progressed = c.progressed || released
	return err
}

// keptReason says who holds a Unit that the last apply had to leave as it was, "" for any other.
func (c *convergence) keptReason(name string) string {
	if c.applier == nil {
		return ""
	}
	return c.applier.kept[name]
}

func (c *convergence) deleting(name string) bool {
	u := c.planes.state.Unit(name)
	return u != nil && u.Metadata.Deletion != nil
}

// deletionReason says why a marked Unit is still there.
func (c *convergence) deletionReason(name string) string {
	u := c.planes.state.Unit(name)
	return pendingDeletion(u.Metadata, deletionBlockers(c.planes.state, name))
}

func pendingDeletion(m resource.Metadata, blockers []string) string {
	reason := fmt.Sprintf("deletion pending finalization (UID %s, generation %d)", m.UID, m.Deletion.Generation)
	if len(blockers) > 0 {
		reason += "; still needed by " + join(blockers) + ": delete that first, or change what it reads"
	}
	return reason
}

// tellWaiting tells what the Units that wait in the end wait for, where neither the apply nor a run of theirs told it.
func (c *convergence) tellWaiting() {
	for _, r := range c.run.Units {
		told := c.ran[r.Unit] != nil || c.applier != nil && c.applier.told[r.Unit] != ""
		if r.Outcome == report.Waiting && !told {
			c.engine.emit(report.UnitState{Unit: r.Unit, State: report.Wait, Reason: r.Reason})
		}
	}
}

// withDestroyed adds the Units that are gone to the results, sorted.
func (c *convergence) withDestroyed(results []report.UnitResult) []report.UnitResult {
	for name, result := range c.destroyed {
		if !slices.ContainsFunc(results, func(r report.UnitResult) bool { return r.Unit == name }) {
			results = append(results, result)
		}
	}
	slices.SortFunc(results, func(a, b report.UnitResult) int { return strings.Compare(a.Unit, b.Unit) })
	return results
}
