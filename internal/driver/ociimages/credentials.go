package ociimages

import (
	"context"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/gitopsctr/gitopsctr/internal/driver"
)

// A login is what one repository is accessed with.
type login struct {
	auth authn.Authenticator
	// source says to people where it comes from; it holds no secret.
	source  string
	secrets []string
}

// A keychain finds logins for the repositories of one operation. It reads each source at most once.
type keychain struct {
	driver *Driver
	// ecr tells that AWS serves every registry.
	ecr    bool
	byHost map[string]login // of AWS
	config *dockerConfig
}

func (d *Driver) keychain(ecr bool) *keychain {
	return &keychain{driver: d, ecr: ecr, byHost: map[string]login{}}
}

// login returns the credentials for a repository: those of AWS when the Unit asks for them, else those that the docker
// configuration has, else those that the driver was given, else a Google service account's for Google's registries, else none.
func (k *keychain) login(ctx context.Context, r repository) (login, error) {
	if k.ecr {
		if l, ok := k.byHost[r.host]; ok {
			return l, nil
		}
		l, err := k.driver.ecrLogin(ctx, r.host)
		if err == nil {
			k.byHost[r.host] = l
		}
		return l, err
	}
	if k.config == nil {
		config, err := readDockerConfig(k.driver.options.Env)
		if err != nil {
			return login{}, err
		}
		k.config = config
	}
	l, ok, err := k.config.login(ctx, k.driver.options.Env, r)
	if ok || err != nil {
		return l, err
	}
	for _, given := range k.driver.options.Logins {
		if given.Registry == r.host && given.Password != "" {
			return basicLogin(given.Username, given.Password, given.Source), nil
		}
	}
	if googleRegistry(r.host) {
		if l, ok, err := googleLogin(k.driver.options.Env); ok || err != nil {
			return l, err
		}
	}
	return login{auth: authn.Anonymous, source: "no credentials, so anonymous"}, nil
}

func basicLogin(username, password, source string) login {
	return login{
		auth:    &authn.Basic{Username: username, Password: password},
		source:  source,
		secrets: authSecrets(authn.AuthConfig{Username: username, Password: password}),
	}
}

// authSecrets are the forms in which credentials could show: alone, and as basic authentication sends them.
func authSecrets(c authn.AuthConfig) []string {
	var secrets []string
	for _, s := range []string{c.Password, c.IdentityToken, c.RegistryToken} {
		if s != "" {
			secrets = append(secrets, s)
		}
	}
	if c.Password != "" {
		secrets = append(secrets, c.Username+":"+c.Password)
	}
	return secrets
}

// credentialError is the failure of a source of credentials. Its detail must hold no secret.
func credentialError(r, detail, fix string, err error) error {
	return &driver.Error{Op: "log in to " + r, Detail: strings.TrimSpace(detail), Fix: fix, Err: err}
}
