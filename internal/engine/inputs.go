package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/gitopsctr/gitopsctr/internal/desired"
	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/resource"
	"github.com/gitopsctr/gitopsctr/internal/source"
)

// inputs are the explicit documents of one apply and the tree that their sources are hashed over. They are read once: a
// run that applies again, as new evidence arrives, works on the same inputs.
type inputs struct {
	documents []desired.Document
	index     *source.Index
	revision  string // of the source, "" for the worktree
	// producers are the Units that each document reads from, by its name.
	producers map[string][]string
}

// readInputs selects and reads the documents of r (chapter B, section 2).
func (e *Engine) readInputs(ctx context.Context, s *scope, r ApplyRequest) (*inputs, error) {
	in := &inputs{}
	var tree sourceTree
	if r.SourceRevision == "" {
		live, err := e.sources(ctx)
		if err != nil {
			return nil, err
		}
		tree = live
	} else {
		revision, err := e.store.Resolve(ctx, r.SourceRevision)
		if err != nil {
			return nil, err
		}
		snapshot, err := e.store.SourceSnapshot(ctx, revision)
		if err != nil {
			return nil, err
		}
		in.revision, tree = revision, snapshotSource{snapshot}
	}
	reader := documentReader{engine: e, snapshot: nil}
	if in.revision != "" {
		reader.snapshot = tree
	}
	files, err := reader.expand(r, s.project.EnvironmentsPath)
	if err != nil {
		return nil, err
	}
	if in.documents, err = reader.readAll(files); err != nil {
		return nil, err
	}
	if len(in.documents) == 0 && r.Partition == "" {
		return nil, &UsageError{Message: "no documents: the given paths hold none; an empty set is accepted only with --partition, whose members it then removes"}
	}
	in.producers = map[string][]string{}
	for i := range in.documents {
		if u := in.documents[i].Unit; u != nil {
			in.producers[u.Name] = authoredProducers(u)
		}
	}
	in.index, err = source.NewIndex(overlaySource(tree, s, in.documents))
	return in, err
}

// inputFile is one file to read: its name for people, and where it is.
type inputFile struct {
	shown string // relative to the repository where possible
	path  string // in the snapshot, or on disk
}

// documentReader finds and reads document files, live or in a snapshot.
type documentReader struct {
	engine   *Engine
	snapshot sourceTree // nil reads from disk
}

// expand turns the file arguments into files, in order: an argument's own files sorted by path components.
func (d documentReader) expand(r ApplyRequest, environmentsPath string) ([]inputFile, error) {
	var out []inputFile
	if slices.Contains(r.Files, "-") {
		if d.snapshot != nil {
			return nil, &UsageError{Message: "standard input cannot be read together with --source-revision; commit the document and name its file"}
		}
		out = append(out, inputFile{shown: "-", path: "-"})
	}
	for _, arg := range r.Files {
		if arg == "-" {
			continue
		}
		files, err := d.argument(arg)
		if err != nil {
			return nil, err
		}
		out = append(out, files...)
	}
	if r.Authored {
		for _, kind := range []string{"units", "stacks"} {
			dir := path.Join(environmentsPath, r.Environment, kind)
			files, err := d.directory(filepath.Join(d.engine.root, filepath.FromSlash(dir)), dir)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			out = append(out, files...)
		}
	}
	return out, nil
}

// argument is one --file value: a file or a directory.
func (d documentReader) argument(arg string) ([]inputFile, error) {
	absolute := arg
	if !filepath.IsAbs(arg) {
		absolute = filepath.Join(d.engine.Directory, arg)
	}
	absolute = filepath.Clean(absolute)
	shown := arg
	rel, err := filepath.Rel(d.engine.root, absolute)
	inside := err == nil && filepath.IsLocal(rel)
	if inside {
		shown = filepath.ToSlash(rel)
	}
	if d.snapshot != nil && !inside {
		return nil, &UsageError{Message: fmt.Sprintf("%s lies outside the repository %s, so it is not in the source revision; name a path inside", arg, d.engine.root)}
	}
	files, err := d.directory(absolute, shown)
	if err != nil {
		return nil, &document.Error{File: shown, Message: strings.TrimPrefix(err.Error(), shown+": "), Fix: "name a document or a directory of documents"}
	}
	return files, nil
}

