package gitstate

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// git runs a read-only Git command in the clone. The environment keeps Git from prompting, from refreshing the index,
// from running a configured file system monitor, and from refusing a clone that belongs to another user (as it does
// when a job container runs as root).
func (w *workspace) git(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = w.root
	cmd.Env = w.environ
	cmd.Env = gitEnvironment(cmd.Environ())
	cmd.Stdin = bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, redactURLs(strings.TrimSpace(stderr.String())))
	}
	return out, nil
}

// gitEnvironment removes what would point Git to another repository, and adds our settings on top of those that the
// caller passes in GIT_CONFIG_COUNT.
func gitEnvironment(inherited []string) []string {
	var env []string
	count := 0
	for _, v := range inherited {
		name, value, _ := strings.Cut(v, "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_PREFIX",
			"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_TRACE", "GIT_TRACE_CURL", "GIT_OPTIONAL_LOCKS":
		case "GIT_CONFIG_COUNT":
			if _, err := fmt.Sscanf(value, "%d", &count); err != nil || count < 0 {
				count = 0
			}
		default:
			env = append(env, v)
		}
	}
	for _, setting := range [...][2]string{{"safe.directory", "*"}, {"core.fsmonitor", "false"}} {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", count, setting[0]),
			fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", count, setting[1]))
		count++
	}
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", count), "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
}
