package gitstate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// A RefUpdate moves one branch, if it still is where it is expected to be.
type RefUpdate struct {
	Ref string // short branch name
	// New is the commit that the branch shall point to; "" deletes it.
	New string
	// Expected is where the branch must be now; "" means that it must not exist. Expected equal to New moves nothing but
	// makes the whole push fail when the branch is elsewhere.
	Expected string
}

// errMoved is the outcome of a push that found a ref elsewhere before it sent anything.
var errMoved = errors.New("the ref is not where it was expected")

// errNoReport is the outcome of a push whose result the server did not tell.
var errNoReport = errors.New("the connection ended before the server told the result")

// push sends all updates in one request; several are atomic. The server compares each branch with Expected while it
// holds the lock, so this is a compare-and-swap. It returns what the server wrote beside the error.
func (r *remote) push(ctx context.Context, updates []*packp.Command, pack []byte) (said string, err error) {
	var progress tail
	err = r.session(ctx, func(
		ctx context.Context, t transport.Transport, ep *transport.Endpoint, auth transport.AuthMethod,
	) error {
		session, err := t.NewReceivePackSession(ep, auth)
		if err != nil {
			return err
		}
		defer func() { _ = session.Close() }()
		server, err := session.AdvertisedReferencesContext(ctx)
		if err != nil {
			return err
		}
		for _, u := range updates {
			if at := server.References[string(u.Name)]; at != u.Old {
				return fmt.Errorf("%w: %s is at %s, but expected %s", errMoved, u.Name.Short(), refState(at), refState(u.Old))
			}
		}
		req, err := newUpdateRequest(server.Capabilities, updates, pack)
		if err != nil {
			return err
		}
		req.Progress = &progress
		report, err := session.ReceivePack(ctx, req)
		return outcome(report, err, updates)
	})
	return progress.String(), err
}

func newUpdateRequest(server *capability.List, updates []*packp.Command, pack []byte) (*packp.ReferenceUpdateRequest, error) {
	req := packp.NewReferenceUpdateRequestFromCapabilities(server)
	req.Commands = updates
	for _, c := range []capability.Capability{capability.Sideband64k, capability.DeleteRefs} {
		if server.Supports(c) {
			if err := req.Capabilities.Set(c); err != nil {
				return nil, err
			}
		}
	}
	if len(updates) > 1 {
		if !server.Supports(capability.Atomic) {
			return nil, errors.New("the server cannot update several refs atomically")
		}
		if err := req.Capabilities.Set(capability.Atomic); err != nil {
			return nil, err
		}
	}
	if pack != nil {
		req.Packfile = io.NopCloser(bytes.NewReader(pack))
	}
	return req, nil
}

// outcome reads the server's report. Only an explicit "ok" for every ref is success: go-git takes a lost answer for it.
func outcome(report *packp.ReportStatus, err error, updates []*packp.Command) error {
	if report == nil || report.UnpackStatus == "" {
		if err == nil {
			return errNoReport
		}
		return fmt.Errorf("%w: %w", errNoReport, err)
	}
	if reported := report.Error(); reported != nil {
		return reported
	}
	ok := map[plumbing.ReferenceName]bool{}
	for _, s := range report.CommandStatuses {
		ok[s.ReferenceName] = true
	}
	for _, u := range updates {
		if !ok[u.Name] {
			return errNoReport
		}
	}
	return nil
}

func refState(id plumbing.Hash) string {
	if id.IsZero() {
		return "no commit"
	}
	return id.String()
}

// tail keeps the end of what a server writes.
type tail struct{ buf []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.buf = append(t.buf, p...)
	if extra := len(t.buf) - maxDetail; extra > 0 {
		t.buf = append(t.buf[:0], t.buf[extra:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(bytes.ToValidUTF8(t.buf, nil)) }
