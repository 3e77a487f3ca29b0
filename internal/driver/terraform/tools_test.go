package terraform_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/driver/terraform"
)

// installer hands out programs and notes what it was asked for.
type installer struct {
	mu     sync.Mutex
	path   string
	err    error
	during func()
	asked  []string
}

func (i *installer) Install(_ context.Context, product terraform.Product, version string) (string, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.asked = append(i.asked, string(product)+" "+version)
	if i.during != nil {
		i.during()
	}
	return i.path, i.err
}

// program writes an executable that tells its name and version, and fails in init with its name.
func program(t *testing.T, dir, name, label, version string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	script := "#!/bin/sh\nif [ \"$1\" = version ]; then echo '{\"terraform_version\":\"" + version + "\"}'; else echo 'I am " + label + "'; exit 1; fi\n"
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestChoiceOfTheTool(t *testing.T) {
	t.Parallel()
	type in struct {
		path    []string // programs in PATH, of version 1.5.0
		files   map[string]string
		options terraform.Options
		fetch   bool
		refuse  error
	}
	for name, test := range map[string]struct {
		in
		want        string // who ran, or a part of the error
		wantFetched []string
	}{
		"terraform from PATH":               {in{path: []string{"terraform", "tofu"}}, "I am terraform in PATH", nil},
		"else tofu from PATH":               {in{path: []string{"tofu"}}, "I am tofu in PATH", nil},
		"else nothing":                      {in{}, "terraform: neither terraform nor tofu was found in PATH; install one", nil},
		"the source's file wins over PATH":  {in{path: []string{"terraform"}, files: map[string]string{".opentofu-version": "# pinned\n\nv1.8.0\r\n"}, fetch: true}, "I am fetched", []string{"tofu 1.8.0"}},
		"the file's version in PATH":        {in{path: []string{"terraform"}, files: map[string]string{".terraform-version": "1.5.0"}, fetch: true}, "I am terraform in PATH", nil},
		"an input wins over the file":       {in{path: []string{"terraform"}, files: map[string]string{".terraform-version": "1.5.0"}, options: terraform.Options{TofuVersion: "1.8.1"}, fetch: true}, "I am fetched", []string{"tofu 1.8.1"}},
		"a given program wins over all":     {in{path: []string{"terraform", "tofu"}, files: map[string]string{".terraform-version": "latest"}, options: terraform.Options{Tool: "tofu", TerraformVersion: "1.5.0"}}, "I am tofu in PATH", nil},
		"a given program that is not there": {in{options: terraform.Options{Tool: "tofu"}}, "terraform: tofu: executable file not found in $PATH", nil},
		"two inputs":                        {in{options: terraform.Options{TerraformVersion: "1.5.0", TofuVersion: "1.8.0"}}, "both the input terraform-version and the input opentofu-version are given", nil},
		"two files":                         {in{files: map[string]string{".terraform-version": "1.5.0", ".opentofu-version": "1.8.0"}}, "both infra/.terraform-version and infra/.opentofu-version are given", nil},
		"a range":                           {in{files: map[string]string{".terraform-version": "latest:^1.5"}}, `infra/.terraform-version asks for "latest:^1.5", which is no exact version`, nil},
		"an empty file":                     {in{files: map[string]string{".terraform-version": "\n"}}, `infra/.terraform-version asks for "", which is no exact version`, nil},
		"another version, nothing fetched":  {in{path: []string{"terraform"}, files: map[string]string{".terraform-version": "1.6.0"}}, "infra/.terraform-version asks for version 1.6.0; PATH has 1.5.0, and nothing is fetched here; put that version in PATH", nil},
		"a refused download":                {in{options: terraform.Options{TerraformVersion: "1.9.9"}, fetch: true, refuse: errors.New("checksum mismatch")}, "cannot download terraform 1.9.9, which the input terraform-version asks for: checksum mismatch; put that version in PATH, or use an image that carries it", []string{"terraform 1.9.9"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bin := t.TempDir()
			for _, p := range test.path {
				program(t, bin, p, p+" in PATH", "1.5.0")
			}
			i := &installer{path: program(t, t.TempDir(), "fetched", "fetched", ""), err: test.refuse}
			o := test.options
			o.Env = []string{"PATH=" + bin}
			if test.fetch {
				o.Installer = i
			}
			d := terraform.New(o)
			f := newFixture(t, test.files)
			// Twice: what was learnt or fetched is not asked for again.
			for range 2 {
				_, err := d.Plan(t.Context(), f.with("{backend: {}, variables: {}, observeOutputs: []}"))
				if e := driverError(t, err); !strings.Contains(e.Error(), test.want) {
					t.Errorf("want %q, got %v", test.want, e)
				}
			}
			if diff := cmp.Diff(test.wantFetched, i.asked); diff != "" {
				t.Errorf("fetched (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFetchIsTriedAgainAfterACancelledRun(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	i := &installer{err: errors.New("cut off"), during: cancel}
	d := terraform.New(terraform.Options{Env: []string{"PATH=/nowhere"}, TerraformVersion: "1.9.9", Installer: i})
	f := newFixture(t, nil)
	for _, ctx := range []context.Context{ctx, t.Context(), t.Context()} {
		if _, err := d.Plan(ctx, f.with("{backend: {}, variables: {}, observeOutputs: []}")); err == nil {
			t.Error("want an error")
		}
	}
	if diff := cmp.Diff([]string{"terraform 1.9.9", "terraform 1.9.9"}, i.asked); diff != "" {
		t.Errorf("fetched (-want +got):\n%s", diff)
	}
}
