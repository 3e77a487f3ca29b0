package resource

import (
	"slices"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

// TransitionBlocks tell which Units wait, by qualified name, and why (chapter D, section 2.3). The reason is free text
// for people, but part of the desired tree's bytes: the same cause must give the same text.
type TransitionBlocks map[string]string

// DecodeTransitionBlocks reads .gitopsctr/transition-blocks.json. Members other than blocks do not matter.
func DecodeTransitionBlocks(file string, data []byte) (TransitionBlocks, error) {
	n, err := document.DecodeLenient(file, data)
	if err != nil {
		return nil, err
	}
	c := checker{file: file}
	blocks := n.Get("blocks")
	if blocks == nil {
		c.fault(n, `missing field "blocks"`, "add it: a mapping")
		return nil, c.err()
	}
	c.in("blocks")
	c.check(table("", nil, anyText), blocks)
	if err := c.err(); err != nil {
		return nil, err
	}
	all := TransitionBlocks{}
	for _, f := range blocks.Fields {
		all[f.Key] = f.Value.Str()
	}
	return all, nil
}

// Encode writes the file; nil without blocks: then there must be no file.
func (b TransitionBlocks) Encode() ([]byte, error) {
	if len(b) == 0 {
		return nil, nil
	}
	blocks := document.NewMap()
	for _, name := range b.Units() {
		blocks.Fields = append(blocks.Fields, document.F(name, document.NewString(b[name])))
	}
	return encodeControl(document.F("schema", document.NewInt(1)), document.F("blocks", blocks))
}

// Units returns the qualified names of the waiting Units, sorted.
func (b TransitionBlocks) Units() []string {
	names := make([]string, 0, len(b))
	for name := range b {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
