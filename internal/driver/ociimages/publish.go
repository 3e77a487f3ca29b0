package ociimages

import (
	"context"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/gitopsctr/gitopsctr/internal/driver"
)

// An image is what is published: built here, or found in a registry.
type image struct {
	// content is the image, or the index of the images of several platforms.
	content remote.Taggable
	// single is the image of the Unit's platform.
	single func() (v1.Image, error)
	// archive is a file of it as docker save writes it, under the Unit's local name; "" when there is none yet.
	archive string
}

// publish brings the image to every target that lacks it and fills in the digests. It builds only what no registry has:
// a copy from one registry to another keeps the digest, which a second build may not.
func (s *session) publish(ctx context.Context, found []lookup) error {
	lacking := false
	for _, f := range found {
		lacking = lacking || f.digest == ""
	}
	if !lacking && len(s.spec.Locals) == 0 {
		return nil
	}
	i, err := s.image(ctx, existing(found))
	if err != nil {
		return err
	}
	for n := range found {
		f := &found[n]
		if f.digest != "" {
			continue
		}
		s.say("PUSH    %s", f.target.Repository.tagged(s.spec.Tag))
		if f.digest, err = s.push(ctx, i, f.target.Repository); err != nil {
			return err
		}
		s.say("PUSHED  %s", f.target.Repository.at(f.digest))
	}
	for _, l := range s.spec.Locals {
		if err := s.load(ctx, i, l); err != nil {
			return err
		}
	}
	return nil
}

// image is the one that a registry has, or else a new one.
func (s *session) image(ctx context.Context, from *lookup) (*image, error) {
	if from == nil {
		return s.build(ctx)
	}
	s.say("COPY    %s", from.target.Repository.at(from.digest))
	return s.pull(ctx, from.target.Repository, from.digest)
}

// load brings the image into a local cluster, through an archive: so it needs no copy in a docker engine.
func (s *session) load(ctx context.Context, i *image, l localTarget) error {
	if err := s.writeArchive(i); err != nil {
		return err
	}
	s.say("LOAD    %s into %s", s.spec.Local, l)
	c := s.command("kind load", "kind", "load", "image-archive", i.archive, "--name", l.Cluster)
	if l.Type == "minikube" {
		c = s.command("minikube image load", "minikube", "--profile", l.Cluster, "image", "load", i.archive)
	}
	c.Install = "install " + c.Path + ", or remove the target " + l.Name
	return c.Run(ctx)
}

func (s *session) writeArchive(i *image) error {
	if i.archive != "" {
		return nil
	}
	fail := func(err error) error {
		return &driver.Error{Op: "write an archive of the image", Detail: s.hide(err.Error()), Err: err}
	}
	single, err := i.single()
	if err != nil {
		return fail(err)
	}
	tag, err := name.NewTag(s.spec.Local)
	if err != nil {
		return fail(err)
	}
	path := s.temp("archive.tar")
	if err := tarball.WriteToFile(path, tag, single); err != nil {
		return fail(err)
	}
	i.archive = path
	return nil
}

// platform is the Unit's platform as an option for reading from a registry, none for several platforms.
func (s *session) platform() []remote.Option {
	p, err := v1.ParsePlatform(s.spec.Platform)
	if err != nil {
		return nil
	}
	return []remote.Option{remote.WithPlatform(*p)}
}
