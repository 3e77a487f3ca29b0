package main

import (
	"archive/tar"
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/rogpeppe/go-internal/testscript"
)

// A scriptRegistry is the container registry of one script. It keeps its content and its address while it is stopped.
type scriptRegistry struct {
	content http.Handler
	address string
	server  *http.Server
}

type registryKey struct{}

// cmdRegistry runs the script's registry at $REGISTRY. With an account it lets in nobody else.
func cmdRegistry(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 || len(args) > 2 || !slices.Contains([]string{"start", "stop"}, args[0]) {
		ts.Fatalf("usage: registry start [USER:PASSWORD] | registry stop")
	}
	r, ok := ts.Value(registryKey{}).(*scriptRegistry)
	if !ok {
		ts.Fatalf("the script has no registry")
	}
	if r.server != nil {
		ts.Check(r.server.Close())
		r.server = nil
	}
	if args[0] == "stop" {
		return
	}
	account := ""
	if len(args) == 2 {
		account = args[1]
	}
	listener, err := net.Listen("tcp", r.address)
	ts.Check(err)
	r.address = listener.Addr().String()
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if user, password, _ := request.BasicAuth(); account != "" && user+":"+password != account {
			w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"errors": [{"code": "UNAUTHORIZED", "message": "authentication required"}]}`)
			return
		}
		r.content.ServeHTTP(w, request)
	})}
	r.server = server
	go func() { _ = server.Serve(listener) }()
	ts.Defer(func() { _ = server.Close() })
	ts.Setenv("REGISTRY", r.address)
}

func newScriptRegistry() *scriptRegistry {
	return &scriptRegistry{address: "127.0.0.1:0", content: registry.New(registry.Logger(log.New(io.Discard, "", 0)))}
}

// dockerReachable is the condition [docker]: scripts that need the real engine begin with "[!docker] skip".
// GITOPSCTR_TEST_DOCKER=1, which CI sets, makes them run, and so fail, without one.
func dockerReachable() bool {
	return os.Getenv("GITOPSCTR_TEST_DOCKER") == "1" || exec.Command("docker", "version").Run() == nil
}

// cmdEngineName sets a variable to a Unit name that no other test uses, since images in the engine are named after their
// Units, and removes the images of that name when the script has ended.
func cmdEngineName(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: engine-name VARIABLE")
	}
	unique := strings.ToLower("script-" + rand.Text()[:12])
	ts.Setenv(args[0], unique)
	ts.Defer(func() {
		out, err := exec.Command("docker", "image", "ls", "--quiet", unique).Output()
		if ids := strings.Fields(string(out)); err == nil && len(ids) > 0 {
			slices.Sort(ids)
			err = exec.Command("docker", append([]string{"image", "rm", "--force"}, slices.Compact(ids)...)...).Run()
		}
		if err != nil {
			ts.Logf("remove the images of %s: %v", unique, err)
		}
	})
}

// fakeDocker is a docker command without an engine, which scripts put into PATH as docker. Its image is one layer with
// the files of the Dockerfile's directory. Images, and a log of the builds, are in $FAKE_DOCKER.
func fakeDocker() {
	if err := fakeDockerCommand(os.Getenv("FAKE_DOCKER"), os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "docker: %v\n", err)
		os.Exit(1)
	}
}

func fakeDockerCommand(state string, args []string) error {
	option := func(name string) string {
		if i := slices.Index(args, name); i >= 0 && i+1 < len(args) {
			return args[i+1]
		}
		return ""
	}
	switch args[0] {
	case "build":
		if err := logLine(filepath.Join(state, "log"), "build "+strings.Join(args[1:], " ")); err != nil {
			return err
		}
		return fakeBuild(filepath.Dir(option("--file")), option("--tag"), fakeImage(state, option("--tag")))
	case "save":
		data, err := os.ReadFile(fakeImage(state, args[len(args)-1]))
		if err != nil {
			return err
		}
		return os.WriteFile(option("--output"), data, 0o600)
	}
	return fmt.Errorf("unknown command: docker %s", args[0])
}

func fakeImage(state, tag string) string {
	return filepath.Join(state, strings.ReplaceAll(tag, ":", "_")+".tar")
}

func fakeBuild(dir, tag, file string) error {
	var content bytes.Buffer
	w := tar.NewWriter(&content)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: e.Name(), Mode: 0o644, Size: int64(len(data))}); err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content.Bytes())), nil })
	if err != nil {
		return err
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return err
	}
	ref, err := name.NewTag(tag)
	if err != nil {
		return err
	}
	return tarball.WriteToFile(file, ref, image)
}

func logLine(file, line string) (err error) {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = io.WriteString(f, line+"\n")
	return err
}
