package faults

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInspector makes sure that the inspector finds what it is for: each case breaks one thing on the remote.
func TestInspector(t *testing.T) {
	t.Parallel()
	converged := newShop(t, true, map[string]string{"alone": "one"})
	told := converged.converge(t, "--output", "json")
	for name, test := range map[string]struct {
		want   string
		damage func(*testing.T, *shop)
	}{
		"nothing":            {"", func(*testing.T, *shop) {}},
		"a forced push":      {"forward only", func(t *testing.T, s *shop) { git(t, s.bare, "branch", "--force", observedRef, "main") }},
		"a lost branch":      {"forward only", func(t *testing.T, s *shop) { git(t, s.bare, "branch", "-D", leaseRef) }},
		"another branch":     {"there is a ref", func(t *testing.T, s *shop) { git(t, s.bare, "branch", "stray", "main") }},
		"the source changed": {"source branch", func(t *testing.T, s *shop) { s.damage(t, "main", "module/main.tf", "variable", "#") }},
		"an unreadable Unit": {"readable", func(t *testing.T, s *shop) { s.damage(t, observedRef, "units/alone.yaml", "spec:", "spec: []\nx:") }},
		"a wrong path": {"holds the document of", func(t *testing.T, s *shop) {
			s.damage(t, observedRef, "units/alone.yaml", "alone", "other")
		}},
		"another UID": {"changes the UID", func(t *testing.T, s *shop) { s.damage(t, desiredRef, "units/alone.yaml", "uid: d1-", "uid: d1-0") }},
		"a Unit that is gone": {"without a tombstone", func(t *testing.T, s *shop) {
			s.damage(t, desiredRef, "units/alone.yaml", "", "")
		}},
		"a Receipt for nothing": {"never was on", func(t *testing.T, s *shop) {
			s.damage(t, observedRef, "units/alone.yaml", "unitBlob: ", "unitBlob: "+strings.Repeat("a", 40)+" # ")
		}},
		"a Receipt of another commit": {"where the document is", func(t *testing.T, s *shop) {
			s.damage(t, observedRef, "units/alone.yaml", "    revision: ", "    revision: "+strings.Repeat("a", 40)+" # ")
		}},
		"a repeated effect": {"were repeated", func(t *testing.T, s *shop) { s.tool.append(t, "begin alone one\nend alone one\n") }},
		"effects that overlap": {"overlap", func(t *testing.T, s *shop) {
			s.tool.append(t, "begin alone two\nbegin alone two\nend alone two\nend alone two\n")
		}},
		"a secret": {"secrecy", func(t *testing.T, s *shop) {
			s.damage(t, observedRef, "units/alone.yaml", "value: ", "value: "+canary)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := converged.copy(t)
			i := newInspector(s)
			i.hear(t, told)
			if faults := i.inspect(t); len(faults) > 0 {
				t.Fatalf("before the damage: %q", faults)
			}
			test.damage(t, s)
			got := strings.Join(i.inspect(t), "\n")
			if (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
				t.Errorf("want a fault with %q, got %q", test.want, got)
			}
		})
	}
}

// copy is a shop of the same content whose remote and log can be damaged. No program can be run in it.
func (s *shop) copy(t *testing.T) *shop {
	t.Helper()
	c := &shop{bare: filepath.Join(t.TempDir(), "remote.git"), clone: s.clone, tool: &tool{dir: t.TempDir()}}
	if err := os.CopyFS(c.bare, os.DirFS(s.bare)); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(c.tool.dir, os.DirFS(s.tool.dir)); err != nil {
		t.Fatal(err)
	}
	return c
}

// damage commits a change of one file to a branch of the remote: a text replaced by another, or without texts the file
// removed.
func (s *shop) damage(t *testing.T, branch, file, from, to string) {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "clone", "--quiet", "--branch", branch, s.bare, "clone")
	dir = filepath.Join(dir, "clone")
	path := filepath.Join(dir, file)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if from == "" {
		err = os.Remove(path)
	} else {
		err = os.WriteFile(path, []byte(strings.ReplaceAll(string(data), from, to)), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	git(t, dir, "commit", "--quiet", "--all", "--message=damage")
	git(t, dir, "push", "--quiet", "origin", "HEAD:"+branch)
}

// append adds lines to the log.
func (l *tool) append(t *testing.T, lines string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(l.dir, "log"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(lines); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}
