package action

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sethvargo/go-githubactions"

	"github.com/gitopsctr/gitopsctr/internal/report"
)

// hostile are lines that a driver may print to take over the job.
var hostile = []string{
	"::add-mask::x",
	"  \t::error::x",
	"\u00a0\u2003::error file=a::x",
	"\u200b::error::x",
	":\u00ad:error::x",
	"\x1b[1m::error::x",
	"progress\r::set-output name=a::b",
	"a\u2028::error::x",
	"\u0085::error::x",
	"see ##[error]x",
	"##\u200b[error]x",
	"#\u200d#[add-mask]x",
	"##\x00[error]x",
	"##\x1b[0m[error]x",
	"####[group]x",
	"##[##[error]]",
	"::stop-commands::guess",
	"::guess::",
	"::endgroup::",
	"##[endgroup]",
	"::::",
	"\xff::error::x",
	"##\xc0[error]x",
}

func TestNeutralize(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want []string
	}{
		{"plain ::x:: text # [a]", []string{"plain ::x:: text # [a]"}},
		{"::error::x", []string{": :error::x"}},
		{" \t::error::x", []string{" \t: :error::x"}},
		{"a ##[error]b ##[c]", []string{"a ## [error]b ## [c]"}},
		{"one\r::two\n::three", []string{"one", ": :two", ": :three"}},
		{"##\u200b[error]x", []string{"## [error]x"}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, neutralize(tt.text)); diff != "" {
			t.Errorf("neutralize(%q) (-want +got):\n%s", tt.text, diff)
		}
	}
}

func FuzzNeutralize(f *testing.F) {
	for _, line := range hostile {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, line := range neutralize(text) {
			if strings.ContainsAny(line, "\r\n") {
				t.Errorf("%q is not one line", line)
			}
			if name, _, _, ok := parseCommand(line); ok {
				t.Errorf("%q from %q is the command %q", line, text, name)
			}
		}
	})
}

// testLog returns a workflow with predictable tokens, and what it writes.
func testLog() (*workflow, *bytes.Buffer) {
	out := &bytes.Buffer{}
	gh := githubactions.New(githubactions.WithWriter(out), githubactions.WithGetenv(func(string) string { return "" }))
	log := newWorkflow(gh, out)
	n := 0
	log.newToken = func() string {
		n++
		return "token-" + string(rune('0'+n))
	}
	return log, out
}

func TestQuoteStopsCommands(t *testing.T) {
	t.Parallel()
	log, out := testLog()
	log.quote("one")
	log.quote("two")
	log.endGroup()
	log.quote("three")
	log.mask("secret")
	want := `::stop-commands::token-1
    | one
    | two
::token-1::
::endgroup::
::stop-commands::token-2
    | three
::token-2::
::add-mask::secret
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func TestTokensCannotBeGuessed(t *testing.T) {
	t.Parallel()
	out := &bytes.Buffer{}
	gh := githubactions.New(githubactions.WithWriter(out))
	log := newWorkflow(gh, out)
	for range 50 {
		log.quote("x")
		log.resume()
	}
	seen := map[string]bool{}
	for _, token := range new(fakeRunner).read(out.String()).tokens {
		seen[token] = true
		if len(token) < 20 {
			t.Errorf("token %q is short", token)
		}
	}
	if len(seen) != 50 {
		t.Errorf("got %d different tokens, want 50", len(seen))
	}
}

func TestAnnotate(t *testing.T) {
	t.Parallel()
	log, out := testLog()
	log.annotate(report.Annotation{Level: report.Error, Title: "a, b: c", Message: "one 100%\n::two::", File: "x,y:z.yaml", Line: 3, Column: 4})
	log.annotate(report.Annotation{Level: report.Warning, Message: "m", File: "a.yaml", Column: 4})
	log.annotate(report.Annotation{Level: report.Notice, Title: "##[error]t", Message: "##[error]m", File: "##[error]f"})
	want := `::error col=4,file=x%2Cy%3Az.yaml,line=3,title=a%2C b%3A c::one 100%25%0A: :two::
::warning file=a.yaml::m
::notice title=## [error]t::## [error]m
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func TestShortSecretsAreNotMasked(t *testing.T) {
	t.Parallel()
	log, out := testLog()
	log.mask("")
	log.mask("12345")
	if out.Len() > 0 {
		t.Errorf("got %q", out.String())
	}
}
