package gitstate_test

import (
	"strings"
	"testing"

	"github.com/gitopsctr/gitopsctr/internal/gitstate"
)

// The REFS section of the vectors: 'name' -> canonical form or "error", names as Python literals.
func TestCanonicalRefVectors(t *testing.T) {
	t.Parallel()
	_, section, ok := strings.Cut(readVector(t, "function-vectors.txt"), "\nREFS\n")
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
		if name == "-x" {
			want = "error" // a decision of ours: chapter F, 2.1
		}
		got, err := gitstate.CanonicalRef(name)
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

func TestCanonicalRef(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"gitopsctr/desired/dev": "gitopsctr/desired/dev", "a/@/b": "a/@/b", "a/@/@/b": "a/@/@/b", "@/x": "@/x",
		"refs/heads/-x": "", "x\xff": "", "a?": "", "a*": "", "a[": "", "a^": "", "a\tb": "", "a/b.lock/c": "", "refs/remotes/x": "",
	} {
		got, err := gitstate.CanonicalRef(name)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: want %q, got %q, %v", name, want, got, err)
		}
	}
}
