package ociimages

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// readLayout unpacks an archive of an OCI layout into a new directory and returns its only image.
func readLayout(archive, dir string) (*image, error) {
	if err := unpack(archive, dir); err != nil {
		return nil, fmt.Errorf("the builder's archive: %w", err)
	}
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return nil, err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(manifest.Manifests) != 1 {
		return nil, fmt.Errorf("the builder made %d images, want 1", len(manifest.Manifests))
	}
	switch d := manifest.Manifests[0]; d.MediaType {
	case types.OCIImageIndex, types.DockerManifestList:
		inner, err := index.ImageIndex(d.Digest)
		if err != nil {
			return nil, err
		}
		return &image{content: inner, single: func() (v1.Image, error) {
			return nil, errors.New("it is for several platforms; a local cluster takes an image for one")
		}}, nil
	default:
		inner, err := index.Image(d.Digest)
		if err != nil {
			return nil, err
		}
		return &image{content: inner, single: func() (v1.Image, error) { return inner, nil }}, nil
	}
}

// unpack writes the files of a tar archive into a new directory. Nothing can be written outside of it.
func unpack(archive, dir string) (err error) {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for r := tar.NewReader(f); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if err := writeMember(root, path.Clean(header.Name), r); err != nil {
			return err
		}
	}
}

func writeMember(root *os.Root, name string, content io.Reader) (err error) {
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = io.Copy(f, content)
	return err
}
