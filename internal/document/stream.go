package document

import "go.yaml.in/yaml/v3"

// streamName stands for a file name in errors about standard input.
const streamName = "-"

// Part is one document of a YAML stream.
type Part struct {
	Node *Node
	// Warnings are those of DecodeAuthored.
	Warnings []*Error
	// Offset and End bound the part's bytes in the stream: the parts are contiguous, the first starts at 0, each later one at
	// its root value, the last ends with the stream (chapter B 2.1).
	Offset, End int
}

// DecodeStream reads a YAML stream, such as standard input, that may hold any number of documents; empty ones are skipped.
// Each document is read as Decode does; errors name the file "-".
func DecodeStream(data []byte) ([]Part, error) {
	roots, err := parseYAML(streamName, data)
	if err != nil {
		return nil, err
	}
	var parts []Part
	lines := lineStarts(data)
	for _, root := range roots {
		if isEmptyDocument(root) {
			continue
		}
		part, err := decodePart(root)
		if err != nil {
			return nil, err
		}
		part.End = len(data)
		if len(parts) > 0 {
			part.Offset = offsetOf(data, lines, root.Line, root.Column)
			parts[len(parts)-1].End = part.Offset
		}
		parts = append(parts, part)
	}
	return parts, nil
}

func decodePart(root *yaml.Node) (Part, error) {
	n, warnings, err := convertYAML(streamName, root, false)
	return Part{Node: n, Warnings: warnings}, err
}
