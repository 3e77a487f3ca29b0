package faults

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A tool stands in place of terraform. A Unit's effect is that its variable "input" is its state from then on; the output
// "value" is the Unit's name with that. Each effect is a line in a log when it begins and when it ends, in the true order.
type tool struct {
	dir  string
	path string
}

// The script uses little but the shell itself, so that hundreds of runs take little time. Effects take a
// while when there is a file "slow", and as long as there is a file "hold-NAME"; SIGINT ends them in the middle. A file "kill-STEP-NAME" makes the tool kill the program that called it at that step of
// that Unit, once.
const toolScript = `#!/bin/sh
dir='%s'
word() { line=${1#*\"input\":\"}; word=${line%%\"*}; }
hook() {
  if [ -e "$dir/kill-$1-$name" ]; then
    rm "$dir/kill-$1-$name"
    kill -9 "$PPID"
    [ "$1" != during-apply ] || echo "cut $name $word" >> "$dir/log"
    exit 1
  fi
}
case "$1" in
version) echo '{"terraform_version":"1.11.4"}'; exit ;;
init)
  for a in "$@"; do case $a in -backend-config=path=*) name=${a#-backend-config=path=} ;; esac; done
  echo "$name" > .name
  hook before-init
  exit ;;
esac
read -r name < .name
case "$1" in
plan)
  for a in "$@"; do case $a in -out=*) out=${a#-out=} ;; -var-file=*) read -r vars < "${a#-var-file=}" ;; esac; done
  echo "$vars" > "$out" ;;
show)
  case "$*" in *-json*) echo '{"format_version":"1.2","configuration":{"root_module":{"outputs":{"value":{}}}}}' ;; esac ;;
apply)
  for plan; do :; done
  read -r vars < "$plan"
  word "$vars"
  hook before-apply
  trap 'echo "cut $name $word" >> "$dir/log"; exit 1' INT
  echo "begin $name $word" >> "$dir/log"
  hook during-apply
  while [ -e "$dir/hold-$name" ]; do sleep 0.02; done
  [ ! -e "$dir/slow" ] || sleep 0.1
  echo "$word" > .state # others may be reading it: replaced as a whole
  mv .state "$dir/state-$name"
  trap '' INT
  echo "end $name $word" >> "$dir/log"
  hook after-apply ;;
destroy)
  trap 'echo "cut $name -" >> "$dir/log"; exit 1' INT
  echo "begin $name -" >> "$dir/log"
  [ ! -e "$dir/slow" ] || sleep 0.1
  rm -f "$dir/state-$name"
  trap '' INT
  echo "end $name -" >> "$dir/log"
  hook after-destroy ;;
output)
  read -r word < "$dir/state-$name"
  echo "{\"value\":{\"sensitive\":false,\"type\":\"string\",\"value\":\"$name:$word\"}}"
  hook after-output ;;
esac
`

func newTool(t *testing.T) *tool {
	t.Helper()
	dir := t.TempDir()
	l := &tool{dir: dir, path: filepath.Join(dir, "terraform")}
	if err := os.WriteFile(l.path, fmt.Appendf(nil, toolScript, dir), 0o700); err != nil {
		t.Fatal(err)
	}
	return l
}

// mark makes or removes one of the files that the script looks for.
func (l *tool) mark(t *testing.T, name string, exists bool) {
	t.Helper()
	path := filepath.Join(l.dir, name)
	err := os.Remove(path)
	if exists {
		err = os.WriteFile(path, nil, 0o600)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
}

// An effect is a line of the log: "begin", "end", or "cut" for one that was stopped on its way.
type effect struct{ what, unit, input string }

func (l *tool) log(t *testing.T) []effect {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(l.dir, "log"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var out []effect
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			t.Fatalf("the tool's log has the line %q", line)
		}
		out = append(out, effect{fields[0], fields[1], fields[2]})
	}
	return out
}

// effects counts the finished effects by Unit.
func (l *tool) effects(t *testing.T) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, e := range l.log(t) {
		if e.what == "end" {
			out[e.unit]++
		}
	}
	return out
}

// quiet waits until no tool works any more: the tools of a killed run go on for a moment.
func (l *tool) quiet(t *testing.T) {
	t.Helper()
	for range 1000 {
		running := 0
		for _, e := range l.log(t) {
			if e.what == "begin" {
				running++
			} else {
				running--
			}
		}
		if running == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("a tool does not end")
}
