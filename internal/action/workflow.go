package action

import (
	"crypto/rand"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/sethvargo/go-githubactions"

	"github.com/gitopsctr/gitopsctr/internal/report"
)

// A workflow writes a step's log: workflow commands, lines of ours, and lines of strangers. While strangers speak the
// runner is told to take no commands, until it hears a token that they cannot know; each time a new one.
type workflow struct {
	gh       *githubactions.Action
	out      io.Writer
	newToken func() string
	stopped  string // the token that makes the runner listen again, "" while it listens
}

func newWorkflow(gh *githubactions.Action, out io.Writer) *workflow {
	return &workflow{gh: gh, out: out, newToken: rand.Text}
}

// mask has the runner hide a secret, and each line of it, from now on.
func (w *workflow) mask(secret string) {
	if len(secret) >= 6 { // shorter ones would blank out innocent text
		w.resume()
		w.gh.AddMask(secret)
	}
}

func (w *workflow) group(title string) {
	w.resume()
	w.gh.Group(strings.Join(neutralize(title), " "))
}

func (w *workflow) endGroup() {
	w.resume()
	w.gh.EndGroup()
}

// annotate places a remark. The library escapes its texts.
func (w *workflow) annotate(a report.Annotation) {
	w.resume()
	fields := map[string]string{}
	if a.Title != "" {
		fields["title"] = strings.Join(neutralize(a.Title), " ")
	}
	if a.File != "" && neutralize(a.File)[0] == a.File {
		fields["file"] = a.File
		if a.Line > 0 {
			fields["line"] = strconv.Itoa(a.Line)
			if a.Column > 0 {
				fields["col"] = strconv.Itoa(a.Column)
			}
		}
	}
	at, message := w.gh.WithFieldsMap(fields), strings.Join(neutralize(a.Message), "\n")
	switch a.Level {
	case report.Error:
		at.Errorf("%s", message)
	case report.Warning:
		at.Warningf("%s", message)
	default:
		at.Noticef("%s", message)
	}
}

// say writes a line of ours. What it quotes may be foreign, so it is made inert; it does not disturb a stopped runner.
func (w *workflow) say(line report.Line) {
	for _, text := range neutralize(line.String()) {
		w.print(text)
	}
}

// quote writes a line of a stranger.
func (w *workflow) quote(line string) {
	w.stop()
	for _, text := range neutralize(line) {
		w.print("    | " + text)
	}
}

func (w *workflow) print(line string) { _, _ = fmt.Fprintln(w.out, line) }

func (w *workflow) stop() {
	if w.stopped == "" {
		w.stopped = w.newToken()
		w.gh.IssueCommand(&githubactions.Command{Name: "stop-commands", Message: w.stopped})
	}
}

// resume makes the runner listen again; it must precede every command.
func (w *workflow) resume() {
	if w.stopped != "" {
		w.gh.IssueCommand(&githubactions.Command{Name: w.stopped})
		w.stopped = ""
	}
}

// neutralize splits text into lines that no runner takes for a command, in neither of its two grammars: "::name::" at a
// line's start, behind any white space, and the older "##[name]" anywhere in a line. Each is broken by a visible blank;
// an invisible character would not do, as a search by the rules of a language skips those.
func neutralize(text string) []string {
	lines := report.PlainLines(text)
	for i, line := range lines {
		line = strings.ReplaceAll(line, "##[", "## [")
		if rest, found := strings.CutPrefix(strings.TrimLeftFunc(line, unicode.IsSpace), "::"); found {
			line = line[:len(line)-len(rest)-2] + ": :" + rest
		}
		lines[i] = line
	}
	return lines
}
