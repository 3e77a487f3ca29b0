package gitstate_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/gitopsctr/gitopsctr/internal/gitstate"
)

// sshServer runs what clients with the user key ask for in a shell, and returns its address and host key.
func sshServer(t *testing.T, user ssh.PublicKey) (address string, host ssh.PublicKey) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cfg := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if string(key.Marshal()) != string(user.Marshal()) {
			return nil, errors.New("unknown key")
		}
		return nil, nil
	}}
	cfg.AddHostKey(signer)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	t.Cleanup(func() {
		_ = listener.Close()
		wg.Wait()
	})
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { serveSSH(conn, cfg) })
		}
	})
	return listener.Addr().String(), signer.PublicKey()
}

func serveSSH(conn net.Conn, cfg *ssh.ServerConfig) {
	defer func() { _ = conn.Close() }()
	_, channels, requests, err := ssh.NewServerConn(conn, cfg)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for newChannel := range channels {
		channel, requests, err := newChannel.Accept()
		if err != nil {
			return
		}
		for r := range requests {
			var payload struct{ Command string }
			if r.Type != "exec" || ssh.Unmarshal(r.Payload, &payload) != nil {
				_ = r.Reply(false, nil)
				continue
			}
			_ = r.Reply(true, nil)
			cmd := exec.Command("sh", "-c", payload.Command)
			cmd.Stdout, cmd.Stderr = channel, channel.Stderr()
			stdin, err := cmd.StdinPipe() // unlike Stdin, it does not make Run wait for the client
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(stdin, channel)
				_ = stdin.Close()
			}()
			_ = cmd.Run()
			_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{0}))
			_ = channel.Close()
		}
	}
}

func TestSSH(t *testing.T) {
	t.Parallel()
	remote, ids := sourceRemote(t, 2)
	dir := t.TempDir()
	newKey := func(name string) (string, ssh.PublicKey) {
		public, private, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		block, err := ssh.MarshalPrivateKey(private, "")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		key, err := ssh.NewPublicKey(public)
		if err != nil {
			t.Fatal(err)
		}
		return path, key
	}
	keyFile, key := newKey("user")
	otherFile, otherKey := newKey("other")
	address, host := sshServer(t, key)
	knownHosts := func(name string, key ssh.PublicKey) string {
		path := filepath.Join(dir, name)
		h, port, _ := strings.Cut(address, ":")
		write(t, path, "["+h+"]:"+port+" "+string(ssh.MarshalAuthorizedKey(key)))
		return path
	}
	known, wrong := knownHosts("known_hosts", host), knownHosts("wrong_hosts", otherKey)

	url := "ssh://git@" + address + remote
	s := open(t, gitstate.Options{RemoteURL: url, Credentials: gitstate.Credentials{SSHKeyFile: keyFile, KnownHostsFiles: []string{known}}})
	if got := fetch(t, s, "main").Revision(); got != ids[1] {
		t.Errorf("main = %s, want %s", got, ids[1])
	}
	publish(t, s, "state", "m", map[string]string{"f": "1"})
	r := publish(t, s, "state", "m", map[string]string{"f": "2"})
	if got := git(t, remote, "rev-parse", "state"); got != r.After.Revision() {
		t.Errorf("state = %s, want %s", got, r.After.Revision())
	}

	for title, c := range map[string]gitstate.Credentials{
		"unknown user": {SSHKeyFile: otherFile, KnownHostsFiles: []string{known}},
		"wrong host":   {SSHKeyFile: keyFile, KnownHostsFiles: []string{wrong}},
	} {
		_, err := open(t, gitstate.Options{RemoteURL: url, Credentials: c}).Fetch(t.Context(), "main")
		var fault *gitstate.FetchError
		if !errors.As(err, &fault) || fault.Kind != gitstate.Auth {
			t.Errorf("%s: error = %v, want Auth", title, err)
		}
	}
	_, err := open(t, gitstate.Options{RemoteURL: url + "x", Credentials: gitstate.Credentials{SSHKeyFile: keyFile, KnownHostsFiles: []string{known}}}).
		Fetch(t.Context(), "main")
	var fault *gitstate.FetchError
	if !errors.As(err, &fault) || fault.Kind != gitstate.NotFound {
		t.Errorf("no such repository: error = %v, want NotFound", err)
	}
}
