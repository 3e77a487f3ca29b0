package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/gitopsctr/gitopsctr/internal/cli"
	"github.com/gitopsctr/gitopsctr/internal/driver"
	"github.com/gitopsctr/gitopsctr/internal/driver/ociimages"
	"github.com/gitopsctr/gitopsctr/internal/driver/terraform"
	"github.com/gitopsctr/gitopsctr/internal/driver/terraform/install"
	"github.com/gitopsctr/gitopsctr/internal/engine"
	"github.com/gitopsctr/gitopsctr/internal/forge"
	"github.com/gitopsctr/gitopsctr/internal/gitstate"
	"github.com/gitopsctr/gitopsctr/internal/lease"
)

// grace is how long a tool has after a cancelled run's SIGINT before it is killed. The platform itself allows less than
// ten seconds, and more for people on a terminal.
const grace = 60 * time.Second

// openEngine builds the concrete parts from the settings of one command.
func openEngine(ctx context.Context, s *cli.IO, settings cli.Settings) (_ *engine.Engine, done func() error, err error) {
	temp, err := os.MkdirTemp(s.Getenv("RUNNER_TEMP"), "gitopsctr-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a temporary directory: %w", err)
	}
	remove := func() error { return os.RemoveAll(temp) }
	directory, err := s.Getwd()
	if err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	repository := first(settings.Repository, s.Getenv("GITOPSCTR_REPOSITORY"), directory)
	if !filepath.IsAbs(repository) {
		repository = filepath.Join(directory, repository)
	}
	token := first(settings.Token, s.Getenv("GITOPSCTR_TOKEN"), s.Getenv("GH_TOKEN"), s.Getenv("GITHUB_TOKEN"))
	masker := driver.NewMasker(append(driver.SecretsFromEnv(s.Environ), token)...)
	e, err := engine.Open(ctx, engine.Config{
		Repository: repository,
		Directory:  directory,
		Temp:       temp,
		Git: gitstate.Options{
			RemoteName:  settings.Remote,
			Credentials: credentials(s, token),
			Identity:    identity(s, settings),
		},
		Drivers:     drivers(s, settings, token, temp, masker),
		Sink:        settings.Sink,
		Controller:  controller(s),
		LeaseOwner:  leaseOwner(s).String(),
		LockDir:     os.TempDir(),
		RunEnded:    runEnded(s, token),
		MaxParallel: settings.MaxParallel,
		Stdin:       s.In,
		Masker:      masker,
		OpenForge:   pullRequestForge(s, token),
		Approve:     settings.Approve,
		Offline:     settings.Offline,
	})
	if err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	return e, func() error { return errors.Join(e.Close(), remove()) }, nil
}

// drivers are the installed drivers; every kind without one is refused when it is to run.
func drivers(s *cli.IO, settings cli.Settings, token, temp string, masker *driver.Masker) driver.Registry {
	return driver.NewRegistry(terraform.New(terraform.Options{
		// GITHUB_TOKEN is never in a job's environment unless the workflow's author put it there, for a provider.
		Env:              driver.Environment(s.Environ, "GITHUB_TOKEN"),
		Tool:             settings.Terraform,
		TerraformVersion: settings.TerraformVersion,
		TofuVersion:      settings.OpenTofuVersion,
		Installer:        install.Releases{Dir: filepath.Join(temp, "tools")},
		PluginCacheDir:   filepath.Join(temp, "plugins"),
		Timeouts:         driver.Timeouts{Grace: grace, Lock: settings.LockTimeout},
		Mask:             masker,
	}), ociimages.New(ociimages.Options{
		Env:       driver.Environment(s.Environ),
		Logins:    registryLogins(s, token),
		PlanBuild: settings.PlanBuild,
		Timeouts:  driver.Timeouts{Grace: grace},
		Mask:      masker,
	}))
}

