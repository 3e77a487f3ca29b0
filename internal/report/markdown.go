package report

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"
)

// markdownEscapes are the characters that could start markup in the middle of a line of GitHub's Markdown, and the beginnings
// of what forges link or notify: mentions, numbers of issues, addresses. The latter are found in the rendered text, where an
// escape does not show, so a space without width parts them.
var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "|", `\|`, "~", `\~`, "#", `\#&#8203;`, "!", `\!`, "$", `\$`,
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "\t", " ",
	"@", "@&#8203;",
)

// forgeWords are the longer ones of these beginnings.
var forgeWords = strings.NewReplacer("GH-", "GH-&#8203;", "gh-", "gh-&#8203;", "://", ":&#8203;//", "www.", "www&#8203;.")

// inline escapes foreign text so that it stays text, on one line, in a paragraph or a table cell.
func inline(s string) string {
	return forgeWords.Replace(markdownEscapes.Replace(strings.TrimSpace(strings.Join(PlainLines(s), " "))))
}

// fenced puts foreign text into a code block that its content cannot end.
func fenced(content, language string) string {
	content = strings.Join(PlainLines(strings.TrimRight(content, "\r\n")), "\n")
	longest, run := 0, 0
	for _, r := range content {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", max(3, longest+1))
	return fence + language + "\n" + content + "\n" + fence + "\n"
}

// folded hides Markdown below a summary line, which is HTML.
func folded(summary, body string) string {
	return "<details><summary>" + summary + "</summary>\n\n" + body + "\n</details>\n"
}

// link is a Markdown link; text is Markdown already. Without an address it is the text alone.
func link(text, address string) string {
	if address == "" {
		return text
	}
	return "[" + text + "](" + address + ")"
}

// shorten keeps the beginning and the end of a long text, at most limit bytes, and says so in between.
func shorten(s string, limit int) string {
	const cut = "\n… left out …\n"
	if len(s) <= limit {
		return s
	}
	if limit <= len(cut) {
		return ""
	}
	head := (limit - len(cut)) / 3
	tail := len(s) - (limit - len(cut) - head)
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + cut + s[tail:]
}

// shortenLines keeps the beginning and the end of a long text as whole lines, at most limit bytes, and says in between how
// many lines are missing. A text of too long lines is cut within them.
func shortenLines(s string, limit int) string {
	const room = 60 // for the mark
	if len(s) <= limit {
		return s
	}
	if limit <= room {
		return shorten(s, limit)
	}
	head := strings.LastIndexByte(s[:(limit-room)/3], '\n') + 1
	from := len(s) - (limit - room) + (limit-room)/3
	next := strings.IndexByte(s[from:], '\n') + 1
	if head == 0 || next == 0 || from+next == len(s) {
		return shorten(s, limit)
	}
	tail := from + next
	return fmt.Sprintf("%s… %s left out …\n%s", s[:head], counted(strings.Count(s[head:tail], "\n"), "line"), s[tail:])
}

// counted is a number and its noun: "1 line", "2 lines".
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// A site makes addresses of a repository's pages. The zero site makes none.
type site struct{ base string }

func newSite(server, repository string) site {
	u, err := url.Parse(server)
	owner, name, ok := strings.Cut(repository, "/")
	if err != nil || !ok || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.User != nil {
		return site{}
	}
	base := u.Scheme + "://" + u.Host + strings.TrimRight(u.EscapedPath(), "/")
	return site{base + "/" + url.PathEscape(owner) + "/" + url.PathEscape(name)}
}

func (s site) blob(rev, path string) string {
	if s.base == "" || path == "" || !commitID.MatchString(rev) {
		return ""
	}
	segments := strings.Split(path, "/")
	for i := range segments {
		segments[i] = url.PathEscape(segments[i])
	}
	return s.base + "/blob/" + rev + "/" + strings.Join(segments, "/")
}

// commitID is what has a page of its own. A revision that was not published has none, and one that a stranger's run names
// may be anything.
var commitID = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

func (s site) commit(rev string) string {
	if s.base == "" || !commitID.MatchString(rev) {
		return ""
	}
	return s.base + "/commit/" + rev
}
