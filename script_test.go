package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"gitopsctr": func() { os.Exit(run()) }, "fake-docker": fakeDocker})
}

// TestScripts drives the program against a real bare remote, real git and real terraform. Each script shows one behaviour.
func TestScripts(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("git is not on PATH; install it")
	}
	tool := terraformTool(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition: func(cond string) (bool, error) {
			if cond == "docker" {
				return dockerReachable(), nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Vars = append(env.Vars,
				"HOME="+home, "STATE="+filepath.Join(env.WorkDir, "state"), "REMOTE="+filepath.Join(env.WorkDir, "remote.git"),
				"GIT_CONFIG_NOSYSTEM=1", "NO_COLOR=1", "CHECKPOINT_DISABLE=1", "GITOPSCTR_TERRAFORM="+tool, "TF_CLI_CONFIG_FILE=",
				"GIT_AUTHOR_NAME=author", "GIT_AUTHOR_EMAIL=author@example.test", "GIT_COMMITTER_NAME=author", "GIT_COMMITTER_EMAIL=author@example.test",
				"SOURCE_DATE=2024-01-02T03:04:05Z")
			env.Values[registryKey{}] = newScriptRegistry()
			env.Values[forgeKey{}] = &scriptForge{}
			for _, dir := range []string{home, filepath.Join(env.WorkDir, "state")} {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					return err
				}
			}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"repository":  cmdRepository,
			"push":        cmdPush,
			"refs":        cmdRefs,
			"same-refs":   cmdSameRefs,
			"replace":     cmdReplace,
			"executed":    cmdExecuted,
			"registry":    cmdRegistry,
			"forge":       cmdForge,
			"pulls":       cmdPulls,
			"engine-name": cmdEngineName,
		},
	})
}

// terraformTool is the terraform or tofu that the scripts run. There must be one: these tests are about real effects.
func terraformTool(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"terraform", "tofu"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("neither terraform nor tofu is on PATH; hack/test.sh installs OpenTofu")
	return ""
}

// cmdRepository makes the bare remote $REMOTE and a clone of it in the named directory, which holds the script's files for
// it; STATE in them becomes the directory of Terraform states. Everything is committed and pushed to main.
func cmdRepository(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: repository DIR")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, []byte(strings.ReplaceAll(string(data), "$STATE", ts.Getenv("STATE"))), 0o644)
	}))
	git(ts, "", "init", "--quiet", "--bare", "--initial-branch=main", ts.Getenv("REMOTE"))
	git(ts, dir, "init", "--quiet", "--initial-branch=main")
	git(ts, dir, "remote", "add", "origin", ts.Getenv("REMOTE"))
	git(ts, dir, "add", "--all")
	git(ts, dir, "commit", "--quiet", "--message=first")
	git(ts, dir, "push", "--quiet", "--set-upstream", "origin", "main")
}

// cmdPush commits everything in the named clone and pushes it.
func cmdPush(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: push DIR MESSAGE")
	}
	dir := ts.MkAbs(args[0])
	git(ts, dir, "add", "--all")
	git(ts, dir, "commit", "--quiet", "--message="+args[1])
	git(ts, dir, "push", "--quiet", "origin", "HEAD:main")
}

// cmdRefs writes the remote's branches and their commits into a file.
func cmdRefs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: refs FILE")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(remoteRefs(ts)), 0o644))
}

// cmdSameRefs fails unless the remote's branches are as refs wrote them; with "!", when they are.
func cmdSameRefs(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] same-refs FILE")
	}
	before, now := ts.ReadFile(args[0]), remoteRefs(ts)
	if (before == now) == neg {
		ts.Fatalf("refs before:\n%s\nnow:\n%s", before, now)
	}
}

// cmdReplace replaces a text that must occur in a file; \n in the new text is a line break.
func cmdReplace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace OLD NEW FILE")
	}
	text := ts.ReadFile(args[2])
	args[1] = strings.ReplaceAll(args[1], `\n`, "\n")
	if !strings.Contains(text, args[0]) {
		ts.Fatalf("%s does not contain %q", args[2], args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(strings.ReplaceAll(text, args[0], args[1])), 0o644))
}

func remoteRefs(ts *testscript.TestScript) string {
	return git(ts, "", "--git-dir", ts.Getenv("REMOTE"), "for-each-ref", "--format=%(refname:short) %(objectname)")
}

func git(ts *testscript.TestScript, dir string, args ...string) string {
	c := exec.Command("git", args...)
	c.Dir = dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + ts.Getenv("HOME"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=author", "GIT_AUTHOR_EMAIL=author@example.test", "GIT_COMMITTER_NAME=author", "GIT_COMMITTER_EMAIL=author@example.test",
		"GIT_AUTHOR_DATE=2024-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2024-01-02T03:04:05Z"}
	out, err := c.CombinedOutput()
	if err != nil {
		ts.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}
