package terraform_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/driver/terraform"
)

// An init writes "overlap" when another one runs at the same time. In a directory with a file "meet" it waits for three
// others and writes "met": it only can when they may run at the same time. It always writes its settings.
const initScript = `#!/bin/sh
cd %q || exit 99
if [ "$1" = init ]; then
  if [ -f meet ]; then
    : > "here.$$"
    i=0
    while [ $i -lt 200 ]; do
      set -- here.*
      if [ $# -ge 4 ]; then echo met >> trace; break; fi
      sleep 0.05
      i=$((i+1))
    done
  elif mkdir busy 2>/dev/null; then
    sleep 0.05
    rmdir busy
  else
    echo overlap >> trace
  fi
  echo "cache=$TF_PLUGIN_CACHE_DIR lockless=$TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE" >> trace
  exit 0
fi
exit 1
`

func TestProviderCacheIsFilledByOneInitAtATime(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		lock      func(unit int) string
		cold      func(unit int) string // revision of the source while the cache is filled
		warm      func(unit int) string // and later
		wantLines string
	}{
		"known by the lock file": {
			lock: func(u int) string { return fmt.Sprintf("# providers of unit %d", u) },
			cold: func(u int) string { return fmt.Sprintf("%040d", u) }, warm: func(u int) string { return fmt.Sprintf("%040d", 10+u) },
			wantLines: "lockless=",
		},
		"known by the commit": {
			cold: func(u int) string { return fmt.Sprintf("%040d", u) }, warm: func(u int) string { return fmt.Sprintf("%040d", u) },
			wantLines: "lockless=1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, cache := t.TempDir(), filepath.Join(t.TempDir(), "cache")
			tool := filepath.Join(dir, "terraform")
			if err := os.WriteFile(tool, fmt.Appendf(nil, initScript, dir), 0o700); err != nil {
				t.Fatal(err)
			}
			d := terraform.New(terraform.Options{Tool: tool, Env: baseEnv(), PluginCacheDir: cache})
			initAll := func(revision func(int) string) []string {
				t.Helper()
				var group sync.WaitGroup
				for unit := range 4 {
					files := map[string]string{}
					if test.lock != nil {
						files[".terraform.lock.hcl"] = test.lock(unit)
					}
					u := newFixture(t, files).with("{backend: {}, variables: {}, observeOutputs: []}")
					u.Spec = u.Spec.With("source", u.Spec.Get("source").With("revision", document.NewString(revision(unit))))
					// The plan after init fails, which does not matter here.
					group.Go(func() { _, _ = d.Plan(t.Context(), u) })
				}
				group.Wait()
				trace, err := os.ReadFile(filepath.Join(dir, "trace"))
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Remove(filepath.Join(dir, "trace")); err != nil {
					t.Fatal(err)
				}
				lines := strings.Split(strings.TrimSpace(string(trace)), "\n")
				slices.Sort(lines)
				return lines
			}
			line := "cache=" + cache + " " + test.wantLines
			if diff := cmp.Diff([]string{line, line, line, line}, initAll(test.cold)); diff != "" {
				t.Errorf("cold inits (-want +got):\n%s", diff)
			}
			if err := os.WriteFile(filepath.Join(dir, "meet"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{line, line, line, line, "met", "met", "met", "met"}, initAll(test.warm)); diff != "" {
				t.Errorf("warm inits (-want +got):\n%s", diff)
			}
		})
	}
}

// Two Units in one TF_DATA_DIR would run with each other's backend.
func TestSharedDataDirectoryIsUsedByOneUnitAtATime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tool := filepath.Join(dir, "terraform")
	if err := os.WriteFile(tool, fmt.Appendf(nil, initScript, dir), 0o700); err != nil {
		t.Fatal(err)
	}
	d := terraform.New(terraform.Options{Tool: tool, Env: append(baseEnv(), "TF_DATA_DIR="+t.TempDir())})
	var group sync.WaitGroup
	for range 4 {
		u := newFixture(t, nil).with("{backend: {}, variables: {}, observeOutputs: []}")
		group.Go(func() { _, _ = d.Plan(t.Context(), u) })
	}
	group.Wait()
	trace, err := os.ReadFile(filepath.Join(dir, "trace"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Repeat("cache= lockless=\n", 4), string(trace)); diff != "" {
		t.Errorf("inits (-want +got):\n%s", diff)
	}
}

func TestUsersProviderCacheWins(t *testing.T) {
	t.Parallel()
	s := newStub(t, emptyPlan, "{}")
	s.options.PluginCacheDir = filepath.Join(t.TempDir(), "ours")
	s.options.Env = append(s.options.Env, "TF_PLUGIN_CACHE_DIR=/users/cache")
	if _, err := terraform.New(s.options).Plan(t.Context(), newFixture(t, nil).with("{backend: {}, variables: {}, observeOutputs: []}")); err != nil {
		t.Fatal(err)
	}
	env, err := os.ReadFile(filepath.Join(s.dir, "env"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(env), "TF_PLUGIN_CACHE_DIR=/users/cache\n") || fileExists(s.options.PluginCacheDir) {
		t.Errorf("the user's cache is not used:\n%s", env)
	}
}
