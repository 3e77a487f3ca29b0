package document

import (
	"strconv"
	"strings"
)

// Limits of what a document may be. They protect against hostile files and are far beyond any that people or gitopsctr write.
const (
	// maxDepth is how deep lists and mappings may nest.
	maxDepth = 1000
	// maxAliased is how many values the aliases of one YAML document may stand for in total.
	maxAliased = 100_000
)

// Decode reads one document; the suffix of file selects the format. It is strict (chapter A 12.1): besides what is not
// well-formed it refuses duplicate keys, keys that are not strings, numbers that are not finite, dates, binary values, sets,
// ordered maps, unknown tags, values that contain themselves, several documents, and anything but a mapping at the top.
// Every plain YAML scalar that remains means what chapter A 2 says. The error is an *Error with position and pointer.
func Decode(file string, data []byte) (*Node, error) {
	n, _, err := decode(file, data, false)
	return n, err
}

// DecodeLenient is Decode for documents that another program may have written: of duplicate keys the last value counts, at
// the place of the first.
func DecodeLenient(file string, data []byte) (*Node, error) {
	n, _, err := decode(file, data, true)
	return n, err
}

// DecodeAuthored is Decode for documents that people write. The warnings, in document order, point at plain scalars that
// YAML 1.1 takes for something else than most people expect: on, 017, 1:30, 1e5 (chapter A 12.2). They are not errors.
func DecodeAuthored(file string, data []byte) (n *Node, warnings []*Error, err error) {
	return decode(file, data, false)
}

// SchemaDirective returns the schema that the first line of a YAML document declares for editors, "" when there is none.
// Decoding ignores it like every comment.
func SchemaDirective(data []byte) string {
	rest, found := strings.CutPrefix(string(data[:min(len(data), 4096)]), schemaDirective)
	if !found {
		return ""
	}
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimRight(line, " \r")
}

func decode(file string, data []byte, lenient bool) (*Node, []*Error, error) {
	if FormatOf(file) == JSON {
		n, err := decodeJSON(file, data, lenient)
		return n, nil, err
	}
	if n := decodeBlock(data); n != nil {
		return n, nil, nil
	}
	return decodeYAML(file, data, lenient)
}

// withArticle names a kind with its article.
func withArticle(k Kind) string {
	switch k {
	case Null:
		return k.String()
	case Int:
		return "an " + k.String()
	}
	return "a " + k.String()
}

// trail is the way from the root to the value that is being read.
type trail []trailStep

// trailStep is one key, or when key is "" and index is at least 0, one list index.
type trailStep struct {
	key   string
	index int
}

func (t *trail) pushKey(key string)  { *t = append(*t, trailStep{key: key, index: -1}) }
func (t *trail) pushIndex(index int) { *t = append(*t, trailStep{index: index}) }
func (t *trail) pop()                { *t = (*t)[:len(*t)-1] }

// pointer returns the JSON Pointer of the trail.
func (t trail) pointer() string {
	var b strings.Builder
	for _, step := range t {
		b.WriteByte('/')
		if step.index >= 0 {
			b.WriteString(strconv.Itoa(step.index))
		} else {
			b.WriteString(PointerToken(step.key))
		}
	}
	return b.String()
}

// fieldBuilder collects the members of a mapping in document order.
type fieldBuilder struct {
	fields []Field
	// index is made when the mapping gets large.
	index map[string]int
}

// indexFrom is the number of members from which on an index is faster than looking through them.
const indexFrom = 16

// find returns the place of key, or -1.
func (b *fieldBuilder) find(key string) int {
	if b.index != nil {
		if i, ok := b.index[key]; ok {
			return i
		}
		return -1
	}
	for i := range b.fields {
		if b.fields[i].Key == key {
			return i
		}
	}
	return -1
}

// put adds a member; one with the same key is replaced in its place, and put reports that.
func (b *fieldBuilder) put(f Field) (replaced bool) {
	if i := b.find(f.Key); i >= 0 {
		b.fields[i] = f
		return true
	}
	b.fields = append(b.fields, f)
	switch {
	case b.index != nil:
		b.index[f.Key] = len(b.fields) - 1
	case len(b.fields) >= indexFrom:
		b.index = make(map[string]int, 2*indexFrom)
		for i := range b.fields {
			b.index[b.fields[i].Key] = i
		}
	}
	return false
}
