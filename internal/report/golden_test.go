package report

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew; look at them rendered before you commit them")

// Every page that people read has a golden file: what a comment and a job summary look like is decided by looking at them.
func TestGoldenPages(t *testing.T) {
	t.Parallel()
	for name, tc := range pages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			comment := Comment(tc.run, CommentOptions{ServerURL: "https://forge.test", Repository: "acme/shop", FullText: "https://forge.test/run", Limit: tc.limit})
			checkPage(t, tc.run, comment, max(tc.limit, CommentLimit))
			compareGolden(t, name+".comment.md", comment)
			summary := Summary(tc.run, SummaryOptions{ServerURL: "https://forge.test", Repository: "acme/shop", Graph: tc.graph, Limit: tc.limit})
			checkPage(t, tc.run, summary, max(tc.limit, SummaryLimit))
			compareGolden(t, name+".summary.md", summary)
		})
	}
}

// The job summary of a run that changes something is another page than that of a plan.
func TestGoldenSummaries(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]Run{
		"converge_no_change": cleanRun(14),
		"converge_failed":    convergeRun(),
		"converge_hostile":   hostileConverge(),
	} {
		got := Summary(run, SummaryOptions{ServerURL: "https://forge.test", Repository: "acme/shop", Graph: "graph LR\n  db --> app"})
		checkForeign(t, got)
		compareGolden(t, name+".summary.md", got)
	}
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestShortenLines(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("é line\n", 100)
	for limit := range len(text) + 2 {
		got := shortenLines(text, limit)
		if len(got) > limit {
			t.Errorf("shortened to %d: %d bytes", limit, len(got))
		}
	}
	want := strings.Repeat("é line\n", 5) + "… 84 lines left out …\n" + strings.Repeat("é line\n", 11)
	if diff := cmp.Diff(want, shortenLines(text, 200)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if got := shortenLines(strings.Repeat("x", 1000), 100); len(got) > 100 || !strings.Contains(got, "… left out …") {
		t.Errorf("one long line: %q", got)
	}
}

// Neither a mention nor a number nor an address in foreign text is one for the forge, and no revision but a commit is linked.
func TestForeignTextIsNotLinked(t *testing.T) {
	t.Parallel()
	want := `@&#8203;team \#&#8203;1 GH-&#8203;2 https:&#8203;//a.test www&#8203;.a.test`
	if diff := cmp.Diff(want, inline("@team #1 GH-2 https://a.test www.a.test")); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	s := newSite("https://forge.test", "acme/shop")
	if got := s.commit("dry:" + revA); got != "" {
		t.Errorf("a revision that was not published is linked: %s", got)
	}
	if got, want := s.commit(revA), "https://forge.test/acme/shop/commit/"+revA; got != want {
		t.Errorf("want %s, got %s", want, got)
	}
}
