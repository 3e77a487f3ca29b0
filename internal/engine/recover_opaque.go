package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// An opaque cleanup root is a desired Unit that its controller could not read any more. It waits for ever, and blocks every
// teardown, until it can be read again or a person answers for what it stands for (chapter D, 7.6).

// A RecoverOpaqueRequest asks to turn an opaque cleanup root back into the Unit that it was.
type RecoverOpaqueRequest struct {
	Target
	Unit, UID string
	// SourceRevision is the commit of the source to compare with: a Unit that is not there any more is marked for deletion.
	SourceRevision string
}

// A ResolveOpaqueRequest asks to forget a marked opaque cleanup root that cannot be read, since people have removed what it
// stands for.
type ResolveOpaqueRequest struct {
	Target
	Unit, UID string
	// Generation is that of the deletion mark.
	Generation int64
	// Reason is kept in the commit message.
	Reason string
}

// RecoverOpaqueUnit writes an opaque cleanup root back as a desired Unit.
func (e *Engine) RecoverOpaqueUnit(ctx context.Context, r RecoverOpaqueRequest) (Outcome, error) {
	return e.changeOpaque(ctx, r.Target, "recover-opaque-unit", r.Unit, func(s *scope, p *planes) (*change, error) {
		root, file, err := opaqueRoot(s, p, r.Unit, r.UID)
		if err != nil {
			return nil, err
		}
		u, err := resource.UnitFromNode(file, root.Payload)
		if err != nil {
			return nil, fmt.Errorf("the document of Unit %s can still not be read; remove what it made, mark it with gitopsctr delete unit, then use resolve-opaque-unit: %w", r.Unit, err)
		}
		if u.Metadata.UID != r.UID || u.Metadata.Name != r.Unit {
			return nil, fmt.Errorf("the document in %s is that of Unit %s with UID %s; it is not what the root says", file, u.Metadata.Name, u.Metadata.UID)
		}
		kind, err := e.authoredKind(ctx, s, r.SourceRevision, r.Unit)
		if err != nil {
			return nil, err
		}
		metadata := u.Metadata
		metadata.Deletion = nil
		u = u.With(metadata)
		if root.Metadata.Deletion != nil || kind != u.Kind {
			u = u.Marked()
		}
		format := document.FormatOf(file)
		data, err := u.Encode(format)
		if err != nil {
			return nil, err
		}
		return opaqueChange(p, "deletion-progression", "Recover opaque cleanup for "+r.Unit, r.Unit, []document.Field{
			document.F("unit", document.NewString(r.Unit)), document.F("uid", document.NewString(r.UID)), document.F("operation", document.NewString("recover-opaque-unit")),
		}, gitstate.Edit{Path: file, Delete: true}, gitstate.Edit{Path: resource.UnitPath(r.Unit, format), Content: data})
	})
}

// authoredKind is the kind of the Unit in the source, "" when it is not there.
func (e *Engine) authoredKind(ctx context.Context, s *scope, revision, unit string) (string, error) {
	full, err := e.store.Resolve(ctx, revision)
	if err != nil {
		return "", err
	}
	source, err := e.store.SourceSnapshot(ctx, full)
	if err != nil {
		return "", err
	}
	for _, file := range resource.Representations(path.Join(s.project.EnvironmentsPath, s.Environment, "units", unit)) {
		data, err := source.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		n, err := document.Decode(file, data)
		return n.Get("kind").Str(), err
	}
	return "", nil
}

const maxOpaqueReason = 500

// ResolveOpaqueUnit removes a marked opaque cleanup root and leaves a tombstone.
func (e *Engine) ResolveOpaqueUnit(ctx context.Context, r ResolveOpaqueRequest) (Outcome, error) {
	reason := strings.TrimSpace(r.Reason)
	if reason == "" || utf8.RuneCountInString(reason) > maxOpaqueReason || strings.ContainsFunc(reason, unicode.IsControl) {
		return Outcome{}, &UsageError{Message: fmt.Sprintf("--reason must be one line of 1 to %d characters", maxOpaqueReason)}
	}
	return e.changeOpaque(ctx, r.Target, "resolve-opaque-unit", r.Unit, func(s *scope, p *planes) (*change, error) {
		root, file, err := opaqueRoot(s, p, r.Unit, r.UID)
		if err != nil {
			return nil, err
		}
		mark := root.Metadata.Deletion
		switch {
		case mark == nil:
			return nil, fmt.Errorf("Unit %s is not marked for deletion; run gitopsctr delete unit --environment %s --name %s --uid %s first", r.Unit, s.Environment, r.Unit, r.UID)
		case mark.Generation != r.Generation:
			return nil, fmt.Errorf("the deletion of Unit %s has the generation %d, not %d", r.Unit, mark.Generation, r.Generation)
		case mark.ResourceDigest != root.Digest():
			return nil, fmt.Errorf("%s on %s was changed after it had been marked for deletion; restore it as it was marked", file, s.refs.Desired)
		}
		if _, err := resource.UnitFromNode(file, root.Payload); err == nil {
			return nil, fmt.Errorf("the document of Unit %s can be read again; use recover-opaque-unit, so that its driver tears it down", r.Unit)
		}
		grave := &resource.Tombstone{GVK: graveKind(root.Payload), Name: r.Unit, QualifiedName: r.Unit, UID: r.UID, DeletionGeneration: mark.Generation, Partition: root.Metadata.Partition()}
		data, err := grave.Encode()
		if err != nil {
			return nil, err
		}
		return opaqueChange(p, "resolve-opaque-unit", fmt.Sprintf("Resolve opaque cleanup for %s: %s", r.Unit, reason), r.Unit, []document.Field{
			document.F("unit", document.NewString(r.Unit)), document.F("uid", document.NewString(r.UID)), document.F("reason", document.NewString(reason)),
		}, gitstate.Edit{Path: file, Delete: true}, gitstate.Edit{Path: grave.Path(), Content: data})
	})
}

