package main

import (
	"os"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// The two grammars of workflow commands, as the Actions runner reads them: "::name properties::data" at a line's start
// behind any white space, and "##[name properties]data" anywhere in a line.
var (
	command       = regexp.MustCompile(`^\s*::([^\s:]+)(?:\s+(.*?))?::(.*)$`)
	legacyCommand = regexp.MustCompile(`##\[([^\s\]]+)(?:\s+([^\]]*))?\](.*)$`)
)

// cmdExecuted writes the workflow commands that a runner would execute on reading the log into a file, one a line. A
// runner ends lines at carriage returns too, and obeys nothing after stop-commands until it hears the token.
func cmdExecuted(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: executed LOG FILE")
	}
	var out strings.Builder
	token := ""
	for line := range strings.FieldsFuncSeq(ts.ReadFile(args[0]), func(r rune) bool { return r == '\n' || r == '\r' }) {
		m := command.FindStringSubmatch(line)
		if m == nil {
			m = legacyCommand.FindStringSubmatch(line)
		}
		switch {
		case m == nil:
		case token != "" && m[1] == token:
			token = ""
		case token != "":
		case m[1] == "stop-commands":
			token = m[3]
		default:
			out.WriteString(m[1] + " " + m[2] + " " + m[3] + "\n")
		}
	}
	if token != "" {
		out.WriteString("left stopped\n")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(out.String()), 0o644))
}
