package gitstate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// What servers say, as reported by go-git for the ref and on the side band.
func TestClassify(t *testing.T) {
	t.Parallel()
	status := func(text string) error { return errors.New("command error on refs/heads/b: " + text) }
	for _, c := range []struct {
		title string
		err   error
		said  string
		want  Kind
	}{
		{"Git, file: moved", status("failed to update ref"), "error: cannot lock ref 'refs/heads/b': is at 1f2e but expected 9c8d", Moved},
		{"Git, file: created meanwhile", status("failed to update ref"), "error: cannot lock ref 'refs/heads/b': reference already exists", Moved},
		{"Git, file: locked", status("failed to update ref"), "error: cannot lock ref 'refs/heads/b': Unable to create '/srv/r.git/refs/heads/b.lock': File exists.", Moved},
		{"Git, file: gone meanwhile", status("failed to update ref"), "error: cannot lock ref 'refs/heads/b': unable to resolve reference 'refs/heads/b'", Moved},
		{"Git 2.50", status("incorrect old value provided"), "", Moved},
		{"Git 2.50, create", status("reference already exists"), "", Moved},
		{"denyNonFastForwards", status("non-fast-forward"), "error: denying non-fast-forward refs/heads/b (you should pull first)", Moved},
		{"Git client: fetch first", errors.New("! [rejected] b -> b (fetch first)"), "", Moved},
		{"Git client: lease", errors.New("! [rejected] b -> b (stale info)"), "", Moved},
		{"Git client: lease, include", errors.New("! [rejected] b -> b (remote ref updated since checkout)"), "", Moved},
		{"JGit", status("remote ref is at 1f2e but expected 9c8d"), "", Moved},
		{"branch and directory", status("failed to update ref"), "error: cannot lock ref 'refs/heads/b/c': 'refs/heads/b' exists; cannot create 'refs/heads/b/c'", Other},
		{"GitHub: protected", status("protected branch hook declined"), "error: GH006: Protected branch update failed for refs/heads/b.\nerror: Changes must be made through a pull request.", Protected},
		{"GitHub: ruleset", status("push declined due to repository rule violations"), "error: GH013: Repository rule violations found for refs/heads/b.", Protected},
		{"GitHub: large file", status("pre-receive hook declined"), "error: GH001: Large files detected.\nerror: File x is 120 MB; this exceeds GitHub's file size limit of 100.00 MB", Quota},
		{"GitHub: own hook", status("pre-receive hook declined"), "no", HookDeclined},
		{"GitHub: no permission", fmt.Errorf("%w: Permission to acme/deploy.git denied to github-actions[bot].", transport.ErrAuthorizationFailed), "", Denied},
		{"GitHub: integration", fmt.Errorf("%w: Write access to repository not granted.", transport.ErrAuthorizationFailed), "", Denied},
		{"GitHub: archived", fmt.Errorf("%w: This repository was archived so it is read-only.", transport.ErrAuthorizationFailed), "", Denied},
		{"GitHub: bad token", fmt.Errorf("%w: Invalid username or token.", transport.ErrAuthenticationRequired), "", Auth},
		{"GitHub: hidden", fmt.Errorf("%w: Repository not found.", transport.ErrRepositoryNotFound), "", NotFound},
		{"GitHub: unknown commit", errors.New("remote error: upload-pack: not our ref 1f2e"), "", NotFound},
		{"GitLab: protected", status("pre-receive hook declined"), "GitLab: You are not allowed to push code to protected branches on this project.", Protected},
		{"GitLab: force push", status("pre-receive hook declined"), "GitLab: You are not allowed to force push code to a protected branch on this project.", Protected},
		{"GitLab: no permission", errors.New("unknown error: remote: You are not allowed to push code to this project."), "", Denied},
		{"GitLab: moved", status("failed to update ref"), "remote: incorrect old value provided", Moved},
		{"GitLab: hidden", errors.New("The project you were looking for could not be found or you don't have permission to view it."), "", NotFound},
		{"Gitea: protected", status("pre-receive hook declined"), "Gitea: Not allowed to push to protected branch b", Protected},
		{"Gitea: branch is protected", status("pre-receive hook declined"), "branch is protected from force push", Protected},
		{"Gitea: no permission", errors.New("Gitea: User permission denied for writing: you have no write access"), "", Denied},
		{"update hook", status("hook declined"), "", HookDeclined},
		{"disk full", errors.New("unpack error: unable to write file: No space left on device"), "", Quota},
		{"hidden ref", status("deny updating a hidden ref"), "", Denied},
		{"current branch", status("deletion of the current branch prohibited"), "", Denied},
		{"ssh: key", errors.New("ssh: handshake failed: ssh: unable to authenticate, attempted methods [none publickey]"), "", Auth},
		{"ssh: host", errors.New("ssh: handshake failed: knownhosts: key is unknown"), "", Auth},
		{"ssh: no agent", errors.New("error creating SSH agent: \"SSH agent requested but SSH_AUTH_SOCK not-specified\""), "", Auth},
		{"DNS", &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "git.example.com"}}, "", Unavailable},
		{"network", plumbing.NewUnexpectedError(&net.OpError{Op: "dial", Err: errors.New("odd")}), "", Unavailable},
		{"refused", errors.New("dial tcp 127.0.0.1:1: connect: connection refused"), "", Unavailable},
		{"lost answer", fmt.Errorf("%w: %w", errNoReport, io.ErrUnexpectedEOF), "", Unavailable},
		{"deadline", fmt.Errorf("Get: %w", context.DeadlineExceeded), "", Timeout},
		{"DNS timeout", &net.DNSError{Err: "i/o timeout", IsTimeout: true}, "", Timeout},
		{"unknown", status("something new"), "", Other},
	} {
		r := &remote{shown: "https://git.example.com/x.git", redactor: &redactor{}}
		got := r.pushError(t.Context(), "b", c.err, c.said)
		if got.Kind != c.want {
			t.Errorf("%s: want %s, got %s: %s", c.title, c.want, got.Kind, got)
		}
		if got.Kind != Other && got.Fix == "" {
			t.Errorf("%s: no remedy", c.title)
		}
	}
}

func TestOnlyRacesAndOutagesAreRetried(t *testing.T) {
	t.Parallel()
	for kind, want := range map[Kind]bool{
		Moved: true, Timeout: true, Unavailable: true, Protected: false, Denied: false, HookDeclined: false, Auth: false,
		NotFound: false, Quota: false, Other: false,
	} {
		if got := kindOf(fmt.Errorf("x: %w", &PushError{Kind: kind})).transient(); got != want {
			t.Errorf("push, %s: want %v, got %v", kind, want, got)
		}
		if got := kindOf(&FetchError{Kind: kind}).transient(); got != want {
			t.Errorf("fetch, %s: want %v, got %v", kind, want, got)
		}
	}
}

func TestReadingDoesNotTalkOfPushing(t *testing.T) {
	t.Parallel()
	r := &remote{shown: "x", redactor: &redactor{}}
	err := r.fetchError(t.Context(), errors.New("cannot lock ref"))
	var fault *FetchError
	if !errors.As(err, &fault) || fault.Kind != Other || strings.Contains(err.Error(), "publish") {
		t.Errorf("error = %v", err)
	}
}
