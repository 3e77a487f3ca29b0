package report

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf16"
)

// An Annotation is a remark on a line of an authored file, as a forge shows it. File is "" for one on the run as a whole.
type Annotation struct {
	Level          Severity
	Title, Message string
	File           string // relative to the repository root
	Line, Column   int    // 0 unknown
}

// Limits of the Actions runner for annotations: how many of one level a step may have, and the UTF-16 code units of a
// message and a title.
const (
	AnnotationsPerLevel = 10
	maxMessage          = 4096
	maxTitle            = 255
)

// Annotations are the remarks on a run: its Problems, and its failed (error), drifted and waiting (warning) Units, placed
// where they are authored, and one notice that names the Units that were applied or destroyed. A Unit that a Problem of the same level is about gets no second one. They are ordered by level,
// errors first, and no level has more than AnnotationsPerLevel: if there are more, the first of the level tells how many
// and of which Units, so that nothing is dropped unsaid.
func Annotations(run Run) []Annotation {
	var byLevel [3][]remark
	add := func(r remark) {
		i := levelIndex(r.Level)
		byLevel[i] = append(byLevel[i], r)
	}
	said := map[string]bool{}
	for _, p := range run.Problems {
		said[string(p.Severity)+" "+p.Unit] = true
		add(remarkOf(run, p))
	}
	for _, u := range run.Units {
		if r, ok := unitRemark(run, u); ok && !said[string(r.Level)+" "+u.Unit] {
			add(r)
		}
	}
	if r, ok := doneRemark(run); ok {
		add(r)
	}
	var out []Annotation
	for _, remarks := range byLevel {
		out = append(out, limited(run, remarks)...)
	}
	return out
}

// A remark is an Annotation and the Unit that it is about.
type remark struct {
	Annotation
	unit string
}

func remarkOf(run Run, p Problem) remark {
	subject := cmp.Or(p.Unit, run.Environment, "gitopsctr")
	title := map[Severity]string{Error: "Error in ", Warning: "Warning for "}[p.Severity]
	if title == "" {
		title = "Note on "
	}
	p.Unit = ""
	file := p.Position
	p.Position = Position{Pointer: file.Pointer}
	return remark{unit: subject, Annotation: annotation(p.Severity, title+subject, p.String(), file)}
}

func unitRemark(run Run, u UnitResult) (remark, bool) {
	in := u.Unit + " in " + run.Environment
	switch u.Outcome {
	case Failed:
		return remark{annotation(Error, in+" failed", cmp.Or(u.Err, u.Reason, "failed"), u.Position), u.Unit}, true
	case Drifted:
		return remark{annotation(Warning, in+" has drifted", cmp.Or(u.Reason, u.Changes.String()), u.Position), u.Unit}, true
	case Waiting:
		return remark{annotation(Warning, in+" waits", cmp.Or(u.Reason, "waiting"), u.Position), u.Unit}, true
	}
	if u.Foresight == nil {
		return remark{}, false
	}
	switch { // of a plan
	case u.Teardown():
		return remark{annotation(Warning, in+" will be deleted", "everything that it manages will be destroyed", u.Position), u.Unit}, true
	case u.Losses() > 0:
		return remark{annotation(Warning, in+" loses resources", u.Changes.String()+": "+u.Reason, u.Position), u.Unit}, true
	case u.Outcome == Planned:
		return remark{annotation(Notice, in+" will run", u.Changes.String()+": "+u.Reason, u.Position), u.Unit}, true
	}
	return remark{}, false
}

// doneRemark says in one line what a run changed.
func doneRemark(run Run) (remark, bool) {
	var parts []string
	for _, outcome := range []Outcome{Applied, Destroyed} {
		if names := Named(run, outcome); len(names) > 0 {
			parts = append(parts, string(outcome)+" "+strings.Join(names, ", "))
		}
	}
	if len(parts) == 0 {
		return remark{}, false
	}
	return remark{annotation(Notice, run.Environment+" changed", strings.Join(parts, "; "), Position{}), ""}, true
}

func annotation(level Severity, title, message string, at Position) Annotation {
	return Annotation{
		Level:   level,
		Title:   clip(strings.Join(PlainLines(title), " "), maxTitle),
		Message: clip(strings.Join(PlainLines(message), "\n"), maxMessage),
		File:    strings.Join(PlainLines(at.File), " "),
		Line:    at.Line,
		Column:  at.Column,
	}
}

func limited(run Run, remarks []remark) []Annotation {
	var out []Annotation
	if len(remarks) > AnnotationsPerLevel {
		out = append(out, aggregate(run, remarks))
		remarks = remarks[:AnnotationsPerLevel-1]
	}
	for _, r := range remarks {
		out = append(out, r.Annotation)
	}
	return out
}

func aggregate(run Run, remarks []remark) Annotation {
	var names []string
	seen := map[string]bool{}
	for _, r := range remarks {
		if !seen[r.unit] {
			seen[r.unit] = true
			names = append(names, r.unit)
		}
	}
	level := remarks[0].Level
	message := fmt.Sprintf("%d %ss; the first %d follow, the log and the job summary have all. They are about: %s",
		len(remarks), level, AnnotationsPerLevel-1, strings.Join(names, ", "))
	return annotation(level, fmt.Sprintf("%d %ss in %s", len(remarks), level, run.Environment), message, Position{})
}

func levelIndex(s Severity) int {
	switch s {
	case Error:
		return 0
	case Warning:
		return 1
	}
	return 2
}

// clip cuts s to at most limit UTF-16 code units, at a character, and marks the cut.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const mark = "…"
	n, cut := 0, -1
	for i, r := range s {
		if cut < 0 && n+utf16.RuneLen(r) > limit-1 {
			cut = i
		}
		if n += utf16.RuneLen(r); n > limit {
			return s[:cut] + mark
		}
	}
	return s
}
