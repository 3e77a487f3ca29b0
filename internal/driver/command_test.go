package driver_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/driver"
)

// lines is a sink that keeps each Write.
type lines struct{ got []string }

func (l *lines) Write(p []byte) (int, error) {
	l.got = append(l.got, string(p))
	return len(p), nil
}

// shell returns a command that runs a script with the shell.
func shell(script string) driver.Command {
	return driver.Command{
		Name: "tool run", Path: "/bin/sh", Args: []string{"-c", script},
		Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}, Grace: 10 * time.Second,
	}
}

func TestCommandMergesBothOutputsInOrderOfArrival(t *testing.T) {
	t.Parallel()
	log := &lines{}
	c := shell(`echo one; echo two >&2; printf 'three\r\n'; echo four >&2; printf 'bad \377 byte\n'; echo; printf 'no end'`)
	c.Log = log
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{"one\n", "two\n", "three\n", "four\n", "bad \uFFFD byte\n", "\n", "no end\n"}
	if diff := cmp.Diff(want, log.got); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func TestCommandCutsLongLinesWithoutLosingBytes(t *testing.T) {
	t.Parallel()
	const secret = "pa55word-pa55word"
	log := &lines{}
	// The secret lies across the place where the first piece would be cut.
	line := strings.Repeat("ä", 32760) + secret + strings.Repeat("z", 100_000)
	file := filepath.Join(t.TempDir(), "line")
	if err := os.WriteFile(file, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	c := shell("cat " + file)
	c.Log, c.Mask = log, driver.NewMasker(secret)
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	whole := ""
	for _, piece := range log.got {
		if len(piece) > 64<<10+1 {
			t.Errorf("a piece has %d bytes", len(piece))
		}
		whole += strings.TrimSuffix(piece, "\n")
	}
	if want := strings.Replace(line, secret, "***", 1); whole != want {
		t.Errorf("pieces joined differ from the masked line (%d and %d bytes)", len(whole), len(want))
	}
	if len(log.got) < 3 {
		t.Errorf("want at least 3 pieces, got %d", len(log.got))
	}
}

func TestCommandCapturesStandardOutputApart(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := &lines{}
	c := shell(`printf 'secret\nvalue'; echo warning >&2`)
	c.Log, c.Stdout = log, &out
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"warning\n"}, log.got); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if want := "secret\nvalue"; out.String() != want {
		t.Errorf("captured: want %q, got %q", want, out.String())
	}
}

func TestCommandGivesTheToolWhatItIsTold(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	log := &lines{}
	c := shell(`cat; pwd; echo "$A-$HOME"`)
	c.Log, c.Dir, c.Stdin = log, dir, strings.NewReader("from stdin\n")
	c.Env = append(c.Env, "A=a", "PWD=/elsewhere")
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"from stdin\n", dir + "\n", "a-\n"}, log.got); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func TestCommandReportsFailures(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		command     driver.Command
		want        string
		wantCode    int
		wantUnknown bool
	}{
		"exit status and last words, masked": {
			command: func() driver.Command {
				c := shell(`echo first; echo; echo "token is tok-123456" >&2; exit 7`)
				c.Mask = driver.NewMasker("tok-123456")
				return c
			}(),
			want: "tool run: exit status 7:\nfirst\ntoken is ***", wantCode: 7,
		},
		"only the last lines": {
			command: shell(`i=0; while [ $i -lt 50 ]; do echo "line $i"; i=$((i+1)); done; exit 1`),
			want: "tool run: exit status 1:\n" + strings.Join(func() (l []string) {
				for i := 30; i < 50; i++ {
					l = append(l, "line "+strconv.Itoa(i))
				}
				return l
			}(), "\n"), wantCode: 1,
		},
		"silent failure":                {command: shell(`exit 3`), want: "tool run: exit status 3", wantCode: 3},
		"killed by somebody":            {command: shell(`kill -9 $$`), want: "tool run: signal: killed", wantUnknown: true},
		"killed while it only read":     {command: func() driver.Command { c := shell(`kill -9 $$`); c.ReadOnly = true; return c }(), want: "tool run: signal: killed"},
		"missing program":               {command: driver.Command{Name: "tofu plan", Path: "/nowhere/tofu", Install: "install OpenTofu"}, want: "tofu plan: the program /nowhere/tofu was not found; install OpenTofu"},
		"program not in PATH":           {command: driver.Command{Name: "tofu plan", Path: "tofu", Install: "install OpenTofu"}, want: "tofu plan: the program tofu was not found; install OpenTofu"},
		"missing working directory":     {command: func() driver.Command { c := shell("true"); c.Dir = "/nowhere/at/all"; return c }(), want: "tool run: its working directory does not exist"},
		"relative PATH is not searched": {command: driver.Command{Name: "sh", Path: "sh", Env: []string{"PATH=bin:."}}, want: "sh: the program sh was not found"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := test.command.Run(t.Context())
			var e *driver.Error
			if !errors.As(err, &e) {
				t.Fatalf("want a *driver.Error, got %v", err)
			}
			if diff := cmp.Diff(test.want, e.Error()); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			code, ok := driver.ExitCode(err)
			if code != test.wantCode || ok != (test.wantCode != 0) {
				t.Errorf("exit code: want %d, got %d (%t)", test.wantCode, code, ok)
			}
			if e.EffectUnknown != test.wantUnknown {
				t.Errorf("effect unknown: want %t, got %t", test.wantUnknown, e.EffectUnknown)
			}
		})
	}
}

