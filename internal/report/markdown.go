package report

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// markdownEscapes are the characters that could start markup in the middle of a line of GitHub's Markdown.
var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "|", `\|`, "~", `\~`, "#", `\#`, "!", `\!`, "$", `\$`,
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "\t", " ",
)

// inline escapes foreign text so that it stays text, on one line, in a paragraph or a table cell.
func inline(s string) string {
	return markdownEscapes.Replace(strings.TrimSpace(strings.Join(PlainLines(s), " ")))
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
	if s.base == "" || rev == "" || path == "" {
		return ""
	}
	segments := strings.Split(path, "/")
	for i := range segments {
		segments[i] = url.PathEscape(segments[i])
	}
	return s.base + "/blob/" + url.PathEscape(rev) + "/" + strings.Join(segments, "/")
}

func (s site) commit(rev string) string {
	if s.base == "" || rev == "" {
		return ""
	}
	return s.base + "/commit/" + url.PathEscape(rev)
}