var safeAPIVersion, safeKind = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*/[a-z0-9]+$`), regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)

// graveKind is the kind for the tombstone of a document that cannot be read. It becomes a path, so it must look like one.
func graveKind(payload *document.Node) resource.GVK {
	gvk := resource.GVK{APIVersion: payload.Get("apiVersion").Str(), Kind: payload.Get("kind").Str()}
	if safeAPIVersion.MatchString(gvk.APIVersion) && safeKind.MatchString(gvk.Kind) {
		return gvk
	}
	return resource.GVK{APIVersion: resource.CoreAPI, Kind: "OpaqueUnit"}
}

// changeOpaque publishes a change of one opaque cleanup root, or proposes it behind a change gate.
func (e *Engine) changeOpaque(ctx context.Context, t Target, operation, unit string, build func(*scope, *planes) (*change, error)) (Outcome, error) {
	start := e.Now()
	s, err := e.open(t)
	if err != nil {
		return Outcome{}, err
	}
	if err := s.checkGate("resolve-opaque-unit"); err != nil {
		return Outcome{}, err
	}
	e.emit(report.RunStarted{Operation: operation, Environment: s.Environment, Unit: unit})
	p, err := e.fetch(ctx, s)
	if err != nil {
		return Outcome{}, err
	}
	if err := p.requireDesired(s); err != nil {
		return Outcome{}, err
	}
	run := e.newRun(operation, s, p)
	publication, err := e.publishChange(ctx, s, p, func() (*change, error) { return build(s, p) })
	if err != nil {
		return Outcome{Run: e.failedRun(run, start)}, err
	}
	run.Result, run.DesiredRevision, run.Duration = publication.result(), p.desired.Revision(), e.Now().Sub(start)
	e.emit(report.RunFinished{Run: run})
	return Outcome{Run: run, Publication: publication}, nil
}

func opaqueChange(p *planes, operation, message, unit string, identity []document.Field, edits ...gitstate.Edit) (*change, error) {
	blocks, err := withoutBlock(p.desired, unit)
	return &change{operation: operation, context: document.NewMap(identity...), message: message, edits: append(edits, blocks...), units: []string{unit}}, err
}

// opaqueRoot finds the opaque cleanup root that a request means, and its file.
func opaqueRoot(s *scope, p *planes, unit, uid string) (*resource.OpaqueRoot, string, error) {
	file, err := resource.Representation(resource.CleanupPath+"/"+unit, func(path string) bool { return blobAt(p.desired, path) != "" })
	if err != nil {
		return nil, "", err
	}
	if file == "" {
		return nil, "", fmt.Errorf("environment %s has no opaque cleanup root %q on %s; it has %s", s.Environment, unit, s.refs.Desired, listOrNone(p.state.OpaqueRoots()))
	}
	data, err := p.desired.ReadFile(file)
	if err != nil {
		return nil, "", err
	}
	root, err := resource.DecodeOpaqueRoot(file, data)
	if err != nil {
		return nil, "", err
	}
	if root.Metadata.UID != uid {
		return nil, "", fmt.Errorf("the opaque cleanup root %s on %s has the UID %s, not %s", unit, s.refs.Desired, root.Metadata.UID, uid)
	}
	return root, file, nil
}

// markOpaque marks an opaque cleanup root for deletion.
func markOpaque(s *scope, p *planes, r DeleteRequest) ([]gitstate.Edit, []string, error) {
	root, file, err := opaqueRoot(s, p, r.Name, r.UID)
	if err != nil || root.Metadata.Deletion != nil {
		return nil, nil, err
	}
	digest := root.Digest()
	root.Metadata.Deletion = &resource.Deletion{Generation: 1, ResourceDigest: digest}
	data, err := root.Encode(document.FormatOf(file))
	return []gitstate.Edit{{Path: file, Content: data}}, []string{r.Name}, err
}
