package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

// String returns "unit: file:line:column: /pointer: message; fix", leaving out what is unknown.
func (p Problem) String() string {
	var b strings.Builder
	if p.Unit != "" {
		b.WriteString(p.Unit + ": ")
	}
	if p.Position.File != "" {
		b.WriteString(p.Position.File)
		if p.Position.Line > 0 {
			fmt.Fprintf(&b, ":%d", p.Position.Line)
			if p.Position.Column > 0 {
				fmt.Fprintf(&b, ":%d", p.Position.Column)
			}
		}
		b.WriteString(": ")
	}
	if p.Position.Pointer != "" {
		b.WriteString(p.Position.Pointer + ": ")
	}
	b.WriteString(p.Message)
	if p.Fix != "" {
		b.WriteString("; " + p.Fix)
	}
	return b.String()
}

// Problems turns an error into the Problems that a person has to act on: one for each document fault in it, with its
// position, and one with the whole text for every joined error that holds no such fault.
func Problems(err error) []Problem {
	var inner []Problem
	switch e := err.(type) { //nolint:errorlint // it walks the chain itself, link by link
	case nil:
		return nil
	case *document.Error:
		return []Problem{problemOf(e)}
	case interface{ Unwrap() []error }:
		texts := []string{}
		for _, part := range e.Unwrap() {
			inner = append(inner, Problems(part)...)
			texts = append(texts, part.Error())
		}
		if err.Error() == strings.Join(texts, "\n") { // errors.Join, document.Errors: the parts are all that it says
			return inner
		}
	case interface{ Unwrap() error }:
		inner = Problems(e.Unwrap())
	}
	if slices.ContainsFunc(inner, func(p Problem) bool { return p.Position != Position{} }) {
		return inner
	}
	return []Problem{{Severity: Error, Message: err.Error()}}
}

func problemOf(fault *document.Error) Problem {
	return Problem{
		Severity: Error,
		Position: Position{File: fault.File, Line: fault.Line, Column: fault.Column, Pointer: fault.Pointer},
		Message:  fault.Message,
		Fix:      fault.Fix,
	}
}
