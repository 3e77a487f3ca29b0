package report

import (
	"cmp"
	"strings"
	"time"
)

// A Transcript words events as the lines of a log (chapters D 3.3, 8.3 and H 6, 8). The terminal and the Actions log
// share it, so that both say the same. The zero value is ready; it remembers the run that it is in.
type Transcript struct {
	operation, environment string
	listed                 bool // the heading above a status table was written
}

// A Line is one heading or one status line of a log.
type Line struct {
	// Heading lines have no word.
	Heading bool
	Word    string
	spans   []span
}

// A span is a piece of a line's text and what it is.
type span struct {
	role role
	text string
}

// Text is the line's text without its word. It may hold line breaks.
func (l Line) Text() string {
	var b strings.Builder
	for _, s := range l.spans {
		b.WriteString(s.text)
	}
	return b.String()
}

// String lays the line out (chapter H, 8): an empty line and "==> text", or the word in a column of 8. Further lines of
// the text are aligned below the first. It does not end in a line break.
func (l Line) String() string { return l.layout(func(_ role, s string) string { return s }) }

func (l Line) layout(paint func(role, string) string) string {
	var b strings.Builder
	for _, s := range l.spans {
		if l.Heading && s.role == entity {
			s.role = text // it has the heading's colour already
		}
		for i, piece := range PlainLines(s.text) {
			if i > 0 {
				b.WriteString("\n             ")
			}
			b.WriteString(paint(s.role, piece))
		}
	}
	if l.Heading {
		return "\n==> " + paint(heading, b.String())
	}
	padding := strings.Repeat(" ", max(8-len(l.Word), 0)+1)
	return "    " + paint(wordRole(l.Word, l.Text()), l.Word) + padding + b.String()
}

// Lines words one event; nil when it says nothing by itself. A driver's output lines are not its business.
func (t *Transcript) Lines(e Event) []Line {
	switch e := e.(type) {
	case RunStarted:
		return t.runStarted(e)
	case RefRead:
		return []Line{refRead(e)}
	case UnitState:
		return append(t.list(), unitState(e)...)
	case RefUpdated:
		return []Line{refUpdated(e)}
	case RefKept:
		return []Line{refKept(e)}
	case UnitStarted:
		return t.unitStarted(e)
	case UnitRunning:
		return []Line{{Word: "RUN", spans: []span{{entity, e.Unit}, {text, ": still running after " + Duration(e.Elapsed)}}}}
	case UnitFinished:
		return []Line{unitFinished(e.Result)}
	case Problem:
		return []Line{{Word: severityWord(e.Severity), spans: []span{{text, e.String()}}}}
	case Note:
		return []Line{{Word: e.Word, spans: []span{{text, e.Text}}}}
	case RunFinished:
		return t.runFinished(e.Run)
	}
	return nil
}

func (t *Transcript) runStarted(e RunStarted) []Line {
	t.operation, t.environment, t.listed = e.Operation, e.Environment, false
	switch {
	case e.Operation == "status":
		return []Line{headline("Deployment status for ", e.Environment)}
	case e.Unit != "":
		return []Line{t.unitHeading(e.Unit)}
	}
	return []Line{headline(title(e.Operation)+" ", e.Environment)}
}

// list writes the heading of a status table before its first row (H 6, 4).
func (t *Transcript) list() []Line {
	if t.operation != "status" || t.listed {
		return nil
	}
	t.listed = true
	return []Line{headline("Reconciliation status for ", t.environment)}
}

func (t *Transcript) unitStarted(e UnitStarted) []Line {
	lines := []Line{t.unitHeading(e.Unit)}
	if e.Reason != "" && e.Action != Verify {
		lines = append(lines, Line{Word: "CHANGED", spans: []span{{text, e.Reason}}})
	}
	if e.Action == Verify {
		return append(lines, Line{Word: "VERIFY", spans: []span{{text, e.Kind}}})
	}
	return append(lines, Line{Word: "ACTION", spans: []span{{text, string(e.Action) + " " + e.Kind}}})
}

func (t *Transcript) unitHeading(unit string) Line {
	if t.environment == "" {
		return Line{Heading: true, spans: []span{{entity, unit}}}
	}
	return Line{Heading: true, spans: []span{{entity, unit}, {text, " · "}, {environment, t.environment}}}
}

