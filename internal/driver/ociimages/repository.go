package ociimages

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// A repository is REGISTRY/PATH (chapter G 3). Its text is as the document has it: the library's own names rewrite
// docker.io and take localhost/x for a repository of docker.io.
type repository struct {
	text, host string
	remote     name.Repository
}

// What a registry and a path may be. The host's own part is anchored at both ends by an alphanumeric character.
var (
	registryPattern = regexp.MustCompile(`^(?:localhost|[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?::[1-9][0-9]{0,4})?$`)
	pathPattern     = regexp.MustCompile(`^[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*$`)
)

func parseRepository(text string) (repository, error) {
	host, path, ok := strings.Cut(text, "/")
	switch {
	case text == "":
		return repository{}, errors.New("is empty")
	case !ok || !registryPattern.MatchString(host) || !pathPattern.MatchString(path):
		return repository{}, fmt.Errorf("%q is no repository", text)
	case host != "localhost" && !strings.ContainsAny(host, ".:"):
		return repository{}, fmt.Errorf("%q names no registry: %q has neither a dot nor a port", text, host)
	}
	options := []name.Option{name.StrictValidation}
	if host == "localhost" {
		options = append(options, name.Insecure) // as docker does; the library knows only localhost with a port
	}
	registry, err := name.NewRegistry(host, options...)
	if err != nil {
		return repository{}, fmt.Errorf("%q is no repository: %w", text, err)
	}
	return repository{text: text, host: host, remote: registry.Repo(path)}, nil
}

// at is the URI of an image in the repository.
func (r repository) at(digest string) string { return r.text + "@" + digest }

// tagged is the name of a tag in the repository.
func (r repository) tagged(tag string) string { return r.text + ":" + tag }
