package resource

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

// expects names what the shape takes, with its article.
func (s *shape) expects() string {
	switch s.kind {
	case listShape:
		return "a list"
	case textShape:
		if s.allowed != nil {
			return orQuoted(s.allowed)
		}
		return "a string"
	case flagShape:
		return "true or false"
	case integerShape:
		switch {
		case s.exactly != nil:
			return "the integer " + strconv.FormatInt(*s.exactly, 10)
		case s.atLeast != nil:
			return "an integer of at least " + strconv.FormatInt(*s.atLeast, 10)
		}
		return "an integer"
	case scalarShape:
		return "a string, a number, true or false"
	case valueShape, templateShape:
		return "a value"
	case typedShape:
		return s.elem.expects() + " or a reference"
	}
	return "a mapping"
}

func article(k document.Kind) string {
	switch k {
	case document.Null:
		return "null"
	case document.Int:
		return "an integer"
	}
	return "a " + k.String()
}

// orList joins names as "a", "a or b", "a, b or c".
func orList(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

func orQuoted(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = strconv.Quote(n)
	}
	return orList(quoted)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// nearest returns the name that the mistyped one most likely meant, or "".
func nearest(typed string, names []string) string {
	best, distance := "", 3
	for _, name := range names {
		if strings.EqualFold(name, typed) {
			return name
		}
		if d := edits(typed, name); d < distance && d < len(name) {
			best, distance = name, d
		}
	}
	return best
}

// edits is the Levenshtein distance of two field names.
func edits(a, b string) int {
	if len(a) > 40 || len(b) > 40 {
		return 40
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}

// quote quotes a text for an error message, cut when it is long.
func quote(s string) string {
	const limit = 60
	if r := []rune(s); len(r) > limit {
		s = string(r[:limit]) + "…"
	}
	return strconv.Quote(s)
}
