//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

const (
	shardUnits = 40
	// shardChains of chainLength Units each depend on one another; the others depend on none.
	shardChains = 5
	chainLength = 3
	shards      = 4
)

// TestShardsDeliver splits an environment of 40 Units into four groups and converges each in a container of its own, all
// at the same time, as the jobs of a matrix do. Each has its own checkout; they meet at the remote's refs only.
func TestShardsDeliver(t *testing.T) {
	_, image := images(t)
	r := newRemote(t)
	repo := newRepository(t, r, image)
	producers := writeShardUnits(t, repo, r)
	repo.commit(t, r, "Describe forty Units")
	repo.giveToRunner(t)

	groups := prepareShards(t, repo, r, image)
	checkShards(t, groups, producers)

	var runs []container
	for _, group := range groups {
		runs = append(runs, startAction(t, checkout(t, repo), r, image, "--env", "INPUT_UNITS="+strings.Join(group, ",")))
	}
	for i, run := range runs {
		if code, log := run.wait(t); code != "0" {
			t.Errorf("group %d of %d ended with %s:\n%s", i+1, len(runs), code, log)
		}
	}

	once := map[string]int{}
	for unit := range producers {
		once[unit] = 1
	}
	if diff := cmp.Diff(once, r.states.writeCounts()); diff != "" {
		t.Errorf("how often each Unit was applied (-want +got):\n%s", diff)
	}
	checkShardReceipts(t, r, producers)

	refs := r.refs(t)
	code, log := startAction(t, checkout(t, repo), r, image).wait(t)
	if code != "0" || !strings.Contains(log, "nothing to do") {
		t.Errorf("a run for all Units ended with %s, want nothing left to do:\n%s", code, log)
	}
	if diff := cmp.Diff(refs, r.refs(t)); diff != "" {
		t.Errorf("a run after all groups moved refs (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(once, r.states.writeCounts()); diff != "" {
		t.Errorf("a run after all groups applied something (-before +after):\n%s", diff)
	}
}

// writeShardUnits replaces the Units of dev. It returns the producer of each Unit, "" for none.
func writeShardUnits(t *testing.T, repo *gitDir, r *remote) map[string]string {
	t.Helper()
	const folder = "deployment/environments/dev/units"
	template := map[bool]string{
		false: readFile(t, filepath.Join(repo.path, folder, "infrastructure.yaml")),
		true:  readFile(t, filepath.Join(repo.path, folder, "app.yaml")),
	}
	for _, name := range []string{"infrastructure.yaml", "app.yaml"} {
		if err := os.Remove(filepath.Join(repo.path, folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	producers := map[string]string{}
	for i := range shardUnits {
		name, producer := fmt.Sprintf("unit-%02d", i), ""
		if i < shardChains*chainLength && i%chainLength > 0 {
			producer = fmt.Sprintf("unit-%02d", i-1)
		}
		output := "api_url"
		if producer != "" && producers[producer] != "" {
			output = "seen"
		}
		// Own names first: what replaces them must not be replaced again.
		text := strings.NewReplacer(
			"name: infrastructure", "name: "+name, "name: app", "name: "+name,
			r.url+"/state/infrastructure", r.url+"/state/"+name, r.url+"/state/app", r.url+"/state/"+name,
			"unit: infrastructure", "unit: "+producer, "/outputs/api_url", "/outputs/"+output,
		).Replace(template[producer != ""])
		repo.write(t, filepath.Join(folder, name+".yaml"), text)
		producers[name] = producer
	}
	return producers
}

// prepareShards is the first job of the matrix's workflow: its output is the groups of Units.
func prepareShards(t *testing.T, repo *gitDir, r *remote, image string) [][]string {
	t.Helper()
	commands := t.TempDir()
	code, log := startAction(t, checkout(t, repo), r, image, "--volume", commands+":/github/file_commands",
		"--env", "GITHUB_OUTPUT=/github/file_commands/output",
		"--env", "INPUT_OPERATION=prepare", "--env", fmt.Sprintf("INPUT_SHARDS=%d", shards)).wait(t)
	if code != "0" {
		t.Fatalf("prepare ended with %s:\n%s", code, log)
	}
	var matrix struct {
		Include []struct {
			Shard, Of int
			Units     string
		}
	}
	outputs := readFile(t, filepath.Join(commands, "output"))
	if err := json.Unmarshal([]byte(outputNamed(t, outputs, "matrix")), &matrix); err != nil {
		t.Fatalf("the output matrix: %v\n%s", err, outputs)
	}
	var groups [][]string
	for i, row := range matrix.Include {
		if row.Shard != i+1 || row.Of != shards {
			t.Errorf("row %d is shard %d of %d, want %d of %d", i, row.Shard, row.Of, i+1, shards)
		}
		groups = append(groups, strings.Split(row.Units, ","))
	}
	return groups
}

// outputNamed reads the file of a step's outputs as the runner does: name=value, or name<<end and lines up to the end.
func outputNamed(t *testing.T, text, name string) string {
	t.Helper()
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if value, ok := strings.CutPrefix(line, name+"="); ok {
			return value
		}
		if end, ok := strings.CutPrefix(line, name+"<<"); ok {
			if n := slices.Index(lines[i+1:], end); n >= 0 {
				return strings.Join(lines[i+1:i+1+n], "\n")
			}
		}
	}
	t.Fatalf("there is no output %s in\n%s", name, text)
	return ""
}

// checkShards: every Unit is in one group, with its producer, and the groups are of one size.
func checkShards(t *testing.T, groups [][]string, producers map[string]string) {
	t.Helper()
	groupOf := map[string]int{}
	for i, group := range groups {
		if want := shardUnits / shards; len(group) != want {
			t.Errorf("group %d has %d Units, want %d: %v", i+1, len(group), want, group)
		}
		for _, unit := range group {
			if _, twice := groupOf[unit]; twice {
				t.Errorf("%s is in two groups", unit)
			}
			groupOf[unit] = i
		}
	}
	if len(groups) != shards || len(groupOf) != shardUnits {
		t.Fatalf("%d groups with %d Units, want %d with %d", len(groups), len(groupOf), shards, shardUnits)
	}
	for unit, producer := range producers {
		if producer != "" && groupOf[unit] != groupOf[producer] {
			t.Errorf("%s and its producer %s are in different groups", unit, producer)
		}
	}
}

// checkShardReceipts: every Unit has a Receipt for its desired document as it is, and for the evidence of its producer as
// it is.
func checkShardReceipts(t *testing.T, r *remote, producers map[string]string) {
	t.Helper()
	desired, observed := blobs(t, r, desiredRef), blobs(t, r, observedRef)
	for unit, producer := range producers {
		file := "units/" + unit + ".yaml"
		if observed[file] == "" {
			t.Errorf("the Receipt of %s is lost", unit)
			continue
		}
		var got receipt
		if err := yaml.Unmarshal([]byte(r.git(t, "show", observedRef+":"+file)), &got); err != nil {
			t.Fatalf("Receipt of %s: %v", unit, err)
		}
		if want := desired[file]; want == "" || got.Spec.Desired.UnitBlob != want {
			t.Errorf("the Receipt of %s is for the document %q, want %q", unit, got.Spec.Desired.UnitBlob, want)
		}
		var evidence map[string]string
		if producer != "" {
			evidence = map[string]string{producer: observed["units/"+producer+".yaml"]}
		}
		if diff := cmp.Diff(evidence, got.Spec.ResolvedInputs.Receipts); diff != "" {
			t.Errorf("evidence of %s (-want +got):\n%s", unit, diff)
		}
	}
}

// blobs maps the files of a commit to their objects.
func blobs(t *testing.T, r *remote, ref string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, line := range strings.Split(r.git(t, "ls-tree", "-r", "--format=%(path) %(objectname)", ref), "\n") {
		if path, object, ok := strings.Cut(line, " "); ok {
			found[path] = object
		}
	}
	return found
}

// checkout is a job's own copy of the repository.
func checkout(t *testing.T, repo *gitDir) *gitDir {
	t.Helper()
	own := &gitDir{path: filepath.Join(t.TempDir(), "shop")}
	if err := os.CopyFS(own.path, os.DirFS(repo.path)); err != nil {
		t.Fatal(err)
	}
	own.giveToRunner(t)
	return own
}
