package ociimages

import (
	"encoding/json"
	"os"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/driver"
)

// googleRegistry tells whether a registry is one of Google's: Container Registry or Artifact Registry.
func googleRegistry(host string) bool {
	return host == "gcr.io" || strings.HasSuffix(host, ".gcr.io") || strings.HasSuffix(host, "-docker.pkg.dev")
}

// googleLogin is the service account key that GOOGLE_APPLICATION_CREDENTIALS names: Google's registries take the key itself
// for a password. Other kinds of credentials have to be exchanged first, which docker's credential helpers do.
func googleLogin(env []string) (_ login, ok bool, err error) {
	const variable = "GOOGLE_APPLICATION_CREDENTIALS"
	path, _ := driver.Lookup(env, variable)
	if path == "" {
		return login{}, false, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return login{}, false, &driver.Error{Op: "read " + variable, Detail: err.Error(), Fix: "correct the path, or unset the variable", Err: err}
	}
	var key struct {
		Type       string `json:"type"`
		PrivateKey string `json:"private_key"`
	}
	if json.Unmarshal(data, &key) != nil || key.Type != "service_account" {
		return login{}, false, nil
	}
	l := basicLogin("_json_key", string(data), "service account key of "+variable)
	l.secrets = append(l.secrets, key.PrivateKey)
	return l, true, nil
}
