package gitstate

import (
	"bytes"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// pack encodes the objects that the remote needs for new heads: the commits that this store created and the remote does
// not have, and those of their trees and files that their parents' trees do not contain.
func (o *objects) pack(heads []plumbing.Hash) ([]byte, error) {
	c := collector{objects: o, known: map[plumbing.Hash]bool{}}
	for _, head := range heads {
		if err := c.history(head); err != nil {
			return nil, err
		}
	}
	var out bytes.Buffer
	if _, err := packfile.NewEncoder(&out, o, false).Encode(c.send, 0); err != nil {
		return nil, fmt.Errorf("encode pack: %w", err)
	}
	return out.Bytes(), nil
}

type collector struct {
	objects *objects
	known   map[plumbing.Hash]bool // on the remote, or already in send
	send    []plumbing.Hash
}

// history collects a created commit after its created ancestors, so that each tree is compared with what comes before it.
func (c *collector) history(id plumbing.Hash) error {
	var chain []plumbing.Hash // newest first
	for queue := []plumbing.Hash{id}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if c.known[at] {
			continue
		}
		c.known[at] = true
		commit, err := c.objects.commit(at)
		if !c.objects.marked(c.objects.created, at) {
			// The remote has it. If we have its tree too, none of that need be sent.
			if err == nil {
				if t := c.objects.cachedTree(commit.TreeHash); t != nil {
					c.skip(t)
				}
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("commit %s: %w", at, err)
		}
		chain = append(chain, at)
		queue = append(queue, commit.ParentHashes...)
	}
	for i := len(chain) - 1; i >= 0; i-- {
		commit, err := c.objects.commit(chain[i])
		if err != nil {
			return fmt.Errorf("commit %s: %w", chain[i], err)
		}
		t, err := c.objects.tree(commit.TreeHash)
		if err != nil {
			return err
		}
		c.send = append(c.send, chain[i])
		c.add(t)
	}
	return nil
}

func (c *collector) add(t *tree) {
	if c.known[t.id] {
		return
	}
	c.known[t.id] = true
	c.send = append(c.send, t.id)
	for _, e := range t.entries {
		if e.dir != nil {
			c.add(e.dir)
		} else if !c.known[e.id] {
			c.known[e.id] = true
			c.send = append(c.send, e.id)
		}
	}
}

func (c *collector) skip(t *tree) {
	if c.known[t.id] {
		return
	}
	c.known[t.id] = true
	for _, e := range t.entries {
		if e.dir != nil {
			c.skip(e.dir)
		} else {
			c.known[e.id] = true
		}
	}
}
