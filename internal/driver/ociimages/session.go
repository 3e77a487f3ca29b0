package ociimages

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/gitopsctr/gitopsctr/internal/driver"
)

// A session is one operation on one Unit: its spec, its logins, and what hides their secrets.
type session struct {
	driver *Driver
	unit   driver.Unit
	spec   spec
	logins map[string]login // by repository
	// secrets hides the logins' secrets; the driver's own mask hides those of the environment.
	secrets *driver.Masker
}

// A lookup is what one registry answered for the Unit's tag.
type lookup struct {
	target registryTarget
	// digest is "" while the registry lacks the tag.
	digest string
	// err tells that the registry could not be asked.
	err error
}

func (d *Driver) open(u driver.Unit, spec spec) *session {
	return &session{driver: d, unit: u, spec: spec, logins: map[string]login{}}
}

// lookupAll logs in and asks every registry for the tag, all at once. Errors are in the answers: a plan can do without.
func (s *session) lookupAll(ctx context.Context) []lookup {
	if s.spec.DockerfileOutside {
		s.say("NOTE    %s lies outside source.path, so a change of it alone does not rebuild the image", s.spec.Dockerfile)
	}
	found := make([]lookup, len(s.spec.Registries))
	failed := s.loginAll(ctx)
	var group errgroup.Group
	for i, target := range s.spec.Registries {
		found[i] = lookup{target: target, err: failed[target.Repository.text]}
		if found[i].err == nil {
			group.Go(func() error {
				found[i].digest, found[i].err = s.head(ctx, target.Repository)
				return nil
			})
		}
	}
	_ = group.Wait() // no function of it fails
	for _, f := range found {
		switch name := f.target.Repository.tagged(s.spec.Tag); {
		case f.err != nil:
		case f.digest == "":
			s.say("LOOKUP  %s: absent", name)
		default:
			s.say("LOOKUP  %s: %s", name, f.digest)
		}
	}
	return found
}

// loginAll finds the credentials for every repository, says where they come from, and lets their secrets be hidden.
func (s *session) loginAll(ctx context.Context) (failed map[string]error) {
	failed = map[string]error{}
	var repositories []repository
	for _, t := range s.spec.Registries {
		repositories = append(repositories, t.Repository)
	}
	slices.SortFunc(repositories, func(a, b repository) int { return strings.Compare(a.text, b.text) })
	keys := s.driver.keychain(s.spec.ECR)
	var secrets []string
	said := ""
	for _, r := range slices.CompactFunc(repositories, func(a, b repository) bool { return a.text == b.text }) {
		l, err := keys.login(ctx, r)
		if err != nil {
			failed[r.text] = err
			continue
		}
		s.logins[r.text] = l
		secrets = append(secrets, l.secrets...)
		if line := fmt.Sprintf("AUTH    %s: %s", r.host, l.source); line != said {
			s.say("%s", line)
			said = line
		}
	}
	s.secrets = driver.NewMasker(secrets...)
	return failed
}

// hide replaces every secret in a text.
func (s *session) hide(text string) string {
	return s.secrets.String(s.driver.options.Mask.String(text))
}

// say writes one line to the transcript.
func (s *session) say(format string, args ...any) {
	_, _ = fmt.Fprintln(s.unit.Log, s.hide(fmt.Sprintf(format, args...))) // a transcript that is full must not stop the work
}
