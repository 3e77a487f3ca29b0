package terraform

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/driver"
)

const (
	cacheVariable = "TF_PLUGIN_CACHE_DIR"
	lockFile      = ".terraform.lock.hcl"
)

// providerCache lets all Units share one directory of provider packages. Concurrent "init" runs that fill such a
// directory corrupt it, so an init that may have to fill it runs alone. Once an init with the same lock file, or with the
// same root module at the same commit, has succeeded, the packages are there and inits of that sort run in parallel.
type providerCache struct {
	env []string
	dir string // "" without cache
	own bool   // dir is ours to create

	filling *semaphore.Weighted
	mu      sync.Mutex
	warm    map[string]bool
}

func newProviderCache(env []string, dir string) *providerCache {
	c := &providerCache{env: toolEnvironment(env), dir: dir, own: true, filling: semaphore.NewWeighted(1), warm: map[string]bool{}}
	if users, ok := driver.Lookup(env, cacheVariable); ok {
		c.dir, c.own = users, false
	} else if dir != "" {
		c.env = append(c.env, cacheVariable+"="+dir)
	}
	return c
}

// toolEnvironment is the environment of every command: what the user set wins.
func toolEnvironment(env []string) []string {
	return withDefaults(env, "TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1")
}

func withDefaults(env []string, entries ...string) []string {
	env = slices.Clone(env)
	for _, entry := range entries {
		name := entry[:len(entry)-len("=1")]
		if _, set := driver.Lookup(env, name); !set {
			env = append(env, entry)
		}
	}
	return env
}

// environment returns the environment for the root module in dir. A root module without lock file may take packages
// from the cache although no checksum says which: the lock file that init then writes is thrown away with the directory.
func (c *providerCache) environment(dir string) []string {
	if c.dir != "" && lockKey(dir) == "" {
		return withDefaults(c.env, "TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE=1")
	}
	return c.env
}

// install runs init for the root module in dir; module names that root module and its commit.
func (c *providerCache) install(ctx context.Context, dir, module string, init func() error) error {
	if c.dir == "" {
		return init()
	}
	if c.own {
		if err := os.MkdirAll(c.dir, privateDir); err != nil {
			return &driver.Error{Op: "make the provider cache", Err: err}
		}
	}
	keys := []string{module, lockKey(dir)}
	if c.isWarm(keys) {
		return init()
	}
	if err := c.filling.Acquire(ctx, 1); err != nil {
		return &driver.Error{Op: "init", Detail: "cancelled while it waited for the provider cache", Err: err}
	}
	if c.isWarm(keys) {
		c.filling.Release(1)
		return init()
	}
	defer c.filling.Release(1)
	if err := init(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range append(keys, lockKey(dir)) {
		c.warm[key] = key != ""
	}
	return nil
}

func (c *providerCache) isWarm(keys []string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(keys, func(key string) bool { return c.warm[key] })
}

// lockKey identifies the providers that the lock file in dir selects, "" without lock file.
func lockKey(dir string) string {
	data, err := os.ReadFile(filepath.Join(dir, lockFile))
	if errors.Is(err, os.ErrNotExist) {
		return ""
	}
	if err != nil {
		return "unreadable " + dir
	}
	return document.SHA256Hex(data)
}
