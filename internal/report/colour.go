package report

import "strings"

// Colour tells whether a stream gets colours (chapter H, 8). getenv looks up environment variables; an empty one counts
// as unset. FORCE_COLOR=0 means off, as other tools have it (H 13, 10).
func Colour(getenv func(string) string, isTerminal, isRegularFile bool) bool {
	switch force := getenv("FORCE_COLOR"); {
	case getenv("NO_COLOR") != "":
		return false
	case force != "":
		return force != "0"
	case isRegularFile || strings.EqualFold(getenv("TERM"), "dumb"):
		return false
	case isTerminal:
		return true
	}
	switch strings.ToLower(strings.TrimSpace(getenv("CI"))) {
	case "", "0", "false", "no", "off":
		return false
	}
	return true
}

// A role says what a piece of text is, which decides its colour (chapter H, 8). The zero role is plain text.
type role int

const (
	text role = iota
	heading
	entity
	environment
	revision
	muted
	success
	warning
	failure
	focus
	label
)

// paint wraps text in the role's escape sequence.
func (r role) paint(s string) string {
	if s == "" {
		return ""
	}
	const end = "\x1b[0m"
	switch r {
	case heading, entity, focus:
		return "\x1b[1;36m" + s + end
	case environment:
		return "\x1b[3;4m" + s + "\x1b[23;24m"
	case revision, warning:
		return "\x1b[1;33m" + s + end
	case muted:
		return "\x1b[2m" + s + end
	case success:
		return "\x1b[1;32m" + s + end
	case failure:
		return "\x1b[1;31m" + s + end
	case label:
		return "\x1b[1m" + s + end
	default:
		return s
	}
}

// PaintEntity colours the name of a Unit, a ref or an artifact.
func PaintEntity(name string) string { return entity.paint(name) }

// wordRole is the role of a status word; message is the rest of its line.
func wordRole(word, message string) role {
	switch word {
	case "RESULT", "APPLY", "PLAN":
		verdict, _, _ := strings.Cut(strings.ToUpper(message), ":")
		switch {
		case strings.HasPrefix(verdict, "FAILED"):
			return failure
		case verdict == "DRIFT":
			return warning
		case verdict == "CLEAN" || verdict == "VALID" || strings.HasPrefix(verdict, "SUCCEEDED"):
			return success
		}
	}
	switch word {
	case "UNCHANGED":
		return muted
	case "DONE", "CLEAN", "VALID", "KEEP", "UPDATE", "OBSERVE", "MATERIALIZED", "UP TO DATE", "ADDED", "UPDATED":
		return success
	case "WAIT", "REFRESH", "SKIP", "RETRY", "DRY", "MANUAL", "DRIFT", "UNSCOPED", "APPROVE", "WARN":
		return warning
	case "FAILED", "ERROR", "INVALID":
		return failure
	case "READY", "CHANGED", "RUN", "NEXT", "PROMOTE", "PIN", "VERIFY", "PLAN", "REVIEW":
		return focus
	}
	return label
}
