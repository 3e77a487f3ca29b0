//go:build e2e

package e2e

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestImageHasItsTools: the versions that the image was built for, also for a user without a home.
func TestImageHasItsTools(t *testing.T) {
	_, image := images(t)
	tofu := runCommand(t, "", "docker", "run", "--rm", "--entrypoint", "tofu", image, "version")
	if want := "OpenTofu " + dockerfileArg(t, "TOFU_VERSION") + "\n"; !strings.HasPrefix(tofu, want) {
		t.Errorf("tofu version says %q, want %q first", tofu, want)
	}
	if image != builtImage {
		t.Logf("%s was not built here; its version is not checked", image)
		return
	}
	for _, user := range []string{"0", "1001"} {
		got := runCommand(t, "", "docker", "run", "--rm", "--user", user, image, "--version")
		if !strings.Contains(got, builtVersion) {
			t.Errorf("--version as user %s says %q, want %s in it", user, got, builtVersion)
		}
	}
}

// TestInterrupt stops a run in the middle of an apply, as the runner does when a workflow is cancelled: the signal goes
// to the container's first process, which has to end the driver and itself. The next run finishes the work.
func TestInterrupt(t *testing.T) {
	_, image := images(t)
	for _, signal := range []string{"INT", "TERM"} {
		t.Run(signal, func(t *testing.T) {
			r := newRemote(t)
			repo := newRepository(t, r, image)
			repo.write(t, "app/slow.tf", slowApply)
			repo.commit(t, r, "Make the app slow")
			slow := r.git(t, "rev-parse", "main")
			repo.giveToRunner(t)

			run := startAction(t, repo, r, image)
			run.waitForFile(t, filepath.Join(repo.path, "started"))
			if got := run.docker(t, "exec", run.id, "cat", "/proc/1/cmdline"); !strings.HasPrefix(got, "gitopsctr\x00") {
				t.Errorf("the container's first process is %q, want gitopsctr", got)
			}
			run.docker(t, "kill", "--signal", signal, run.id)
			code, log := run.wait(t)
			t.Logf("the interrupted run ended with %s:\n%s", code, log)
			if code == "0" {
				t.Errorf("the interrupted run ended with 0")
			}
			if !strings.Contains(log, "app") {
				t.Errorf("the log does not name the interrupted Unit")
			}
			if files := r.git(t, "ls-tree", "-r", "--name-only", observedRef); !strings.Contains(files, "units/infrastructure.yaml") ||
				strings.Contains(files, "units/app.yaml") {
				t.Errorf("after the interruption the observed ref holds\n%s\nwant a Receipt of infrastructure and none of app", files)
			}

			repo.write(t, "app/slow.tf", "")
			repo.commit(t, r, "Make the app fast")
			code, log = startAction(t, repo, r, image).wait(t)
			if code != "0" {
				t.Fatalf("the run after the interruption ended with %s:\n%s", code, log)
			}
			checkReceipts(t, r, slow, r.git(t, "rev-parse", "main"))
		})
	}
}

// slowApply is Terraform code whose apply tells that it has begun, and then lasts until it is interrupted.
const slowApply = `
resource "terraform_data" "slow" {
  provisioner "local-exec" {
    command = "touch /github/workspace/started; exec sleep 600"
  }
}
`

// container is a run of the Action's image in the way of GitHub's runner: workspace and home mounted, inputs and
// event as variables.
type container struct{ id string }

func startAction(t *testing.T, repo *gitDir, r *remote, image string, extra ...string) container {
	t.Helper()
	c := container{}
	args := []string{"run", "--detach", "--network", "host",
		"--volume", repo.path + ":/github/workspace", "--workdir", "/github/workspace",
		"--tmpfs", "/github/home"}
	for name, value := range map[string]string{
		"HOME":               "/github/home",
		"CI":                 "true",
		"GITHUB_ACTIONS":     "true",
		"GITHUB_WORKSPACE":   "/github/workspace",
		"GITHUB_EVENT_NAME":  "push",
		"GITHUB_REPOSITORY":  "acme/shop",
		"GITHUB_SERVER_URL":  r.url,
		"GITHUB_REF":         "refs/heads/main",
		"GITHUB_SHA":         repo.git(t, "rev-parse", "HEAD"),
		"INPUT_ENVIRONMENT":  "dev",
		"INPUT_GITHUB-TOKEN": jobToken,
		"TF_HTTP_USERNAME":   stateUser,
		"TF_HTTP_PASSWORD":   statePassword,
	} {
		args = append(args, "--env", name+"="+value)
	}
	c.id = strings.TrimSpace(c.docker(t, append(append(args, extra...), image)...))
	t.Cleanup(func() {
		if err := exec.Command("docker", "rm", "--force", "--volumes", c.id).Run(); err != nil {
			t.Errorf("docker rm: %v", err)
		}
	})
	return c
}

func (c container) docker(t *testing.T, args ...string) string {
	t.Helper()
	return runCommand(t, "", "docker", args...)
}

// wait gives the exit code and all that was printed. It is no test of how long the end takes: without one, the slow
// apply lasts longer than any patience here.
func (c container) wait(t *testing.T) (code, log string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "docker", "wait", c.id).Output()
	logs, logsErr := exec.Command("docker", "logs", c.id).CombinedOutput()
	if err != nil || logsErr != nil {
		t.Fatalf("the container did not end: %v, %v\n%s", err, logsErr, logs)
	}
	return strings.TrimSpace(string(out)), string(logs)
}

func (c container) waitForFile(t *testing.T, path string) {
	t.Helper()
	for range 600 {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if c.docker(t, "inspect", "--format", "{{.State.Running}}", c.id) != "true\n" {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	_, log := c.wait(t)
	t.Fatalf("%s did not appear:\n%s", path, log)
}

// giveToRunner makes the files belong to another user than the container's, as they do on GitHub's machines.
func (g *gitDir) giveToRunner(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	const runner = 1001
	err := filepath.WalkDir(g.path, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, runner, runner)
	})
	if err != nil {
		t.Fatal(err)
	}
}
