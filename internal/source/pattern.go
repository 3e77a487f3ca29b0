package source

import (
	"strings"
	"unicode/utf8"
)

// isGlob tells whether a pattern, or one component of it, has a wildcard.
func isGlob(pattern string) bool { return strings.ContainsAny(pattern, "*?[") }

// splitPattern returns the components of a pattern without empty and "." ones. A trailing slash shows as a last "".
func splitPattern(pattern string) []string {
	var parts []string
	for part := range strings.SplitSeq(pattern, "/") {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	if strings.HasSuffix(pattern, "/") {
		parts = append(parts, "")
	}
	return parts
}

// matchName tells whether one file name matches one component of a pattern: "*" any characters, "?" one, "[abc]",
// "[a-z]", "[!x]" one of a set. There is no escape character, an unclosed "[" is an ordinary character, and a leading
// dot is nothing special (chapter B, 3.2). "**" inside a longer component is as "*".
func matchName(pattern, name string) bool {
	// The usual two-pointer walk: on a mismatch, let the last star take one character more.
	star, starName := -1, 0
	p, n := 0, 0
	for n < len(name) {
		c, size := utf8.DecodeRuneInString(name[n:])
		width, ok := 0, false
		if p < len(pattern) && pattern[p] == '*' {
			star, starName = p, n
			p++
			continue
		}
		if p < len(pattern) {
			width, ok = matchOne(pattern[p:], name[n:n+size], c)
		}
		switch {
		case ok:
			p += width
			n += size
		case star >= 0:
			_, skipped := utf8.DecodeRuneInString(name[starName:])
			starName += skipped
			p, n = star+1, starName
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// matchOne matches the first item of the pattern against one character, and returns how long that item is. raw is the
// character's bytes, which differ from c where the name is not UTF-8.
func matchOne(pattern, raw string, c rune) (width int, ok bool) {
	switch pattern[0] {
	case '?':
		return 1, true
	case '[':
		if set, width, closed := cutSet(pattern); closed {
			return width, matchSet(set, c)
		}
		return 1, raw == "["
	}
	_, width = utf8.DecodeRuneInString(pattern)
	return width, raw == pattern[:width]
}

// cutSet returns what stands between the brackets that open the pattern. A "]" that comes first is a member.
func cutSet(pattern string) (set string, width int, closed bool) {
	i := 1
	if i < len(pattern) && pattern[i] == '!' {
		i++
	}
	if i < len(pattern) && pattern[i] == ']' {
		i++
	}
	end := strings.IndexByte(pattern[min(i, len(pattern)):], ']')
	if end < 0 {
		return "", 0, false
	}
	return pattern[1 : i+end], i + end + 1, true
}

// matchSet tells whether the set has the character. A range whose end is before its start has no members.
func matchSet(set string, c rune) bool {
	members, negated := strings.CutPrefix(set, "!")
	runes := []rune(members)
	for i := 0; i < len(runes); i++ {
		low, high := runes[i], runes[i]
		if i+2 < len(runes) && runes[i+1] == '-' {
			high = runes[i+2]
			i += 2
		}
		if low <= c && c <= high {
			return !negated
		}
	}
	return negated
}
