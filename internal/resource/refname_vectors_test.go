package resource

import (
	"os"
	"strings"
	"testing"
)

// The REFS section of the vectors: 'name' -> canonical form or "error", names as Python literals.
func TestCanonicalRefVectors(t *testing.T) {
	t.Parallel()
	_, section, ok := strings.Cut(string(readRefVectors(t)), "\nREFS\n")
	if !ok {
		t.Fatal("no REFS section")
	}
	section, _, _ = strings.Cut(section, "\nLOCK ")
	cases := 0
	for line := range strings.Lines(section) {
		literal, want, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " -> ")
		if !ok {
			t.Fatalf("line %q", line)
		}
		cases++
		name := strings.NewReplacer(`\\`, `\`, `\x7f`, "\x7f").Replace(strings.Trim(literal, "'"))
		if why := refusedRefs[name]; why != "" {
			want = "error"
		}
		got, err := CanonicalRef(name)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%q: want %s, got %s (%v)", name, want, got, err)
		}
	}
	if cases < 30 {
		t.Errorf("only %d cases were read", cases)
	}
}

// refusedRefs are the names that the reference takes and we do not, and why.
var refusedRefs = map[string]string{
	"-x":                      "git commands take it for an option (chapter F, 2.1)",
	"HEAD":                    "it is no branch for most readers (chapter A, 12.7)",
	"refs/heads/refs/heads/x": "the short name would be a full one (chapter A, section 5)",
}

func TestCanonicalRefAcceptsWhatGitDoes(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"gitopsctr/desired/dev": "gitopsctr/desired/dev", "a/@/b": "a/@/b", "a/@/@/b": "a/@/@/b", "@/x": "@/x",
		"refs/heads/-x": "", "x\xff": "", "a?": "", "a*": "", "a[": "", "a^": "", "a\tb": "", "a/b.lock/c": "", "refs/remotes/x": "",
	} {
		got, err := CanonicalRef(name)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: want %q, got %q, %v", name, want, got, err)
		}
	}
}

func readRefVectors(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("../../testdata/vectors/f-promotion/function-vectors.txt")
	if err != nil {
		t.Fatal(err)
	}
	return data
}
