// Package faults shows what happens to a run of the real program when something goes wrong around it: the remote loses
// requests, answers and half of a pack; the process is killed at any moment; many processes work at once. It refuses to
// know how the program works: it sees processes, a bare repository behind an HTTP server that can be told to fail, and the
// log of a stub in place of terraform. Its one idea is the comparison: whatever went wrong, in the end the refs hold what an
// undisturbed run leaves (specification, invariants).
//
// Everything quick runs with the other tests. The long forms, and the soak run, have the build tag faults:
//
//	go test -tags faults ./test/faults/ -run Soak -soak 10m -v
package faults

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const moduleRoot = "../.."

// binary is the program under test. It is set once, before any test runs.
var binary = flag.String("gitopsctr", "", "path of the program to test (default: it is built)")

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	if *binary == "" {
		dir, err := os.MkdirTemp("", "gitopsctr-faults-")
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		if *binary, err = build(dir); err != nil {
			return 0, err
		}
	}
	return m.Run(), nil
}

func build(dir string) (string, error) {
	if err := readSources(); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "gitopsctr")
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Dir = moduleRoot
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
}

// readSources looks at every file of the program, so that the go command runs these tests again when one changes: it does
// not see what its own child process reads.
func readSources() error {
	return filepath.WalkDir(moduleRoot, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != moduleRoot && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case filepath.Ext(path) == ".go":
			_, err = os.Stat(path)
		}
		return err
	})
}
