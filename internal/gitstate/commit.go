package gitstate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Commit makes a commit of a tree in the private store, where [Store.Publish] finds it. Author and committer are the
// store's identity at the present time; the message ends in exactly one line break; there is no signature
// (chapter F, 6.1). A commit without parents is the first of an orphan history.
func (s *Store) Commit(ctx context.Context, t Tree, parents []string, message string) (*Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if t.root == nil {
		return nil, errors.New("commit: there is no tree")
	}
	message = strings.TrimRight(message, "\n") + "\n"
	if message == "\n" || strings.ContainsRune(message, 0) {
		return nil, fmt.Errorf("commit: the message %q is empty or has a NUL character", message)
	}
	who := object.Signature{Name: identityText(s.identity.Name), Email: identityText(s.identity.Email), When: s.now()}
	c := &object.Commit{Author: who, Committer: who, Message: message, TreeHash: t.root.id}
	for _, p := range parents {
		id, err := parseRevision(p)
		if err != nil {
			return nil, fmt.Errorf("commit: parent %w", err)
		}
		c.ParentHashes = append(c.ParentHashes, id)
	}
	encoded := &plumbing.MemoryObject{}
	if err := c.Encode(encoded); err != nil {
		return nil, fmt.Errorf("commit: %w", err)
	}
	c.Hash = s.objects.create(encoded)
	s.objects.mark(s.objects.created, c.Hash, true)
	s.objects.mark(s.objects.whole, c.Hash, true)
	return s.objects.newSnapshot(c, t.root), nil
}

// identityText removes what would break a commit's header, as Git does.
func identityText(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '<' || r == '>' || r == '\n' || r == 0 {
			return -1
		}
		return r
	}, text))
}
