package gitstate

// phrases are words by which servers say why they refuse, in lower case; the first match decides. The order matters:
// a hosting service reports protection as a declined hook, and a race as a failed update.
var phrases = [...]struct {
	kind Kind
	any  []string
}{
	{Protected, []string{
		"gh006", "gh013", "protected branch", "protected ref", "rule violations", "push rule", "branch is protected",
		"not allowed to push code to protected", "cannot force-push to this",
	}},
	{Quota, []string{
		"gh001", "file size limit", "large files detected", "disk quota", "no space left", "size limit", "exceeded your quota",
		"quota exceeded", "maximum allowed size", "pack exceeds",
	}},
	{Other, []string{"exists; cannot create"}},
	{Moved, []string{
		"non-fast-forward", "fetch first", "stale info", "incorrect old value", "reference already exists",
		"remote ref updated", "cannot lock ref", "but expected", "failed to lock", "needs merge", "ref is at",
		"remote ref is at", "unable to resolve reference",
	}},
	{HookDeclined, []string{"hook declined", "hook rejected", "declined by hook"}},
	{Auth, []string{
		"authentication required", "authentication failed", "invalid credentials", "bad credentials", "permission denied (publickey",
		"unable to authenticate", "handshake failed", "could not read username", "invalid username or",
		"host key", "knownhosts", "known_hosts", "ssh agent", "ssh_auth_sock",
	}},
	{Denied, []string{
		"write access", "not allowed to push", "denied to", "access denied", "read-only", "read only",
		"archived", "deletion of the current branch", "deletion prohibited", "forbidden", "resource not accessible",
		"deny updating a hidden ref", "denying", "insufficient permission",
	}},
	{NotFound, []string{
		"repository not found", "does not appear to be a git repository", "not our ref", "no such repository",
		"does not exist or you do not have access", "could not be found",
	}},
	{Timeout, []string{"timeout", "timed out", "deadline exceeded"}},
	{Unavailable, []string{
		"connection refused", "connection reset", "no such host", "broken pipe", "unexpected eof", "network is unreachable",
		"no route to host", "temporarily unavailable", "internal server error", "bad gateway", "try again", "early eof",
		"hung up unexpectedly", "server misbehaving", "tls handshake", "file already closed",
		"connection ended before", "empty git-upload-pack given",
	}},
}

// pushRemedies say what a person can do when a push fails.
var pushRemedies = map[Kind]string{
	Moved:        "somebody else published at the same time; run again",
	Protected:    "allow this identity to bypass the ruleset or branch protection of the ref, or configure a ref outside it; a GitHub App token can be given a bypass, the workflow's own token cannot",
	Denied:       "give the token the permission to write: in a workflow, permissions: contents: write; check also that the repository is not archived",
	HookDeclined: "a hook of the server refuses this push; its message says what it wants",
	Auth:         "pass a token (github-token input, or a Git credential helper) or an SSH key that the server knows, and its host key in known_hosts",
	NotFound:     "check the remote's URL and that the token may see the repository",
	Quota:        "remove large files from what is published, or raise the limit on the server",
	Timeout:      "the outcome was checked on the remote; run again when the server answers",
	Unavailable:  "check the network and the server's status, then run again",
}

// readRemedies say what a person can do when reading fails.
var readRemedies = map[Kind]string{
	Denied:      "give the token the permission to read: in a workflow, permissions: contents: read",
	Auth:        pushRemedies[Auth],
	NotFound:    pushRemedies[NotFound],
	Timeout:     "run again when the server answers",
	Unavailable: pushRemedies[Unavailable],
}
