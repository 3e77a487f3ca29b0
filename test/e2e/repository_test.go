//go:build e2e

package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const (
	projectRoot = "../.."
	// actionDir is where a workflow of the test repository finds the Action.
	actionDir = ".gitopsctr-action"
)

// newRepository makes the clone that a runner would have: testdata/repository with one of the project's own example
// workflows, committed on main and pushed to the remote. Its origin carries no credentials.
func newRepository(t *testing.T, r *remote, image string, workflows ...string) *gitDir {
	t.Helper()
	repo := &gitDir{path: filepath.Join(t.TempDir(), "shop")}
	if err := os.CopyFS(repo.path, os.DirFS("testdata/repository")); err != nil {
		t.Fatal(err)
	}
	repo.rewrite(t, "deployment", func(text string) string {
		return strings.ReplaceAll(text, "STATE_URL", r.url+"/state")
	})
	for _, name := range workflows {
		text := readFile(t, filepath.Join(projectRoot, "examples", "workflows", name))
		repo.write(t, filepath.Join(".github", "workflows", name), useLocalAction(t, name, text))
	}
	repo.write(t, filepath.Join(actionDir, "upload", "action.yml"), uploadStandIn)
	repo.write(t, filepath.Join(actionDir, "action.yml"),
		usePrebuiltImage(t, readFile(t, filepath.Join(projectRoot, "action.yml")), image))

	repo.git(t, "init", "--quiet", "--initial-branch=main")
	repo.git(t, "remote", "add", "origin", r.repositoryURL())
	repo.commit(t, r, "Describe the shop")
	return repo
}

// commit records all files and pushes main, past the server.
func (g *gitDir) commit(t *testing.T, r *remote, message string) {
	t.Helper()
	g.git(t, "add", "--all")
	g.git(t, "commit", "--quiet", "--message", message)
	g.git(t, "push", "--quiet", r.path, "main")
}

func (g *gitDir) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(g.path, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// rewrite changes every file below a folder.
func (g *gitDir) rewrite(t *testing.T, folder string, change func(string) string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(g.path, folder), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, []byte(change(string(data))), 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// uploadStandIn takes the place of actions/upload-artifact, which act cannot fetch offline. Its steps run only for pull
// requests of forks; act loads every action of a job before it starts.
const uploadStandIn = "runs:\n  using: composite\n  steps:\n    - run: exit 1\n      shell: bash\n"

// useLocalAction makes an example workflow use the Action of the test repository in place of the released one.
func useLocalAction(t *testing.T, name, workflow string) string {
	t.Helper()
	released := regexp.MustCompile(`uses: gitopsctr/gitopsctr@\S+`)
	if !released.MatchString(workflow) {
		t.Fatalf("%s does not use gitopsctr/gitopsctr", name)
	}
	workflow = regexp.MustCompile(`uses: actions/upload-artifact@\S+`).ReplaceAllString(workflow, "uses: ./"+actionDir+"/upload")
	return released.ReplaceAllString(workflow, "uses: ./"+actionDir)
}

// usePrebuiltImage makes action.yml name an image, as a release does.
func usePrebuiltImage(t *testing.T, action, image string) string {
	t.Helper()
	line := regexp.MustCompile(`(?m)^( +image:).*$`)
	if n := len(line.FindAllString(action, -1)); n != 1 {
		t.Fatalf("action.yml has %d image lines, want 1", n)
	}
	return line.ReplaceAllString(action, "$1 docker://"+image)
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
