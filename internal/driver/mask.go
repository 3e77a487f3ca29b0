package driver

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strings"
)

// minSecret is the length in bytes below which a value is not masked: a shorter one would hide half of the log and could
// be guessed from what is hidden (the runner's own masks suffer from both).
const minSecret = 6

const masked = "***"

// A Masker hides secret values in text. It is immutable and safe for concurrent use; a nil *Masker hides nothing.
type Masker struct {
	replacer *strings.Replacer
	max      int
}

// NewMasker returns a Masker for the values. A value of several lines is hidden line by line; lines of less than six
// bytes after trimming stay visible. The JSON-escaped and base64 forms of a value are hidden too.
func NewMasker(values ...string) *Masker {
	found := map[string]bool{}
	add := func(s string) {
		if s = strings.TrimSpace(s); len(s) >= minSecret {
			found[s] = true
		}
	}
	for _, value := range values {
		for line := range strings.Lines(value) {
			add(line)
			if quoted, err := json.Marshal(strings.TrimSpace(line)); err == nil {
				add(string(quoted[1 : len(quoted)-1]))
			}
		}
		if len(strings.TrimSpace(value)) >= minSecret {
			add(base64.StdEncoding.EncodeToString([]byte(value)))
			if quoted, err := json.Marshal(value); err == nil {
				add(string(quoted[1 : len(quoted)-1]))
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	// Longest first: at one place the replacer takes the first that fits.
	secrets := make([]string, 0, len(found))
	for s := range found {
		secrets = append(secrets, s)
	}
	slices.SortFunc(secrets, func(a, b string) int {
		if d := len(b) - len(a); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	pairs := make([]string, 0, 2*len(secrets))
	for _, s := range secrets {
		pairs = append(pairs, s, masked)
	}
	return &Masker{replacer: strings.NewReplacer(pairs...), max: len(secrets[0])}
}

// String returns s with every secret replaced by "***".
func (m *Masker) String(s string) string {
	if m == nil {
		return s
	}
	return m.replacer.Replace(s)
}

// Writer returns a writer that masks before it hands on to w. Each Write must be whole lines, as those of Command.Log are.
func (m *Masker) Writer(w io.Writer) io.Writer {
	if m == nil {
		return w
	}
	return maskedWriter{m, w}
}

// longest is the length in bytes of the longest secret.
func (m *Masker) longest() int {
	if m == nil {
		return 0
	}
	return m.max
}

type maskedWriter struct {
	mask *Masker
	to   io.Writer
}

func (w maskedWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.to, w.mask.String(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// SecretsFromEnv returns the values of an environment ("NAME=value") that a log must not show: those of variables whose
// name speaks of a secret, and passwords in URLs. Names that speak of a file, a path or an address are none.
func SecretsFromEnv(parent []string) []string {
	var secrets []string
	for _, entry := range parent {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || len(value) < minSecret {
			continue
		}
		if secretName(name) {
			secrets = append(secrets, value)
			continue
		}
		if u, err := url.Parse(value); err == nil && u.User != nil {
			if password, ok := u.User.Password(); ok {
				secrets = append(secrets, password)
			}
		}
	}
	return secrets
}

func secretName(name string) bool {
	name = strings.ToUpper(name)
	for _, suffix := range []string{"_FILE", "_PATH", "_DIR", "_URL", "_URI", "_ENDPOINT", "_HOST"} {
		if strings.HasSuffix(name, suffix) {
			return false
		}
	}
	for _, part := range []string{"TOKEN", "SECRET", "PASSW", "PASSPHRASE", "CREDENTIAL", "APIKEY", "PRIVATEKEY"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' })
	return slices.ContainsFunc(words, func(w string) bool {
		return w == "KEY" || w == "PASS" || w == "PAT" || w == "AUTH" || w == "PWD" && len(words) > 1 && name != "OLDPWD"
	})
}
