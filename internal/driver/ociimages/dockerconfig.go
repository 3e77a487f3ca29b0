package ociimages

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/gitopsctr/gitopsctr/internal/driver"
)

// A dockerConfig is the part of docker's config.json that is about credentials. The library's own reader asks the
// process's environment and gives all of it to credential helpers; a helper of ours is a stranger like every other tool.
type dockerConfig struct {
	path        string
	Auths       map[string]authn.AuthConfig `json:"auths"`
	CredHelpers map[string]string           `json:"credHelpers"`
	CredsStore  string                      `json:"credsStore"`
}

// readDockerConfig reads the first configuration that exists: docker's, or else podman's. None is an empty one.
func readDockerConfig(env []string) (*dockerConfig, error) {
	for _, path := range configPaths(env) {
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		c := &dockerConfig{path: path}
		if err == nil {
			err = json.Unmarshal(data, c)
		}
		if err != nil {
			return nil, &driver.Error{Op: "read the docker configuration " + path, Detail: err.Error(), Fix: "correct the file, or log in again with docker login", Err: err}
		}
		return c, nil
	}
	return &dockerConfig{}, nil
}

func configPaths(env []string) []string {
	var paths []string
	add := func(variable string, elements ...string) {
		if dir, _ := driver.Lookup(env, variable); dir != "" {
			paths = append(paths, filepath.Join(append([]string{dir}, elements...)...))
		}
	}
	if dir, _ := driver.Lookup(env, "DOCKER_CONFIG"); dir != "" {
		add("DOCKER_CONFIG", "config.json")
	} else {
		add("HOME", ".docker", "config.json")
	}
	add("REGISTRY_AUTH_FILE")
	add("XDG_RUNTIME_DIR", "containers", "auth.json")
	add("HOME", ".config", "containers", "auth.json")
	return paths
}

// login finds the credentials for a repository: by a helper for its registry, by the common helper, then in the file.
func (c *dockerConfig) login(ctx context.Context, env []string, r repository) (_ login, ok bool, err error) {
	helper := c.CredsStore
	for key, name := range c.CredHelpers {
		if configHost(key) == hubHost(r.host) {
			helper = name
		}
	}
	if helper != "" {
		if l, ok, err := askHelper(ctx, env, helper, r); ok || err != nil {
			return l, ok, err
		}
	}
	for _, wanted := range []string{strings.Replace(r.text, r.host, hubHost(r.host), 1), hubHost(r.host)} {
		for key, auth := range c.Auths {
			auth.Auth = "" // decoded already into the name and the password
			if configHost(key) == wanted && auth != (authn.AuthConfig{}) {
				return login{auth: authn.FromConfig(auth), source: "docker configuration " + c.path, secrets: authSecrets(auth)}, true, nil
			}
		}
	}
	return login{}, false, nil
}

const dockerHub = "docker.io"

// hubHost gives docker.io one name for its several hosts.
func hubHost(host string) string {
	switch host {
	case "index.docker.io", "registry-1.docker.io":
		return dockerHub
	}
	return host
}

// configHost is the registry that a key of the configuration means; old keys are URLs such as https://index.docker.io/v1/.
func configHost(key string) string {
	key = strings.TrimPrefix(strings.TrimPrefix(key, "https://"), "http://")
	key = strings.TrimSuffix(key, "/")
	key = strings.TrimSuffix(strings.TrimSuffix(key, "/v1"), "/v2")
	host, path, deep := strings.Cut(key, "/")
	if host = hubHost(host); deep {
		return host + "/" + path
	}
	return host
}

var helperName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// askHelper runs a credential helper of docker: the registry on its standard input, JSON on its standard output. What it
// prints may be secret, so no error repeats it.
func askHelper(ctx context.Context, env []string, helper string, r repository) (_ login, ok bool, err error) {
	program := "docker-credential-" + helper
	if !helperName.MatchString(helper) {
		return login{}, false, credentialError(r.host, "the docker configuration names a credential helper that is no program", "correct credHelpers or credsStore in it", nil)
	}
	server := r.host
	if hubHost(server) == dockerHub {
		server = authn.DefaultAuthKey
	}
	var out bytes.Buffer
	c := driver.Command{
		Name: program + " get", Path: program, Args: []string{"get"}, Env: env, Stdin: strings.NewReader(server), Stdout: &out, ReadOnly: true,
		Install: "install it, or remove it from the docker configuration",
	}
	err = c.Run(ctx)
	if _, exited := driver.ExitCode(err); exited && ctx.Err() == nil {
		if strings.Contains(out.String(), "credentials not found") {
			return login{}, false, nil
		}
		return login{}, false, credentialError(r.host, program+" failed", "run it by hand to see why: echo "+server+" | "+program+" get", nil)
	}
	if err != nil {
		return login{}, false, err
	}
	var answer struct{ Username, Secret string }
	if json.Unmarshal(out.Bytes(), &answer) != nil {
		return login{}, false, credentialError(r.host, program+" answered no JSON", "look for a newer version of it", nil)
	}
	auth := authn.AuthConfig{Username: answer.Username, Password: answer.Secret}
	switch {
	case answer.Secret == "":
		return login{}, false, nil
	case answer.Username == "<token>":
		auth = authn.AuthConfig{IdentityToken: answer.Secret}
	}
	return login{auth: authn.FromConfig(auth), source: program, secrets: authSecrets(auth)}, true, nil
}