func headline(words, env string) Line {
	return Line{Heading: true, spans: []span{{text, words}, {environment, env}}}
}

func refRead(e RefRead) Line {
	word := strings.ToUpper(e.Plane)
	switch {
	case e.Revision != "":
		return Line{Word: word, spans: append([]span{{entity, e.Ref}, {text, " at "}}, described(e.Revision, e.Subject)...)}
	case e.Plane == "observed":
		return Line{Word: word, spans: []span{{entity, e.Ref}, {text, " has no receipts yet"}}}
	}
	return Line{Word: word, spans: []span{{entity, e.Ref}, {text, " does not exist"}}}
}

func refUpdated(e RefUpdated) Line {
	subject, _, _ := strings.Cut(e.Message, "\n")
	after := described(e.New, subject)
	if e.Plane != "observed" {
		return Line{Word: "UPDATE", spans: append([]span{{entity, e.Ref}, {text, " advanced to "}}, after...)}
	}
	spans := append([]span{{text, "Observation "}, {entity, e.Ref}, {text, " "}}, described(e.Old, "")...)
	return Line{Word: "UPDATED", spans: append(append(spans, span{text, " → "}), after...)}
}

func refKept(e RefKept) Line {
	if e.Plane != "observed" {
		return Line{Word: "KEEP", spans: []span{{entity, e.Ref}, {text, " is already resolved"}}}
	}
	return Line{Word: "UNCHANGED", spans: append([]span{{text, "Observation "}, {entity, e.Ref}, {text, " at "}}, described(e.Revision, "")...)}
}

func unitState(e UnitState) []Line {
	lines := []Line{{Word: string(e.State), spans: unitAnd(e.Unit, e.Reason)}}
	for _, d := range e.Details {
		lines = append(lines, Line{Word: d.Word, spans: []span{{text, d.Text}}})
	}
	return lines
}

func unitFinished(r UnitResult) Line {
	word := string(r.Action)
	switch r.Outcome {
	case Applied, Planned, Destroyed:
		spans := []span{{text, "SUCCEEDED: "}, {entity, r.Unit}, {text, " (" + r.Changes.String() + ", " + Duration(r.Duration) + ")"}}
		return Line{Word: cmp.Or(word, strings.ToUpper(string(r.Outcome))), spans: spans}
	case Verified:
		return Line{Word: "CLEAN", spans: unitAnd(r.Unit, cmp.Or(r.Reason, "no drift"))}
	case Drifted:
		return Line{Word: "DRIFT", spans: unitAnd(r.Unit, r.Changes.String())}
	case Waiting:
		return Line{Word: "WAIT", spans: unitAnd(r.Unit, r.Reason)}
	case Skipped:
		return Line{Word: "SKIP", spans: unitAnd(r.Unit, r.Reason)}
	case Failed:
		spans := unitAnd(r.Unit, cmp.Or(r.Err, r.Reason))
		if word == "" {
			return Line{Word: "FAILED", spans: spans}
		}
		return Line{Word: word, spans: append([]span{{text, "FAILED: "}}, spans...)}
	}
	return Line{Word: "UP TO DATE", spans: unitAnd(r.Unit, r.Reason)}
}

func unitAnd(unit, reason string) []span {
	if reason == "" {
		return []span{{entity, unit}}
	}
	return []span{{entity, unit}, {text, ": " + reason}}
}

// described is a revision as people read it (H 6): 12 digits and the subject.
func described(rev, subject string) []span {
	if rev == "" {
		return []span{{text, "none"}}
	}
	spans := []span{{revision, Abbreviate(rev)}}
	if subject != "" {
		spans = append(spans, span{muted, " (" + subject + ")"})
	}
	return spans
}

// Abbreviate shortens a commit id to 12 digits; the prefix "dry:" of a revision that was not published stays.
func Abbreviate(rev string) string {
	prefix := ""
	if rest, dry := strings.CutPrefix(rev, "dry:"); dry {
		prefix, rev = "dry:", rest
	}
	return prefix + rev[:min(12, len(rev))]
}

// Duration words a duration for people: "0.4s", "12s", "3m5s", "1h2m".
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}

func severityWord(s Severity) string {
	switch s {
	case Error:
		return "ERROR"
	case Warning:
		return "WARN"
	}
	return "NOTE"
}

func title(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
