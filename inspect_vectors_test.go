package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/cli"
)

// deviations are the recorded outputs of chapter H that are meant to differ, and why; docs/compatibility.md says the same
// to users. A want of "" compares nothing but the exit code.
var deviations = map[string]struct {
	why            string
	code           int
	stdout, stderr string
}{
	"artifact-lineage/get-receipt-artifacts": {
		why: "a Receipt's own artifacts are enough; those of other producers do not matter (H 5.3)", stdout: "deviation-receipt-artifacts.stdout"},
	"artifact-lineage/get-receipt-artifact": {
		why: "as above", stdout: "get-artifact-yaml.stdout"},
	"mixed-states/status": {
		why: "the last document of a YAML project is found too, and explained (H 6)", stderr: "deviation-status.stderr"},
	"mixed-states/status-unit": {
		why: "as above", stderr: "deviation-status-unit.stderr"},
	"stack-deleting/status": {
		why: "a deleting Unit of a Stack is shown once, by its address (H 6)", stderr: "deviation-status.stderr"},
	"stack-chain/dependencies": {
		why: "Stacks are resolved (H 13, 3)", stdout: "deviation-dependencies.stdout"},
	"stack-chain/dependencies-list": {
		why: "as above", stdout: "deviation-dependencies-list.stdout"},
	"stack-chain/dependencies-json": {
		why: "as above", stdout: "deviation-dependencies-json.stdout"},
	"stack-chain/dependencies-depth0": {
		why: "as above", stdout: "deviation-dependencies-depth0.stdout"},
}

// TestInspectionVectors runs every recorded command of chapter H on its bundle and compares exit code and bytes. Where a
// command fails the wording is ours; it says FAILED, and nothing is on standard output.
func TestInspectionVectors(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("testdata", "vectors", "h-inspection")
	bundles, err := filepath.Glob(filepath.Join(dir, "*.bundle"))
	if err != nil || len(bundles) == 0 {
		t.Fatalf("no bundles below %s: %v", dir, err)
	}
	for _, bundle := range bundles {
		name := strings.TrimSuffix(filepath.Base(bundle), ".bundle")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clone := cloneBundle(t, bundle)
			vectors := filepath.Join(dir, name)
			commands, err := os.ReadFile(filepath.Join(vectors, "COMMANDS.txt"))
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(commands)) {
				head, command, ok := strings.Cut(strings.TrimSpace(line), " :: gitopsctr ")
				if !ok {
					continue
				}
				vector, code, _ := strings.Cut(head, " ")
				t.Run(vector, func(t *testing.T) {
					t.Parallel()
					replay(t, clone, vectors, vector, code, strings.Fields(command))
				})
			}
		})
	}
}

func replay(t *testing.T, clone, vectors, vector, code string, args []string) {
	t.Helper()
	want, err := strconv.Atoi(code)
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr := vector+".stdout", vector+".stderr"
	if d, ok := deviations[filepath.Base(vectors)+"/"+vector]; ok {
		want = d.code
		if d.stdout != "" {
			stdout = d.stdout
		}
		if d.stderr != "" {
			stderr = d.stderr
		}
	}
	got, out, errs := runIn(t, clone, args...)
	if got != want {
		t.Fatalf("exit code: want %d, got %d\n%s", want, got, errs)
	}
	if want != 0 {
		if out != "" || !strings.Contains(errs, "    FAILED   gitopsctr: ") {
			t.Errorf("want nothing on stdout and a FAILED line, got %q and %q", out, errs)
		}
		return
	}
	if diff := cmp.Diff(recorded(t, vectors, stdout), out); diff != "" {
		t.Errorf("stdout (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(recorded(t, vectors, stderr), errs); diff != "" {
		t.Errorf("stderr (-want +got):\n%s", diff)
	}
}

// recorded is an expected output; a file that is not there stands for nothing.
func recorded(t *testing.T, vectors, name string) string {
	t.Helper()
	for _, dir := range []string{vectors, filepath.Join("testdata", "inspection", filepath.Base(vectors))} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			return string(data)
		}
		if !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	if strings.HasPrefix(name, "deviation-") {
		t.Fatalf("%s is missing", name)
	}
	return ""
}

// runIn runs the program in this process, in a directory, without the process's own environment.
func runIn(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	s := &cli.IO{
		In: strings.NewReader(""), Out: &out, Err: &errs, Environ: []string{"NO_COLOR=1", "RUNNER_TEMP=" + t.TempDir()},
		Getwd: func() (string, error) { return dir, nil },
	}
	code = cli.Run(t.Context(), s, args, openEngine, nil)
	return code, out.String(), errs.String()
}

// cloneBundle makes a bare remote of a bundle and a clone of it, as the vectors' README says.
func cloneBundle(t *testing.T, bundle string) string {
	t.Helper()
	dir := t.TempDir()
	remote, clone := filepath.Join(dir, "remote.git"), filepath.Join(dir, "clone")
	for _, args := range [][]string{{"clone", "--quiet", "--mirror", bundle, remote}, {"clone", "--quiet", "--branch=main", remote, clone}} {
		c := exec.Command("git", args...)
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	return clone
}
