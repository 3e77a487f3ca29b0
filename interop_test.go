package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/cli"
)

const vectors = "testdata/vectors"

// program runs the command line in this process, as a user would in dir; it returns what it printed and its exit code.
func program(t *testing.T, dir string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	s := &cli.IO{In: strings.NewReader(""), Out: &out, Err: &errs, Getwd: func() (string, error) { return dir, nil },
		Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "NO_COLOR=1", "GIT_CONFIG_NOSYSTEM=1"}}
	code = cli.Run(t.Context(), s, args, openEngine, nil)
	return out.String(), errs.String(), code
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", args...)
	c.Dir = dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=vectors", "GIT_AUTHOR_EMAIL=vectors@example.test", "GIT_COMMITTER_NAME=vectors", "GIT_COMMITTER_EMAIL=vectors@example.test",
		"GIT_AUTHOR_DATE=2024-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2024-01-02T03:04:05Z"}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestSampleRun replays the recorded run of the reference: the same source commit gives the same desired documents, byte
// for byte, block and UIDs included; with the recorded Receipt as evidence, the consumer too.
func TestSampleRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	repository, remote := filepath.Join(dir, "r"), filepath.Join(dir, "r.git")
	sample := filepath.Join(vectors, "a-documents/sample-run")
	for name, text := range sampleSource(t) {
		writeFile(t, filepath.Join(repository, name), []byte(text))
	}
	gitIn(t, dir, "init", "--quiet", "--bare", remote)
	gitIn(t, repository, "init", "--quiet", "--initial-branch=main")
	gitIn(t, repository, "remote", "add", "origin", remote)
	gitIn(t, repository, "add", "--all")
	gitIn(t, repository, "commit", "--quiet", "--message=init")
	if diff := cmp.Diff("4fb03f81674057466425f62620f34cb4a50f521d\n", gitIn(t, repository, "rev-parse", "HEAD")); diff != "" {
		t.Fatalf("source commit (-want +got):\n%s", diff)
	}
	gitIn(t, repository, "push", "--quiet", "origin", "main")

	apply := []string{"apply", "--environment", "dev", "-f", "deployment/environments/dev/units", "--source-revision", "HEAD"}
	if _, stderr, code := program(t, repository, apply...); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, stderr)
	}
	compare := func(what, want, ref string) {
		t.Helper()
		if diff := cmp.Diff(string(readFile(t, filepath.Join(sample, want))), gitIn(t, remote, "show", ref)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	compare("first producer", "desired/infrastructure.yaml", "gitopsctr/desired/dev:units/infrastructure.yaml")
	compare("blocks", "desired-first/transition-blocks.json", "gitopsctr/desired/dev:.gitopsctr/transition-blocks.json")

	evidence := filepath.Join(dir, "observed")
	writeFile(t, filepath.Join(evidence, "units/infrastructure.yaml"), readFile(t, filepath.Join(sample, "observed/infrastructure.yaml")))
	gitIn(t, evidence, "init", "--quiet", "--initial-branch=gitopsctr/observed/dev")
	gitIn(t, evidence, "add", "--all")
	gitIn(t, evidence, "commit", "--quiet", "--message=Observe infrastructure")
	gitIn(t, evidence, "push", "--quiet", remote, "gitopsctr/observed/dev")
	if _, stderr, code := program(t, repository, apply...); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, stderr)
	}
	compare("consumer", "desired/app.yaml", "gitopsctr/desired/dev:units/app.yaml")
	if diff := cmp.Diff("units/app.yaml\nunits/infrastructure.yaml\n", gitIn(t, remote, "ls-tree", "-r", "--name-only", "gitopsctr/desired/dev")); diff != "" {
		t.Errorf("desired tree (-want +got):\n%s", diff)
	}
}

// sampleSource is the source of the recorded run, as its script writes it.
func sampleSource(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{
		"gitopsctr.yaml": strings.Replace(string(readFile(t, filepath.Join(vectors, "a-documents/scaffolds/gitopsctr.yaml"))), "name: demo", "name: example", 1),
		"deployment/environments/dev/environment.yaml": strings.Replace(string(readFile(t,
			filepath.Join(vectors, "b-apply-references/desired/authored/deployment/environments/qa/environment.yaml"))), "name: qa", "name: dev", 1),
	}
	script := string(readFile(t, filepath.Join(vectors, "a-documents/sample-run/run.sh")))
	for part := range strings.SplitSeq(script, "\ncat > ") {
		name, body, ok := strings.Cut(part, "\n")
		name, marker, isHere := strings.Cut(name, " <<")
		if !ok || !isHere {
			continue
		}
		body, _, _ = strings.Cut(body+"\n", "\nT\n")
		if !strings.HasPrefix(marker, "'") {
			body = strings.ReplaceAll(body, "$ROOT", "/srv/gitopsctr/a")
		}
		files[name] = body + "\n"
	}
	return files
}

// TestRecordedEnvironments applies and converges what the reference left behind: nothing runs, no ref moves.
func TestRecordedEnvironments(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bundle, err := filepath.Abs(filepath.Join(vectors, "h-inspection/direct-chain.bundle"))
	if err != nil {
		t.Fatal(err)
	}
	remote, repository := filepath.Join(dir, "remote.git"), filepath.Join(dir, "clone")
	gitIn(t, dir, "clone", "--quiet", "--mirror", bundle, remote)
	gitIn(t, dir, "clone", "--quiet", "--branch", "main", remote, repository)
	before := gitIn(t, remote, "for-each-ref")
	for _, args := range [][]string{
		{"apply", "--environment", "lab", "-f", "deployment/environments/lab/units", "--source-revision", "HEAD"},
		{"converge", "--environment", "lab", "-f", "deployment/environments/lab/units", "--source-revision", "HEAD", "--yes"},
		{"converge", "--environment", "lab", "--yes"},
	} {
		stdout, stderr, code := program(t, repository, args...)
		if code != 0 || stdout != "" || strings.Contains(stderr, "ACTION") || strings.Contains(stderr, "UPDATE") {
			t.Errorf("%s: exit code %d, stdout %q, stderr:\n%s", strings.Join(args, " "), code, stdout, stderr)
		}
		if diff := cmp.Diff(before, gitIn(t, remote, "for-each-ref")); diff != "" {
			t.Errorf("%s moved refs (-before +after):\n%s", strings.Join(args, " "), diff)
		}
	}
}
