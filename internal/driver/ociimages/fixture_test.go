package ociimages_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/driver"
	"github.com/gitopsctr/gitopsctr/internal/driver/ociimages"
)

const (
	inputHex = "e5f776753214713f148aa9e57b3b2a1f27335a8f3b686836e7998cc7555297d2"
	tag      = "input-" + inputHex
	local    = "images:" + inputHex
)

// A fixture is one Unit with a source, a docker command that is a script, and the transcript.
type fixture struct {
	t       *testing.T
	Options ociimages.Options
	Log     *transcript
	Source  string
	bin     string
}

// newFixture writes a source with one Dockerfile. The docker command knows no buildx and builds the image given.
func newFixture(t *testing.T, built v1.Image) *fixture {
	t.Helper()
	f := &fixture{t: t, Log: &transcript{}, Source: t.TempDir(), bin: t.TempDir()}
	f.write(filepath.Join(f.Source, "app", "Dockerfile"), "FROM scratch\nCOPY app/Dockerfile /\n")
	f.Options.Env = []string{"PATH=" + f.bin + ":/usr/bin:/bin", "HOME=" + t.TempDir(), "SCRIPT=" + f.bin}
	f.tool("docker", `case "$1 $2" in
"buildx version"|"buildx inspect"|"info --format")
  [ -f "$SCRIPT/$1-$2" ] || exit 1
  cat "$SCRIPT/$1-$2" ;;
"buildx build")
  for a in "$@"; do case $a in type=oci,dest=*) cp "$SCRIPT/layout.tar" "${a#type=oci,dest=}" ;; esac; done ;;
"save --output") cp "$SCRIPT/archive.tar" "$3" ;;
esac`)
	f.tool("kind", "")
	f.tool("minikube", "")
	if built != nil {
		writeArchives(t, built, f.bin)
	}
	return f
}

// tool puts a program into PATH that notes its command line and its environment before it does what the script says. A
// file fail-TOOL makes it say the file's text and fail.
func (f *fixture) tool(name, script string) {
	f.t.Helper()
	text := fmt.Sprintf("#!/bin/sh\necho \"%s $*\" >> \"$SCRIPT/calls\"\nenv >> \"$SCRIPT/env\"\n"+
		"if [ -f \"$SCRIPT/fail-%[1]s-$1\" ]; then cat \"$SCRIPT/fail-%[1]s-$1\" >&2; exit 1; fi\n%s\n", name, script)
	f.write(filepath.Join(f.bin, name), text)
	if err := os.Chmod(filepath.Join(f.bin, name), 0o700); err != nil {
		f.t.Fatal(err)
	}
}

// answer makes a command of the docker script say something, or fail when its name begins with fail-.
func (f *fixture) answer(name, text string) { f.t.Helper(); f.write(filepath.Join(f.bin, name), text) }

func (f *fixture) write(path, text string) {
	f.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) home() string {
	home, _ := driver.Lookup(f.Options.Env, "HOME")
	return home
}

