//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// job is what a workflow run left behind, as the runner saw it.
type job struct {
	succeeded   bool
	outputs     map[string]string // of the Action's steps, by name
	summary     string            // the job summary, Markdown
	annotations []annotation
	log         string // what the steps printed, without workflow commands
	everything  string // all that the runner said but masks, for finding what must not be in it
}

// annotation is one ::notice::, ::warning:: or ::error:: command.
type annotation struct {
	Level   string
	File    string
	Line    string
	Message string
}

// runnerEvent is one line of act's JSON log, as far as it matters here.
type runnerEvent struct {
	Level   string            `json:"level"`
	Message string            `json:"msg"`
	Raw     bool              `json:"raw_output"`
	Command string            `json:"command"`
	Name    string            `json:"name"`
	Arg     string            `json:"arg"`
	Content string            `json:"content"`
	KvPairs map[string]string `json:"kvPairs"`
}

// runWorkflow runs one workflow of a repository for an event, on a fresh copy of its files. The job has the token as
// a secret, and the state store's credentials as variables of the environment, as a login step would set them.
func runWorkflow(t *testing.T, repo *gitDir, r *remote, event, workflow string, extra ...string) job {
	t.Helper()
	base, _ := images(t)
	config := t.TempDir()
	// act asks a person which images to use unless it has a configuration.
	if err := os.MkdirAll(filepath.Join(config, "act"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(config, "act", "actrc"), nil, 0o644); err != nil {
		t.Fatal(err)
	}

	args := append([]string{event,
		"--json",
		"--directory", repo.path,
		"--workflows", filepath.Join(".github", "workflows", workflow),
		"--platform", "ubuntu-latest=" + base,
		"--pull=false",
		"--network", "host",
		"--container-daemon-socket", "-",
		"--no-cache-server",
		"--rm",
		"--actor", "e2e",
		"--github-instance", strings.TrimPrefix(r.url, "http://"),
		"--env", "GITHUB_SERVER_URL=" + r.url,
		"--env", "GITHUB_API_URL=" + r.url + apiPath,
		"--env", "TF_HTTP_USERNAME=" + stateUser,
		"--env", "TF_HTTP_PASSWORD=" + statePassword,
		"--secret", "GITHUB_TOKEN",
	}, extra...)
	cmd := exec.CommandContext(t.Context(), "act", args...)
	cmd.Dir = repo.path
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+config, "XDG_CACHE_HOME="+config, "GITHUB_TOKEN="+jobToken)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("act: %v", err)
	}
	result := readJob(output.String())
	result.succeeded = err == nil
	t.Logf("%s for %s: succeeded %v\noutputs: %q\nannotations: %+v\nsummary:\n%s\nlog:\n%s",
		workflow, event, result.succeeded, result.outputs, result.annotations, result.summary, result.log)
	return result
}

// readJob makes sense of act's log. A line that is not JSON is act's own complaint and stays in the log.
func readJob(output string) job {
	result := job{outputs: map[string]string{}}
	var log, everything strings.Builder
	lines := bufio.NewScanner(strings.NewReader(output))
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var event runnerEvent
		if json.Unmarshal(lines.Bytes(), &event) != nil {
			log.WriteString(lines.Text() + "\n")
		}
		if event.Command == "add-mask" {
			continue // act's JSON shows what it is told to hide
		}
		everything.WriteString(lines.Text() + "\n")
		switch {
		case event.Raw, event.Level == "error" && event.Command == "":
			log.WriteString(strings.TrimRight(event.Message, "\r\n") + "\n")
		case event.Command == "set-output":
			result.outputs[event.Name] = event.Arg
		case event.Command == "summary":
			result.summary += event.Content
		case event.Command == "notice" || event.Command == "warning" || event.Command == "error":
			result.annotations = append(result.annotations,
				annotation{Level: event.Command, File: event.KvPairs["file"], Line: event.KvPairs["line"], Message: event.Arg})
		}
	}
	result.log, result.everything = log.String(), everything.String()
	return result
}
