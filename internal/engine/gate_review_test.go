package engine

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestForgeOfReadsRemotes takes the remotes of the vectors and asks which are repositories on github.com. Where the vector
// keeps ".git" before a trailing slash, we do not (chapter F, 5.3, quirk).
func TestForgeOfReadsRemotes(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(promotionVectors + "/function-vectors.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, forge, _ := strings.Cut(string(data), "FORGE\n")
	forge, _, _ = strings.Cut(forge, "URL\n")
	deviations := map[string]string{
		"https://x-access-token:T@github.com/acme/deploy.git/": "acme/deploy",
		"https://github.com/a/b/c":                             "a/b/c", // a subgroup elsewhere; GitHub has none
		"https://github.com/a//b":                              "a//b",
	}
	line := regexp.MustCompile(`^'(.*)' -> (?:None|\('(\w+)', '(.*)'\))$`)
	n := 0
	for text := range strings.Lines(forge) {
		m := line.FindStringSubmatch(strings.TrimSuffix(text, "\n"))
		if m == nil {
			t.Fatalf("vector line %q is not understood", text)
		}
		remote, host, want := strings.ReplaceAll(m[1], `\n`, "\n"), m[2], m[3]
		if d, ok := deviations[remote]; ok {
			host, want = "github", d
		}
		n++
		server, repository, ok := forgeOf(remote)
		gitHub := ok && server.host == "github.com"
		if gitHub != (host == "github") || gitHub && repository != want {
			t.Errorf("forgeOf(%q) = %+v %q %v, want %q on %q", remote, server, repository, ok, want, host)
		}
	}
	if n < 15 {
		t.Errorf("read %d lines of the vector, want all", n)
	}
}

func TestReviewHintIsACommand(t *testing.T) {
	t.Parallel()
	pr := PullRequest{Head: "gitopsctr/candidates/prod/c14473b99fe3", Base: "gitopsctr/desired/prod", Title: "Promote dev's state to prod"}
	tests := []struct{ remote, want string }{
		{"https://github.com/acme/deploy.git", "open a pull request from gitopsctr/candidates/prod/c14473b99fe3 into gitopsctr/desired/prod: " +
			"https://github.com/acme/deploy/compare/gitopsctr/desired/prod...gitopsctr/candidates/prod/c14473b99fe3?expand=1 or " +
			`gh pr create --repo acme/deploy --head gitopsctr/candidates/prod/c14473b99fe3 --base gitopsctr/desired/prod --title 'Promote dev'\''s state to prod' --body ''`},
		{"git@github.example.com:acme/deploy.git", "open a pull request from gitopsctr/candidates/prod/c14473b99fe3 into gitopsctr/desired/prod: " +
			"https://github.example.com/acme/deploy/compare/gitopsctr/desired/prod...gitopsctr/candidates/prod/c14473b99fe3?expand=1 or " +
			`gh pr create --repo github.example.com/acme/deploy --head gitopsctr/candidates/prod/c14473b99fe3 --base gitopsctr/desired/prod --title 'Promote dev'\''s state to prod' --body ''`},
		{"https://gitlab.com/g/s/p.git", "open a merge request from gitopsctr/candidates/prod/c14473b99fe3 into gitopsctr/desired/prod: " +
			`glab mr create --repo g/s/p --source-branch gitopsctr/candidates/prod/c14473b99fe3 --target-branch gitopsctr/desired/prod --title 'Promote dev'\''s state to prod' --description ''`},
		{"/srv/git/deploy.git", "review gitopsctr/candidates/prod/c14473b99fe3, then merge it into gitopsctr/desired/prod: " +
			"git fetch origin refs/heads/gitopsctr/candidates/prod/c14473b99fe3 && git push origin FETCH_HEAD:refs/heads/gitopsctr/desired/prod"},
	}
	for _, tt := range tests {
		if got := reviewHint(tt.remote, pr); got != tt.want {
			t.Errorf("reviewHint(%q)\n got %s\nwant %s", tt.remote, got, tt.want)
		}
	}
}
