// Package ociimages is the driver of OciImages Units: it builds one container image from the Unit's source and publishes
// it to registries and local clusters (specification, chapter G 3 and 3.1).
//
// Its central idea is that the tag made of the Unit's input hash is the cache key: an image whose tag is in every registry
// is never built again, and one that is in some of them is copied from there. Building is left to the docker command, with
// which people reproduce a build in a terminal; everything that concerns registries is done in this process, so that
// credentials stay in memory: none is ever an argument, a line of the log or part of the evidence.
package ociimages

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/driver"
)

// Options configure the driver.
type Options struct {
	// Env is the complete environment of the tools ("NAME=value"), already scrubbed (driver.Environment). DOCKER_CONFIG and
	// HOME in it say where the docker configuration is.
	Env []string
	// Logins are credentials besides those of the docker configuration, which win over them.
	Logins []Login
	// AWS returns the SDK's configuration for a region; nil is the SDK's default chain.
	AWS func(ctx context.Context, region string) (aws.Config, error)
	// PlanBuild makes Plan build what is not published yet, without publishing it.
	PlanBuild bool
	// Transport does the requests to registries; nil is a transport with time limits.
	Transport http.RoundTripper
	Timeouts  driver.Timeouts
	// Mask hides secrets in the transcript and in errors.
	Mask *driver.Masker
}

// A Login is a user name and a password for one registry.
type Login struct {
	// Registry is the host, with the port if there is one: "ghcr.io".
	Registry string
	// Source says to people where the password comes from: "the job's token".
	Source             string
	Username, Password string
}

// A Driver reconciles OciImages Units. It is safe for concurrent use with different Units.
type Driver struct {
	options Options
}

var (
	_ driver.Planner    = (*Driver)(nil)
	_ driver.Reconciler = (*Driver)(nil)
	_ driver.Destroyer  = (*Driver)(nil)
	_ driver.Checker    = (*Driver)(nil)
)

// New returns the driver.
func New(o Options) *Driver {
	if o.AWS == nil {
		o.AWS = defaultAWS
	}
	if o.Transport == nil {
		o.Transport = newTransport()
	}
	return &Driver{options: o}
}

// Kind returns "OciImages".
func (*Driver) Kind() string { return "OciImages" }

// Plan says what Reconcile would build and where it would publish it. A registry that cannot be asked counts as one that
// lacks the image, and the text says so: whoever plans a proposed change often may not read the registry.
func (d *Driver) Plan(ctx context.Context, u driver.Unit) (driver.Plan, error) {
	spec, err := parseSpec(u)
	if err != nil {
		return driver.Plan{}, err
	}
	s := d.open(u, spec)
	found := s.lookupAll(ctx)
	if err := ctx.Err(); err != nil {
		return driver.Plan{}, &driver.Error{Op: "plan the images", Err: context.Cause(ctx)}
	}
	p := planOf(spec, found)
	for line := range strings.Lines(p.text) {
		s.say("%s", strings.TrimSuffix(line, "\n"))
	}
	if d.options.PlanBuild && p.build {
		if _, err := s.build(ctx); err != nil {
			return driver.Plan{}, err
		}
	}
	return driver.Plan{Changes: p.changes, Text: s.hide(p.text)}, nil
}

// Reconcile makes every target hold the image and returns the artifact "containers", which names one image per target:
// registries first, each group in the order of the document.
func (d *Driver) Reconcile(ctx context.Context, u driver.Unit) (driver.Result, error) {
	spec, err := parseSpec(u)
	if err != nil {
		return driver.Result{}, err
	}
	s := d.open(u, spec)
	found := s.lookupAll(ctx)
	for _, f := range found {
		if f.err != nil {
			return driver.Result{}, f.err
		}
	}
	if err := agree(found); err != nil {
		return driver.Result{}, err
	}
	changes := planOf(spec, found).changes
	if err := s.publish(ctx, found); err != nil {
		return driver.Result{}, err
	}
	if err := agree(found); err != nil {
		return driver.Result{}, err
	}
	images := document.NewMap()
	add := func(target, uri string) {
		images.Fields = append(images.Fields, document.F(target, document.NewMap(document.F("uri", document.NewString(uri)))))
	}
	for _, f := range found {
		add(f.target.Name, f.target.Repository.at(f.digest))
	}
	for _, l := range spec.Locals {
		add(l.Name, spec.Local)
	}
	return driver.Result{
		Result:    document.NewMap(),
		Artifacts: map[string]*document.Node{"containers": document.NewMap(document.F("images", images))},
		Changes:   changes,
	}, nil
}

// Destroy removes nothing: others may run the images. The evidence says that they were retained.
func (*Driver) Destroy(_ context.Context, u driver.Unit) (*document.Node, error) {
	if _, err := fmt.Fprintf(u.Log, "RETAIN  the images of %s stay in their registries\n", u.QualifiedName); err != nil {
		return nil, &driver.Error{Op: "write the log", Err: err}
	}
	return document.NewMap(document.F("artifactsRetained", document.NewBool(true))), nil
}

// agree is an error unless all registries that hold the tag hold the same image.
func agree(found []lookup) error {
	var first *lookup
	for i := range found {
		f := &found[i]
		switch {
		case f.digest == "":
		case first == nil:
			first = f
		case f.digest != first.digest:
			return &driver.Error{
				Op: "compare the registries",
				Detail: fmt.Sprintf("the tag is %s in one and %s in another, so they hold different images of the same inputs",
					first.target.Repository.at(first.digest), f.target.Repository.at(f.digest)),
				Fix: "delete the tag where the image is the wrong one, and run again",
			}
		}
	}
	return nil
}
