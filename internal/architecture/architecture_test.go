// Package architecture has no code: its test keeps the picture of the rooms and their import directions true. It asks
// the go command which packages there are and what they import, and reads from their source where the environment is
// read. Whoever changes the picture changes the tables here, and says why.
package architecture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/gitopsctr/gitopsctr"

// rooms are the rooms of the house from the ground up. A package may import packages of rooms before its own, and of its
// own room. A room is a folder of internal/ with all that is below it, but for "driver/*", where every folder is a room of
// its own; "schemas", "examples" and "main" are at the top of the module.
var rooms = []string{
	"schemas", "document", "resource", "expression", "graph", "gitstate", "source", "observed", "desired",
	"inspect",  // what people ask for is made of what observed and desired derive; it knows no drivers and prints nothing by itself
	"scaffold", // the text of new documents is made from their contracts alone
	"driver", "driver/*", "lease", "forge", "report", "engine", "examples", "cli", "action", "main",
}

// forbidden are the imports that the order alone would allow.
var forbidden = []struct {
	from, to, why string
}{
	{"driver/*", "driver/*", "drivers do not know each other; what they share belongs to driver"},
	{"forge", "driver/*", "forge talks to the forge, not to drivers"},
	{"report", "driver/*", "reports know what drivers say through package driver only"},
	{"observed", "driver", "what is observed is a document; take an interface"},
	{"desired", "driver", "the desired state takes what it needs of drivers as an interface"},
	{"cli", "action", "the two faces do not know each other"},
	{"action", "cli", "the two faces do not know each other"},
}

// onlyFor names the rooms that alone may import a package of ours or of others, and what is below it.
var onlyFor = map[string][]string{
	module + "/schemas":                     {"resource", "cli"},
	"github.com/go-git/go-git":              {"gitstate"},
	"github.com/go-git/go-billy":            {"gitstate"},
	"github.com/google/go-github":           {"forge"},
	"github.com/sethvargo/go-githubactions": {"action"},
}

// environmentReaders are the rooms that may read the process's environment; all others are given what they need.
var environmentReaders = []string{"main", "action", "cli"}

var environmentFunctions = []string{"Getenv", "LookupEnv", "Environ", "ExpandEnv"}

// A goPackage is what we need of an answer of go list.
type goPackage struct {
	ImportPath string
	Dir        string
	Imports    []string
	GoFiles    []string
}

func TestImportDirections(t *testing.T) {
	t.Parallel()
	for _, p := range listPackages(t) {
		for _, fault := range faults(p) {
			t.Error(fault)
		}
	}
}

// faults says what is wrong with the imports of one package.
func faults(p goPackage) []string {
	room, ok := roomOf(p.ImportPath)
	if !ok {
		return []string{fmt.Sprintf("%s is in no room: give it a place in the table of rooms, or move it into a room", p.ImportPath)}
	}
	var out []string
	for _, imported := range p.Imports {
		if why := fault(p.ImportPath, room, imported); why != "" {
			out = append(out, fmt.Sprintf("%s imports %s: %s", p.ImportPath, imported, why))
		}
	}
	return out
}

func fault(from, room, imported string) string {
	for path, allowed := range onlyFor {
		// "go-git" stands for "go-git/v5" too, but not for "go-git-extra".
		if below(imported, path) && !slices.Contains(allowed, room) {
			return "only " + strings.Join(allowed, " and ") + " may"
		}
	}
	target, ours := roomOf(imported)
	switch {
	case !ours || folderOf(imported) == folderOf(from):
		return ""
	case target != room && slices.Index(rooms, target) > slices.Index(rooms, room):
		return fmt.Sprintf("%s comes after %s in the order of rooms; define an interface where it is used, or move what both need down", target, room)
	}
	for _, f := range forbidden {
		if f.from == room && f.to == target {
			return f.why
		}
	}
	return ""
}

