package gitstate

import (
	"errors"

	"github.com/go-git/go-git/v5/plumbing"
)

// errCutPack is a download that ended before its time: half a pack looks like any other until its end does not come.
var errCutPack = errors.New("the connection ended before all objects had come")

// A staging holds the objects of a pack while it is being read. It shows those of the store below them, which deltas may
// build on.
type staging struct {
	*objects
	received map[plumbing.Hash]plumbing.EncodedObject
}

// SetEncodedObject takes an object in; the pack parser calls it.
func (s *staging) SetEncodedObject(obj plumbing.EncodedObject) (plumbing.Hash, error) {
	id := obj.Hash()
	s.received[id] = obj
	return id, nil
}

// EncodedObject looks an object up among the received ones, then in the store.
func (s *staging) EncodedObject(t plumbing.ObjectType, id plumbing.Hash) (plumbing.EncodedObject, error) {
	obj, ok := s.received[id]
	if !ok {
		return s.objects.EncodedObject(t, id)
	}
	if t != plumbing.AnyObject && obj.Type() != t {
		return nil, plumbing.ErrObjectNotFound
	}
	return obj, nil
}

// keep moves the received objects to the store.
func (s *staging) keep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, obj := range s.received {
		s.memory[id] = obj
	}
}
