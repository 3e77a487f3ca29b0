package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/cli"
)

// TestRegistryLogins: the token goes to the registry of the forge that it is from, and to no other.
func TestRegistryLogins(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		environ []string
		token   string
		want    []string
	}{
		"GitHub":                   {[]string{"GITHUB_SERVER_URL=https://github.com", "GITHUB_ACTOR=octocat"}, "t", []string{"ghcr.io octocat t"}},
		"a terminal":               {nil, "t", []string{"ghcr.io gitopsctr t"}},
		"no token":                 {[]string{"GITHUB_SERVER_URL=https://github.com"}, "", nil},
		"an Enterprise Server":     {[]string{"GITHUB_SERVER_URL=https://git.example"}, "t", []string{"git.example gitopsctr t", "containers.git.example gitopsctr t"}},
		"a token of another forge": {[]string{"GITHUB_SERVER_URL=https://github.com", "GITOPSCTR_TOKEN_URL=https://git.example/team"}, "t", []string{"git.example gitopsctr t"}},
		"no encryption":            {[]string{"GITHUB_SERVER_URL=http://git.example"}, "t", nil},
		"no URL":                   {[]string{"GITOPSCTR_TOKEN_URL=:"}, "t", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, l := range registryLogins(&cli.IO{Environ: test.environ}, test.token) {
				got = append(got, l.Registry+" "+l.Username+" "+l.Password)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
