package gitstate

import (
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/go-git/go-git/v5/plumbing/transport"
	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
	"github.com/skeema/knownhosts"
	"golang.org/x/crypto/ssh"
)

// An sshAuth authenticates to one ssh remote, and accepts only host keys that are known.
type sshAuth struct {
	gitssh.AuthMethod
	hosts   *knownhosts.HostKeyDB
	address string // host:port
	timeout time.Duration
}

var _ transport.AuthMethod = (*sshAuth)(nil)

func newSSHAuth(ep *transport.Endpoint, c Credentials, timeout time.Duration) (*sshAuth, error) {
	user, port := ep.User, ep.Port
	if user == "" {
		user = gitssh.DefaultUsername
	}
	if port <= 0 {
		port = gitssh.DefaultPort
	}
	hosts, err := gitssh.NewKnownHostsDb(c.KnownHostsFiles...)
	if err != nil {
		return nil, fmt.Errorf("known_hosts: %w", err)
	}
	a := &sshAuth{hosts: hosts, address: net.JoinHostPort(ep.Host, strconv.Itoa(port)), timeout: timeout}
	if c.SSHKeyFile == "" {
		agent, err := gitssh.NewSSHAgentAuth(user)
		if err != nil {
			return nil, fmt.Errorf("no SSH key file is given and the SSH agent cannot be used: %w", err)
		}
		agent.HostKeyCallback = hosts.HostKeyCallback()
		a.AuthMethod = agent
		return a, nil
	}
	key, err := gitssh.NewPublicKeysFromFile(user, c.SSHKeyFile, c.SSHKeyPassphrase)
	if err != nil {
		return nil, fmt.Errorf("SSH key file %s cannot be used: %w", c.SSHKeyFile, err)
	}
	key.HostKeyCallback = hosts.HostKeyCallback()
	a.AuthMethod = key
	return a, nil
}

// ClientConfig asks the server for the sorts of host key that are known, and limits the time of connecting.
func (a *sshAuth) ClientConfig() (*ssh.ClientConfig, error) {
	cfg, err := a.AuthMethod.ClientConfig()
	if err != nil {
		return nil, err
	}
	cfg.HostKeyAlgorithms = a.hosts.HostKeyAlgorithms(a.address)
	cfg.Timeout = a.timeout
	return cfg, nil
}