// directory lists the documents at or below a path.
func (d documentReader) directory(absolute, shown string) ([]inputFile, error) {
	if d.snapshot != nil {
		return d.snapshotDirectory(shown)
	}
	info, err := os.Stat(absolute)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shown, fs.ErrNotExist)
	}
	if !info.IsDir() {
		if !isDocument(absolute) {
			return nil, errors.New("is no document: its name must end in .yaml, .yml or .json")
		}
		return []inputFile{{shown: shown, path: absolute}}, nil
	}
	var out []inputFile
	err = filepath.WalkDir(absolute, func(p string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !isDocument(p) {
			return err
		}
		if info, err := os.Stat(p); err != nil || info.IsDir() {
			return err // a symlinked directory is not descended
		}
		rel, err := filepath.Rel(absolute, p)
		if err != nil {
			return err
		}
		out = append(out, inputFile{shown: path.Join(shown, filepath.ToSlash(rel)), path: p})
		return nil
	})
	sortByComponents(out)
	return out, err
}

func (d documentReader) snapshotDirectory(shown string) ([]inputFile, error) {
	clean := path.Clean(shown)
	var out []inputFile
	files := d.snapshot.Files(clean)
	for _, f := range files {
		if f.Path == clean && !isDocument(clean) {
			return nil, errors.New("is no document: its name must end in .yaml, .yml or .json")
		}
		if isDocument(f.Path) && f.Mode != source.ModeSymlink && f.Mode != source.ModeSubmodule {
			out = append(out, inputFile{shown: f.Path, path: f.Path})
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: %w in the source revision", shown, fs.ErrNotExist)
	}
	sortByComponents(out)
	return out, nil
}

func sortByComponents(files []inputFile) {
	slices.SortFunc(files, func(a, b inputFile) int { return source.ComparePaths(a.shown, b.shown) })
}

func isDocument(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// readAll decodes the documents of all files, on all CPUs: there may be thousands. All faults come joined, in file order.
func (d documentReader) readAll(files []inputFile) ([]desired.Document, error) {
	documents := make([][]desired.Document, len(files))
	faults := make([]error, len(files))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, f := range files {
		group.Go(func() error {
			documents[i], faults[i] = d.read(f)
			return nil
		})
	}
	_ = group.Wait() // the functions return no error
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return slices.Concat(documents...), nil
}

// read decodes the documents of one file; standard input may hold several.
func (d documentReader) read(f inputFile) ([]desired.Document, error) {
	if f.path == "-" {
		data, err := io.ReadAll(d.engine.Stdin)
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		parts, err := document.DecodeStream(data)
		if err != nil {
			return nil, err
		}
		var out []desired.Document
		for _, part := range parts {
			doc, err := admit("-", part.Node)
			if err != nil {
				return nil, err
			}
			out = append(out, doc)
		}
		return out, nil
	}
	var data []byte
	var err error
	if d.snapshot != nil {
		data, err = d.snapshot.ReadFile(f.path)
	} else {
		data, err = os.ReadFile(f.path)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.shown, err)
	}
	n, err := document.Decode(f.shown, data)
	if err != nil {
		return nil, err
	}
	doc, err := admit(f.shown, n)
	if err != nil {
		return nil, err
	}
	return []desired.Document{doc}, nil
}

// admit turns a decoded document into an input of apply: an authored Unit, or a desired one when it carries a UID.
func admit(file string, n *document.Node) (desired.Document, error) {
	kind, metadata := n.Get("kind").Str(), n.Get("metadata")
	api := n.Get("apiVersion").Str()
	if api != resource.UnitAPI {
		line, column := n.Locate("/kind")
		message, fix := fmt.Sprintf("apply takes Units, not %s", strings.Trim(api+" "+kind, " ")), "apply the units directory, not the directory of the environment"
		if api == resource.CoreAPI && (kind == "Stack" || kind == "StackTemplate") {
			message, fix = fmt.Sprintf("this version of gitopsctr does not apply documents of kind %s", kind), "apply its Units directly, or leave it out"
		}
		return desired.Document{}, &document.Error{File: file, Line: line, Column: column, Pointer: "/kind", Message: message, Fix: fix}
	}
	if metadata.Has("uid") {
		u, err := resource.UnitFromNode(file, n)
		return desired.Document{File: file, Node: n, Canonical: u}, err
	}
	u, err := resource.AuthoredUnitFromNode(file, n)
	return desired.Document{File: file, Node: n, Unit: u}, err
}
