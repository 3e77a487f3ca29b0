package document

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The engine does not know the escape \/ of YAML in JSON's clothes. slashEscape gives it another escape of the same length,
// one that the document does not use, and takes it back in the parsed values.
type slashEscape struct {
	// letter is the stand-in escape's letter, char the character that it stands for; 0 when nothing was replaced.
	letter, char byte
}

// isUsedIn tells whether data may hold the character of the stand-in, which can only be written as an escape.
func (s slashEscape) isUsedIn(data []byte) bool {
	for _, spelling := range []string{`\` + string(rune(s.letter)), `\x0`, `\x1`, `\u000`, `\u001`, `\U0000000`, `\U0000001`} {
		if bytes.Contains(data, []byte(spelling)) {
			return true
		}
	}
	return false
}

// replaceSlashEscapes returns data without \/ and what is needed to undo that.
func replaceSlashEscapes(data []byte) ([]byte, slashEscape) {
	if !bytes.Contains(data, []byte(`\/`)) {
		return data, slashEscape{}
	}
	for _, s := range []slashEscape{{'a', '\a'}, {'v', '\v'}, {'f', '\f'}, {'e', 0x1b}} {
		if s.isUsedIn(data) {
			continue
		}
		out := bytes.Clone(data)
		for i := 0; i+1 < len(out); i++ {
			if out[i] != '\\' {
				continue
			}
			i++ // whatever the backslash escapes, a backslash included, starts no escape itself
			if out[i] == '/' {
				out[i] = s.letter
			}
		}
		return out, s
	}
	return data, slashEscape{}
}

// restore puts the slashes back into every value of a tree.
func (s slashEscape) restore(y *yaml.Node) {
	if s.letter == 0 {
		return
	}
	if y.Style&yaml.DoubleQuotedStyle != 0 {
		y.Value = strings.ReplaceAll(y.Value, string(rune(s.char)), "/")
	} else {
		y.Value = strings.ReplaceAll(y.Value, `\`+string(rune(s.letter)), `\/`)
	}
	for _, c := range y.Content {
		s.restore(c)
	}
}