// folderOf returns the folder that makes a room: "driver/terraform" for a package below it.
func folderOf(importPath string) string {
	path := strings.TrimPrefix(strings.TrimPrefix(importPath, module), "/")
	path = strings.TrimPrefix(path, "internal/")
	parts := strings.Split(path, "/")
	if parts[0] == "driver" && len(parts) > 1 {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// roomOf returns the room of a package of ours.
func roomOf(importPath string) (string, bool) {
	if !below(importPath, module) {
		return "", false
	}
	room := folderOf(importPath)
	switch {
	case room == "":
		room = "main"
	case strings.HasPrefix(room, "driver/"):
		room = "driver/*"
	}
	return room, slices.Contains(rooms, room)
}

func below(path, parent string) bool { return path == parent || strings.HasPrefix(path, parent+"/") }

func TestOnlyTheFacesReadTheEnvironment(t *testing.T) {
	t.Parallel()
	for _, p := range listPackages(t) {
		if room, _ := roomOf(p.ImportPath); slices.Contains(environmentReaders, room) {
			continue
		}
		for _, name := range p.GoFiles {
			for _, use := range environmentReads(t, filepath.Join(p.Dir, name)) {
				t.Errorf("%s: only %s may read the environment; take the value as a parameter", use, strings.Join(environmentReaders, ", "))
			}
		}
	}
}

// environmentReads finds the uses of functions that read the environment: "file.go:12:3: os.Getenv".
func environmentReads(t *testing.T, file string) []string {
	t.Helper()
	// Read here, so that the go command knows what this test depends on and does not take an old result for the new.
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	positions := token.NewFileSet()
	tree, err := parser.ParseFile(positions, file, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{} // local name of an import → its path
	for _, spec := range tree.Imports {
		path := strings.Trim(spec.Path.Value, `"`)
		if path != "os" && path != "syscall" {
			continue
		}
		names[path] = path
		if spec.Name != nil {
			delete(names, path)
			names[spec.Name.Name] = path
		}
	}
	var uses []string
	ast.Inspect(tree, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := selector.X.(*ast.Ident); ok && names[x.Name] != "" && slices.Contains(environmentFunctions, selector.Sel.Name) {
			uses = append(uses, fmt.Sprintf("%s: %s.%s", positions.Position(selector.Pos()), names[x.Name], selector.Sel.Name))
		}
		return true
	})
	return uses
}

// TestFaults makes sure that the checks find what they are for.
func TestFaults(t *testing.T) {
	t.Parallel()
	in := func(path string) string { return module + "/internal/" + path }
	for _, tc := range []struct {
		from, imported string
		allowed        bool
	}{
		{in("resource"), in("document"), true},
		{in("document"), in("resource"), false},
		{in("resource"), module + "/schemas", true},
		{in("engine"), module + "/schemas", false},
		{in("cli"), module + "/schemas", true},
		{in("desired"), in("desired/stacks"), true},
		{in("desired/stacks"), in("desired"), true},
		{in("desired/stacks"), in("driver"), false},
		{in("observed"), in("driver/terraform"), false},
		{in("driver/terraform"), in("driver"), true},
		{in("driver"), in("driver/terraform"), false},
		{in("driver/terraform"), in("driver/terraform/plan"), true},
		{in("driver/terraform"), in("driver/kubernetes"), false},
		{in("driver/terraform/plan"), in("driver/kubernetes/plan"), false},
		{in("report"), in("driver"), true},
		{in("report"), in("driver/terraform"), false},
		{in("forge"), in("driver/terraform"), false},
		{in("engine"), in("driver"), true},
		{in("engine"), in("cli"), false},
		{in("action"), in("cli"), false},
		{in("cli"), in("action"), false},
		{module, in("action"), true},
		{in("gitstate"), "github.com/go-git/go-git/v5/plumbing", true},
		{in("source"), "github.com/go-git/go-git/v5", false},
		{in("engine"), "github.com/google/go-github/v72/github", false},
		{in("forge"), "github.com/google/go-github/v72/github", true},
		{in("report"), "github.com/sethvargo/go-githubactions", false},
		{in("source"), "os", true},
		{in("utils"), "os", false},
		{module + "/tools", "os", false},
	} {
		got := faults(goPackage{ImportPath: tc.from, Imports: []string{tc.imported}})
		if allowed := len(got) == 0; allowed != tc.allowed {
			t.Errorf("%s imports %s: want allowed %t, got %q", tc.from, tc.imported, tc.allowed, got)
		}
	}
}

func TestEnvironmentReads(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "x.go")
	text := "package x\n\nimport (\n\tsys \"os\"\n\t\"syscall\"\n)\n\nvar a = sys.Getenv(\"A\")\nvar b, _ = syscall.Getenv(\"B\")\nvar f = sys.Environ\nvar c = sys.Args\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []string{file + ":8:9: os.Getenv", file + ":9:12: syscall.Getenv", file + ":10:9: os.Environ"}
	if diff := cmp.Diff(want, environmentReads(t, file)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// listPackages asks the go command for the packages of the module that have code.
func listPackages(t *testing.T) []goPackage {
	t.Helper()
	root := filepath.Join("..", "..")
	readFolders(t, root)
	// A package that does not compile is the compiler's business (-e); here it still has imports.
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Dir,Imports,GoFiles", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	var packages []goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if len(p.GoFiles) > 0 {
			packages = append(packages, p)
		}
		for _, name := range p.GoFiles {
			if _, err := os.Stat(filepath.Join(p.Dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(packages) < 3 {
		t.Fatalf("go list knows %d packages only", len(packages))
	}
	return packages
}

// readFolders looks at every folder of Go files, and listPackages at every file, so that the go command runs this test
// again when one comes, goes or changes: it does not see what its own child process reads.
func readFolders(t *testing.T, root string) {
	t.Helper()
	for _, top := range []string{"internal", "schemas", "examples"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(_ string, _ os.DirEntry, err error) error {
			if errors.Is(err, os.ErrNotExist) {
				return nil
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
