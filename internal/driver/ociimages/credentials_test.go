package ociimages_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/driver"
	"github.com/gitopsctr/gitopsctr/internal/driver/ociimages"
)

const canary = "canary-3f9d2c"

// dockerConfig writes the docker configuration of the fixture's home.
func (f *fixture) dockerConfig(format string, args ...any) {
	f.t.Helper()
	f.write(filepath.Join(f.home(), ".docker", "config.json"), fmt.Sprintf(format, args...))
}

// TestCredentials pushes to a registry that lets only one account in, and looks for the password in everything that the
// driver leaves behind: command lines, environments of tools, the transcript, errors, evidence, temporary files.
func TestCredentials(t *testing.T) {
	t.Parallel()
	basic := base64.StdEncoding.EncodeToString([]byte("robot:" + canary))
	helper := func(answer string) func(*fixture, *server) {
		return func(f *fixture, s *server) {
			f.dockerConfig(`{"credHelpers": {%q: "test"}, "auths": {%q: {"auth": "bm86bm8="}}}`, s.Host, s.Host)
			f.tool("docker-credential-test", `cat > "$SCRIPT/asked"; cat <<'END'
`+answer+`
END`)
		}
	}
	for name, test := range map[string]struct {
		prepare func(*fixture, *server)
		source  string
		fails   string // what the error says, "" for none
	}{
		"in the docker configuration": {
			prepare: func(f *fixture, s *server) { f.dockerConfig(`{"auths": {%q: {"auth": %q}}}`, s.Host, basic) },
			source:  "docker configuration HOME/.docker/config.json",
		},
		"as name and password, under a URL": {
			prepare: func(f *fixture, s *server) {
				f.dockerConfig(`{"auths": {"http://%s/v2/": {"username": "robot", "password": %q}}}`, s.Host, canary)
			},
			source: "docker configuration HOME/.docker/config.json",
		},
		"for the repository before the registry": {
			prepare: func(f *fixture, s *server) {
				f.dockerConfig(`{"auths": {%q: {"auth": "bm86bm8="}, "%s/app": {"auth": %q}}}`, s.Host, s.Host, basic)
			},
			source: "docker configuration HOME/.docker/config.json",
		},
		"in DOCKER_CONFIG": {
			prepare: func(f *fixture, s *server) {
				f.Options.Env = append(f.Options.Env, "DOCKER_CONFIG="+f.home())
				f.write(filepath.Join(f.home(), "config.json"), fmt.Sprintf(`{"auths": {%q: {"auth": %q}}}`, s.Host, basic))
				f.dockerConfig(`{"auths": {}}`)
			},
			source: "docker configuration HOME/config.json",
		},
		"of podman": {
			prepare: func(f *fixture, s *server) {
				f.write(filepath.Join(f.home(), ".config", "containers", "auth.json"), fmt.Sprintf(`{"auths": {%q: {"auth": %q}}}`, s.Host, basic))
			},
			source: "docker configuration HOME/.config/containers/auth.json",
		},
		"of a helper":          {prepare: helper(`{"ServerURL": "x", "Username": "robot", "Secret": "` + canary + `"}`), source: "docker-credential-test"},
		"of a helper, no JSON": {prepare: helper(canary), fails: "docker-credential-test answered no JSON"},
		"of a helper that fails": {
			prepare: func(f *fixture, s *server) { helper("")(f, s); f.answer("fail-docker-credential-test-get", canary) },
			fails:   "docker-credential-test failed",
		},
		"of a common helper that has none, then in the file": {
			prepare: func(f *fixture, s *server) {
				f.dockerConfig(`{"credsStore": "test", "auths": {%q: {"auth": %q}}}`, s.Host, basic)
				f.tool("docker-credential-test", "echo credentials not found in native keychain; exit 1")
			},
			source: "docker configuration HOME/.docker/config.json",
		},
		"of a helper that is not installed": {
			prepare: func(f *fixture, s *server) { f.dockerConfig(`{"credsStore": "absent"}`) },
			fails:   "docker-credential-absent was not found",
		},
		"of a helper that is a path": {
			prepare: func(f *fixture, s *server) { f.dockerConfig(`{"credsStore": "../../x"}`) },
			fails:   "names a credential helper that is no program",
		},
		"of the job": {
			prepare: func(f *fixture, s *server) {
				f.dockerConfig(`{"auths": {"other.example": {"auth": "bm86bm8="}}}`)
				f.Options.Logins = []ociimages.Login{{Registry: "ghcr.io", Password: "no"}, {Registry: s.Host, Source: "the job's token", Username: "robot", Password: canary}}
			},
			source: "the job's token",
		},
		"wrong ones": {
			prepare: func(f *fixture, s *server) {
				f.dockerConfig(`{"auths": {%q: {"username": "other", "password": %q}}}`, s.Host, canary)
			},
			fails: "401 Unauthorized: UNAUTHORIZED: who are you (access with: docker configuration HOME/.docker/config.json)",
		},
		"in a file that is broken": {
			prepare: func(f *fixture, _ *server) { f.dockerConfig(`{"auths": {"x": {"auth": "%s"}}}`, canary) },
			fails:   "read the docker configuration HOME/.docker/config.json",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			image, _ := randomImage(t)
			f, s := newFixture(t, image), newServer(t, requireLogin("robot", canary))
			test.prepare(f, s)
			u := f.with("{app: {type: registry, repository: " + s.Host + "/app}}")
			result, err := f.reconcile(u)
			said := fmt.Sprint(err)
			switch {
			case test.fails == "" && err != nil:
				t.Fatal(err)
			case test.fails != "":
				var fault *driver.Error
				if want := strings.ReplaceAll(test.fails, "HOME", f.home()); !errors.As(err, &fault) || !strings.Contains(said, want) {
					t.Errorf("want a driver error with %q, got %v", want, err)
				}
			default:
				want := fmt.Sprintf("AUTH    %s: %s\n", s.Host, strings.ReplaceAll(test.source, "HOME", f.home()))
				if !strings.Contains(f.Log.String(), want) {
					t.Errorf("want %q in the transcript, got:\n%s", want, f.Log)
				}
				said += string(document.CanonicalJSON(result.Artifacts["containers"]))
				if got := s.digest("app", &authn.Basic{Username: "robot", Password: canary}); got == "" {
					t.Error("want the image pushed")
				}
			}
			for _, secret := range []string{canary, basic} {
				for where, text := range map[string]string{"error or evidence": said, "transcript": f.Log.String(), "files": f.leftBehind(u)} {
					if strings.Contains(text, secret) {
						t.Errorf("%s: want no secret in %q", where, text)
					}
				}
			}
		})
	}
}

