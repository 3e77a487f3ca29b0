package terraform

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/gitopsctr/gitopsctr/internal/driver"
)

// A Product is one of the two tools, by the name of its program.
type Product string

// The products.
const (
	Terraform Product = "terraform"
	OpenTofu  Product = "tofu"
)

// An Installer fetches exactly one version of a product, verifies it, and returns the path of the program. It is asked
// for one version at a time, and only once for each.
type Installer interface {
	Install(ctx context.Context, product Product, version string) (path string, err error)
}

// A tool is the program that runs a Unit.
type tool struct {
	Name string // for messages
	Path string
}

// versionFiles are the files in a Unit's source path that pin a version, as tfenv, tenv and tofuenv read them.
var versionFiles = []struct {
	name    string
	product Product
}{{".terraform-version", Terraform}, {".opentofu-version", OpenTofu}}

var exactVersion = regexp.MustCompile(`^v?([0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.]+)?)$`)

// tools chooses the tool of each Unit and remembers what it learnt: versions of programs, and what it fetched.
type tools struct {
	options Options
	env     []string

	mu       sync.Mutex
	versions map[string]string // by path

	// fetching is held while the installer works; fetched belongs to its holder.
	fetching *semaphore.Weighted
	fetched  map[pin]fetchResult
}

// A pin asks for one version; from says who asked for it.
type pin struct {
	product       Product
	version, from string
}

type fetchResult struct {
	path string
	err  error
}

func newTools(o Options) *tools {
	return &tools{
		options: o, env: toolEnvironment(o.Env), versions: map[string]string{},
		fetching: semaphore.NewWeighted(1), fetched: map[pin]fetchResult{},
	}
}

// choose returns the tool for the root module in dir, called sourcePath in messages: the given program, else the given
// version, else the version that the source pins, else what PATH has.
func (t *tools) choose(ctx context.Context, dir, sourcePath string) (tool, error) {
	if t.options.Tool != "" {
		path, err := driver.LookPath(t.options.Env, t.options.Tool)
		if err != nil {
			return tool{}, &driver.Error{Op: "terraform", Detail: err.Error(), Fix: "correct the path of the program", Err: err}
		}
		return tool{Name: filepath.Base(path), Path: path}, nil
	}
	p, err := t.pinned(dir, sourcePath)
	if err != nil {
		return tool{}, err
	}
	if p.version != "" {
		return t.exactly(ctx, p)
	}
	for _, product := range []Product{Terraform, OpenTofu} {
		if path, err := driver.LookPath(t.options.Env, string(product)); err == nil {
			return tool{Name: string(product), Path: path}, nil
		}
	}
	return tool{}, &driver.Error{Op: "terraform", Detail: "neither terraform nor tofu was found in PATH",
		Fix: "install one of them, or name the exact version to fetch (input terraform-version or opentofu-version)"}
}

// pinned returns the version that the options or the source ask for; its version is "" when nobody asks.
func (t *tools) pinned(dir, sourcePath string) (pin, error) {
	asked := []pin{}
	for _, p := range []pin{
		{Terraform, t.options.TerraformVersion, "the input terraform-version"},
		{OpenTofu, t.options.TofuVersion, "the input opentofu-version"},
	} {
		if p.version != "" {
			asked = append(asked, p)
		}
	}
	if len(asked) == 0 {
		for _, f := range versionFiles {
			version, err := readVersionFile(filepath.Join(dir, f.name))
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			from := filepath.Join(sourcePath, f.name)
			if err != nil {
				return pin{}, &driver.Error{Op: "read " + from, Err: err}
			}
			asked = append(asked, pin{f.product, version, from})
		}
	}
	switch len(asked) {
	case 0:
		return pin{}, nil
	case 1:
	default:
		return pin{}, &driver.Error{Op: "terraform", Detail: fmt.Sprintf("both %s and %s are given", asked[0].from, asked[1].from), Fix: "keep one of the two"}
	}
	p := asked[0]
	m := exactVersion.FindStringSubmatch(p.version)
	if m == nil {
		return pin{}, &driver.Error{Op: string(p.product), Detail: fmt.Sprintf("%s asks for %q, which is no exact version", p.from, p.version),
			Fix: "write a version such as 1.11.4; ranges and \"latest\" would make runs differ"}
	}
	p.version = m[1]
	return p, nil
}

// readVersionFile returns the first line that is neither blank nor a comment.
func readVersionFile(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return line, nil
		}
	}
	return "", nil
}

// exactly returns the program of the pinned version: from PATH when that has it, else fetched.
func (t *tools) exactly(ctx context.Context, p pin) (tool, error) {
	name := string(p.product)
	inPath := ""
	if path, err := driver.LookPath(t.options.Env, name); err == nil {
		if inPath, err = t.version(ctx, name, path); err != nil {
			return tool{}, err
		}
		if inPath == p.version {
			return tool{Name: name, Path: path}, nil
		}
	}
	if t.options.Installer == nil {
		has := "PATH has none"
		if inPath != "" {
			has = "PATH has " + inPath
		}
		return tool{}, &driver.Error{Op: name, Detail: fmt.Sprintf("%s asks for version %s; %s, and nothing is fetched here", p.from, p.version, has),
			Fix: "put that version in PATH"}
	}
	path, err := t.fetch(ctx, p)
	if err != nil {
		return tool{}, &driver.Error{Op: name, Detail: fmt.Sprintf("cannot download %s %s, which %s asks for: %v", name, p.version, p.from, err),
			Fix: "put that version in PATH, or use an image that carries it", Err: err}
	}
	return tool{Name: name, Path: path}, nil
}

// fetch asks the installer once for each version, whatever the result, unless the run was cancelled meanwhile.
func (t *tools) fetch(ctx context.Context, p pin) (string, error) {
	if err := t.fetching.Acquire(ctx, 1); err != nil {
		return "", err
	}
	defer t.fetching.Release(1)
	key := pin{product: p.product, version: p.version}
	if r, ok := t.fetched[key]; ok {
		return r.path, r.err
	}
	path, err := t.options.Installer.Install(ctx, p.product, p.version)
	if ctx.Err() == nil {
		t.fetched[key] = fetchResult{path, err}
	}
	return path, err
}

// version asks a program for its version, once.
func (t *tools) version(ctx context.Context, name, path string) (string, error) {
	t.mu.Lock()
	known := t.versions[path]
	t.mu.Unlock()
	if known != "" {
		return known, nil
	}
	var out bytes.Buffer
	c := driver.Command{Name: name + " version", Path: path, Args: []string{"version", "-json"}, Dir: os.TempDir(), Env: t.env, Stdout: &out, ReadOnly: true}
	if err := c.Run(ctx); err != nil {
		return "", err
	}
	var answer struct {
		Version string `json:"terraform_version"` // OpenTofu has kept the name
	}
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil || answer.Version == "" {
		return "", &driver.Error{Op: name + " version", Detail: path + " does not tell its version", Err: err}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.versions[path] = answer.Version
	return answer.Version, nil
}
