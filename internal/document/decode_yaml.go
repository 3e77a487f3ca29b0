package document

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// decodeYAML reads a file that holds exactly one YAML document. The engine parses; what a scalar, key or tag means is
// decided here, by chapter A 2.
func decodeYAML(file string, data []byte, lenient bool) (*Node, []*Error, error) {
	roots, err := parseYAML(file, data)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case len(roots) == 0 || len(roots) == 1 && isEmptyDocument(roots[0]):
		return nil, nil, &Error{File: file, Message: "the document is empty"}
	case len(roots) > 1:
		return nil, nil, &Error{
			File: file, Line: roots[1].Line, Column: roots[1].Column,
			Message: "a second document starts here", Fix: "a file holds exactly one document",
		}
	}
	return convertYAML(file, roots[0], lenient)
}

// convertYAML turns the engine's tree of one document into ours.
func convertYAML(file string, root *yaml.Node, lenient bool) (*Node, []*Error, error) {
	d := &yamlDecoder{file: file, lenient: lenient}
	n, err := d.value(root)
	if err != nil {
		return nil, nil, err
	}
	if n.Kind != Map {
		return nil, nil, d.fail(root, fmt.Sprintf("a document must be a mapping, not %s", withArticle(n.Kind)), "")
	}
	if d.aliased > 0 && height(n) > maxDepth {
		return nil, nil, d.fail(root, fmt.Sprintf("values nest deeper than %d levels through aliases", maxDepth), "")
	}
	return n, d.warnings, nil
}

// height returns how deep n nests; it stops counting beyond maxDepth.
func height(n *Node) int { return heightBelow(n, 0) }

func heightBelow(n *Node, depth int) int {
	deepest := depth
	if depth > maxDepth {
		return depth
	}
	for _, item := range n.Items {
		deepest = max(deepest, heightBelow(item, depth+1))
	}
	for _, f := range n.Fields {
		deepest = max(deepest, heightBelow(f.Value, depth+1))
	}
	return deepest
}

// yamlDecoder turns the engine's nodes into ours.
type yamlDecoder struct {
	file     string
	lenient  bool
	trail    trail
	warnings []*Error

	anchors map[*yaml.Node]*anchored
	names   map[string]bool
	// count is the number of values so far, aliased the part of them that aliases stand for.
	count, aliased int
}

// anchored is a value that aliases may stand for.
type anchored struct {
	// node is nil while the value is still being read: an alias that meets it then is part of the value itself.
	node *Node
	// size is the number of values in node.
	size int
}

func (d *yamlDecoder) fail(at *yaml.Node, message, fix string) error {
	return &Error{File: d.file, Line: at.Line, Column: at.Column, Pointer: d.trail.pointer(), Message: message, Fix: fix}
}

// value reads any node and remembers it when it has an anchor.
func (d *yamlDecoder) value(y *yaml.Node) (*Node, error) {
	if y.Kind == yaml.AliasNode {
		return d.alias(y)
	}
	if y.Anchor == "" {
		return d.content(y)
	}
	if d.names[y.Anchor] {
		return nil, d.fail(y, fmt.Sprintf("the anchor &%s is set twice", y.Anchor), "give each anchor a name of its own")
	}
	if d.names == nil {
		d.names, d.anchors = map[string]bool{}, map[*yaml.Node]*anchored{}
	}
	d.names[y.Anchor] = true
	a := &anchored{}
	d.anchors[y] = a
	before := d.count
	n, err := d.content(y)
	if err != nil {
		return nil, err
	}
	a.node, a.size = n, d.count-before
	return n, nil
}

// alias returns a copy of what the alias stands for, which shares everything below its top and has the alias's position.
func (d *yamlDecoder) alias(y *yaml.Node) (*Node, error) {
	a := d.anchors[y.Alias]
	if a == nil || a.node == nil {
		return nil, d.fail(y, fmt.Sprintf("the alias *%s stands for a value that contains it", y.Value), "")
	}
	d.count += a.size
	d.aliased += a.size
	if d.aliased > maxAliased {
		return nil, d.fail(y, fmt.Sprintf("the aliases of this document stand for more than %d values", maxAliased), "")
	}
	n := *a.node
	n.Line, n.Column = y.Line, y.Column
	return &n, nil
}

func (d *yamlDecoder) content(y *yaml.Node) (*Node, error) {
	d.count++
	if len(d.trail) > maxDepth {
		return nil, d.fail(y, fmt.Sprintf("values nest deeper than %d levels", maxDepth), "")
	}
	switch y.Kind {
	case yaml.ScalarNode:
		return d.scalar(y)
	case yaml.SequenceNode:
		return d.list(y)
	case yaml.MappingNode:
		return d.mapping(y)
	}
	return nil, d.fail(y, "not a YAML value", "")
}

