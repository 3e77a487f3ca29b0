package gitstate_test

import (
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitopsctr/gitopsctr/internal/gitstate"
)

// bigRemote is a bare repository whose branch state has n Receipts of about 3 kB that resemble each other, and packed.
func bigRemote(b *testing.B, n int) string {
	b.Helper()
	remote := bareRemote(b)
	var stream strings.Builder
	stream.WriteString("commit refs/heads/state\ncommitter Ada <ada@example.com> 0 +0000\ndata 1\nm\n")
	for i := range n {
		content := fmt.Sprintf("apiVersion: gitopsctr.io/v1\nkind: Receipt\nmetadata:\n  name: unit-%d\n%s", i,
			strings.Repeat(fmt.Sprintf("  digest: sha256:%064d\n", i*7919), 40))
		fmt.Fprintf(&stream, "M 644 inline units/unit-%d.yaml\ndata %d\n%s", i, len(content), content)
	}
	gitInput(b, remote, stream.String()+"\n", "fast-import", "--quiet")
	git(b, remote, "repack", "-adq")
	return remote
}

// BenchmarkFetchAndRead is the start of every run: fetch one branch and read all of its files.
func BenchmarkFetchAndRead(b *testing.B) {
	for _, n := range []int{1000, 2000} {
		remote := bigRemote(b, n)
		b.Run(fmt.Sprintf("store/%d", n), func(b *testing.B) {
			for b.Loop() {
				s, err := gitstate.Open(b.Context(), gitstate.Options{RemoteURL: remote})
				if err != nil {
					b.Fatal(err)
				}
				if got := len(contents(b, fetch(b, s, "state"))); got != n {
					b.Fatalf("read %d files", got)
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("git/%d", n), func(b *testing.B) {
			for b.Loop() {
				dir := b.TempDir()
				git(b, dir, "init", "--quiet", "--bare", ".")
				git(b, dir, "fetch", "--quiet", "--depth=1", "file://"+remote, "refs/heads/state:refs/heads/state")
				readWithGit(b, dir, n)
			}
		})
		b.Run(fmt.Sprintf("store-read-only/%d", n), func(b *testing.B) {
			s := open(b, gitstate.Options{RemoteURL: remote})
			snapshot := fetch(b, s, "state")
			for b.Loop() {
				contents(b, snapshot)
			}
		})
		b.Run(fmt.Sprintf("store-read-clone/%d", n), func(b *testing.B) {
			clone := filepath.Join(b.TempDir(), "clone")
			git(b, ".", "clone", "--quiet", "--no-checkout", "--branch=state", "file://"+remote, clone)
			for b.Loop() {
				s, err := gitstate.Open(b.Context(), gitstate.Options{Workspace: clone})
				if err != nil {
					b.Fatal(err)
				}
				id, err := s.Resolve(b.Context(), "state")
				if err != nil {
					b.Fatal(err)
				}
				snapshot, err := s.SourceSnapshot(b.Context(), id)
				if err != nil {
					b.Fatal(err)
				}
				contents(b, snapshot)
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("git-read-only/%d", n), func(b *testing.B) {
			for b.Loop() {
				readWithGit(b, remote, n)
			}
		})
	}
}

// readWithGit reads all files of branch state as a program would with Git's plumbing.
func readWithGit(b *testing.B, dir string, n int) {
	b.Helper()
	listing := git(b, dir, "ls-tree", "-r", "--format=%(objectname)", "state")
	cmd := exec.Command("git", "cat-file", "--batch")
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(listing + "\n")
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	if size, err := io.Copy(io.Discard, out); err != nil || size < int64(n)*2000 {
		b.Fatalf("read %d bytes: %v", size, err)
	}
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkPublishReceipt publishes one changed file of many.
func BenchmarkPublishReceipt(b *testing.B) {
	remote := bigRemote(b, 1000)
	s := open(b, gitstate.Options{RemoteURL: remote})
	i := 0
	for b.Loop() {
		i++
		publish(b, s, "state", "Observe", map[string]string{fmt.Sprintf("units/unit-%d.yaml", i%1000): fmt.Sprintln(i)})
	}
}