// registryLogins lets the job's token push to the container registry of the forge that gave it, and to no other: GitHub's,
// that of a GitHub Enterprise Server, and that of other forges, which is at the server's own address.
func registryLogins(s *cli.IO, token string) []ociimages.Login {
	const public = "https://github.com"
	server := first(s.Getenv("GITHUB_SERVER_URL"), public)
	u, err := url.Parse(first(s.Getenv("GITOPSCTR_TOKEN_URL"), server))
	if token == "" || err != nil || u.Scheme != "https" {
		return nil
	}
	registries := []string{u.Host}
	switch from, err := url.Parse(server); {
	case u.Host == "github.com":
		registries = []string{"ghcr.io"}
	case err == nil && from.Host == u.Host:
		registries = append(registries, "containers."+u.Host)
	}
	var logins []ociimages.Login
	for _, registry := range registries {
		logins = append(logins, ociimages.Login{Registry: registry, Source: "the job's token", Username: first(s.Getenv("GITHUB_ACTOR"), "gitopsctr"), Password: token})
	}
	return logins
}

// credentials are sent to the server of the job, or to the one that GITOPSCTR_TOKEN_URL names, and nowhere else.
func credentials(s *cli.IO, token string) gitstate.Credentials {
	c := gitstate.Credentials{
		SSHKeyFile:       s.Getenv("GITOPSCTR_SSH_KEY"),
		SSHKeyPassphrase: s.Getenv("GITOPSCTR_SSH_KEY_PASSPHRASE"),
		GitFallback:      true,
	}
	if known := s.Getenv("GITOPSCTR_SSH_KNOWN_HOSTS"); known != "" {
		c.KnownHostsFiles = []string{known}
	}
	if token != "" {
		c.Token = token
		c.TokenURLs = []string{first(s.Getenv("GITOPSCTR_TOKEN_URL"), s.Getenv("GITHUB_SERVER_URL"), "https://github.com/")}
	}
	return c
}

// identity is the author of commits (chapter F, 6.1): an empty variable counts as unset.
func identity(s *cli.IO, settings cli.Settings) gitstate.Identity {
	return gitstate.Identity{
		Name:  first(settings.AuthorName, s.Getenv("GITOPSCTR_GIT_AUTHOR_NAME")),
		Email: first(settings.AuthorEmail, s.Getenv("GITOPSCTR_GIT_AUTHOR_EMAIL")),
	}
}

// leaseOwner is what effect leases say of this process (chapter D, 6.2).
func leaseOwner(s *cli.IO) lease.Owner {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return lease.Owner{Run: s.Getenv("GITHUB_RUN_ID"), Attempt: s.Getenv("GITHUB_RUN_ATTEMPT"), Host: host, PID: os.Getpid()}
}

// runEnded asks the server of the job whether a run of its repository is over; nil outside of a workflow and without token.
func runEnded(s *cli.IO, token string) func(context.Context, int64, int) (bool, error) {
	repository := s.Getenv("GITHUB_REPOSITORY")
	if token == "" || repository == "" || s.Getenv("GITHUB_RUN_ID") == "" {
		return nil
	}
	return func(ctx context.Context, run int64, attempt int) (bool, error) {
		r, err := forge.Open(forge.Options{APIURL: s.Getenv("GITHUB_API_URL"), Repository: repository, Token: token})
		if err != nil {
			return false, err
		}
		return r.RunEnded(ctx, run, attempt)
	}
}

// controller is what Receipts say of this program (chapter A, section 7).
func controller(s *cli.IO) engine.Controller {
	c := engine.Controller{Version: cli.Version, Revision: s.Getenv("GITHUB_SHA")}
	if id := s.Getenv("GITHUB_RUN_ID"); id != "" {
		c.WorkflowURL = first(s.Getenv("GITHUB_SERVER_URL"), "https://github.com") + "/" + s.Getenv("GITHUB_REPOSITORY") + "/actions/runs/" + id
	}
	return c
}

// first returns the first value that is not empty.
func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
