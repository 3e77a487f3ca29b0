package install_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/google/go-cmp/cmp"
	"github.com/opentofu/tofudl/mockmirror"

	"github.com/gitopsctr/gitopsctr/internal/driver/terraform"
	"github.com/gitopsctr/gitopsctr/internal/driver/terraform/install"
)

// site is a release site of terraform with one signed version. Files can be changed before it serves them.
type site struct {
	files     map[string][]byte
	publicKey string
}

func newSite(t *testing.T, binary string) *site {
	t.Helper()
	archive := fmt.Sprintf("terraform_1.9.9_%s_%s.zip", runtime.GOOS, runtime.GOARCH)
	key, public := newKey(t)
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	w, err := z.Create("terraform")
	if err == nil {
		_, err = io.WriteString(w, binary)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	sums := fmt.Appendf(nil, "%x  %s\n", sha256.Sum256(packed.Bytes()), archive)
	var signature bytes.Buffer
	if err := openpgp.DetachSign(&signature, key, bytes.NewReader(sums), nil); err != nil {
		t.Fatal(err)
	}
	const base = "/terraform/1.9.9/"
	index, err := json.Marshal(map[string]any{
		"name": "terraform", "version": "1.9.9", "shasums": "terraform_1.9.9_SHA256SUMS", "shasums_signature": "terraform_1.9.9_SHA256SUMS.sig",
		"builds": []any{map[string]any{
			"name": "terraform", "version": "1.9.9", "os": runtime.GOOS, "arch": runtime.GOARCH, "filename": archive, "url": base + archive,
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &site{publicKey: public, files: map[string][]byte{
		base + "index.json": index, base + archive: packed.Bytes(),
		base + "terraform_1.9.9_SHA256SUMS": sums, base + "terraform_1.9.9_SHA256SUMS.sig": signature.Bytes(),
	}}
}

func newKey(t *testing.T) (*openpgp.Entity, string) {
	t.Helper()
	key, err := openpgp.NewEntity("test", "", "test@example.test", nil)
	if err != nil {
		t.Fatal(err)
	}
	var public bytes.Buffer
	w, err := armor.Encode(&public, openpgp.PublicKeyType, nil)
	if err == nil {
		err = key.Serialize(w)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return key, public.String()
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, ok := s.files[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	switch filepath.Ext(r.URL.Path) {
	case ".json":
		w.Header().Set("Content-Type", "application/json")
	case ".zip":
		w.Header().Set("Content-Type", "application/zip")
	}
	_, _ = w.Write(data)
}

func TestInstallTerraform(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change  func(*testing.T, *site)
		version string
		wantErr string
	}{
		"verified": {},
		"a changed archive": {wantErr: "checksum does not match", change: func(_ *testing.T, s *site) {
			for path, data := range s.files {
				if strings.HasSuffix(path, ".zip") {
					s.files[path] = append(data, 0)
				}
			}
		}},
		"changed checksums":  {wantErr: "signature", change: func(_ *testing.T, s *site) { s.files["/terraform/1.9.9/terraform_1.9.9_SHA256SUMS"][0] ^= 1 }},
		"another key":        {wantErr: "signature", change: func(t *testing.T, s *site) { _, s.publicKey = newKey(t) }},
		"the maker's key":    {wantErr: "signature", change: func(_ *testing.T, s *site) { s.publicKey = "" }},
		"no signature":       {wantErr: "404", change: func(_ *testing.T, s *site) { delete(s.files, "/terraform/1.9.9/terraform_1.9.9_SHA256SUMS.sig") }},
		"no such version":    {wantErr: "404", version: "1.9.8"},
		"not even a version": {wantErr: "malformed version", version: "new"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "the program")
			if test.change != nil {
				test.change(t, s)
			}
			server := httptest.NewServer(s)
			t.Cleanup(server.Close)
			r := install.Releases{
				Dir: filepath.Join(t.TempDir(), "tools"), HTTPClient: server.Client(),
				Terraform: install.TerraformMirror{URL: server.URL, PublicKey: s.publicKey},
			}
			if test.version == "" {
				test.version = "1.9.9"
			}
			path, err := r.Install(t.Context(), terraform.Terraform, test.version)
			checkInstalled(t, r.Dir, path, err, test.wantErr)
		})
	}
}

func TestInstallOpenTofu(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change  func(path string, body []byte) []byte
		version string
		key     string // "" is the mirror's own
		wantErr string
	}{
		"verified": {},
		"a changed archive": {wantErr: "invalid checksum", change: func(path string, body []byte) []byte {
			if strings.HasSuffix(path, ".tar.gz") {
				return append(body, 0)
			}
			return body
		}},
		"changed checksums": {wantErr: "Signature verification failed", change: func(path string, body []byte) []byte {
			if strings.HasSuffix(path, "SHA256SUMS") {
				return append(body, '\n')
			}
			return body
		}},
		"another key":        {wantErr: "Signature verification failed", key: "maker"},
		"no such version":    {wantErr: "No such version: 1.9.8", version: "1.9.8"},
		"not even a version": {wantErr: "Invalid version: new", version: "new"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mirror := mockmirror.NewFromBinary(t, []byte("the program"))
			upstream, err := url.Parse(mirror.APIURL())
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				resp, err := http.Get("http://" + upstream.Host + r.URL.Path)
				if err != nil {
					http.Error(w, err.Error(), http.StatusBadGateway)
					return
				}
				defer func() { _ = resp.Body.Close() }()
				body, err := io.ReadAll(resp.Body)
				if err != nil {
					http.Error(w, err.Error(), http.StatusBadGateway)
					return
				}
				if test.change != nil {
					body = test.change(r.URL.Path, body)
				}
				w.WriteHeader(resp.StatusCode)
				_, _ = w.Write(body)
			}))
			t.Cleanup(server.Close)
			key := mirror.GPGKey()
			if test.key != "" {
				key = ""
			}
			r := install.Releases{
				Dir: filepath.Join(t.TempDir(), "tools"), HTTPClient: server.Client(),
				OpenTofu: install.OpenTofuMirror{APIURL: server.URL + "/api.json", DownloadTemplate: server.URL + "/v{{ .Version }}/{{ .Artifact }}", PublicKey: key},
			}
			if test.version == "" {
				test.version = "1.0.0"
			}
			path, err := r.Install(t.Context(), terraform.OpenTofu, test.version)
			checkInstalled(t, r.Dir, path, err, test.wantErr)
		})
	}
}

// checkInstalled wants the program below dir, or the error and nothing below dir.
func checkInstalled(t *testing.T, dir, path string, err error, wantErr string) {
	t.Helper()
	if wantErr != "" {
		if err == nil || !strings.Contains(err.Error(), wantErr) {
			t.Errorf("want an error with %q, got %v", wantErr, err)
		}
		left, readErr := os.ReadDir(dir)
		if readErr != nil || len(left) > 0 {
			t.Errorf("left behind: %v (%v)", left, readErr)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("the program", string(data)); diff != "" {
		t.Errorf("program (-want +got):\n%s", diff)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o700 || !strings.HasPrefix(path, dir+string(filepath.Separator)) {
		t.Errorf("got %s with mode %v", path, info.Mode())
	}
}

func TestInstallUnknownProduct(t *testing.T) {
	t.Parallel()
	if _, err := (install.Releases{Dir: t.TempDir()}).Install(t.Context(), "pulumi", "1.0.0"); err == nil {
		t.Error("want an error")
	}
}