// TestTokenServers pushes to registries that want a token of their own kind, which the credentials are exchanged for: so
// do GHCR and Docker Hub with a password, ACR with an identity token.
func TestTokenServers(t *testing.T) {
	t.Parallel()
	const token = canary + "-token"
	for title, test := range map[string]struct {
		repository, config string
		asked              func(*http.Request) bool
	}{
		"password": {
			"docker.io/team/app", `{"auths": {"https://index.docker.io/v1/": {"username": "robot", "password": "` + canary + `"}}}`,
			func(r *http.Request) bool { user, password, _ := r.BasicAuth(); return user+password == "robot"+canary },
		},
		"identity token": {
			"shop.azurecr.io/team/app", `{"auths": {"shop.azurecr.io": {"auth": "MDAwMDo=", "identitytoken": "` + canary + `"}}}`,
			func(r *http.Request) bool {
				return r.Method == http.MethodPost && r.PostFormValue("grant_type") == "refresh_token" && r.PostFormValue("refresh_token") == canary
			},
		},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			image, _ := randomImage(t)
			f := newFixture(t, image)
			f.dockerConfig("%s", test.config)
			s := newServer(t, func(w http.ResponseWriter, r *http.Request) bool {
				switch {
				case r.URL.Path == "/token" && test.asked(r):
					_, _ = fmt.Fprintf(w, `{"token": %q, "access_token": %[1]q}`, token)
				case r.URL.Path == "/token":
					w.WriteHeader(http.StatusUnauthorized)
				case r.Header.Get("Authorization") == "Bearer "+token:
					return false
				default:
					w.Header().Set("WWW-Authenticate", `Bearer realm="https://`+r.Host+`/token",service="test"`)
					w.WriteHeader(http.StatusUnauthorized)
				}
				return true
			})
			f.Options.Transport = redirect(s.Host)
			u := f.with("{app: {type: registry, repository: " + test.repository + "}}")
			uris := f.uris(u)
			ref, err := name.NewTag(s.Host + "/team/app:" + tag)
			if err != nil {
				t.Fatal(err)
			}
			head, err := remote.Head(ref, remote.WithAuth(&authn.Bearer{Token: token}))
			if err != nil {
				t.Fatal(err)
			}
			if want := "app=" + test.repository + "@" + head.Digest.String(); uris[0] != want {
				t.Errorf("want %s, got %s", want, uris[0])
			}
			if text := f.Log.String() + f.leftBehind(u); strings.Contains(text, canary) {
				t.Errorf("want no secret in %q", text)
			}
		})
	}
}

