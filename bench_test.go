package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/driver"
	"github.com/gitopsctr/gitopsctr/internal/engine"
)

// BenchmarkNoOp measures whole processes over an environment in which every Unit is clean: the converge of a push without
// a relevant change, status, and get units. The floor is what git itself takes to list and print both trees from the local remote;
// the figures to look at are the ratio to it and the peak memory.
//
//	go test -run - -bench NoOp -benchtime 10x .
func BenchmarkNoOp(b *testing.B) {
	binary := filepath.Join(b.TempDir(), "gitopsctr")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	for _, n := range []int{100, 1000} {
		remote, repository := cleanEnvironment(b, n)
		for name, args := range map[string][]string{
			"converge": {"converge", "--environment", "dev", "--authored", "--source-revision", "HEAD", "--yes"},
			"status":   {"status", "--environment", "dev"},
			"get":      {"get", "units", "--environment", "dev"},
		} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				var ours, floor time.Duration
				var peak int64
				for b.Loop() {
					floor += gitFloor(b, remote)
					c := exec.Command(binary, args...)
					c.Dir = repository
					c.Env = append(os.Environ(), "GITOPSCTR_TOKEN=", "GITHUB_OUTPUT=")
					var said bytes.Buffer
					c.Stdout, c.Stderr = &said, &said
					start := time.Now()
					if err := c.Start(); err != nil {
						b.Fatal(err)
					}
					high := watchMemory(c.Process.Pid)
					err := c.Wait()
					ours += time.Since(start)
					if err != nil {
						b.Fatalf("%v\n%s", err, said.Bytes())
					}
					peak = max(peak, high())
				}
				b.ReportMetric(float64(ours)/float64(floor), "x/git")
				b.ReportMetric(float64(floor.Milliseconds())/float64(b.N), "git-ms/op")
				b.ReportMetric(float64(peak)/1024, "MiB-peak")
			})
		}
	}
}

// watchMemory follows the high-water mark of a process's memory in KiB, as Linux shows it, until the returned function is
// called. The usage that the kernel reports at the end will not do: it includes the memory of the parent at the fork.
func watchMemory(pid int) (high func() int64) {
	done, result := make(chan struct{}), make(chan int64)
	go func() {
		var peak int64
		for {
			if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil {
				if _, rest, ok := bytes.Cut(status, []byte("VmHWM:")); ok {
					var kib int64
					if _, err := fmt.Sscan(string(rest), &kib); err == nil {
						peak = max(peak, kib)
					}
				}
			}
			select {
			case <-done:
				result <- peak
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	return func() int64 { close(done); return <-result }
}

// gitFloor lists and prints both trees as git does it: ls-tree -r, then one cat-file --batch over all blobs.
func gitFloor(b *testing.B, remote string) time.Duration {
	b.Helper()
	start := time.Now()
	for _, ref := range []string{"gitopsctr/desired/dev", "gitopsctr/observed/dev"} {
		blobs, err := exec.Command("git", "--git-dir", remote, "ls-tree", "-r", "--format=%(objectname)", ref).Output()
		if err != nil {
			b.Fatal(err)
		}
		cat := exec.Command("git", "--git-dir", remote, "cat-file", "--batch")
		cat.Stdin, cat.Stdout = bytes.NewReader(blobs), io.Discard
		if err := cat.Run(); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(start)
}

// cleanEnvironment makes a remote and a clone with n Terraform Units, every second one reading its neighbour's output, all
// clean. A driver that does nothing stands in for terraform.
func cleanEnvironment(b *testing.B, n int) (remote, repository string) {
	b.Helper()
	dir := b.TempDir()
	remote, repository = filepath.Join(dir, "remote.git"), filepath.Join(dir, "repository")
	write := func(name, text string) {
		file := filepath.Join(repository, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	write("gitopsctr.yaml", "apiVersion: gitopsctr.io/v1\nkind: Project\nmetadata: {name: bench}\nspec: {effectLease: null}\n")
	write("deployment/environments/dev/environment.yaml", "apiVersion: gitopsctr.io/v1\nkind: Environment\nmetadata: {name: dev}\nspec: {}\n")
	for i := range n {
		value := "plain"
		if i%2 == 1 {
			value = fmt.Sprintf("{fromReceipt: {unit: unit-%04d, pointer: /outputs/url}}", i-1)
		}
		write(fmt.Sprintf("units/%04d/main.tf", i), fmt.Sprintf("# unit %d\noutput \"url\" { value = \"x\" }\n", i))
		write(fmt.Sprintf("deployment/environments/dev/units/unit-%04d.yaml", i), fmt.Sprintf(`apiVersion: unit.gitopsctr.io/v1
kind: Terraform
metadata: {name: unit-%04d}
spec:
  source: {path: units/%04d, inputs: ["**/*.tf"]}
  terraform:
    backend: {bucket: state-of-the-company, key: environments/dev/unit-%04d.tfstate, region: eu-central-1}
    variables: {name: unit-%04d, size: 3, value: %s}
    observeOutputs: [url]
`, i, i, i, i, value))
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--bare", remote},
		{"init", "--quiet", "--initial-branch=main", repository},
		{"-C", repository, "remote", "add", "origin", remote},
		{"-C", repository, "add", "--all"},
		{"-C", repository, "-c", "user.name=b", "-c", "user.email=b@example.test", "commit", "--quiet", "--message=first"},
		{"-C", repository, "push", "--quiet", "origin", "main"},
		{"-C", repository, "gc", "--quiet"}, // a job's clone is one pack
	} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			b.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	e, err := engine.Open(b.Context(), engine.Config{Repository: repository, Directory: repository, Temp: b.TempDir(),
		Drivers: driver.NewRegistry(idleDriver{}), MaxParallel: 64})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	outcome, err := e.Converge(b.Context(), engine.ConvergeRequest{ApplyRequest: engine.ApplyRequest{
		Target: engine.Target{Environment: "dev"}, Authored: true, SourceRevision: "HEAD"}})
	if err != nil {
		b.Fatal(err)
	}
	if out, err := exec.Command("git", "-C", remote, "gc", "--quiet").CombinedOutput(); err != nil {
		b.Fatalf("git gc: %v\n%s", err, out)
	}
	if len(outcome.Run.DriversRan) != n {
		b.Fatalf("%d drivers ran, want %d", len(outcome.Run.DriversRan), n)
	}
	return remote, repository
}

// idleDriver stands in for terraform: it changes nothing and observes one fixed output.
type idleDriver struct{}

func (idleDriver) Kind() string { return "Terraform" }

func (idleDriver) Reconcile(_ context.Context, u driver.Unit) (driver.Result, error) {
	source := u.Spec.Get("source")
	return driver.Result{Result: document.NewMap(
		document.F("applied", document.NewMap(document.F("sourceRevision", source.Get("revision")), document.F("path", source.Get("path")))),
		document.F("outputs", document.NewMap(document.F("url", document.NewString("https://example.test")))),
	)}, nil
}
