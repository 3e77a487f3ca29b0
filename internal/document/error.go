package document

import (
	"fmt"
	"strings"
)

// An Error is one fault of one document, said so that a person can mend it and an annotation can point at it.
type Error struct {
	// File is the path as the user knows it: relative to the repository, or as given on the command line.
	File string
	// Line and Column are 1-based; 0 when unknown.
	Line, Column int
	// Pointer is the JSON Pointer of the faulty value from the document's root; "" is the whole document.
	Pointer string
	// Message says what is wrong, without a final full stop.
	Message string
	// Fix says what to do, "" when the message says it already.
	Fix string
}

// Error returns "file:line:column: /pointer: message (fix)", leaving out what is unknown.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d", e.Line)
			if e.Column > 0 {
				fmt.Fprintf(&b, ":%d", e.Column)
			}
		}
		b.WriteString(": ")
	}
	if e.Pointer != "" {
		b.WriteString(e.Pointer + ": ")
	}
	b.WriteString(e.Message)
	if e.Fix != "" {
		b.WriteString("; " + e.Fix)
	}
	return b.String()
}

// Errors are all faults of one document, in document order; never empty.
type Errors []*Error

// Error joins the faults with line breaks.
func (e Errors) Error() string {
	parts := make([]string, len(e))
	for i, x := range e {
		parts[i] = x.Error()
	}
	return strings.Join(parts, "\n")
}

// Unwrap gives errors.As access to each fault.
func (e Errors) Unwrap() []error {
	out := make([]error, len(e))
	for i, x := range e {
		out[i] = x
	}
	return out
}
