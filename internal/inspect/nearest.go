package inspect

import (
	"fmt"
	"slices"
)

// suggest returns ", did you mean …?" when one of the candidates is close to what was typed, else "".
func suggest(typed string, candidates []string) string {
	if near := Nearest(typed, candidates); near != "" {
		return fmt.Sprintf(", did you mean %q?", near)
	}
	return ""
}

// Nearest returns the candidate that a typed name most probably stands for: the one with the fewest letters to change, and
// none when more than a third of them would have to be; "" then.
func Nearest(typed string, candidates []string) string {
	best, found := max(2, len(typed)/3)+1, ""
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		if d := distance(typed, c); d < best && d < len(c) {
			best, found = d, c
		}
	}
	return found
}

// distance is the Levenshtein distance of two names, in bytes: names are ASCII.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
