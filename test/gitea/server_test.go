//go:build gitea && unix

package gitea

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const owner = "acme"

// A server is a Gitea with one user, who owns all repositories.
type server struct {
	dir    string     // all that belongs to it: program, settings, database, repositories
	url    string     // without a slash at the end
	person string     // a token for all that the test itself does
	token  string     // the token of jobs, for what they need only
	as     *user.User // who it runs as: Gitea refuses root
}

// startServer runs a Gitea until the test ends. GITOPSCTR_GITEA is the folder that hack/gitea.sh made: the program and the
// files that it reads.
func startServer(t *testing.T) *server {
	t.Helper()
	installed := os.Getenv("GITOPSCTR_GITEA")
	if installed == "" {
		t.Fatal("GITOPSCTR_GITEA is not set; run hack/gitea.sh")
	}
	s := &server{dir: publicDir(t), url: "http://" + freeAddress(t)}
	// The user that it runs as may have no way into the installer's home.
	if err := os.CopyFS(filepath.Join(s.dir, "gitea"), os.DirFS(installed)); err != nil {
		t.Fatal(err)
	}
	s.as = unprivileged(t)
	s.writeSettings(t)
	s.giveAway(t)

	s.admin(t, "migrate")
	s.admin(t, "admin", "user", "create", "--username", owner, "--email", owner+"@example.test",
		"--random-password", "--must-change-password=false")
	s.person = s.newToken(t, "person", "all")
	s.token = s.newToken(t, "job", "write:repository,write:issue,read:user")
	s.serve(t)
	return s
}

// publicDir is a temporary folder that other users may enter, unlike the test's own.
func publicDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "gitopsctr-gitea-") //nolint:usetesting // that one is closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove the server's files: %v", err)
		}
	})
	return dir
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

func unprivileged(t *testing.T) *user.User {
	t.Helper()
	find := user.Current
	if os.Getuid() == 0 {
		find = func() (*user.User, error) { return user.Lookup("nobody") }
	}
	found, err := find()
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (s *server) writeSettings(t *testing.T) {
	t.Helper()
	host, port, err := net.SplitHostPort(strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	settings := strings.NewReplacer("{dir}", s.dir, "{host}", host, "{port}", port, "{user}", s.as.Username).Replace(`
APP_NAME = gitopsctr test
RUN_USER = {user}
WORK_PATH = {dir}
[server]
HTTP_ADDR = {host}
HTTP_PORT = {port}
ROOT_URL = http://{host}:{port}/
STATIC_ROOT_PATH = {dir}/gitea
DISABLE_SSH = true
OFFLINE_MODE = true
[database]
DB_TYPE = sqlite3
PATH = {dir}/gitea.db
[repository]
ROOT = {dir}/repositories
DEFAULT_BRANCH = main
[security]
INSTALL_LOCK = true
[service]
DISABLE_REGISTRATION = true
[actions]
ENABLED = false
[mailer]
ENABLED = false
[log]
MODE = console
LEVEL = Warn
`)
	if err := os.WriteFile(s.settings(), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s *server) settings() string { return filepath.Join(s.dir, "app.ini") }

// giveAway makes everything belong to the user that the server runs as.
func (s *server) giveAway(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	if out, err := exec.CommandContext(t.Context(), "chown", "-R", s.as.Uid+":"+s.as.Gid, s.dir).CombinedOutput(); err != nil {
		t.Fatalf("chown: %v\n%s", err, out)
	}
}

// command runs the program as its user.
func (s *server) command(ctx context.Context, t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(ctx, filepath.Join(s.dir, "gitea", "gitea"), append(args, "--config", s.settings())...)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "USER=" + s.as.Username}
	if os.Getuid() != 0 {
		return cmd
	}
	uid, err := strconv.ParseUint(s.as.Uid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	gid, err := strconv.ParseUint(s.as.Gid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return cmd
}

func (s *server) admin(t *testing.T, args ...string) string {
	t.Helper()
	cmd := s.command(t.Context(), t, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("gitea %s: %v\n%s%s", strings.Join(args, " "), err, stdout.String(), stderr.String())
	}
	return stdout.String()
}

// newToken makes a token of the owner's.
func (s *server) newToken(t *testing.T, name, scopes string) string {
	t.Helper()
	return strings.TrimSpace(s.admin(t, "admin", "user", "generate-access-token", "--raw", "--username", owner,
		"--token-name", name, "--scopes", scopes))
}

// serve starts the server and waits until it answers.
func (s *server) serve(t *testing.T) {
	t.Helper()
	var log bytes.Buffer
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context())) // the test's own ends before its cleanups
	cmd := s.command(ctx, t, "web")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		stop()
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // it ends because it is told to
	}()
	t.Cleanup(func() {
		stop()
		<-ended
		if t.Failed() {
			t.Logf("the server's log:\n%s", log.String())
		}
	})
	for range 600 {
		select {
		case <-ended:
			t.Fatal("the server ended")
		case <-time.After(100 * time.Millisecond):
		}
		if resp, err := http.Get(s.url + "/api/healthz"); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
	}
	t.Fatal("the server does not answer")
}

// apiURL is what GITHUB_API_URL is in a job on Gitea.
func (s *server) apiURL() string { return s.url + "/api/v1" }

// api asks the server's interface and decodes its answer.
func (s *server) api(t *testing.T, method, path string, body, into any) {
	t.Helper()
	var content io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		content = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, s.apiURL()+path, content)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "token "+s.person)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 {
		t.Fatalf("%s %s: %s, %v\n%s", method, path, resp.Status, err, answer)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(answer, into); err != nil {
		t.Fatalf("%s %s: %v\n%s", method, path, err, answer)
	}
}

// cloneURL has no credentials; withToken has the person's.
func (s *server) cloneURL(repository string) string {
	return fmt.Sprintf("%s/%s/%s.git", s.url, owner, repository)
}

func (s *server) withToken(repository string) string {
	return strings.Replace(s.cloneURL(repository), "http://", "http://"+owner+":"+s.person+"@", 1)
}
