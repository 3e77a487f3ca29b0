package gitstate_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gitopsctr/gitopsctr/internal/gitstate"
)

func TestMain(m *testing.M) {
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_SYSTEM": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1", "TZ": "UTC",
		"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.com",
		"GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.com",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// git runs the real Git and returns its output without the last line break.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSuffix(string(out), "\n")
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// bareRemote makes an empty bare repository.
func bareRemote(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "remote.git")
	git(t, ".", "init", "--quiet", "--bare", "--initial-branch=main", dir)
	return dir
}

// sourceRemote makes a bare repository with a branch main of some commits, each changing the file n.
func sourceRemote(t testing.TB, commits int) (remote string, ids []string) {
	t.Helper()
	remote = bareRemote(t)
	var stream strings.Builder
	for i := range commits {
		message, content := fmt.Sprintf("commit %d", i), fmt.Sprintln(i)
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter Ada <ada@example.com> %d +0000\ndata %d\n%s\n", i, len(message), message)
		fmt.Fprintf(&stream, "M 644 inline n\ndata %d\n%s", len(content), content)
		if i == 0 {
			stream.WriteString("M 644 inline dir/stable\ndata 7\nstable\n")
		}
		stream.WriteString("\n")
	}
	gitInput(t, remote, stream.String(), "fast-import", "--quiet")
	return remote, strings.Fields(git(t, remote, "rev-list", "--reverse", "main"))
}

// open opens a Store that the test closes.
func open(t testing.TB, o gitstate.Options) *gitstate.Store {
	t.Helper()
	if o.Dir == "" {
		o.Dir = filepath.Join(t.TempDir(), "store.git")
	}
	if o.Retry.Delay == 0 {
		o.Retry.Delay = 2 * time.Millisecond
	}
	s, err := gitstate.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// publish puts files on a branch of the remote.
func publish(t testing.TB, s *gitstate.Store, ref, message string, files map[string]string) gitstate.UpdateResult {
	t.Helper()
	r, err := s.Update(t.Context(), ref, put(message, files))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// put is the build function that writes files in one commit.
func put(message string, files map[string]string) func(*gitstate.Snapshot) ([]gitstate.Change, error) {
	return func(*gitstate.Snapshot) ([]gitstate.Change, error) {
		return []gitstate.Change{{Message: message, Edits: edits(files)}}, nil
	}
}

func edits(files map[string]string) []gitstate.Edit {
	var out []gitstate.Edit
	for path, content := range files {
		out = append(out, gitstate.Edit{Path: path, Content: []byte(content)})
	}
	return out
}

// contents reads all files of a snapshot.
func contents(t testing.TB, s interface {
	Files(string) []gitstate.File
	ReadFile(string) ([]byte, error)
}) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, f := range s.Files("") {
		data, err := s.ReadFile(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		out[f.Path] = string(data)
	}
	return out
}

// fetch reads one branch, which must exist.
func fetch(t testing.TB, s *gitstate.Store, ref string) *gitstate.Snapshot {
	t.Helper()
	heads, err := s.Fetch(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if heads[ref] == nil {
		t.Fatalf("branch %s does not exist", ref)
	}
	return heads[ref]
}

// gitInput runs the real Git with text on its standard input.
func gitInput(t testing.TB, dir, input string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}

// shallowClone clones as actions/checkout does: one commit, detached HEAD.
func shallowClone(t testing.TB, remote string) string {
	t.Helper()
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, ".", "init", "--quiet", clone)
	git(t, clone, "remote", "add", "origin", "file://"+remote)
	git(t, clone, "fetch", "--quiet", "--no-tags", "--depth=1", "origin", "main")
	git(t, clone, "checkout", "--quiet", "--detach", "FETCH_HEAD")
	return clone
}
