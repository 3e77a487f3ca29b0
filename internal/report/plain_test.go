package report

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestPlainLines(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       []string
	}{
		{"empty", "", []string{""}},
		{"tab stays", "a\tb", []string{"a\tb"}},
		{"colours go", "\x1b[1;31mred\x1b[0m \x1b[38;5;4mblue", []string{"red blue"}},
		{"window title goes", "\x1b]0;owned\aok \x1b]8;;http://x\x1b\\link", []string{"ok link"}},
		{"other strings go", "a\x1bPq#0\x1b\\b\x1b^pm\x1b\\c\x1b_apc", []string{"abc"}},
		{"short sequences go", "\x1bcreset\x1b(Bx\x1b", []string{"resetx"}},
		{"open sequence", "a\x1b[12", []string{"a"}},
		{"8-bit sequence starts go", "a\u009b31mb", []string{"a31mb"}},
		{"carriage returns end lines", "10%\r50%\r\ndone\r", []string{"10%", "50%", "done"}},
		{"only a carriage return", "\r", []string{""}},
		{"empty lines stay", "a\n\nb", []string{"a", "", "b"}},
		{"invisible characters go", "a\u200bb\u202ec\ufe0f\ufeff\u00add\x00\x7f", []string{"abcd"}},
		{"other line ends are spaces", "a\u2028b\u0085c\vd", []string{"a b c d"}},
		{"invalid UTF-8", "a\xff\xfeb", []string{"a\uFFFDb"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, PlainLines(tt.text)); diff != "" {
				t.Errorf("PlainLines(%q) (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

func FuzzPlainLines(f *testing.F) {
	f.Add("a\x1b[1mb\r\n\u009bc")
	f.Add("\x1b]\x1b\x1b[")
	f.Fuzz(func(t *testing.T, text string) {
		for _, line := range PlainLines(text) {
			if !utf8.ValidString(line) {
				t.Errorf("%q is not UTF-8", line)
			}
			if strings.ContainsFunc(line, func(r rune) bool { return r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf) }) {
				t.Errorf("%q holds a control character", line)
			}
		}
	})
}
