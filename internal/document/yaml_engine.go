package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// parseYAML returns the root value of each document of a stream, after the checks that the engine does not make.
func parseYAML(file string, data []byte) (roots []*yaml.Node, err error) {
	if err := checkYAMLText(file, data); err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			roots, err = nil, &Error{File: file, Message: fmt.Sprintf("the YAML engine cannot read this: %v", r)}
		}
	}()
	text, slashes := replaceSlashEscapes(normalizeVersion(data))
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var document yaml.Node
		switch err := decoder.Decode(&document); {
		case errors.Is(err, io.EOF):
			return roots, checkLexis(file, data, roots)
		case err != nil:
			return nil, engineError(file, err)
		}
		for _, root := range document.Content {
			slashes.restore(root)
			roots = append(roots, root)
		}
	}
}

var engineMessage = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?(.*)$`)

// engineError gives an error of the engine our form.
func engineError(file string, err error) *Error {
	out := &Error{File: file, Message: "not valid YAML: " + err.Error()}
	if m := engineMessage.FindStringSubmatch(err.Error()); m != nil {
		out.Message = "not valid YAML: " + m[2]
		if line, err := strconv.Atoi(m[1]); err == nil {
			out.Line = line
		}
	}
	return out
}

var versionDirective = regexp.MustCompile(`^%YAML +1\.[0-9]+`)

// normalizeVersion lets the engine read any %YAML 1.x, of which it knows two.
func normalizeVersion(data []byte) []byte {
	for at := 0; at < len(data); {
		line := data[at:]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end+1]
		}
		if text := bytes.TrimLeft(line, " "); len(bytes.TrimSpace(text)) > 0 && text[0] != '#' && line[0] != '%' {
			return data
		}
		if m := versionDirective.Find(line); m != nil {
			out := bytes.Clone(data)
			copy(out[at:], "%YAML 1.1")
			for i := at + len("%YAML 1.1"); i < at+len(m); i++ {
				out[i] = ' '
			}
			return out
		}
		at += len(line)
	}
	return data
}

// isEmptyDocument tells whether a document holds nothing but an untagged null.
func isEmptyDocument(root *yaml.Node) bool {
	return root.Kind == yaml.ScalarNode && root.Style == 0 && resolvePlain(root.Value) == tagNull
}
