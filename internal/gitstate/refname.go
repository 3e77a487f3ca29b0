package gitstate

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
)

const headsPrefix = "refs/heads/"

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
