package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// checkSort checks that the rows can be ordered as asked: by a heading of the table.
func (q *Query) checkSort() error {
	if q.SortBy == "" {
		return nil
	}
	if !q.rows() {
		return fmt.Errorf("--sort-by orders rows: use it with -o table or wide")
	}
	var known []string
	chosen, err := selected(q.Selector)
	if err != nil {
		return err
	}
	for _, f := range chosen {
		known = append(known, columns(f, q.Output == Wide)...)
	}
	if !slices.Contains(known, strings.ToUpper(q.SortBy)) {
		return fmt.Errorf("--sort-by: no column %q%s; one of %s", q.SortBy, suggest(strings.ToUpper(q.SortBy), known), joined(known))
	}
	return nil
}

// SortRows orders the rows of each family by the column that was asked for; equal ones stay in their order.
func (q *Query) SortRows(list List) {
	if q.SortBy == "" {
		return
	}
	slices.SortStableFunc(list.Items, func(a, b Item) int {
		column := slices.Index(columns(a.Family, q.Output == Wide), strings.ToUpper(q.SortBy))
		if a.Family != b.Family || column < 0 {
			return cmp.Compare(slices.Index(families, a.Family), slices.Index(families, b.Family))
		}
		return compareCells(a.Cells[column], b.Cells[column])
	})
}

// compareCells orders numbers by value and everything else by code point.
func compareCells(a, b string) int {
	x, errX := strconv.Atoi(a)
	y, errY := strconv.Atoi(b)
	if errX == nil && errY == nil {
		return cmp.Compare(x, y)
	}
	return strings.Compare(a, b)
}
