package driver

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Environment returns the part of an environment ("NAME=value") that a tool may see: everything (cloud credentials,
// proxies, TF_* and the like) except what would let it act as the runner or change later steps of the job. Taken away
// are the runner's tokens and services (ACTIONS_*), its file commands (GITHUB_ENV, GITHUB_OUTPUT, ...), the Action's inputs
// (INPUT_*), the job's own token (GITHUB_TOKEN) and gitopsctr's settings (GITOPSCTR_*).
//
// allow lists names that stay all the same, because the user asked for it. The order of parent is kept.
func Environment(parent []string, allow ...string) []string {
	out := make([]string, 0, len(parent))
	for _, entry := range parent {
		name, _, ok := strings.Cut(entry, "=")
		if !ok || name == "" {
			continue
		}
		if !runnerOnly(name) || slices.Contains(allow, name) {
			out = append(out, entry)
		}
	}
	return out
}

func runnerOnly(name string) bool {
	for _, prefix := range []string{"ACTIONS_", "INPUT_", "GITOPSCTR_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	switch name {
	case "GITHUB_TOKEN", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_STEP_SUMMARY", "GITHUB_ARTIFACTS":
		return true
	}
	return false
}

// Lookup returns the value of a variable of an environment; of several entries the last counts, as for a process.
func Lookup(env []string, name string) (string, bool) {
	for _, entry := range slices.Backward(env) {
		if n, value, ok := strings.Cut(entry, "="); ok && n == name {
			return value, true
		}
	}
	return "", false
}

// LookPath returns the program that a name means in an environment: the name itself when it holds a slash, else the
// first executable file of that name in PATH. Relative parts of PATH are passed over. The error wraps exec.ErrNotFound.
func LookPath(env []string, name string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	list, _ := Lookup(env, "PATH")
	for _, dir := range filepath.SplitList(list) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: %w in PATH", name, exec.ErrNotFound)
}