func TestCommandCancellation(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		script      string
		grace       time.Duration
		want        string // in the message; "" is success
		wantLog     []string
		wantUnknown bool
	}{
		"interrupted once, ends by itself": {
			script: `n=0; trap 'n=$((n+1))' INT; echo ready; i=0; while [ $i -lt 5 ]; do sleep 0.1; i=$((i+1)); done; echo "interrupts $n"; exit 9`,
			grace:  20 * time.Second, want: "interrupted (enough), exit status 9", wantLog: []string{"ready\n", "interrupts 1\n"},
		},
		"finishes in spite of the interrupt": {
			script: `trap '' INT; echo ready; sleep 0.3; echo done`,
			grace:  20 * time.Second, wantLog: []string{"ready\n", "done\n"},
		},
		"killed after the grace": {
			script: `trap '' INT; echo ready; sleep 60`,
			grace:  50 * time.Millisecond, want: "killed, since it did not end after SIGINT (enough)", wantLog: []string{"ready\n"}, wantUnknown: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			enough := errors.New("enough")
			log := &lines{}
			c := shell(test.script)
			c.Grace, c.Log = test.grace, onLine(log, "ready\n", func() { cancel(enough) })
			err := c.Run(ctx)
			if diff := cmp.Diff(test.wantLog, log.got); diff != "" {
				t.Errorf("log (-want +got):\n%s", diff)
			}
			if test.want == "" {
				if err != nil {
					t.Fatalf("want success, got %v", err)
				}
				return
			}
			var e *driver.Error
			if !errors.As(err, &e) || !strings.Contains(e.Detail, test.want) {
				t.Fatalf("want a *driver.Error with %q, got %v", test.want, err)
			}
			if !errors.Is(err, enough) {
				t.Errorf("the error does not wrap the cause: %v", err)
			}
			if e.EffectUnknown != test.wantUnknown {
				t.Errorf("effect unknown: want %t, got %t", test.wantUnknown, e.EffectUnknown)
			}
		})
	}
}

func TestCommandIsNotStartedAfterCancellation(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	file := filepath.Join(t.TempDir(), "made")
	err := shell("touch " + file).Run(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("want context.Canceled, got %v", err)
	}
	if _, statErr := os.Stat(file); !os.IsNotExist(statErr) {
		t.Error("the tool ran")
	}
}

// A tool may leave processes behind that hold its output open; they must neither block Run nor survive it.
func TestCommandLeavesNoProcessBehind(t *testing.T) {
	t.Parallel()
	log := &lines{}
	c := shell(`sleep 300 & echo $!; exit 0`)
	c.Log = log
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(strings.Join(log.got, "")))
	if err != nil {
		t.Fatal(err)
	}
	if !gone(pid) {
		t.Errorf("process %d still runs", pid)
	}
}

// gone waits a little for a killed process, which its new parent may not have reaped yet.
func gone(pid int) bool {
	for range 100 {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
}

type hook struct {
	to   *lines
	line string
	do   func()
}

func onLine(to *lines, line string, do func()) hook { return hook{to, line, do} }

func (h hook) Write(p []byte) (int, error) {
	if string(p) == h.line {
		h.do()
	}
	return h.to.Write(p)
}

func TestLookPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"tool": 0o755, "data": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"PATH=/first", "PATH=/nowhere:" + dir}
	if got, err := driver.LookPath(env, "tool"); err != nil || got != filepath.Join(dir, "tool") {
		t.Errorf("tool: got %q, %v", got, err)
	}
	for _, name := range []string{"data", "absent"} {
		if _, err := driver.LookPath(env, name); !errors.Is(err, exec.ErrNotFound) {
			t.Errorf("%s: want exec.ErrNotFound, got %v", name, err)
		}
	}
}
