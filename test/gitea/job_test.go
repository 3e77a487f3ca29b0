//go:build gitea && unix

package gitea

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A program is gitopsctr as it was built for the test, and the terraform or tofu that it runs.
type program struct{ path, terraform string }

func buildProgram(t *testing.T) program {
	t.Helper()
	p := program{path: filepath.Join(t.TempDir(), "gitopsctr")}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", p.path, "../..").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, tool := range []string{"terraform", "tofu"} {
		if path, err := exec.LookPath(tool); err == nil {
			p.terraform = path
			return p
		}
	}
	t.Fatal("neither terraform nor tofu is on PATH; hack/gitea.sh installs OpenTofu")
	return p
}

// A repository is one on the server, a clone of it without credentials, as a checkout step leaves it, and the folder with
// the Terraform states of its Units.
type repository struct {
	*server
	program
	name, clone, states string
	run                 int    // number of the last workflow run
	jobToken            string // what the job is given
}

// newRepository creates testdata/repository on the server.
func newRepository(t *testing.T, s *server, p program, name string) *repository {
	t.Helper()
	s.api(t, "POST", "/user/repos", map[string]any{"name": name, "private": true, "default_branch": "main"}, nil)
	r := &repository{server: s, program: p, name: name, clone: filepath.Join(t.TempDir(), name), states: t.TempDir(), run: 100, jobToken: s.token}
	if err := os.CopyFS(r.clone, os.DirFS("testdata/repository")); err != nil {
		t.Fatal(err)
	}
	for _, unit := range []string{"dev/units/net", "dev/units/app", "production/units/app"} {
		r.replace(t, "deployment/environments/"+unit+".yaml", "STATE", r.states)
	}
	r.git(t, "init", "--quiet", "--initial-branch=main")
	r.git(t, "remote", "add", "origin", s.cloneURL(name))
	r.push(t, "main", "Describe the shop")
	return r
}

// path is that of the repository in the server's interface.
func (r *repository) path(rest string) string { return "/repos/" + owner + "/" + r.name + rest }

func (r *repository) replace(t *testing.T, file, old, replacement string) {
	t.Helper()
	path := filepath.Join(r.clone, file)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), old) {
		t.Fatalf("%s does not contain %q", file, old)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(data), old, replacement)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// push commits everything and pushes it to a branch. It returns the commit.
func (r *repository) push(t *testing.T, branch, message string) string {
	t.Helper()
	r.git(t, "add", "--all")
	r.git(t, "commit", "--quiet", "--message", message)
	r.git(t, "push", "--quiet", r.withToken(r.name), "HEAD:refs/heads/"+branch)
	return r.git(t, "rev-parse", "HEAD")
}

func (r *repository) git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = r.clone
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + r.states, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=author", "GIT_AUTHOR_EMAIL=author@example.test", "GIT_COMMITTER_NAME=author", "GIT_COMMITTER_EMAIL=author@example.test",
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("git %s: %v\n%s", args[0], err, stderr.String())
	}
	return strings.TrimSpace(stdout.String())
}

// refs are the branches on the server.
func (r *repository) refs(t *testing.T) map[string]string {
	t.Helper()
	refs := map[string]string{}
	for _, line := range strings.Split(r.git(t, "ls-remote", "--heads", r.withToken(r.name)), "\n") {
		if commit, ref, ok := strings.Cut(line, "\t"); ok {
			refs[strings.TrimPrefix(ref, "refs/heads/")] = commit
		}
	}
	return refs
}

// file reads a file of a branch as a person in the browser would.
func (r *repository) file(t *testing.T, branch, path string) string {
	t.Helper()
	r.git(t, "fetch", "--quiet", r.withToken(r.name), branch)
	return r.git(t, "show", "FETCH_HEAD:"+path)
}

// A job is what a run of the Action left behind.
type job struct {
	code         int
	log, summary string
	outputs      map[string]string
}

// action runs the Action's entry on the clone as it is, with the variables that a runner of Gitea sets. Every run has a
// number of its own.
func (r *repository) action(t *testing.T, event string, payload any, inputs map[string]string) job {
	t.Helper()
	r.run++
	files := t.TempDir()
	data, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(files, "event.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	variables := map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": files, "CI": "true", "CHECKPOINT_DISABLE": "1", "GITOPSCTR_TERRAFORM": r.terraform,
		"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": r.clone, "GITHUB_EVENT_NAME": event, "GITHUB_EVENT_PATH": filepath.Join(files, "event.json"),
		"GITHUB_OUTPUT": filepath.Join(files, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(files, "summary"),
		"GITHUB_SERVER_URL": r.url, "GITHUB_API_URL": r.apiURL(), "GITHUB_REPOSITORY": owner + "/" + r.name,
		"GITHUB_RUN_ID": fmt.Sprint(r.run), "GITHUB_RUN_ATTEMPT": "1", "GITHUB_SHA": r.git(t, "rev-parse", "HEAD"),
		"INPUT_GITHUB-TOKEN": r.jobToken,
	}
	for name, value := range inputs {
		variables["INPUT_"+strings.ToUpper(name)] = value
	}
	cmd := exec.CommandContext(t.Context(), r.program.path, "action")
	cmd.Dir = r.clone
	for name, value := range variables {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	result := job{code: cmd.ProcessState.ExitCode(), log: withoutMask(log.String()), summary: content(filepath.Join(files, "summary")), outputs: map[string]string{}}
	for _, line := range strings.Split(content(filepath.Join(files, "output")), "\n") {
		if name, value, ok := strings.Cut(line, "="); ok {
			result.outputs[name] = value
		}
	}
	everything := result.log + result.summary + fmt.Sprint(result.outputs)
	if strings.Contains(everything, r.jobToken) {
		t.Errorf("the token is in what the job said:\n%s", strings.ReplaceAll(everything, r.jobToken, "THE-TOKEN"))
	}
	t.Logf("%s of %s ended with %d\n%s", event, r.name, result.code, result.log)
	return result
}

// withoutMask drops the commands that tell a runner what to hide.
func withoutMask(log string) string {
	var kept []string
	for _, line := range strings.Split(log, "\n") {
		if !strings.HasPrefix(line, "::add-mask::") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// content of a file that may not have been written.
func content(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(data)
}