func TestGoogleServiceAccountKey(t *testing.T) {
	t.Parallel()
	key := fmt.Sprintf(`{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\n%s\n-----END PRIVATE KEY-----\n"}`, canary)
	image, _ := randomImage(t)
	f, s := newFixture(t, image), newServer(t, requireLogin("_json_key", key))
	f.Options.Transport = redirect(s.Host)
	u := f.with("{app: {type: registry, repository: europe-docker.pkg.dev/project/shop/app}}")
	if _, err := f.reconcile(u); err == nil || !strings.Contains(err.Error(), "401 Unauthorized") {
		t.Errorf("without a key: want 401, got %v", err)
	}
	f.Options.Env = append(f.Options.Env, "GOOGLE_APPLICATION_CREDENTIALS="+filepath.Join(f.home(), "key.json"))
	if _, err := f.reconcile(u); err == nil || !strings.Contains(err.Error(), "read GOOGLE_APPLICATION_CREDENTIALS") {
		t.Errorf("without the file: want an error that names the variable, got %v", err)
	}
	f.write(filepath.Join(f.home(), "key.json"), key)
	uris := f.uris(u)
	if got := s.digest("project/shop/app", &authn.Basic{Username: "_json_key", Password: key}); got == "" || uris[0] != "app=europe-docker.pkg.dev/project/shop/app@"+got {
		t.Errorf("want the image of %s, got %q", got, uris)
	}
	if text := f.Log.String() + f.leftBehind(u); strings.Contains(text, canary) {
		t.Errorf("want no secret in %q", text)
	}
}

// leftBehind is all that tools were given and all that lies in the Unit's directories.
func (f *fixture) leftBehind(u driver.Unit) string {
	f.t.Helper()
	var all strings.Builder
	for _, dir := range []string{u.TempDir, u.SourceDir} {
		if err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			all.Write(data)
			return err
		}); err != nil {
			f.t.Fatal(err)
		}
	}
	for _, name := range []string{"calls", "env"} {
		data, err := os.ReadFile(filepath.Join(f.bin, name))
		if err != nil && !os.IsNotExist(err) {
			f.t.Fatal(err)
		}
		all.Write(data)
	}
	return all.String()
}

// An ecrStub is AWS and its registry: the API answers for one account, and requests to the registry's real name end in a
// server of this process.
type ecrStub struct {
	*server
	asked []string
}

