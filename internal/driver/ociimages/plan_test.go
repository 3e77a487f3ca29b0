package ociimages_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/driver"
	"github.com/gitopsctr/gitopsctr/internal/driver/ociimages"
)

func TestPlan(t *testing.T) {
	t.Parallel()
	image, digest := randomImage(t)
	const a, b, kind = "a: {type: registry, repository: HOST/a}", "b: {type: registry, repository: HOST/b}", "k: {type: kind, cluster: c1}"
	create := func(addresses ...string) []driver.ResourceChange {
		var all []driver.ResourceChange
		for _, address := range addresses {
			all = append(all, driver.ResourceChange{Address: address, Action: "create"})
		}
		return all
	}
	for name, test := range map[string]struct {
		targets   string
		published bool
		want      []driver.ResourceChange
		text      string
	}{
		"published": {
			targets: a, published: true,
			text: "The image is published already: nothing to build.\n  keep HOST/a:TAG, which is DIGEST\n",
		},
		"not published": {
			targets: a + ", " + b, want: create("HOST/a:TAG", "HOST/b:TAG"),
			text: "Would build app/Dockerfile for linux/amd64:\n  push HOST/a:TAG\n  push HOST/b:TAG\n",
		},
		"published in one": {
			targets: b + ", " + a, published: true, want: create("HOST/b:TAG"),
			text: "The image is published already: nothing to build.\n  copy HOST/a@DIGEST to HOST/b:TAG\n  keep HOST/a:TAG, which is DIGEST\n",
		},
		"published, for a cluster": {
			targets: kind + ", " + a, published: true, want: create("kind cluster c1"),
			text: "The image is published already: nothing to build.\n  keep HOST/a:TAG, which is DIGEST\n  load LOCAL into kind cluster c1\n",
		},
		"for a cluster only": {
			targets: kind, want: create("kind cluster c1"),
			text: "Would build app/Dockerfile for linux/amd64:\n  load LOCAL into kind cluster c1\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, s := newFixture(t, nil), newServer(t, nil)
			if test.published {
				s.put("a", image)
			}
			fill := strings.NewReplacer("HOST", s.Host, "TAG", tag, "DIGEST", digest, "LOCAL", local)
			for i := range test.want {
				test.want[i].Address = fill.Replace(test.want[i].Address)
			}
			u := f.with("{" + fill.Replace(test.targets) + "}")
			got, err := ociimages.New(f.Options).Plan(t.Context(), u)
			if err != nil {
				t.Fatal(err)
			}
			want := driver.Plan{Changes: driver.Changes{Create: len(test.want), Resources: test.want}, Text: fill.Replace(test.text)}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if calls := f.calls(u); len(calls) > 0 {
				t.Errorf("want no command, got %q", calls)
			}
		})
	}
}

func TestPlanDoesWithoutARegistryThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	f, s := newFixture(t, nil), newServer(t, requireLogin("u", "p"))
	got, err := ociimages.New(f.Options).Plan(t.Context(), f.with("{a: {type: registry, repository: "+s.Host+"/a}}"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Would build app/Dockerfile", "unless it is there: it could not be looked up", "401 Unauthorized"} {
		if !strings.Contains(got.Text, want) {
			t.Errorf("want %q in:\n%s", want, got.Text)
		}
	}
	if got.Changes.Create != 1 {
		t.Errorf("want 1 to create, got %s", got.Changes)
	}
}

func TestPlanBuildsOnlyWhenAskedAndPublishesNothing(t *testing.T) {
	t.Parallel()
	image, _ := randomImage(t)
	f, s := newFixture(t, image), newServer(t, nil)
	f.Options.PlanBuild = true
	targets := "{a: {type: registry, repository: " + s.Host + "/a}, k: {type: kind, cluster: c1}}"
	u := f.with(targets)
	if _, err := ociimages.New(f.Options).Plan(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(engineBuild, f.calls(u)); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	if got := s.digest("a", authn.Anonymous); got != "" {
		t.Errorf("want nothing published, got %s", got)
	}
	f.answer("fail-docker-build", "no such instruction")
	if _, err := ociimages.New(f.Options).Plan(t.Context(), f.with(targets)); err == nil || !strings.Contains(err.Error(), "no such instruction") {
		t.Errorf("want the build's failure, got %v", err)
	}
	s.put("a", image)
	f.answer("calls", "")
	if _, err := ociimages.New(f.Options).Plan(t.Context(), f.with("{a: {type: registry, repository: "+s.Host+"/a}}")); err != nil {
		t.Fatal(err)
	}
	if calls := f.calls(u); len(calls) > 0 {
		t.Errorf("published: want no command, got %q", calls)
	}
}

func TestADockerfileThatTheHashDoesNotCoverIsPointedOut(t *testing.T) {
	t.Parallel()
	const note = "lies outside source.path"
	for path, want := range map[string]bool{".": false, "app": false, "app/sub": true, "other": true, "app2": true} {
		f := newFixture(t, nil)
		u := f.with("{k: {type: kind, cluster: c1}}")
		u.Spec = u.Spec.With("source", u.Spec.Get("source").With("path", document.NewString(path)))
		if _, err := ociimages.New(f.Options).Plan(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(f.Log.String(), note); got != want {
			t.Errorf("source.path %s: want the note %t, got:\n%s", path, want, f.Log)
		}
	}
}
