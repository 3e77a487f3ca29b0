package action

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/report"
)

// The marks in a comment's text. Markdown shows none of them.
const (
	commentMark  = "<!-- gitopsctr:plans -->\n"
	sectionMark  = "<!-- gitopsctr:section "
	sectionEnd   = "\n<!-- gitopsctr:end -->\n"
	markPrefix   = "<!-- gitopsctr:"
	neutralMark  = "<!-- gitopsctr;" // of the same length, so that limits hold
	markSuffix   = " -->\n"
	leftOutNote  = "\n_The details were left out because this comment is limited; the job summary has them._\n"
	smallSection = 1_000 // bytes that a section keeps at least
)

// A generation is the run that a section was made by. A section is replaced by the same or a newer run only, so that a slow
// run of an older commit never overwrites a newer report. Run ids grow.
type generation struct {
	sha          string
	run, attempt int64
}

func (g generation) olderThan(other generation) bool {
	return g.run < other.run || g.run == other.run && g.attempt < other.attempt
}

// A commentSection is one environment's part of a pull request's comment.
type commentSection struct {
	key  string // environment and working directory
	made generation
	text string
}

// parseComment reads the sections of a comment of ours; false when it is none. What does not look like ours is dropped.
func parseComment(body string) ([]commentSection, bool) {
	body = strings.ReplaceAll(body, "\r\n", "\n") // some forges store it so
	rest, ours := strings.CutPrefix(body, commentMark)
	if !ours {
		return nil, false
	}
	var out []commentSection
	for {
		_, after, found := strings.Cut(rest, sectionMark)
		head, after2, closed := strings.Cut(after, markSuffix)
		text, after3, ended := strings.Cut(after2, strings.TrimSuffix(sectionEnd, "\n"))
		if !found || !closed || !ended {
			return out, true
		}
		rest = after3
		if s, ok := sectionOf(head); ok {
			s.text = text
			out = append(out, s)
		}
	}
}

func sectionOf(head string) (commentSection, bool) {
	values, err := url.ParseQuery(head)
	if err != nil || values.Get("key") == "" {
		return commentSection{}, false
	}
	run, runErr := strconv.ParseInt(values.Get("run"), 10, 64)
	attempt, attemptErr := strconv.ParseInt(values.Get("attempt"), 10, 64)
	return commentSection{key: values.Get("key"), made: generation{values.Get("sha"), run, attempt}}, runErr == nil && attemptErr == nil
}

// head is the section's mark. Its values are escaped, so that none can end the mark.
func (s commentSection) head() string {
	values := url.Values{"key": {s.key}, "sha": {s.made.sha}, "run": {strconv.FormatInt(s.made.run, 10)}, "attempt": {strconv.FormatInt(s.made.attempt, 10)}}
	return sectionMark + values.Encode() + markSuffix
}

func (s commentSection) size() int { return len(s.head()) + len(s.text) + len(sectionEnd) }

// inert takes our marks out of a text that quotes foreign output.
func inert(text string) string { return strings.ReplaceAll(text, markPrefix, neutralMark) }

// merge puts own in the place of the section with its key, else behind the others, and returns the comment in at most limit
// bytes. render makes own's text for a size; others are cut down when own's fair share does not suffice. The second result is the
// generation that is newer than own's, if there is one: then own yields.
func merge(sections []commentSection, own commentSection, render func(limit int) string, limit int) (string, *generation) {
	at := -1
	kept := make([]commentSection, 0, len(sections)+1)
	for _, s := range sections {
		switch {
		case s.key != own.key:
			kept = append(kept, s)
		case own.made.olderThan(s.made):
			return "", &s.made
		case at < 0:
			at = len(kept)
			kept = append(kept, own)
		}
	}
	if at < 0 {
		at = len(kept)
		kept = append(kept, own)
	}
	frame := len(commentMark) + len(own.head()) + len(sectionEnd)
	fair := (limit - len(commentMark)) / len(kept)
	shrink(kept, at, limit-frame-max(fair-frame, smallSection))
	room := limit - frame
	for i, s := range kept {
		if i != at {
			room -= s.size()
		}
	}
	kept[at].text = inert(render(max(room, smallSection)))
	var b strings.Builder
	b.WriteString(commentMark)
	for _, s := range kept {
		b.WriteString(s.head() + s.text + sectionEnd)
	}
	return b.String(), nil
}

// shrink cuts down the sections but for the one at own until they fit together, the largest first: to what stands before
// their details, then to what stands before their table. Both are whole blocks, because foreign text stands in tables and
// details on lines or in fences of its own.
func shrink(sections []commentSection, own, limit int) {
	for _, boundary := range []string{"\n<details>", "\n| Unit |"} {
		for {
			total, largest := 0, -1
			for i, s := range sections {
				if i == own {
					continue
				}
				total += s.size()
				if strings.Contains(s.text, boundary) && (largest < 0 || s.size() > sections[largest].size()) {
					largest = i
				}
			}
			if total <= limit || largest < 0 {
				break
			}
			head, _, _ := strings.Cut(sections[largest].text, boundary)
			sections[largest].text = strings.TrimSuffix(head, leftOutNote) + leftOutNote
		}
	}
}

// commentLimit is the size of a comment that every forge takes.
const commentLimit = report.CommentLimit
