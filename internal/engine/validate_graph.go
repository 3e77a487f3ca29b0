package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/expression"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// cycles reports Units that wait for each other, and warns of producers that no document defines: both wait for ever.
func (v *validation) cycles(units map[string]*resource.AuthoredUnit) error {
	producers := map[string][]string{}
	for _, name := range sortedKeys(units) {
		producers[name] = nil
		for _, p := range authoredProducers(units[name]) {
			if p == name {
				continue // reported as a self reference
			}
			if units[p] != nil {
				producers[name] = append(producers[name], p)
			} else if !strings.Contains(p, "/") {
				v.problems = append(v.problems, unknownProducer(units[name], p))
			}
		}
	}
	for _, cycle := range graphOf(producers).Cycles() {
		at := referenceTo(units[cycle[0]], cycle[1])
		if err := v.fault(&document.Error{File: at.File, Line: at.Line, Column: at.Column, Pointer: at.Pointer,
			Message: "Units wait for each other: " + strings.Join(cycle, " -> "), Fix: "remove one of the references"}); err != nil {
			return err
		}
	}
	return nil
}

// unknownProducer warns at the first reference to a Unit that the environment does not define.
func unknownProducer(u *resource.AuthoredUnit, producer string) report.Problem {
	return report.Problem{Severity: report.Warning, Unit: u.Name, Position: referenceTo(u, producer),
		Message: fmt.Sprintf("no document of this environment defines the Unit %q that it reads", producer), Fix: "correct the name, or ignore this when a Stack provides it"}
}

// referenceTo is the place of a Unit's first reference to a producer.
func referenceTo(u *resource.AuthoredUnit, producer string) report.Position {
	at := report.Position{File: u.File}
	_ = expression.Walk("", u.Spec, func(r *expression.Reference) error { // parsed before
		if r.Unit == producer && at.Line == 0 && r.Node != nil {
			at.Line, at.Column, at.Pointer = r.Node.Line, r.Node.Column, "/spec"+r.At
		}
		return nil
	})
	return at
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
