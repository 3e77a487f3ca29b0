package cli

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/gitopsctr/gitopsctr/internal/engine"
)

var (
	update = flag.Bool("update", false, "write docs/cli anew from the commands")
	man    = flag.String("man", "", "directory to write man pages to (default: a temporary one)")
)

// referenceDirectory holds the command reference, one page a command.
const referenceDirectory = "../../docs/cli"

// TestReferenceIsCurrent compares docs/cli with what the commands say of themselves.
//
//	go test ./internal/cli -run TestReferenceIsCurrent -update
func TestReferenceIsCurrent(t *testing.T) {
	t.Parallel()
	want := map[string]string{}
	pages(t, rootCommand(), want)
	if *update {
		writeReference(t, want)
	}
	files, err := filepath.Glob(filepath.Join(referenceDirectory, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got[filepath.Base(file)] = string(data)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/cli is not current; run: go test ./internal/cli -run TestReferenceIsCurrent -update\n(-want +got):\n%s", diff)
	}
}

// TestManPages makes the man pages from the same commands. A release writes them:
//
//	go test ./internal/cli -run TestManPages -man "$PWD/man"
func TestManPages(t *testing.T) {
	t.Parallel()
	dir := *man
	if dir == "" {
		dir = t.TempDir()
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC) // pages of equal commands are equal
	if err := doc.GenManTree(rootCommand(), &doc.GenManHeader{Title: "GITOPSCTR", Section: "1", Source: "gitopsctr", Date: &day}, dir); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "gitopsctr-get.1"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(`\-`, "-", `\fB`, "", `\fP`, "").Replace(string(page))
	for _, want := range []string{".SH EXAMPLE", "--all-environments", "gitopsctr(1)"} {
		if !strings.Contains(text, want) {
			t.Errorf("gitopsctr-get.1 does not have %q:\n%s", want, page)
		}
	}
}

// TestEveryCommandExplainsItself: a person who asks for help gets a sentence, an example, and a description of each flag.
func TestEveryCommandExplainsItself(t *testing.T) {
	t.Parallel()
	walk(rootCommand(), func(c *cobra.Command) {
		if c.Short == "" {
			t.Errorf("%s has no short description", c.CommandPath())
		}
		if c.Runnable() && !c.HasSubCommands() && c.Example == "" {
			t.Errorf("%s has no example", c.CommandPath())
		}
		for line := range strings.Lines(c.Example) {
			if !strings.HasPrefix(line, "  ") {
				t.Errorf("%s: an example is indented by two: %q", c.CommandPath(), line)
			}
		}
	})
}

func rootCommand() *cobra.Command {
	s := &IO{In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: &bytes.Buffer{}, Getwd: func() (string, error) { return "", nil }}
	open := func(context.Context, *IO, Settings) (*engine.Engine, func() error, error) {
		return nil, nil, errors.ErrUnsupported
	}
	root := newRoot(&globalOptions{io: s, open: open}, nil)
	walk(root, func(c *cobra.Command) { c.DisableAutoGenTag = true })
	return root
}

// walk visits the commands that a person sees.
func walk(c *cobra.Command, visit func(*cobra.Command)) {
	if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
		return
	}
	visit(c)
	for _, child := range c.Commands() {
		walk(child, visit)
	}
}

// pages adds the page of a command and of those below it, by file name.
func pages(t *testing.T, root *cobra.Command, out map[string]string) {
	t.Helper()
	walk(root, func(c *cobra.Command) {
		var b bytes.Buffer
		if err := doc.GenMarkdown(c, &b); err != nil {
			t.Fatal(err)
		}
		out[strings.ReplaceAll(c.CommandPath(), " ", "_")+".md"] = b.String()
	})
}

func writeReference(t *testing.T, want map[string]string) {
	t.Helper()
	old, err := filepath.Glob(filepath.Join(referenceDirectory, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range old {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(referenceDirectory, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range want {
		if err := os.WriteFile(filepath.Join(referenceDirectory, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
