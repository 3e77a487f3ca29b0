package engine

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/report"
)

// A PullRequest is a candidate that is offered for review. Refs are short branch names.
type PullRequest struct{ Head, Base, Title, Body string }

// A Forge opens pull requests. Nothing depends on it: without one, people open them.
type Forge interface {
	// EnsurePullRequest returns the open pull request from Head into Base, and whether it had to be created. The title and
	// the body of one that is open already stay as they are.
	EnsurePullRequest(ctx context.Context, p PullRequest) (url string, created bool, err error)
}

// The statuses of a change (chapter F, 8.4).
const (
	statusCreated  = "created"
	statusExisting = "existing"
	statusManual   = "manual"
)

// review opens the pull request of a candidate, or says how a person does. A forge that fails fails nothing: the candidate
// is published, and the status is manual (chapter F, 5.3).
func (e *Engine) review(ctx context.Context, s *scope, c *change, ref string) (status, address string) {
	pr := PullRequest{Head: ref, Base: s.refs.Desired, Title: firstLine(c.message)}
	if c.review != nil {
		pr.Title, pr.Body = e.Masker.String(c.review.Title), e.Masker.String(c.review.Body)
	}
	if c.review != nil {
		address, created, err := e.ensurePullRequest(ctx, pr)
		switch {
		case err != nil:
			e.emit(report.Problem{Severity: report.Warning, Message: fmt.Sprintf("no pull request was opened for %s: %s", ref, e.Masker.String(err.Error())),
				Fix: "the candidate is published; open the pull request by hand, or run this again"})
		case address != "" && created:
			e.emit(report.Note{Word: "REVIEW", Text: "opened " + address})
			return statusCreated, address
		case address != "":
			e.emit(report.Note{Word: "REVIEW", Text: "is open at " + address})
			return statusExisting, address
		}
	}
	e.emit(report.Note{Word: "REVIEW", Text: reviewHint(e.store.RemoteURL(), pr)})
	return statusManual, ""
}

// ensurePullRequest asks the remote's forge, if there is one to ask; without, the address is "".
func (e *Engine) ensurePullRequest(ctx context.Context, pr PullRequest) (address string, created bool, err error) {
	if e.OpenForge == nil {
		return "", false, nil
	}
	server, repository, ok := forgeOf(e.store.RemoteURL())
	if !ok {
		server.host, repository = "", ""
	}
	forge, err := e.OpenForge(server.host, repository)
	if err != nil || forge == nil {
		return "", false, err
	}
	return forge.EnsurePullRequest(ctx, pr)
}

// reviewHint says how to bring a candidate into its desired ref by hand: the page and the command that open the pull request
// where the remote's forge is known, and what a merge amounts to where it is not.
func reviewHint(remote string, pr PullRequest) string {
	server, repository, ok := forgeOf(remote)
	switch {
	case ok && server.isGitHub():
		repo := repository
		if server.host != "github.com" {
			repo = server.host + "/" + repository
		}
		return fmt.Sprintf("open a pull request from %s into %s: %s/%s/compare/%s...%s?expand=1 or gh pr create --repo %s --head %s --base %s --title %s --body ''",
			pr.Head, pr.Base, server.origin, repository, escapeRef(pr.Base), escapeRef(pr.Head), shellQuote(repo), shellQuote(pr.Head), shellQuote(pr.Base), shellQuote(pr.Title))
	case ok && strings.Contains(server.host, "gitlab"):
		return fmt.Sprintf("open a merge request from %s into %s: glab mr create --repo %s --source-branch %s --target-branch %s --title %s --description ''",
			pr.Head, pr.Base, shellQuote(repository), shellQuote(pr.Head), shellQuote(pr.Base), shellQuote(pr.Title))
	}
	return fmt.Sprintf("review %s, then merge it into %s: git fetch origin %s && git push origin FETCH_HEAD:%s",
		pr.Head, pr.Base, shellQuote("refs/heads/"+pr.Head), shellQuote("refs/heads/"+pr.Base))
}

// forgeServer is where a remote's web pages are.
type forgeServer struct{ origin, host string }

func (f forgeServer) isGitHub() bool {
	return f.host == "github.com" || strings.HasPrefix(f.host, "github.") || strings.Contains(f.host, ".github.") || strings.HasSuffix(f.host, ".ghe.com")
}

// forgeOf takes the server and the repository out of a remote's URL, written as a URL or as [user@]host:path.
func forgeOf(remote string) (server forgeServer, repository string, ok bool) {
	remote = strings.TrimSpace(remote)
	var host, path string
	if strings.Contains(remote, "://") {
		u, err := url.Parse(remote)
		if err != nil || u.Scheme == "file" {
			return forgeServer{}, "", false
		}
		host, path = u.Hostname(), u.Path
		server.origin = "https://" + strings.ToLower(host)
		if strings.HasPrefix(u.Scheme, "http") {
			server.origin = strings.ToLower(u.Scheme + "://" + u.Host)
		}
	} else {
		var rest string
		if rest, path, ok = strings.Cut(remote, ":"); !ok || strings.Contains(rest, "/") {
			return forgeServer{}, "", false
		}
		host = rest[strings.LastIndexByte(rest, '@')+1:]
		server.origin = "https://" + strings.ToLower(host)
	}
	server.host = strings.TrimPrefix(strings.ToLower(host), "www.")
	repository = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	owner, name, found := strings.Cut(repository, "/")
	return server, repository, server.host != "" && found && owner != "" && name != ""
}

func escapeRef(ref string) string {
	parts := strings.Split(ref, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}

// shellQuote makes one word of s for a POSIX shell.
func shellQuote(s string) string {
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-:@%+=,"
	if s != "" && strings.Trim(s, safe) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
