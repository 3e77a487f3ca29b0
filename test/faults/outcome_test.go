package faults

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// An outcome is what the branches hold in the end, by "REF:PATH". What differs from one undisturbed run to the next is taken
// out: times, commits, lease tokens, and through them the blobs of Receipts and of what records those. That a Receipt is
// for the Unit's present document is kept.
type outcome map[string]any

// sameOutcome fails unless the shop's branches hold what an undisturbed run leaves.
func sameOutcome(t *testing.T, want, got outcome) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the refs differ from those of an undisturbed run (-want +got):\n%s", diff)
	}
}

// outcome reads the three branches.
func (s *shop) outcome(t *testing.T) outcome {
	t.Helper()
	out := outcome{}
	blobs := map[string]string{} // of the desired Units, by path
	for _, ref := range []string{desiredRef, observedRef, leaseRef} {
		if s.head(t, ref) == "" {
			continue
		}
		for _, f := range listTree(t, s.bare, ref) {
			text := git(t, s.bare, "cat-file", "blob", f.blob)
			if ref == desiredRef {
				blobs[f.path] = f.blob
			}
			if ext := path.Ext(f.path); ext != ".yaml" && ext != ".json" {
				out[ref+":"+f.path] = text
				continue
			}
			var doc map[string]any
			if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
				t.Fatalf("%s:%s: %v", ref, f.path, err)
			}
			out[ref+":"+f.path] = steady(doc, blobs[f.path])
		}
	}
	return out
}

// steady takes out of a document what no two runs have in common. unitBlob is the present desired document.
func steady(doc map[string]any, unitBlob string) map[string]any {
	delete(doc, "desiredRevision") // of teardown evidence
	if status, ok := doc["status"].(map[string]any); ok {
		delete(status, "controller")
	}
	spec, _ := doc["spec"].(map[string]any)
	if desired, ok := spec["desired"].(map[string]any); ok {
		delete(desired, "revision")
		if desired["unitBlob"] == unitBlob {
			desired["unitBlob"] = "the present one"
		}
	}
	inputs, _ := spec["resolvedInputs"].(map[string]any)
	if receipts, ok := inputs["receipts"].(map[string]any); ok {
		for name := range receipts {
			receipts[name] = "some blob"
		}
	}
	return doc
}

type treeFile struct{ path, blob string }

// listTree lists the files of a commit.
func listTree(t *testing.T, bare, revision string) []treeFile {
	t.Helper()
	var out []treeFile
	for line := range strings.Lines(git(t, bare, "ls-tree", "-r", "--full-tree", revision)) {
		entry, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		fields := strings.Fields(entry)
		if !ok || len(fields) != 3 || fields[0] != "100644" {
			t.Fatalf("%s holds something that is no plain file: %q", revision, line)
		}
		out = append(out, treeFile{name, fields[2]})
	}
	return out
}

// undisturbed is the outcome of one run in which nothing goes wrong.
func undisturbed(t *testing.T, leases bool, units map[string]string) outcome {
	t.Helper()
	s := newShop(t, leases, units)
	if r := s.converge(t); r.code != 0 || !strings.Contains(r.stderr, fmt.Sprintf("RESULT   CLEAN: %d/%d units", len(units), len(units))) {
		t.Fatalf("the undisturbed run ended with %d:\n%s", r.code, r.stderr)
	}
	return s.outcome(t)
}

// settle runs the program until it says that there is nothing to do, and recovers the leases that it asks to recover. It
// returns how many that were, and fails when three runs are not enough.
func (s *shop) settle(t *testing.T) (recovered int) {
	t.Helper()
	s.remote.disturb()
	s.tool.quiet(t)
	var last run
	for range 3 {
		last = s.converge(t)
		if last.code != 0 {
			t.Fatalf("a run without faults ended with %d:\n%s", last.code, last.stderr)
		}
		commands := recoveries(last.stderr)
		if len(commands) == 0 {
			if strings.Contains(last.stderr, "no drivers ran") {
				return recovered
			}
			continue
		}
		for _, args := range commands {
			if r := s.run(t, args...); r.code != 0 {
				t.Fatalf("the command that was told, %q, ended with %d:\n%s", args, r.code, r.stderr)
			}
			recovered++
		}
	}
	t.Fatalf("three runs do not settle:\n%s", last.stderr)
	return 0
}

// recoveries are the commands that the output tells to run, each once.
func recoveries(output string) [][]string {
	var out [][]string
	seen := map[string]bool{}
	for line := range strings.Lines(output) {
		_, rest, ok := strings.Cut(line, "gitopsctr recover-effect-lease ")
		command, _, ends := strings.Cut(rest, " --confirm-stopped")
		if ok && ends && !seen[command] {
			seen[command] = true
			out = append(out, append(append([]string{"recover-effect-lease"}, strings.Fields(command)...), "--confirm-stopped"))
		}
	}
	return out
}