func (d *yamlDecoder) list(y *yaml.Node) (*Node, error) {
	if y.Tag != "!!seq" && isTagged(y) {
		return nil, d.badTag(y)
	}
	n := &Node{Kind: List, Line: y.Line, Column: y.Column}
	if len(y.Content) > 0 {
		n.Items = make([]*Node, 0, len(y.Content))
	}
	for i, c := range y.Content {
		d.trail.pushIndex(i)
		if err := d.checkFlowColon(y, c); err != nil {
			return nil, err
		}
		item, err := d.value(c)
		if err != nil {
			return nil, err
		}
		d.trail.pop()
		n.Items = append(n.Items, item)
	}
	return n, nil
}

// checkFlowColon refuses {a:} and [a:, b]: the engine reads "a:" as text there, YAML as chapter A describes it as a key.
func (d *yamlDecoder) checkFlowColon(parent, child *yaml.Node) error {
	if parent.Style&yaml.FlowStyle != 0 && child.Kind == yaml.ScalarNode && child.Style&^yaml.TaggedStyle == 0 && strings.HasSuffix(child.Value, ":") {
		return d.fail(child, fmt.Sprintf("%q is ambiguous between brackets", child.Value), "write a space after the colon, or quotes")
	}
	return nil
}

func isTagged(y *yaml.Node) bool { return y.Style&yaml.TaggedStyle != 0 }

func (d *yamlDecoder) badTag(y *yaml.Node) error {
	switch y.Tag {
	case "!!timestamp", "!!binary", "!!set", "!!omap", "!!pairs":
		return d.fail(y, fmt.Sprintf("the tag %s makes a value that JSON does not have", y.Tag), "use strings, numbers, lists and mappings only")
	case "!!str", "!!int", "!!float", "!!bool", "!!null", "!!seq", "!!map":
		return d.fail(y, fmt.Sprintf("the tag %s does not fit this value", y.Tag), "remove the tag")
	}
	return d.fail(y, fmt.Sprintf("unknown tag %s", y.Tag), "remove the tag")
}

// scalar reads a scalar value.
func (d *yamlDecoder) scalar(y *yaml.Node) (*Node, error) {
	n := &Node{Line: y.Line, Column: y.Column}
	tag, err := d.scalarTag(y)
	if err != nil {
		return nil, err
	}
	ok := true
	switch tag {
	case tagString:
		n.Kind, n.Text = String, y.Value
	case tagNull:
		n.Kind = Null
	case tagBool:
		n.Kind = Bool
		n.Bool, ok = yamlBool(y.Value)
	case tagInt:
		n.Kind = Int
		n.Text, ok = yamlInt(y.Value)
	case tagFloat:
		n.Kind = Float
		n.Float, ok = yamlFloat(y.Value)
		if ok && !isFinite(n.Float) {
			return nil, d.fail(y, fmt.Sprintf("%s is no finite number", y.Value), "write a finite number, or a string in quotes")
		}
	default:
		return nil, d.fail(y, fmt.Sprintf("plain %s is read as %s, which JSON does not have", y.Value, tag),
			fmt.Sprintf("write '%s' for a string", y.Value))
	}
	if !ok {
		return nil, d.fail(y, fmt.Sprintf("%q is not %s", y.Value, tag), "")
	}
	if y.Style == 0 {
		if surprise := yamlSurprise(y.Value, tag); surprise != "" {
			d.warnings = append(d.warnings, &Error{
				File: d.file, Line: y.Line, Column: y.Column, Pointer: d.trail.pointer(),
				Message: surprise, Fix: surpriseFix(n, y.Value),
			})
		}
	}
	return n, nil
}

func surpriseFix(n *Node, text string) string {
	switch n.Kind {
	case Bool:
		return fmt.Sprintf("write %t, or '%s' for a string", n.Bool, text)
	case Int:
		return fmt.Sprintf("write %s, or '%s' for a string", n.Text, text)
	case Float:
		return fmt.Sprintf("write %s, or '%s' for a string", appendFloat(nil, n.Float), text)
	}
	return fmt.Sprintf("write '%s' if that is meant", text)
}

// scalarTag tells what a scalar is: by its tag, else a string when it is quoted, else by the table of chapter A 2.
func (d *yamlDecoder) scalarTag(y *yaml.Node) (scalarTag, error) {
	if !isTagged(y) {
		if y.Style == 0 {
			return resolvePlain(y.Value), nil
		}
		return tagString, nil
	}
	switch y.Tag {
	case "!!str":
		return tagString, nil
	case "!!null":
		return tagNull, nil
	case "!!bool":
		return tagBool, nil
	case "!!int":
		return tagInt, nil
	case "!!float":
		return tagFloat, nil
	case "!!merge":
		return tagMerge, nil
	}
	return 0, d.badTag(y)
}