func newECRStub(t *testing.T, f *fixture, password string, status int) *ecrStub {
	t.Helper()
	stub := &ecrStub{server: newServer(t, requireLogin("AWS", canary))}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stub.asked = append(stub.asked, r.Header.Get("X-Amz-Target"))
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		w.WriteHeader(status)
		if status != http.StatusOK {
			_, _ = io.WriteString(w, `{"__type": "AccessDeniedException", "message": "may not ecr:GetAuthorizationToken"}`)
			return
		}
		_, _ = fmt.Fprintf(w, `{"authorizationData": [{"authorizationToken": %q, "expiresAt": 1.8e9, "proxyEndpoint": "https://x"}]}`,
			base64.StdEncoding.EncodeToString([]byte("AWS:"+password)))
	}))
	t.Cleanup(api.Close)
	f.Options.AWS = func(_ context.Context, region string) (aws.Config, error) {
		return aws.Config{Region: region, BaseEndpoint: aws.String(api.URL), RetryMaxAttempts: 1,
			Credentials: credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", canary+"-key", "")}, nil
	}
	f.Options.Transport = redirect(stub.Host)
	return stub
}

// redirect sends every request to one server of this process.
type redirect string

func (host redirect) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := r.Clone(r.Context())
	sent.URL.Scheme, sent.URL.Host = "http", string(host)
	response, err := http.DefaultTransport.RoundTrip(sent)
	if response != nil {
		response.Request = r // or relative addresses in the answer would lead to the server
	}
	return response, err
}

const ecrSpec = `{build: {dockerfile: app/Dockerfile, platform: linux/amd64}, publish: {credentialProvider: {type: aws-ecr}, targets: {
  a: {type: registry, repository: 123456789012.dkr.ecr.eu-central-1.amazonaws.com/a},
  b: {type: registry, repository: 123456789012.dkr.ecr.eu-central-1.amazonaws.com/b}}}}`

func TestECR(t *testing.T) {
	t.Parallel()
	image, _ := randomImage(t)
	f := newFixture(t, image)
	f.Options.Env = append(f.Options.Env, "AWS_PROFILE=deploy", "AWS_ACCESS_KEY_ID=x")
	stub := newECRStub(t, f, canary, http.StatusOK)
	u := f.unit(ecrSpec)
	uris := f.uris(u)
	digest := stub.digest("a", &authn.Basic{Username: "AWS", Password: canary})
	want := []string{"a=123456789012.dkr.ecr.eu-central-1.amazonaws.com/a@" + digest, "b=123456789012.dkr.ecr.eu-central-1.amazonaws.com/b@" + digest}
	if diff := cmp.Diff(want, uris); digest == "" || diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken"}, stub.asked); diff != "" {
		t.Errorf("AWS is asked once (-want +got):\n%s", diff)
	}
	if want := "AUTH    123456789012.dkr.ecr.eu-central-1.amazonaws.com: aws-ecr via AWS_PROFILE \"deploy\" (region eu-central-1)\n"; !strings.Contains(f.Log.String(), want) {
		t.Errorf("want %q in:\n%s", want, f.Log)
	}
	if everything := f.Log.String() + f.leftBehind(u) + strings.Join(uris, ""); strings.Contains(everything, canary) {
		t.Errorf("want no secret in %q", everything)
	}
}

func TestECRErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		password string
		status   int
		want     string
	}{
		"denied":         {canary, http.StatusBadRequest, "AccessDeniedException"},
		"empty password": {"", http.StatusOK, "AWS returned an empty password"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, nil)
			newECRStub(t, f, test.password, test.status)
			_, err := f.reconcile(f.unit(ecrSpec))
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "ecr:GetAuthorizationToken") {
				t.Errorf("want %q and the remedy, got %v", test.want, err)
			}
			if err != nil && strings.Contains(err.Error(), canary) {
				t.Errorf("want no secret in %v", err)
			}
			if plan, err := ociimages.New(f.Options).Plan(t.Context(), f.unit(ecrSpec)); err != nil || plan.Changes.Create != 2 {
				t.Errorf("want a plan all the same, got %s, %v", plan.Changes, err)
			}
		})
	}
}
