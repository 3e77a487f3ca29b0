package gitstate

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// A redactor removes secrets from texts that people will see. The zero value knows no secrets.
type redactor struct {
	mu      sync.RWMutex
	secrets []string // longest first
}

// add makes the redactor know a secret in the forms in which it can occur in messages.
func (r *redactor) add(user, secret string) {
	if secret == "" {
		return
	}
	forms := []string{
		secret, url.QueryEscape(secret), url.PathEscape(secret), url.UserPassword(user, secret).String(),
		base64.StdEncoding.EncodeToString([]byte(user + ":" + secret)), base64.StdEncoding.EncodeToString([]byte(secret)),
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range forms {
		if !slices.Contains(r.secrets, f) {
			r.secrets = append(r.secrets, f)
		}
	}
	slices.SortFunc(r.secrets, func(a, b string) int { return len(b) - len(a) })
}

// clean returns text without known secrets, without user names and passwords in URLs, and without control characters
// other than line breaks.
func (r *redactor) clean(text string) string {
	r.mu.RLock()
	for _, s := range r.secrets {
		text = strings.ReplaceAll(text, s, "***")
	}
	r.mu.RUnlock()
	text = redactURLs(text)
	return strings.Map(func(c rune) rune {
		if c != '\n' && unicode.IsControl(c) {
			return -1
		}
		return c
	}, text)
}

var userinfo = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^\s/]*@`)

// redactURLs removes the user name and password of every URL in a text (chapter F, 6.4).
func redactURLs(text string) string { return userinfo.ReplaceAllString(text, "$1") }
