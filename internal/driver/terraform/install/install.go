// Package install fetches exact versions of terraform and OpenTofu and verifies them: checksums signed by the makers'
// keys. It refuses to know which version a Unit wants, and to accept anything unverified. It leaves the work to the
// makers' own libraries, hc-install and tofudl.
package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hc-install/product"
	"github.com/hashicorp/hc-install/releases"
	"github.com/opentofu/tofudl"

	"github.com/gitopsctr/gitopsctr/internal/driver/terraform"
)

// timeout bounds one download: the archives are of some 30 MB.
const timeout = 5 * time.Minute

// Releases installs from the makers' release sites, or from mirrors of them.
type Releases struct {
	// Dir is an absolute directory for the programs, made when needed. Whoever can write there can run code as the driver.
	Dir string
	// HTTPClient does the requests; nil is a plain client.
	HTTPClient *http.Client
	// Terraform is a mirror of the release site of terraform, OpenTofu one of OpenTofu's; zero is the maker's own.
	Terraform TerraformMirror
	OpenTofu  OpenTofuMirror
}

// A TerraformMirror is a site with the layout of the terraform release site.
type TerraformMirror struct {
	URL string
	// PublicKey is the armored key that signs the checksums, "" for the maker's.
	PublicKey string
}

// An OpenTofuMirror is a site with the layout of the OpenTofu release site.
type OpenTofuMirror struct {
	// APIURL lists the versions; DownloadTemplate is the URL of a file with {{ .Version }} and {{ .Artifact }}.
	APIURL, DownloadTemplate string
	// PublicKey is the armored key that signs the checksums, "" for the maker's.
	PublicKey string
}

var _ terraform.Installer = Releases{}

// Install downloads and verifies one version into a new directory below Dir and returns the program's path. A failed or
// refused download leaves nothing behind.
func (r Releases) Install(ctx context.Context, p terraform.Product, version string) (path string, err error) {
	if err := os.MkdirAll(r.Dir, 0o700); err != nil {
		return "", fmt.Errorf("make the directory for tools: %w", err)
	}
	dir, err := os.MkdirTemp(r.Dir, fmt.Sprintf("%s-%s-", p, version))
	if err != nil {
		return "", fmt.Errorf("make the directory for %s: %w", p, err)
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	switch p {
	case terraform.Terraform:
		return r.terraform(ctx, version, dir)
	case terraform.OpenTofu:
		return r.openTofu(ctx, version, dir)
	}
	return "", fmt.Errorf("unknown product %q", p)
}

func (r Releases) terraform(ctx context.Context, exact, dir string) (string, error) {
	v, err := version.NewVersion(exact)
	if err != nil {
		return "", err
	}
	source := &releases.ExactVersion{
		Product: product.Terraform, Version: v, InstallDir: dir, Timeout: timeout,
		ApiBaseURL: r.Terraform.URL, ArmoredPublicKey: r.Terraform.PublicKey, HTTPClient: r.client(),
	}
	path, err := source.Install(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		// hc-install 0.10 loses the error of a refused archive and then misses the program. That it does is why every
		// download has a fresh directory: in an older one it would find the older program.
		return "", errors.New("the archive was refused: its checksum does not match the signed one, or it holds no program")
	}
	return path, err
}

func (r Releases) openTofu(ctx context.Context, exact, dir string) (string, error) {
	options := []tofudl.ConfigOpt{tofudl.ConfigHTTPClient(r.client())}
	if r.OpenTofu.APIURL != "" {
		options = append(options, tofudl.ConfigAPIURL(r.OpenTofu.APIURL))
	}
	if r.OpenTofu.DownloadTemplate != "" {
		options = append(options, tofudl.ConfigDownloadMirrorURLTemplate(r.OpenTofu.DownloadTemplate))
	}
	if r.OpenTofu.PublicKey != "" {
		options = append(options, tofudl.ConfigGPGKey(r.OpenTofu.PublicKey))
	}
	downloader, err := tofudl.New(options...)
	if err != nil {
		return "", err
	}
	binary, err := downloader.Download(ctx, tofudl.DownloadOptVersion(tofudl.Version(exact)))
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, string(terraform.OpenTofu))
	if err := os.WriteFile(path, binary, 0o700); err != nil {
		return "", err
	}
	return path, nil
}

// client never is nil: tofudl's default would change the process-wide transport.
func (r Releases) client() *http.Client {
	if r.HTTPClient != nil {
		return r.HTTPClient
	}
	return &http.Client{}
}