// calls are the command lines of the tools, without docker's questions about itself.
func (f *fixture) calls(u driver.Unit) []string {
	f.t.Helper()
	data, err := os.ReadFile(filepath.Join(f.bin, "calls"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.t.Fatal(err)
	}
	var calls []string
	for line := range strings.Lines(strings.NewReplacer(u.TempDir, "TEMP", u.SourceDir, "SOURCE", inputHex, "HEX").Replace(string(data))) {
		switch line = strings.TrimSpace(line); {
		case strings.HasSuffix(line, "buildx version"), strings.HasSuffix(line, "buildx inspect"), strings.Contains(line, "docker info"):
		default:
			calls = append(calls, line)
		}
	}
	return calls
}

// with returns the Unit with the targets, in YAML flow style, and a fresh directory for temporary files.
func (f *fixture) with(targets string) driver.Unit {
	f.t.Helper()
	return f.unit(fmt.Sprintf("{build: {dockerfile: app/Dockerfile, platform: linux/amd64}, publish: {targets: %s, credentialProvider: null}}", targets))
}

// unit returns the Unit with a spec in YAML flow style, to which the source is added.
func (f *fixture) unit(spec string) driver.Unit {
	f.t.Helper()
	n, err := document.Decode("unit.yaml", []byte(spec))
	if err != nil {
		f.t.Fatal(err)
	}
	source := document.NewMap(document.F("path", document.NewString("app")), document.F("inputHash", document.NewString("sha256:"+inputHex)))
	if !n.Has("source") {
		n = n.With("source", source)
	}
	return driver.Unit{
		Environment: "dev", Name: "images", QualifiedName: "shop/images", Kind: "OciImages", UID: "d1-fba433b64fee80f595991824a16e60b7",
		Spec: n, SourceDir: f.Source, TempDir: f.t.TempDir(), Log: f.Log,
	}
}

func (f *fixture) reconcile(u driver.Unit) (driver.Result, error) {
	f.t.Helper()
	return ociimages.New(f.Options).Reconcile(f.t.Context(), u)
}

// uris reconciles and returns the URI of each target, in order.
func (f *fixture) uris(u driver.Unit) []string {
	f.t.Helper()
	result, err := f.reconcile(u)
	if err != nil {
		f.t.Fatal(err)
	}
	if got := string(document.CanonicalJSON(result.Result)); got != "{}" {
		f.t.Errorf("want an empty result, got %s", got)
	}
	if len(result.Artifacts) != 1 {
		f.t.Errorf("want one artifact, got %d", len(result.Artifacts))
	}
	var uris []string
	for _, field := range result.Artifacts["containers"].Get("images").Fields {
		uris = append(uris, field.Key+"="+field.Value.Get("uri").Str())
	}
	return uris
}

// A server is a registry in this process.
type server struct {
	t      *testing.T
	Host   string
	http   *httptest.Server
	mu     sync.Mutex
	answer func(http.ResponseWriter, *http.Request) bool
}

// newServer starts a registry. before may answer a request in its place.
func newServer(t *testing.T, before func(http.ResponseWriter, *http.Request) bool) *server {
	t.Helper()
	s := &server{t: t, answer: before}
	handler := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	s.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		answer := s.answer
		s.mu.Unlock()
		if answer == nil || !answer(w, r) {
			handler.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.http.Close)
	s.Host = strings.TrimPrefix(s.http.URL, "http://")
	return s
}

// requireLogin lets only one account in.
func requireLogin(username, password string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if u, p, ok := r.BasicAuth(); ok && u == username && p == password {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"errors": [{"code": "UNAUTHORIZED", "message": "who are you", "detail": "`+r.Header.Get("Authorization")+`"}]}`)
		return true
	}
}

// put publishes an image under the Unit's tag, as another run would have.
func (s *server) put(path string, i v1.Image) {
	s.t.Helper()
	if err := remote.Write(s.ref(path), i); err != nil {
		s.t.Fatal(err)
	}
}

// digest is what the Unit's tag is in a repository, "" when there is none.
func (s *server) digest(path string, auth authn.Authenticator) string {
	s.t.Helper()
	got, err := remote.Head(s.ref(path), remote.WithAuth(auth))
	if err != nil {
		return ""
	}
	return got.Digest.String()
}

func (s *server) ref(path string) name.Tag {
	s.t.Helper()
	ref, err := name.NewTag(s.Host + "/" + path + ":" + tag)
	if err != nil {
		s.t.Fatal(err)
	}
	return ref
}

func randomImage(t *testing.T) (_ v1.Image, digest string) {
	t.Helper()
	i, err := random.Image(512, 2)
	if err != nil {
		t.Fatal(err)
	}
	return i, digestOf(t, i)
}

func digestOf(t *testing.T, i interface{ Digest() (v1.Hash, error) }) string {
	t.Helper()
	digest, err := i.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest.String()
}

// writeArchives writes what docker save and buildx would write of an image.
func writeArchives(t *testing.T, i v1.Image, dir string) {
	t.Helper()
	name, err := name.NewTag(local)
	if err != nil {
		t.Fatal(err)
	}
	if err := tarball.WriteToFile(filepath.Join(dir, "archive.tar"), name, i); err != nil {
		t.Fatal(err)
	}
	writeLayout(t, filepath.Join(dir, "layout.tar"), func(p layout.Path) error { return p.AppendImage(i) })
}

func writeLayout(t *testing.T, file string, appendTo func(layout.Path) error) {
	t.Helper()
	dir := t.TempDir()
	p, err := layout.Write(dir, emptyIndex(t))
	if err == nil {
		err = appendTo(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	var buffer bytes.Buffer
	w := tar.NewWriter(&buffer)
	if err := errors.Join(w.AddFS(os.DirFS(dir)), w.Close(), os.WriteFile(file, buffer.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func emptyIndex(t *testing.T) v1.ImageIndex {
	t.Helper()
	i, err := random.Index(0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// transcript is a Unit's log.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *transcript) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *transcript) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
