package gitstate

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
)

const headsPrefix = "refs/heads/"

// reservedRefs are namespaces that hold the controller's own bookkeeping; no publication ref may lie in them.
var reservedRefs = [...]string{"gitopsctr/pins", "gitopsctr/owners", "gitopsctr/locks"}

// CanonicalRef returns the short form of a publication ref: the branch name without "refs/heads/" (chapter F, 2.1).
// It accepts the short and the full form, and refuses names that Git does not allow for a branch, names below reserved
// prefixes, and names that start with "-".
func CanonicalRef(name string) (string, error) {
	short := strings.TrimPrefix(name, headsPrefix)
	switch {
	case short == "":
		return "", fmt.Errorf("the ref name %q is empty", name)
	case short == name && strings.HasPrefix(name, "refs/"):
		return "", fmt.Errorf("the ref %q is not a branch; use a branch name, with or without refs/heads/", name)
	}
	for _, reserved := range reservedRefs {
		if short == reserved || strings.HasPrefix(short, reserved+"/") {
			return "", fmt.Errorf("the ref %q is reserved for the controller; choose a name outside %s", name, reserved)
		}
	}
	if err := checkBranch(short); err != nil {
		return "", err
	}
	return short, nil
}

// checkBranch checks a short branch name by Git's rules for ref names.
func checkBranch(short string) error {
	components := strings.Split(short, "/")
	for i, c := range components {
		if c == "@" { // Git forbids "@" only as a whole ref name, go-git in any place
			components[i] = "x"
		}
	}
	probe := plumbing.NewBranchReferenceName(strings.Join(components, "/"))
	if probe.Validate() != nil || !utf8.ValidString(short) {
		return fmt.Errorf("%q is not a valid branch name", short)
	}
	return nil
}
