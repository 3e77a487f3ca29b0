package resource

import (
	"fmt"
	"regexp"
	"strings"
)

// A textRule restricts the text of a string. Its pattern is for the published JSON Schemas; the check itself is ok, so
// that the reading of many documents runs no regular expression.
type textRule struct {
	// pattern must match and not must not match: ECMA 262 syntax without lookaround, "" is no restriction.
	pattern, not string
	// longest bounds the length in characters, 0 is no bound.
	longest int
	// says completes the sentence "… is not …".
	says string
	ok   func(string) bool
}

// The rules of chapter A, section 5, and of the digests and revisions that documents hold.
var (
	localName = &textRule{pattern: `^[a-z0-9][a-z0-9-]*$`, ok: isName,
		says: "a name: lower-case letters, digits and dashes, starting with a letter or digit"}
	identifier = &textRule{pattern: `^[a-z0-9][a-z0-9-]{0,62}$`, ok: isIdentifier,
		says: "an identifier: 1 to 63 lower-case letters, digits and dashes, starting with a letter or digit"}
	qualifiedName = &textRule{pattern: `^[a-z0-9][a-z0-9-]*(/[a-z0-9][a-z0-9-]*)*$`, ok: isQualifiedName,
		says: `a qualified name such as "app" or "stack/app"`}
	leaseToken = &textRule{pattern: `^[a-z0-9][a-z0-9-]{0,127}$`, says: "a lease token",
		ok: func(s string) bool { return len(s) <= 128 && isName(s) }}
	objectID = &textRule{pattern: `^[0-9a-f]{40}$`, ok: isRevision,
		says: "a full Git object id: 40 lower-case hexadecimal digits"}
	sha256Digest = &textRule{pattern: `^sha256:[0-9a-f]{64}$`, ok: isDigest,
		says: "a digest: sha256: and 64 lower-case hexadecimal digits"}
	anyDigest = &textRule{pattern: `^[a-z0-9]+:[0-9a-f]{64}$`, ok: isAnyDigest,
		says: "a digest: an algorithm, a colon and 64 lower-case hexadecimal digits"}
	nonEmpty = &textRule{pattern: `^[\s\S]`, says: "a text that is not empty", ok: func(s string) bool { return s != "" }}
	kindName = &textRule{pattern: `^[A-Z][A-Za-z0-9]*$`, ok: isKind,
		says: "a kind: letters and digits, starting with a capital"}
	apiVersion  = &textRule{pattern: `^[^/]+/[^/]+$`, ok: isAPIVersion, says: "an API version such as unit.gitopsctr.io/v1"}
	jsonPointer = &textRule{pattern: `^(/([^~]|~[01])*)?$`, ok: isPointer,
		says: `a JSON Pointer: empty, or "/" and keys separated by "/" ("~" is written ~0, "/" is written ~1)`}
	sourcePath = &textRule{pattern: `^[^/]`, not: `(^|/)\.\.(/|$)`, ok: isSourcePath,
		says: `a path inside the repository: relative, not empty, without ".."`}
	portablePath = &textRule{pattern: `^[^/\\]+(/[^/\\]+)*$`, not: `(^|/)\.\.?(/|$)`, ok: isPortablePath,
		says: `a relative path with "/" between its parts, without "." and ".." parts`}
	gitRevision   = patternRule(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`, "a Git revision: a branch, a tag or a commit id")
	gitRepository = &textRule{pattern: `^[^\s\x00]+$`, says: "a repository address without blanks",
		ok: func(s string) bool { return s != "" && !strings.ContainsAny(s, " \t\r\n\v\f\x00") }}
	projectName = &textRule{pattern: `^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$`,
		longest: 253, says: "a DNS name: labels of lower-case letters, digits and dashes, joined by dots, 253 characters at most", ok: isProjectName}
	environmentTemplate = patternRule(`^[^{}]*(\{environment\}[^{}]*)+$`,
		"a ref template: it must contain {environment}, and no other braces")
	candidateTemplate = patternRule(`^([^{}]|\{(environment|id|operation)\})*\{environment\}([^{}]|\{(environment|id|operation)\})*$`,
		"a candidate ref template: it must contain {environment}, may contain {id} and {operation}, and no other braces")
	leaseTemplate = patternRule(`^([^{}]|\{(environment|unit)\})+$`,
		"a lease ref template: {environment} is the only placeholder, and no other braces")
)

// patternRule makes a rule for values that are read once a run.
func patternRule(pattern, says string) *textRule {
	re := regexp.MustCompile(pattern)
	return &textRule{pattern: pattern, says: says, ok: re.MatchString}
}

// CheckName checks a local name: of a Unit, an environment, or one part of a qualified name (chapter A, section 5).
func CheckName(s string) error { return localName.check(s) }

// CheckUID checks a UID, a partition, or the name of a Stack, a StackTemplate, a parameter or a Unit template.
func CheckUID(s string) error { return identifier.check(s) }

// CheckQualifiedName checks local names joined by "/".
func CheckQualifiedName(s string) error { return qualifiedName.check(s) }

func (r *textRule) check(s string) error {
	if r.ok(s) {
		return nil
	}
	return fmt.Errorf("%s is not %s", quote(s), r.says)
}

func isName(s string) bool {
	if s == "" || s[0] == '-' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

func isIdentifier(s string) bool { return len(s) <= 63 && isName(s) }

func isQualifiedName(s string) bool {
	for part := range strings.SplitSeq(s, "/") {
		if !isName(part) {
			return false
		}
	}
	return true
}

func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func isRevision(s string) bool { return len(s) == 40 && isHex(s) }

func isDigest(s string) bool {
	hex, ok := strings.CutPrefix(s, "sha256:")
	return ok && len(hex) == 64 && isHex(hex)
}

func isAnyDigest(s string) bool {
	algorithm, hex, ok := strings.Cut(s, ":")
	return ok && algorithm != "" && isName(algorithm) && !strings.Contains(algorithm, "-") && len(hex) == 64 && isHex(hex)
}

func isKind(s string) bool {
	if s == "" || s[0] < 'A' || s[0] > 'Z' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

func isAPIVersion(s string) bool {
	group, version, ok := strings.Cut(s, "/")
	return ok && group != "" && version != "" && !strings.Contains(version, "/")
}

func isPointer(s string) bool {
	if s != "" && s[0] != '/' {
		return false
	}
	for i := range len(s) {
		if s[i] == '~' && (i+1 == len(s) || s[i+1] != '0' && s[i+1] != '1') {
			return false
		}
	}
	return true
}

func isSourcePath(s string) bool {
	if s == "" || s[0] == '/' {
		return false
	}
	for part := range strings.SplitSeq(s, "/") {
		if part == ".." {
			return false
		}
	}
	return true
}

func isPortablePath(s string) bool {
	if strings.Contains(s, `\`) {
		return false
	}
	for part := range strings.SplitSeq(s, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}

func isProjectName(s string) bool {
	if len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if !isIdentifier(label) || strings.HasSuffix(label, "-") {
			return false
		}
	}
	return true
}
