package document

import (
	"fmt"
	"strconv"
	"strings"
)

// A PointerError says which reference token of a JSON Pointer does not lead anywhere, and why.
type PointerError struct {
	// Pointer is the whole pointer as given.
	Pointer string
	// Token is the unescaped token that failed; Index is its place in the pointer (0 is the first), -1 when the pointer as a
	// whole is malformed.
	Token string
	Index int
	// Reason says why, in the words of an error message.
	Reason string
}

// Error returns the pointer, the token and the reason.
func (e *PointerError) Error() string {
	if e.Index < 0 {
		return fmt.Sprintf("JSON Pointer %q: %s", e.Pointer, e.Reason)
	}
	return fmt.Sprintf("JSON Pointer %q: token %q: %s", e.Pointer, e.Token, e.Reason)
}

// ParsePointer splits a JSON Pointer (RFC 6901) into its unescaped reference tokens; "" has none. The error is a
// *PointerError: the pointer does not start with "/", or a "~" is not followed by "0" or "1".
func ParsePointer(pointer string) ([]string, error) {
	if pointer == "" {
		return nil, nil
	}
	if pointer[0] != '/' {
		return nil, &PointerError{Pointer: pointer, Index: -1, Reason: `must be empty or start with "/"`}
	}
	tokens := strings.Split(pointer[1:], "/")
	for i, t := range tokens {
		token, ok := unescapeToken(t)
		if !ok {
			return nil, &PointerError{Pointer: pointer, Token: t, Index: i, Reason: `"~" must be followed by "0" or "1"`}
		}
		tokens[i] = token
	}
	return tokens, nil
}

func unescapeToken(t string) (string, bool) {
	if !strings.Contains(t, "~") {
		return t, true
	}
	for i := 0; i < len(t); i++ {
		if t[i] == '~' && (i+1 == len(t) || t[i+1] != '0' && t[i+1] != '1') {
			return "", false
		}
	}
	return strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~"), true
}

// At returns the node below n that a JSON Pointer leads to, by the rules of chapter B 5.3: exact keys (the empty one
// included), array indexes without sign, leading zero or any other leniency, and no "-". A null that is present is a
// result. The error is a *PointerError.
func (n *Node) At(pointer string) (*Node, error) {
	tokens, err := ParsePointer(pointer)
	if err != nil {
		return nil, err
	}
	for i, token := range tokens {
		next, reason := n.step(token)
		if next == nil {
			return nil, &PointerError{Pointer: pointer, Token: token, Index: i, Reason: reason}
		}
		n = next
	}
	if n == nil {
		return nil, &PointerError{Pointer: pointer, Index: -1, Reason: "there is no document"}
	}
	return n, nil
}

// step returns the child of n that one token names, or nil and the reason why there is none.
func (n *Node) step(token string) (*Node, string) {
	switch {
	case n == nil:
		return nil, "there is no value"
	case n.Kind == Map:
		if f := n.Field(token); f != nil {
			return f.Value, ""
		}
		return nil, "no such key"
	case n.Kind == List:
		i, ok := arrayIndex(token)
		switch {
		case !ok:
			return nil, "not a list index (0, 1, 2, …)"
		case i >= len(n.Items):
			return nil, fmt.Sprintf("the list has %d items", len(n.Items))
		}
		return n.Items[i], ""
	}
	return nil, fmt.Sprintf("cannot step into %s", withArticle(n.Kind))
}

// arrayIndex reads 0|[1-9][0-9]*; an index beyond any list reads as the largest int.
func arrayIndex(token string) (int, bool) {
	if token == "" || token[0] == '0' && len(token) > 1 {
		return 0, false
	}
	for i := 0; i < len(token); i++ {
		if token[i] < '0' || token[i] > '9' {
			return 0, false
		}
	}
	i, err := strconv.Atoi(token)
	if err != nil {
		return int(^uint(0) >> 1), true
	}
	return i, true
}

// Locate returns the 1-based position of the deepest value on the way along a JSON Pointer that exists and has one: the
// key of a mapping's member, else the value itself. It returns 0, 0 when nothing on the way was read from text.
func (n *Node) Locate(pointer string) (line, column int) {
	if n == nil {
		return 0, 0
	}
	line, column = n.Line, n.Column
	tokens, err := ParsePointer(pointer)
	if err != nil {
		return line, column
	}
	for _, token := range tokens {
		next, _ := n.step(token)
		if next == nil {
			break
		}
		if f := n.Field(token); f != nil && f.Line > 0 {
			line, column = f.Line, f.Column
		} else if next.Line > 0 {
			line, column = next.Line, next.Column
		}
		n = next
	}
	return line, column
}
