package desired

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/resource"
	"github.com/gitopsctr/gitopsctr/internal/source"
)

// A plane is a tree of files by path, as a commit of a ref or as a source.
type plane map[string]string

func (p plane) Files(prefix string) []gitstate.File {
	prefix = strings.TrimSuffix(prefix, "/")
	var out []gitstate.File
	for path, text := range p {
		if prefix == "" || path == prefix || strings.HasPrefix(path, prefix+"/") {
			out = append(out, gitstate.File{Path: path, Mode: 0o644, Blob: document.BlobID([]byte(text))})
		}
	}
	slices.SortFunc(out, func(a, b gitstate.File) int { return strings.Compare(a.Path, b.Path) })
	return out
}

func (p plane) ReadFile(path string) ([]byte, error) {
	text, ok := p[path]
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	}
	return []byte(text), nil
}

// A commit is a plane whose files are listed once.
type commit struct {
	plane
	files []gitstate.File
}

func (p plane) commit() commit { return commit{p, p.Files("")} }

func (c commit) Files(prefix string) []gitstate.File {
	prefix = strings.TrimSuffix(prefix, "/")
	if prefix == "" {
		return c.files
	}
	byPath := func(f gitstate.File, path string) int { return strings.Compare(f.Path, path) }
	if i, ok := slices.BinarySearchFunc(c.files, prefix, byPath); ok {
		return c.files[i : i+1]
	}
	first, _ := slices.BinarySearchFunc(c.files, prefix+"/", byPath)
	last := first
	for last < len(c.files) && strings.HasPrefix(c.files[last].Path, prefix+"/") {
		last++
	}
	return c.files[first:last]
}

// sources is a plane as a source.Tree.
type sources struct{ plane }

func (s sources) Files(prefix string) []source.File {
	var out []source.File
	for _, f := range s.plane.Files(prefix) {
		out = append(out, source.File{Path: f.Path, Mode: source.ModeFile, Blob: f.Blob})
	}
	return out
}

// A setting is an environment with everything that an apply reads.
type setting struct {
	project, environment string
	authored             plane // documents by file
	source               plane
	revision             string
	desired, observed    plane // nil: the ref does not exist
	promotion            *Promotion
	partition            string
	dry                  bool
}

const (
	projectText     = "apiVersion: gitopsctr.io/v1\nkind: Project\nmetadata: {name: shop}\nspec: {effectLease: null}\n"
	environmentText = "apiVersion: gitopsctr.io/v1\nkind: Environment\nmetadata: {name: dev}\nspec: {}\n"
	revision        = "a357dfb9a8256a0b336236ce8c0e5582fa4780f7"
)

// input decodes the setting into what Build takes.
func (s setting) input(t testing.TB) Input {
	t.Helper()
	project, err := resource.DecodeProject("gitopsctr.yaml", []byte(orElse(s.project, projectText)))
	check(t, err)
	environment, err := resource.DecodeEnvironment("environment.yaml", []byte(orElse(s.environment, environmentText)), "dev")
	check(t, err)
	index, err := source.NewIndex(sources{s.source})
	check(t, err)
	in := Input{
		Project: project, Environment: environment, Source: index, SourceRevision: orElse(s.revision, revision), Hasher: &source.Hasher{},
		State: state(t, s.desired, s.observed), Promotion: s.promotion, Partition: s.partition, Dry: s.dry,
		Usable: func(context.Context, string) (bool, error) { return true, nil },
	}
	for _, file := range slices.Sorted(maps.Keys(s.authored)) {
		in.Documents = append(in.Documents, authoredDocument(t, file, s.authored[file]))
	}
	return in
}

func (s setting) build(t testing.TB) *Candidate {
	t.Helper()
	c, err := Build(t.Context(), s.input(t))
	check(t, err)
	return c
}

// after is the desired plane that publishing the candidate leaves.
func after(c *Candidate, before plane) plane {
	next := plane{}
	kept := map[string]string{}
	for _, text := range before {
		kept[document.BlobID([]byte(text))] = text
	}
	for path, f := range c.Files {
		next[path] = string(f.Content)
		if f.Content == nil {
			next[path] = kept[f.Blob]
		}
	}
	return next
}

func authoredDocument(t testing.TB, file, text string) Document {
	t.Helper()
	n, err := document.Decode(file, []byte(text))
	check(t, err)
	u, err := resource.AuthoredUnitFromNode(file, n)
	check(t, err)
	return Document{File: file, Node: n, Unit: u}
}

func state(t testing.TB, desired, seen plane) *observed.State {
	t.Helper()
	d, o := observed.Plane{Ref: "gitopsctr/desired/dev", Tree: desired.commit()}, observed.Plane{Ref: "gitopsctr/observed/dev", Tree: seen.commit()}
	if desired != nil {
		d.Revision = strings.Repeat("d", 40)
	}
	if seen != nil {
		o.Revision = strings.Repeat("0", 40)
	}
	s, err := observed.Load(d, o, nil)
	check(t, err)
	return s
}

// receipt is the Receipt of the desired Unit in a file of the desired plane, with the result given as JSON.
func receipt(t testing.TB, desired plane, name, result string, artifacts ...resource.ArtifactDescriptor) string {
	t.Helper()
	path := resource.UnitPath(name, document.YAML)
	u, err := resource.DecodeUnit(path, []byte(desired[path]))
	check(t, err)
	controller := document.NewMap(document.F("version", document.NewString("test")))
	r, err := resource.NewReceipt(u, name, document.BlobID([]byte(desired[path])), "", controller, value(t, result), artifacts)
	check(t, err)
	data, err := r.Encode(document.YAML)
	check(t, err)
	return string(data)
}

func value(t testing.TB, json string) *document.Node {
	t.Helper()
	n, err := document.Decode("value.json", []byte(`{"v":`+json+`}`))
	check(t, err)
	return n.Get("v")
}

func vector(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../testdata/vectors", name))
	check(t, err)
	return string(data)
}

// vectorPlane reads a folder of the vectors.
func vectorPlane(t testing.TB, folder string) plane {
	t.Helper()
	root := os.DirFS(filepath.Join("../../testdata/vectors", folder))
	out := plane{}
	check(t, fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, path)
		out[path] = string(data)
		return err
	}))
	return out
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// replaceAll replaces pairs of old and new texts.
func replaceAll(text string, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(text)
}
