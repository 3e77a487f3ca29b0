package gitstate

import (
	"context"
	"errors"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// maxHaves bounds how many known commits a fetch tells the server.
const maxHaves = 32

// advertised is what a server says of itself when a session begins.
type advertised struct {
	refs         map[string]plumbing.Hash
	capabilities *capability.List
}

// gives says whether the server will send a commit when it is asked for it by its id.
func (a advertised) gives(id plumbing.Hash) bool {
	if a.capabilities.Supports(capability.AllowReachableSHA1InWant) {
		return true
	}
	for _, tip := range a.refs {
		if tip == id {
			return true
		}
	}
	return false
}

// instead returns what to ask for to get some commits: these, or if the server does not give all of them, every tip.
func (a advertised) instead(ids []plumbing.Hash) []plumbing.Hash {
	for _, id := range ids {
		if !a.gives(id) {
			return a.tips()
		}
	}
	return ids
}

// tips are the distinct commits and tags that refs point to.
func (a advertised) tips() []plumbing.Hash {
	seen := map[plumbing.Hash]bool{}
	var out []plumbing.Hash
	for _, id := range a.refs {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

// A request says what to download. Without wants nothing is.
type request struct {
	wants []plumbing.Hash
	// depth is how many commits of history to send; 0 means all.
	depth int
	// haves are commits whose trees we have. Their history we need not have.
	haves []plumbing.Hash
	// commitsOnly leaves out trees and files if the server can.
	commitsOnly bool
}

// fetch reads what the server advertises, and in the same session downloads what plan asks for into receive. The plan
// may be made again when the session has to be repeated. Errors are of type *FetchError.
func (r *remote) fetch(ctx context.Context, plan func(advertised) request, receive func(io.Reader) error) error {
	return r.patiently(ctx, func() error { return r.fetchOnce(ctx, plan, receive) })
}

func (r *remote) fetchOnce(ctx context.Context, plan func(advertised) request, receive func(io.Reader) error) error {
	err := r.session(ctx, func(
		ctx context.Context, t transport.Transport, ep *transport.Endpoint, auth transport.AuthMethod,
	) error {
		session, err := t.NewUploadPackSession(ep, auth)
		if err != nil {
			return err
		}
		defer func() { _ = session.Close() }()
		refs, err := session.AdvertisedReferencesContext(ctx)
		if errors.Is(err, transport.ErrEmptyRemoteRepository) {
			plan(advertised{capabilities: capability.NewList()})
			return nil
		} else if err != nil {
			return err
		}
		req := plan(advertised{refs: refs.References, capabilities: refs.Capabilities})
		if len(req.wants) == 0 {
			return nil
		}
		return download(ctx, session, refs.Capabilities, req, receive)
	})
	return r.fetchError(ctx, err)
}

func download(
	ctx context.Context, session transport.UploadPackSession, server *capability.List, r request,
	receive func(io.Reader) error,
) (err error) {
	req := packp.NewUploadPackRequestFromCapabilities(server)
	req.Wants = r.wants
	set := func(c capability.Capability) bool {
		return server.Supports(c) && req.Capabilities.Set(c) == nil
	}
	set(capability.NoProgress)
	if r.depth > 0 && set(capability.Shallow) {
		req.Depth = packp.DepthCommits(r.depth)
	}
	if len(r.haves) > 0 && set(capability.Shallow) {
		req.Haves = r.haves
		req.Shallows = r.haves
	}
	if r.commitsOnly && set(capability.Filter) {
		req.Filter = packp.FilterTreeDepth(0)
	}
	response, err := session.UploadPack(ctx, req)
	if err != nil {
		return err
	}
	defer func() {
		// A server that is still sending would wait for us for ever: read to the end.
		_, drain := io.Copy(io.Discard, response)
		if closed := response.Close(); err == nil && drain == nil {
			err = closed
		}
	}()
	var pack io.Reader = response
	switch {
	case req.Capabilities.Supports(capability.Sideband64k):
		pack = sideband.NewDemuxer(sideband.Sideband64k, response)
	case req.Capabilities.Supports(capability.Sideband):
		pack = sideband.NewDemuxer(sideband.Sideband, response)
	}
	return receive(pack)
}
