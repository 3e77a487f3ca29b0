package terraform_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/driver"
	"github.com/gitopsctr/gitopsctr/internal/driver/terraform"
)

const revision = "5227213682e0b11622fe8cdacfb53cfae26845c5"

// baseEnv is the test process's environment without settings of terraform, which would change what the tests see.
func baseEnv() []string {
	var env []string
	for _, entry := range driver.Environment(os.Environ()) {
		if !strings.HasPrefix(entry, "TF_") {
			env = append(env, entry)
		}
	}
	return env
}

// realEnv is baseEnv for tests that run the real tool. They must not pass without one.
func realEnv(t *testing.T) []string {
	t.Helper()
	env := baseEnv()
	if _, err := driver.LookPath(env, "terraform"); err != nil {
		if _, err := driver.LookPath(env, "tofu"); err != nil {
			t.Fatal("these tests run the real tool: put terraform or tofu into PATH")
		}
	}
	return env
}

// A fixture is one Unit: a root module below a source directory, a local state, and the transcript.
type fixture struct {
	t         *testing.T
	Module    string // directory of the root module
	StateFile string
	Log       *transcript
	unit      driver.Unit
}

// newFixture writes the files of a root module.
func newFixture(t *testing.T, files map[string]string) *fixture {
	t.Helper()
	root := t.TempDir()
	f := &fixture{t: t, Module: filepath.Join(root, "source", "infra"), StateFile: filepath.Join(root, "state", "x.tfstate"), Log: &transcript{}}
	f.unit = driver.Unit{
		Environment: "dev", Name: "infra", QualifiedName: "infra", Kind: "Terraform", UID: "d1-5cd756b11ed9358584d6890f4d5b2cbd",
		SourceDir: filepath.Join(root, "source"), Log: f.Log,
	}
	f.write(files)
	return f
}

func (f *fixture) write(files map[string]string) {
	f.t.Helper()
	if err := os.MkdirAll(f.Module, 0o755); err != nil {
		f.t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(f.Module, name), []byte(text), 0o644); err != nil {
			f.t.Fatal(err)
		}
	}
}

// with returns the Unit with a terraform spec in YAML flow style and a fresh directory for temporary files. BACKEND
// stands for the fixture's local state.
func (f *fixture) with(terraformSpec string) driver.Unit {
	f.t.Helper()
	terraformSpec = strings.ReplaceAll(terraformSpec, "BACKEND", fmt.Sprintf("{path: %q}", f.StateFile))
	n, err := document.Decode("unit.yaml", []byte(fmt.Sprintf("spec:\n  source: {path: infra, revision: %s}\n  terraform: %s\n", revision, terraformSpec)))
	if err != nil {
		f.t.Fatal(err)
	}
	u := f.unit
	u.Spec, u.TempDir = n.Get("spec"), f.t.TempDir()
	return u
}

// state returns the tool's state file, nil when there is none.
func (f *fixture) state() map[string]any {
	f.t.Helper()
	data, err := os.ReadFile(f.StateFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	state := map[string]any{}
	if err == nil {
		err = json.Unmarshal(data, &state)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return state
}

// resources counts the resources in the state.
func (f *fixture) resources() int {
	resources, _ := f.state()["resources"].([]any)
	return len(resources)
}

// transcript is a Unit's log. A hook runs when a line holds its text.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
	on   string
	do   func(line string)
}

func (l *transcript) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.do != nil && strings.Contains(string(p), l.on) {
		l.do(string(p))
	}
	return l.text.Write(p)
}

func (l *transcript) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// onceLine makes a hook that runs at the first line only.
func onceLine(do func()) func(string) {
	once := sync.OnceFunc(do)
	return func(string) { once() }
}

// noWait is a Sleep that counts instead of waiting.
type noWait struct {
	mu    sync.Mutex
	slept []time.Duration
}

func (n *noWait) Sleep(ctx context.Context, d time.Duration) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.slept = append(n.slept, d)
	return ctx.Err()
}

// jsonOf is a document in canonical JSON, so that failures can be read.
func jsonOf(n *document.Node) string {
	if n == nil {
		return "nil"
	}
	return string(document.CanonicalJSON(n))
}

// orderedJSON is a document in JSON with its own key order.
func orderedJSON(n *document.Node) string { return string(document.InspectionJSON(n)) }

func driverError(t *testing.T, err error) *driver.Error {
	t.Helper()
	var e *driver.Error
	if !errors.As(err, &e) {
		t.Fatalf("want a *driver.Error, got %v", err)
	}
	return e
}

func newDriver(t *testing.T, change func(*terraform.Options)) *terraform.Driver {
	t.Helper()
	o := terraform.Options{Env: realEnv(t), Timeouts: driver.Timeouts{Grace: 30 * time.Second, Lock: 20 * time.Second}}
	if change != nil {
		change(&o)
	}
	return terraform.New(o)
}
