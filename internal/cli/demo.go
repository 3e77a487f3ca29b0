package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gitopsctr/gitopsctr/examples"
	"github.com/gitopsctr/gitopsctr/internal/driver"
	"github.com/gitopsctr/gitopsctr/internal/engine"
)

// openTofu is the module whose binary the demo can install when there is neither terraform nor tofu.
const openTofu = "github.com/opentofu/opentofu/cmd/tofu@v1.12.6"

func newDemo(o *globalOptions) *cobra.Command {
	var dir string
	var installTofu bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "Set up a throw-away repository with a bare remote and converge it, offline",
		Long: `Demo writes an example repository and a bare remote into a directory of their own, converges its environment dev with the
terraform or tofu found on PATH, and says where to look. It touches nothing else and needs no network.`,
		Example: `  gitopsctr demo
  gitopsctr demo --dir ./try`,
		RunE: func(c *cobra.Command, _ []string) error { return o.demo(c, dir, installTofu) },
	}
	c.Flags().StringVar(&dir, "dir", "", "empty or new directory for the example (default: a new temporary one)")
	c.Flags().BoolVar(&installTofu, "install-tofu", false, "when there is neither terraform nor tofu, build OpenTofu with go install")
	return c
}

func (o *globalOptions) demo(c *cobra.Command, dir string, installTofu bool) error {
	o.started = true
	ctx := c.Context()
	tool, err := o.demoTool(ctx, installTofu)
	if err != nil {
		return err
	}
	if dir, err = demoDirectory(dir); err != nil {
		return err
	}
	repository := filepath.Join(dir, "repository")
	if err := writeExample(repository, filepath.Join(dir, "state")); err != nil {
		return err
	}
	if err := o.demoGit(ctx, dir, repository); err != nil {
		return err
	}
	o.repository, o.terraform = repository, tool
	request := engine.ConvergeRequest{ApplyRequest: engine.ApplyRequest{Target: engine.Target{Environment: "dev"}, Authored: true, SourceRevision: "HEAD"}}
	if err := o.run(c, nil, func(ctx context.Context, e *engine.Engine) (engine.Outcome, error) { return e.Converge(ctx, request) }); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil || strings.Contains(self, "go-build") {
		self = "gitopsctr"
	}
	_, err = fmt.Fprintf(o.io.Out, `
The environment dev is converged. Look at what was written:

  git -C %[1]s/remote.git log --oneline --all            # desired state and evidence are commits
  git -C %[1]s/remote.git show gitopsctr/observed/dev:units/app.yaml     # a Receipt

Then change something (%[1]s/repository/infrastructure/main.tf, say), commit, push, and run:

  %[2]s --repository %[1]s/repository converge --environment dev --authored --source-revision HEAD --yes
`, dir, self)
	return err
}

// demoTool finds terraform or tofu, or builds OpenTofu when asked to.
func (o *globalOptions) demoTool(ctx context.Context, install bool) (string, error) {
	for _, name := range []string{"terraform", "tofu"} {
		if path, err := driver.LookPath(o.io.Environ, name); err == nil {
			return path, nil
		}
	}
	goTool, err := driver.LookPath(o.io.Environ, "go")
	if err != nil {
		return "", errors.New("neither terraform nor tofu is on PATH; install one of them (OpenTofu: its own packages, or the Go toolchain and `go install " + openTofu + "`)")
	}
	if !install {
		return "", errors.New("neither terraform nor tofu is on PATH; run this again with --install-tofu to build OpenTofu by `go install " + openTofu + "` (some minutes), or install one of them")
	}
	_, _ = fmt.Fprintf(o.io.Err, "    INSTALL  go install %s (this takes some minutes)\n", openTofu)
	build := exec.CommandContext(ctx, goTool, "install", openTofu)
	build.Env, build.Stdout, build.Stderr = o.io.Environ, o.io.Err, o.io.Err
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("go install %s: %w", openTofu, err)
	}
	where, err := exec.CommandContext(ctx, goTool, "env", "GOBIN", "GOPATH").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	lines := strings.Split(string(where), "\n")
	if lines[0] != "" {
		return filepath.Join(lines[0], "tofu"), nil
	}
	return filepath.Join(lines[1], "bin", "tofu"), nil
}

func demoDirectory(dir string) (string, error) {
	if dir == "" {
		return os.MkdirTemp("", "gitopsctr-demo-")
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(absolute, 0o755); err != nil {
		return "", fmt.Errorf("make the directory: %w", err)
	}
	entries, err := os.ReadDir(absolute)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s is not empty; name a new directory", absolute)
	}
	return absolute, err
}

// writeExample writes the quickstart repository, its Terraform states to be in state.
func writeExample(repository, state string) error {
	if err := os.MkdirAll(state, 0o755); err != nil {
		return err
	}
	files, err := fs.Sub(examples.Quickstart, "quickstart")
	if err != nil {
		return err
	}
	return fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(repository, filepath.FromSlash(name))
		if entry.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		return os.WriteFile(target, []byte(strings.ReplaceAll(string(data), examples.StatePlaceholder, state)), 0o644)
	})
}

// demoGit makes the repository and its bare remote.
func (o *globalOptions) demoGit(ctx context.Context, dir, repository string) error {
	git, err := driver.LookPath(o.io.Environ, "git")
	if err != nil {
		return errors.New("git is not on PATH; install it first")
	}
	author := []string{"-c", "user.name=demo", "-c", "user.email=demo@example.test", "-c", "commit.gpgsign=false"}
	for _, args := range [][]string{
		{"init", "--quiet", "--bare", filepath.Join(dir, "remote.git")},
		{"init", "--quiet", "--initial-branch=main", repository},
		{"-C", repository, "remote", "add", "origin", filepath.Join(dir, "remote.git")},
		{"-C", repository, "add", "--all"},
		append(append([]string{"-C", repository}, author...), "commit", "--quiet", "--message=Describe the environment dev"),
		{"-C", repository, "push", "--quiet", "origin", "main"},
	} {
		c := exec.CommandContext(ctx, git, args...)
		c.Env, c.Stdout = o.io.Environ, io.Discard
		var said strings.Builder
		c.Stderr = &said
		if err := c.Run(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(said.String()))
		}
	}
	return nil
}
