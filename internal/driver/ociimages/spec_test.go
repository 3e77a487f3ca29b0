package ociimages_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/gitopsctr/gitopsctr/internal/driver"
	"github.com/gitopsctr/gitopsctr/internal/driver/ociimages"
)

const probes = "../../../testdata/vectors/g-drivers/probe1.txt"

// section reads the lines of one section of the recorded probes: an input, what the reference made of it, and a region.
func section(t *testing.T, title string) [][]*string {
	t.Helper()
	data, err := os.ReadFile(probes)
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(data), "## "+title+"\n")
	if !ok {
		t.Fatalf("%s has no section %s", probes, title)
	}
	text, _, _ = strings.Cut(text, "## ")
	var rows [][]*string
	for line := range strings.Lines(text) {
		var row []*string
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		rows = append(rows, row)
	}
	return rows
}

func TestRepositoriesAreThoseOfTheReference(t *testing.T) {
	t.Parallel()
	rows := section(t, "repos")
	if len(rows) < 20 {
		t.Fatalf("want at least 20 recorded repositories, got %d", len(rows))
	}
	for _, row := range rows {
		host, ok := ociimages.ParseRepository(*row[0])
		if *row[1] == "DriverError" {
			if ok {
				t.Errorf("%q: want an error, got the registry %s", *row[0], host)
			}
			continue
		}
		if !ok || host != *row[1] {
			t.Errorf("%q: want the registry %s, got %q, %t", *row[0], *row[1], host, ok)
		}
	}
}

func TestECRRegistriesAreThoseOfTheReference(t *testing.T) {
	t.Parallel()
	rows := section(t, "ecr")
	if len(rows) < 9 {
		t.Fatalf("want at least 9 recorded registries, got %d", len(rows))
	}
	for _, row := range rows {
		region, ok := ociimages.ECRRegion(*row[0])
		if want := row[1] == nil; ok != want {
			t.Errorf("%s: want accepted %t, got %t", *row[0], want, ok)
		}
		if row[2] != nil && region != *row[2] {
			t.Errorf("%s: want region %s, got %s", *row[0], *row[2], region)
		}
	}
}

// TestCheck: what is written is checked before it runs, what is missing is not missed yet.
func TestCheck(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		"{source: {path: app}}":                                  "",
		"{source: {path: app}, build: null, publish: null}":      "",
		"{build: {dockerfile: ../x, platform: linux/amd64}}":     "/build/dockerfile",
		"{publish: {targets: {}}}":                               "/publish/targets",
		"{publish: {targets: {a: {type: kind, cluster: a}}}}":    "",
		`{publish: {targets: {a: {type: kind, cluster: ""}}}}`:   "/publish/targets/a/cluster",
		"{build: {dockerfile: Dockerfile, platform: linux/arm}}": "",
	} {
		f := newFixture(t, nil)
		err := ociimages.New(f.Options).Check(f.unit(spec).Spec)
		var fault *driver.Error
		if errors.As(err, &fault) != (want != "") || fault != nil && fault.Pointer != want {
			t.Errorf("%s: want a fault at %q, got %v", spec, want, err)
		}
	}
}

func TestSpecsThatCannotRun(t *testing.T) {
	t.Parallel()
	const ecr = "123456789012.dkr.ecr.eu-central-1.amazonaws.com/app"
	publish := func(targets, provider string) string {
		return "{build: {dockerfile: Dockerfile, platform: linux/amd64}, publish: {targets: " + targets + ", credentialProvider: " + provider + "}}"
	}
	for name, test := range map[string]struct{ spec, pointer string }{
		"no source":           {`{source: null}`, "/source"},
		"no input hash":       {`{source: {path: app, inputHash: null}}`, "/source/inputHash"},
		"short input hash":    {`{source: {path: app, inputHash: "sha256:ab"}}`, "/source/inputHash"},
		"no build":            {`{build: null}`, "/build"},
		"dockerfile outside":  {`{build: {dockerfile: ../x, platform: linux/amd64}, publish: {targets: {k: {type: kind, cluster: c}}}}`, "/build/dockerfile"},
		"empty dockerfile":    {`{build: {dockerfile: "", platform: linux/amd64}, publish: {targets: {k: {type: kind, cluster: c}}}}`, "/build/dockerfile"},
		"empty platform":      {`{build: {dockerfile: x, platform: ""}, publish: {targets: {k: {type: kind, cluster: c}}}}`, "/build/platform"},
		"no publish":          {`{build: {dockerfile: x, platform: linux/amd64}}`, "/publish"},
		"no targets":          {publish("{}", "null"), "/publish/targets"},
		"empty target name":   {publish(`{"": {type: kind, cluster: a}}`, "null"), "/publish/targets/"},
		"empty repository":    {publish(`{a/b: {type: registry, repository: ""}}`, "null"), "/publish/targets/a~1b/repository"},
		"repository with tag": {publish(`{a: {type: registry, repository: "r.example/a:1"}}`, "null"), "/publish/targets/a/repository"},
		"empty cluster":       {publish(`{a: {type: kind, cluster: ""}}`, "null"), "/publish/targets/a/cluster"},
		"cluster as a flag":   {publish(`{a: {type: kind, cluster: "--all"}}`, "null"), "/publish/targets/a/cluster"},
		"empty profile":       {publish(`{a: {type: minikube, profile: ""}}`, "null"), "/publish/targets/a/profile"},
		"unknown type":        {publish(`{a: {type: k3d}}`, "null"), "/publish/targets/a/type"},
		"provider, no ECR":    {publish("{a: {type: registry, repository: "+ecr+"}, b: {type: registry, repository: ghcr.io/a/b}}", "{type: aws-ecr}"), "/publish/targets/b/repository"},
		"provider, local":     {publish("{a: {type: kind, cluster: c}}", "{type: aws-ecr}"), "/publish/credentialProvider"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, nil)
			u := f.unit(test.spec)
			d := ociimages.New(f.Options)
			_, planErr := d.Plan(t.Context(), u)
			_, err := d.Reconcile(t.Context(), u)
			for _, err := range []error{planErr, err} {
				var fault *driver.Error
				if !errors.As(err, &fault) {
					t.Fatalf("want a driver error, got %v", err)
				}
				if fault.Pointer != test.pointer || fault.Fix == "" {
					t.Errorf("want a fix and the pointer %s, got %q in: %v", test.pointer, fault.Pointer, err)
				}
			}
			if calls := f.calls(u); len(calls) > 0 {
				t.Errorf("want no command, got %q", calls)
			}
		})
	}
}
