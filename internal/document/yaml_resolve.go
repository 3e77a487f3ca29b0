package document

import "strings"

// scalarTag is the YAML 1.1 type that a plain scalar resolves to.
type scalarTag uint8

const (
	tagString scalarTag = iota
	tagNull
	tagBool
	tagInt
	tagFloat
	tagTimestamp
	tagMerge
	tagValue
)

// String names the type as an error message would.
func (t scalarTag) String() string {
	return [...]string{"a string", "null", "a boolean", "an integer", "a number", "a date or time", "a merge key", "the value key"}[t]
}

// resolvePlain tells what a plain scalar is, by the table of chapter A 2. The reader and the emitter share it: the emitter
// quotes exactly the strings that would not be read back as strings.
func resolvePlain(s string) scalarTag {
	if s == "" {
		return tagNull
	}
	switch s[0] {
	case '~', 'n', 'N', 'y', 'Y', 't', 'T', 'f', 'F', 'o', 'O':
		return resolveWord(s)
	case '+', '-', '.', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		switch {
		case isYAMLFloat(s):
			return tagFloat
		case isYAMLInt(s):
			return tagInt
		case isYAMLTimestamp(s):
			return tagTimestamp
		}
	case '<':
		if s == "<<" {
			return tagMerge
		}
	case '=':
		if s == "=" {
			return tagValue
		}
	}
	return tagString
}

func resolveWord(s string) scalarTag {
	switch s {
	case "~", "null", "Null", "NULL":
		return tagNull
	case "yes", "Yes", "YES", "no", "No", "NO", "true", "True", "TRUE", "false", "False", "FALSE",
		"on", "On", "ON", "off", "Off", "OFF":
		return tagBool
	}
	return tagString
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// span returns the number of leading bytes of s that belong to the class.
func span(s string, class func(byte) bool) int {
	for i := 0; i < len(s); i++ {
		if !class(s[i]) {
			return i
		}
	}
	return len(s)
}

func digitOrUnderscore(c byte) bool  { return isDigit(c) || c == '_' }
func binaryOrUnderscore(c byte) bool { return c == '0' || c == '1' || c == '_' }
func octalOrUnderscore(c byte) bool  { return '0' <= c && c <= '7' || c == '_' }
func hexOrUnderscore(c byte) bool {
	return digitOrUnderscore(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func trimSign(s string) string {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return s[1:]
	}
	return s
}

// sexagesimal returns the length of (:[0-5]?[0-9])* at the start of s.
func sexagesimal(s string) int {
	n := 0
	for n+1 < len(s) && s[n] == ':' && isDigit(s[n+1]) {
		if n+2 < len(s) && isDigit(s[n+2]) {
			if s[n+1] > '5' {
				return n
			}
			n += 3
		} else {
			n += 2
		}
	}
	return n
}

func isYAMLInt(s string) bool {
	s = trimSign(s)
	switch {
	case s == "" || !isDigit(s[0]):
		return false
	case s == "0":
		return true
	case s[0] != '0':
		s = s[span(s, digitOrUnderscore):]
		return sexagesimal(s) == len(s)
	case s[1] == 'b':
		return len(s) > 2 && span(s[2:], binaryOrUnderscore) == len(s)-2
	case s[1] == 'x':
		return len(s) > 2 && span(s[2:], hexOrUnderscore) == len(s)-2
	}
	return span(s, octalOrUnderscore) == len(s)
}

func isYAMLFloat(s string) bool {
	switch trimSign(s) {
	case ".inf", ".Inf", ".INF":
		return true
	}
	if s[0] == '.' {
		switch {
		case s == ".nan" || s == ".NaN" || s == ".NAN":
			return true
		case len(s) < 2 || !isDigit(s[1]):
			return false
		}
		return isExponentOrEmpty(s[1+span(s[1:], digitOrUnderscore):])
	}
	s = trimSign(s)
	if s == "" || !isDigit(s[0]) {
		return false
	}
	s = s[span(s, digitOrUnderscore):]
	sixty := sexagesimal(s)
	s = s[sixty:]
	if s == "" || s[0] != '.' {
		return false
	}
	s = s[1:]
	s = s[span(s, digitOrUnderscore):]
	return s == "" || sixty == 0 && isExponentOrEmpty(s)
}

// isExponentOrEmpty matches ([eE][-+][0-9]+)?, the sign being required.
func isExponentOrEmpty(s string) bool {
	if s == "" {
		return true
	}
	return len(s) > 2 && (s[0] == 'e' || s[0] == 'E') && (s[1] == '-' || s[1] == '+') && span(s[2:], isDigit) == len(s)-2
}

// isYAMLTimestamp matches a date, or a date and time.
func isYAMLTimestamp(s string) bool {
	if len(s) < 8 || span(s, isDigit) != 4 || s[4] != '-' {
		return false
	}
	month := span(s[5:], isDigit)
	rest := s[5+month:]
	if month < 1 || month > 2 || rest == "" || rest[0] != '-' {
		return false
	}
	day := span(rest[1:], isDigit)
	rest = rest[1+day:]
	if day < 1 || day > 2 {
		return false
	}
	if rest == "" {
		return month == 2 && day == 2
	}
	if rest[0] == 'T' || rest[0] == 't' {
		rest = rest[1:]
	} else if trimmed := strings.TrimLeft(rest, " \t"); trimmed != rest {
		rest = trimmed
	} else {
		return false
	}
	return isYAMLTime(rest)
}

// isYAMLTime matches H?H:MM:SS with optional fraction and zone.
func isYAMLTime(s string) bool {
	hour := span(s, isDigit)
	if hour < 1 || hour > 2 {
		return false
	}
	s = s[hour:]
	for range 2 {
		if len(s) < 3 || s[0] != ':' || !isDigit(s[1]) || !isDigit(s[2]) {
			return false
		}
		s = s[3:]
	}
	if s != "" && s[0] == '.' {
		s = s[1+span(s[1:], isDigit):]
	}
	if s == "" {
		return true
	}
	s = strings.TrimLeft(s, " \t")
	if s == "Z" {
		return true
	}
	if s == "" || s[0] != '-' && s[0] != '+' {
		return false
	}
	s = s[1:]
	hour = span(s, isDigit)
	if hour < 1 || hour > 2 {
		return false
	}
	s = s[hour:]
	return s == "" || len(s) == 3 && s[0] == ':' && isDigit(s[1]) && isDigit(s[2])
}
