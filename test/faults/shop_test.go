package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// The refs of the environment dev.
const (
	desiredRef  = "gitopsctr/desired/dev"
	observedRef = "gitopsctr/observed/dev"
	leaseRef    = "gitopsctr/leases"
)

// A shop is a repository with Units, its remote, and the tool that all runs share. Two shops with the same Units have the
// same commits, whatever their place and time.
type shop struct {
	bare, clone string
	remote      *remote
	tool        *tool
	home        string

	mu     sync.Mutex
	victim *os.Process // the run that a mishap may kill
}

// newShop makes a shop. Units are by name with their input, or "@NAME" to read that of another Unit.
func newShop(t *testing.T, leases bool, units map[string]string) *shop {
	t.Helper()
	root := t.TempDir()
	s := &shop{bare: filepath.Join(root, "remote.git"), clone: filepath.Join(root, "clone"), home: filepath.Join(root, "home"), tool: newTool(t)}
	if err := os.Mkdir(s.home, 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, root, "init", "--quiet", "--bare", "--initial-branch=main", s.bare)
	s.remote = newRemote(t, s.bare)
	git(t, root, "init", "--quiet", "--initial-branch=main", s.clone)
	git(t, s.clone, "remote", "add", "origin", s.remote.url)
	lease := "null"
	if leases {
		lease = "{store: {branch: {ref: " + leaseRef + "}}}"
	}
	s.write(t, "gitopsctr.yaml", "apiVersion: gitopsctr.io/v1\nkind: Project\nmetadata: {name: shop}\nspec: {effectLease: "+lease+"}\n")
	s.write(t, "deployment/environments/dev/environment.yaml", "apiVersion: gitopsctr.io/v1\nkind: Environment\nmetadata: {name: dev}\nspec: {}\n")
	s.write(t, "module/main.tf", "variable \"input\" { type = string }\noutput \"value\" { value = var.input }\n")
	for name, input := range units {
		s.setUnit(t, name, input)
	}
	s.publish(t, "first")
	return s
}

func (s *shop) write(t *testing.T, path, text string) {
	t.Helper()
	path = filepath.Join(s.clone, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func unitFile(name string) string { return "deployment/environments/dev/units/" + name + ".yaml" }

func (s *shop) setUnit(t *testing.T, name, input string) {
	t.Helper()
	if producer, ok := strings.CutPrefix(input, "@"); ok {
		input = "{fromReceipt: {unit: " + producer + ", pointer: /outputs/value}}"
	}
	s.write(t, unitFile(name), fmt.Sprintf(`apiVersion: unit.gitopsctr.io/v1
kind: Terraform
metadata: {name: %s}
spec:
  source: {path: module}
  terraform:
    backend: {path: %s}
    variables: {input: %s}
    observeOutputs: [value]
`, name, name, input))
}

// removeUnit takes a Unit out of the source.
func (s *shop) removeUnit(t *testing.T, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(s.clone, unitFile(name))); err != nil {
		t.Fatal(err)
	}
	s.publish(t, "remove "+name)
}

var uidLine = regexp.MustCompile(`(?m)^  uid: (\S+)$`)

// uid is that of a Unit on the desired ref.
func (s *shop) uid(t *testing.T, name string) string {
	t.Helper()
	text := git(t, s.bare, "show", desiredRef+":units/"+name+".yaml")
	found := uidLine.FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("Unit %s has no UID:\n%s", name, text)
	}
	return found[1]
}

// publish commits what was written and pushes it to the source branch, past the faulty server.
func (s *shop) publish(t *testing.T, message string) {
	t.Helper()
	git(t, s.clone, "add", "--all")
	git(t, s.clone, "commit", "--quiet", "--allow-empty", "--message="+message)
	git(t, s.clone, "push", "--quiet", s.bare, "HEAD:main")
}

// A run is a process of the program that has ended.
type run struct {
	code   int // -1 when it was killed
	stdout string
	stderr string
}

// patience is how long a run may take; none of the faults lasts longer than a few seconds.
const patience = 2 * time.Minute

// run runs the program to its end.
func (s *shop) run(t *testing.T, args ...string) run {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c := exec.CommandContext(ctx, *binary, args...)
	c.Dir = s.clone
	c.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "TMPDIR=" + s.home, "GIT_CONFIG_NOSYSTEM=1", "NO_COLOR=1",
		"GITOPSCTR_TERRAFORM=" + s.tool.path, "GITOPSCTR_TOKEN=" + canary, "GITOPSCTR_TOKEN_URL=" + s.remote.url,
	}
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	c.WaitDelay = 10 * time.Second
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.victim = c.Process
	s.mu.Unlock()
	err := c.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Errorf("gitopsctr %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	r := run{code: c.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
	for _, text := range []string{r.stdout, r.stderr} {
		if strings.Contains(text, canary) {
			t.Errorf("the token occurs in the output:\n%s", text)
		}
		if strings.Contains(text, "goroutine ") {
			t.Errorf("the program crashed:\n%s", text)
		}
	}
	return r
}

// canary is a token that must not be seen anywhere (invariant 9).
const canary = "ghs_canary0123456789"

// converge applies the shop's documents and converges.
func (s *shop) converge(t *testing.T, more ...string) run {
	t.Helper()
	return s.run(t, append([]string{"converge", "--environment", "dev", "--authored", "--source-revision", "HEAD", "--yes"}, more...)...)
}

// kill ends the run that began last, at once.
func (s *shop) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.victim.Kill() // it may have ended by itself
}

// head is the commit of a ref on the remote, "" when there is none.
func (s *shop) head(t *testing.T, ref string) string {
	t.Helper()
	return git(t, s.bare, "for-each-ref", "--format=%(objectname)", "refs/heads/"+ref)
}

// git runs the real Git as an author whose commits are the same each time, and returns its output without the last line
// break.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	return strings.TrimSuffix(gitRaw(t, dir, args...), "\n")
}

func gitRaw(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", args...)
	c.Dir = dir
	c.Env = []string{
		"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=author", "GIT_AUTHOR_EMAIL=author@example.test", "GIT_COMMITTER_NAME=author", "GIT_COMMITTER_EMAIL=author@example.test",
		"GIT_AUTHOR_DATE=2024-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2024-01-02T03:04:05Z",
	}
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return string(out)
}
