package document

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// mapping reads a mapping. Members that a merge key brings come first, in order; the mapping's own override them.
func (d *yamlDecoder) mapping(y *yaml.Node) (*Node, error) {
	if y.Tag != "!!map" && isTagged(y) {
		return nil, d.badTag(y)
	}
	n := &Node{Kind: Map, Line: y.Line, Column: y.Column}
	if len(y.Content) == 0 {
		return n, nil
	}
	own := fieldBuilder{fields: make([]Field, 0, len(y.Content)/2)}
	var merged []Field
	merges := 0
	for i := 0; i+1 < len(y.Content); i += 2 {
		keyNode, valueNode := y.Content[i], y.Content[i+1]
		for _, c := range y.Content[i : i+2] {
			if err := d.checkFlowColon(y, c); err != nil {
				return nil, err
			}
		}
		key, isMerge, err := d.key(keyNode)
		if err != nil {
			return nil, err
		}
		d.trail.pushKey(key)
		if isMerge {
			if merges++; merges > 1 && !d.lenient {
				return nil, d.fail(keyNode, "duplicate merge key <<", "merge a list of mappings: <<: [*a, *b]")
			}
			fields, err := d.merge(valueNode)
			if err != nil {
				return nil, err
			}
			merged = append(merged, fields...)
		} else {
			value, err := d.value(valueNode)
			if err != nil {
				return nil, err
			}
			if own.put(Field{Key: key, Value: value, Line: keyNode.Line, Column: keyNode.Column}) && !d.lenient {
				return nil, d.fail(keyNode, fmt.Sprintf("duplicate key %q", key), "keep one of the two")
			}
		}
		d.trail.pop()
	}
	n.Fields = own.fields
	if len(merged) > 0 {
		var all fieldBuilder
		for _, f := range append(merged, own.fields...) {
			all.put(f)
		}
		n.Fields = all.fields
	}
	return n, nil
}

// merge returns the members that the value of a merge key brings: of a list of mappings the earlier ones win.
func (d *yamlDecoder) merge(y *yaml.Node) ([]Field, error) {
	n, err := d.value(y)
	if err != nil {
		return nil, err
	}
	if n.Kind == Map {
		return n.Fields, nil
	}
	var fields []Field
	for i := len(n.Items) - 1; i >= 0; i-- {
		if n.Items[i].Kind != Map {
			return nil, d.fail(y, fmt.Sprintf("a merge key needs mappings, not %s", withArticle(n.Items[i].Kind)), "")
		}
		fields = append(fields, n.Items[i].Fields...)
	}
	if n.Kind != List {
		return nil, d.fail(y, fmt.Sprintf("a merge key needs a mapping or a list of mappings, not %s", withArticle(n.Kind)), "")
	}
	return fields, nil
}

// key reads a mapping's key, which must be a string or the merge key.
func (d *yamlDecoder) key(y *yaml.Node) (key string, isMerge bool, err error) {
	scalar := y
	if y.Kind == yaml.AliasNode {
		scalar = y.Alias
	} else if y.Anchor != "" {
		if _, err := d.value(y); err != nil {
			return "", false, err
		}
	}
	if scalar.Kind != yaml.ScalarNode {
		return "", false, d.fail(y, "a key must be a string, not a list or mapping", "")
	}
	if isTagged(scalar) && scalar.Tag == "!!value" {
		return scalar.Value, false, nil
	}
	tag, err := d.scalarTag(scalar)
	if err != nil {
		return "", false, err
	}
	switch tag {
	case tagString, tagValue:
		return scalar.Value, false, nil
	case tagMerge:
		return scalar.Value, true, nil
	}
	quoted := "'" + strings.ReplaceAll(scalar.Value, "'", "''") + "'"
	return "", false, d.fail(y, fmt.Sprintf("the key %s is read as %s, keys must be strings", scalar.Value, tag),
		fmt.Sprintf("write %s", quoted))
}
