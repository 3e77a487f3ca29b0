package gitstate

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	"golang.org/x/crypto/ssh"
)

func TestTokenGoesOnlyWhereItBelongs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		prefix, remote string
		want           bool
	}{
		{"https://github.com/", "https://github.com/acme/deploy", true},
		{"https://github.com", "https://github.com/acme/deploy.git", true},
		{"https://github.com/", "https://GitHub.com:443/acme/deploy", true},
		{"https://github.com/", "https://user@github.com/acme/deploy", true},
		{"https://github.com/acme", "https://github.com/acme/deploy", true},
		{"https://github.com/acme/deploy", "https://github.com/acme/deploy", true},
		{"https://github.com/acme", "https://github.com/acmevil/deploy", false},
		{"https://github.com/", "http://github.com/acme/deploy", false},
		{"https://github.com/", "https://github.com.evil.example/acme/deploy", false},
		{"https://github.com/", "https://evil.example/github.com/", false},
		{"https://github.com/", "https://github.com:8443/acme/deploy", false},
		{"https://github.com/", "https://github.com@evil.example/acme", false},
		{"https://api.github.com/", "https://github.com/acme/deploy", false},
		{"http://localhost:3000/", "http://localhost:3000/acme/deploy", true},
		{"github.com", "https://github.com/acme/deploy", false},
		{"", "https://github.com/acme/deploy", false},
	} {
		target, err := url.Parse(c.remote)
		if err != nil {
			t.Fatal(err)
		}
		if got := covers([]string{c.prefix}, target); got != c.want {
			t.Errorf("%q covers %q: want %v, got %v", c.prefix, c.remote, c.want, got)
		}
	}
}

func TestAuthMethodOfHTTPRemote(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		remote      string
		credentials Credentials
		want        string // the password that is sent; "" none
	}{
		"token":                  {"https://github.com/a/b", Credentials{Token: "T", TokenURLs: []string{"https://github.com/"}}, "T"},
		"token over URL":         {"https://u:p@github.com/a/b", Credentials{Token: "T", TokenURLs: []string{"https://github.com/"}}, "T"},
		"token of another place": {"https://u:p@example.com/a/b", Credentials{Token: "T", TokenURLs: []string{"https://github.com/"}}, ""},
		"token without a place":  {"https://github.com/a/b", Credentials{Token: "T"}, ""},
	} {
		r, err := newRemote(c.remote, c.credentials, nil, time.Second, nil)
		if err != nil {
			t.Fatal(err)
		}
		method, err := r.auth.method(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if m, ok := method.(githttp.AuthMethod); ok {
			req := &http.Request{Header: http.Header{}}
			m.SetAuth(req)
			_, got, _ = req.BasicAuth()
		}
		if got != c.want {
			t.Errorf("%s: want password %q, got %q", title, c.want, got)
		}
	}
}

func TestUnsupportedRemoteURLs(t *testing.T) {
	t.Parallel()
	for _, u := range []string{"ftp://u:hunter2@example.com/x", "ext::sh -c evil", "git://u:hunter2@example.com/x"} {
		_, err := newRemote(u, Credentials{}, nil, time.Second, nil)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: error = %v", u, err)
		}
	}
}

func TestSSHAuth(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(dir, "key")
	if err := os.WriteFile(key, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	host, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	known := filepath.Join(dir, "known_hosts")
	if err := os.WriteFile(known, []byte("[git.example.com]:2222 "+string(ssh.MarshalAuthorizedKey(host))), 0o600); err != nil {
		t.Fatal(err)
	}
	endpoint, err := transport.NewEndpoint("ssh://deploy@git.example.com:2222/x.git")
	if err != nil {
		t.Fatal(err)
	}
	credentials := Credentials{SSHKeyFile: key, KnownHostsFiles: []string{known}}
	auth, err := newSSHAuth(endpoint, credentials, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := auth.ClientConfig()
	if err != nil {
		t.Fatal(err)
	}
	if cfg.User != "deploy" || cfg.Timeout != time.Second || !slices.Equal(cfg.HostKeyAlgorithms, []string{ssh.KeyAlgoED25519}) {
		t.Errorf("user %q, timeout %v, host keys %v", cfg.User, cfg.Timeout, cfg.HostKeyAlgorithms)
	}
	if err := cfg.HostKeyCallback("git.example.com:2222", addr("192.0.2.1:2222"), host); err != nil {
		t.Errorf("known host: %v", err)
	}
	if err := cfg.HostKeyCallback("evil.example.com:2222", addr("192.0.2.2:2222"), host); err == nil {
		t.Error("an unknown host was accepted")
	}

	for title, c := range map[string]Credentials{
		"no key file":    {SSHKeyFile: filepath.Join(dir, "none"), KnownHostsFiles: []string{known}},
		"no known hosts": {SSHKeyFile: key, KnownHostsFiles: []string{filepath.Join(dir, "none")}},
		"no key in file": {SSHKeyFile: known, KnownHostsFiles: []string{known}},
	} {
		if _, err := newSSHAuth(endpoint, c, time.Second); err == nil {
			t.Errorf("%s: want an error", title)
		}
	}
}

type addr string

func (addr) Network() string  { return "tcp" }
func (a addr) String() string { return string(a) }

func TestRedactor(t *testing.T) {
	t.Parallel()
	r := &redactor{}
	r.add("x-access-token", "s3cr3t/+")
	r.add("u", "")
	for text, want := range map[string]string{
		"fatal: https://u:p@h/x and ssh://git@h/y": "fatal: https://h/x and ssh://h/y",
		"https://u:p@ss@h/x":                       "https://h/x",
		"token s3cr3t/+ in text":                   "token *** in text",
		"escaped s3cr3t%2F%2B":                     "escaped ***",
		"eC1hY2Nlc3MtdG9rZW46czNjcjN0Lys=":         "***",
		"mail me@example.com":                      "mail me@example.com",
		"https://h/a@b":                            "https://h/a@b",
		"bell\a \x1b[31mred\r\nnext":               "bell [31mred\nnext",
	} {
		if got := r.clean(text); got != want {
			t.Errorf("%q: want %q, got %q", text, want, got)
		}
	}
}

func TestGitEnvironment(t *testing.T) {
	t.Parallel()
	got := gitEnvironment([]string{
		"PATH=/bin", "GIT_DIR=/elsewhere", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0=c", "GIT_TRACE_CURL=1",
	})
	for _, want := range []string{
		"PATH=/bin", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_KEY_1=safe.directory", "GIT_CONFIG_COUNT=3", "GIT_TERMINAL_PROMPT=0",
		"GIT_OPTIONAL_LOCKS=0",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing in %v", want, got)
		}
	}
	for _, v := range got {
		if strings.HasPrefix(v, "GIT_DIR=") || strings.HasPrefix(v, "GIT_TRACE_CURL=") || v == "GIT_CONFIG_COUNT=1" {
			t.Errorf("%s was passed on", v)
		}
	}
}
