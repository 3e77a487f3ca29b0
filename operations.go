package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/gitopsctr/gitopsctr/internal/action"
	"github.com/gitopsctr/gitopsctr/internal/cli"
	"github.com/gitopsctr/gitopsctr/internal/engine"
	"github.com/gitopsctr/gitopsctr/internal/forge"
	"github.com/gitopsctr/gitopsctr/internal/graph"
	"github.com/gitopsctr/gitopsctr/internal/report"
)

// runAction is the entry point of the container: everything is told over the one stream that the runner reads.
func runAction(ctx context.Context, s *cli.IO) int {
	dir, err := s.Getwd()
	if err != nil {
		_, _ = fmt.Fprintf(s.Out, "gitopsctr: %s\n", err)
		return cli.ExitFailure
	}
	if workspace := s.Getenv("GITHUB_WORKSPACE"); workspace != "" {
		dir = workspace
	}
	return action.Run(ctx, action.Process{Getenv: s.Getenv, Dir: dir, Stdout: s.Out, Forge: openForge}, operations{io: s})
}

// operations carries out the Action's requests with the engine.
type operations struct{ io *cli.IO }

// Run implements action.Operations.
func (o operations) Run(ctx context.Context, req action.Request, sink report.Sink) (run report.Run, published action.Published, err error) {
	s := *o.io
	s.Getwd = func() (string, error) { return req.Directory, nil }
	e, done, err := openEngine(ctx, &s, cli.Settings{
		Repository: req.Directory, Remote: "origin", MaxParallel: req.MaxParallel,
		TerraformVersion: req.TerraformVersion, OpenTofuVersion: req.OpenTofuVersion, LockTimeout: req.LockTimeout, PlanBuild: req.BuildImages,
		Token: req.Token.Reveal(), AuthorName: req.Author.Name, AuthorEmail: req.Author.Email, Sink: sink,
	})
	if err != nil {
		return report.Run{}, action.Published{}, err
	}
	defer func() { err = errors.Join(err, done()) }()
	outcome, err := o.do(ctx, e, req)
	published = publishedOf(outcome)
	published.Graph = mermaid(outcome.Run)
	if req.Operation == action.Prepare {
		prepared, prepareErr := preparedOf(outcome, err)
		published.Prepared = prepared
		if prepareErr == nil && req.Shards > 0 {
			published.Shards, prepareErr = o.shards(ctx, e, req)
		}
		return outcome.Run, published, prepareErr
	}
	var failed *engine.DriverError
	var drifted *engine.DriftError
	if errors.As(err, &failed) || errors.As(err, &drifted) {
		err = nil // the Run says it, Unit by Unit
	}
	return outcome.Run, published, err
}

func (o operations) do(ctx context.Context, e *engine.Engine, req action.Request) (engine.Outcome, error) {
	target := engine.Target{Environment: req.Environment, DesiredRef: req.DesiredRef, ObservedRef: req.ObservedRef, CandidateRef: req.CandidateRef}
	apply := engine.ApplyRequest{Target: target, Files: req.Files, Authored: req.Authored, SourceRevision: req.SourceRevision, Partition: req.Partition, Dry: req.Dry}
	switch req.Operation {
	case action.Prepare:
		return e.ResolveDesired(ctx, target, req.DesiredRevision)
	case action.Apply:
		return e.Apply(ctx, apply)
	case action.Plan:
		return e.Plan(ctx, engine.PlanRequest{ApplyRequest: apply, Units: req.Units, Static: req.Static, ReportDir: req.ReportDir})
	case action.Converge:
		return e.Converge(ctx, engine.ConvergeRequest{ApplyRequest: apply, Units: req.Units})
	case action.Verify:
		return e.Verify(ctx, engine.VerifyRequest{Target: target, Units: req.Units, Able: len(req.Units) == 0})
	case action.Promote:
		return e.Promote(ctx, engine.PromoteRequest{From: req.FromEnvironment, To: req.ToEnvironment, Files: req.Files, Partition: req.Partition,
			SourceDesiredRevision: req.SourceRevision, SpecificationRevision: req.SpecificationRevision, CandidateRef: req.CandidateRef, Dry: req.Dry})
	case action.Rollback:
		return e.Rollback(ctx, engine.RollbackRequest{Target: target, ToDesiredRevision: req.RollbackRevision, Reason: req.Reason, Units: req.Units, Dry: req.Dry})
	case action.Reconcile:
		return e.Reconcile(ctx, engine.ReconcileRequest{Target: target, Unit: req.Units[0], DesiredRevision: req.DesiredRevision,
			Plan: req.Plan, Reapply: req.Reapply, ReportDir: req.ReportDir})
	}
	return engine.Outcome{}, fmt.Errorf("this version of gitopsctr does not have the operation %s; use a version that does", req.Operation)
}

// shards are the groups of Units for the jobs of a matrix.
func (operations) shards(ctx context.Context, e *engine.Engine, req action.Request) ([]action.Shard, error) {
	groups, err := e.Shards(ctx, engine.ApplyRequest{
		Target:   engine.Target{Environment: req.Environment, DesiredRef: req.DesiredRef, ObservedRef: req.ObservedRef},
		Authored: req.Authored, SourceRevision: req.SourceRevision,
	}, req.Shards)
	shards := make([]action.Shard, len(groups))
	for i, units := range groups {
		shards[i].Units = units
	}
	return shards, err
}

// openForge opens the repository on the forge of the job.
func openForge(api, repository, token string) (action.Forge, error) {
	r, err := forge.Open(forge.Options{APIURL: api, Repository: repository, Token: token})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// preparedOf turns a missing desired ref into active=false, which is no failure (chapter F, 8.4).
func preparedOf(outcome engine.Outcome, err error) (*action.Prepared, error) {
	var missing *engine.MissingRefError
	if errors.As(err, &missing) {
		return &action.Prepared{}, nil
	}
	if err != nil {
		return nil, err
	}
	return &action.Prepared{Active: true, DesiredRevision: outcome.Revision}, nil
}

func publishedOf(outcome engine.Outcome) action.Published {
	p := action.Published{Reconciled: outcome.Reconciled}
	if c := outcome.Publication; c.Revision != "" {
		p.Change = &action.Change{Revision: c.Revision, TargetRef: c.TargetRef, CandidateRef: c.CandidateRef, Status: c.Status, URL: c.URL}
	}
	if promotion := outcome.Promotion; promotion != nil {
		p.Promotion = &action.Promotion{CandidateRevision: promotion.CandidateRevision, SourceDesiredRevision: promotion.SourceDesiredRevision}
		p.Summary = promotion.Summary
	}
	return p
}

// mermaid draws the Units of a run, producers first.
func mermaid(run report.Run) string {
	g := &graph.Graph{}
	for _, u := range run.Units {
		g.Add(u.Unit, u.Producers...)
	}
	if len(g.Edges()) == 0 {
		return ""
	}
	return g.Mermaid()
}
