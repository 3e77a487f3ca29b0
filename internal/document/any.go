package document

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

// Any returns n as the values that JSON Schema validators read: map[string]any, []any, string, bool, nil, and json.Number
// for numbers. A float without fraction stays recognizable as one ("2.0"), which JSON Schema counts as an integer.
func (n *Node) Any() any {
	if n == nil {
		return nil
	}
	switch n.Kind {
	case Null:
		return nil
	case Bool:
		return n.Bool
	case Int:
		return json.Number(n.Text)
	case Float:
		return json.Number(appendJSONFloat(nil, n.Float))
	case String:
		return n.Text
	case List:
		out := make([]any, len(n.Items))
		for i, item := range n.Items {
			out[i] = item.Any()
		}
		return out
	}
	out := make(map[string]any, len(n.Fields))
	for _, f := range n.Fields {
		out[f.Key] = f.Value.Any()
	}
	return out
}

// FromAny returns the node of a value as encoding/json makes it: map[string]any (its keys sorted), []any, string, bool, nil,
// json.Number (an integer unless it has a point or exponent), float64, and Go's integers. A *Node stands for itself. It fails
// for other types and for numbers that are not finite.
func FromAny(v any) (*Node, error) {
	switch v := v.(type) {
	case nil:
		return NewNull(), nil
	case *Node:
		return v, nil
	case bool:
		return NewBool(v), nil
	case string:
		return NewString(v), nil
	case int:
		return NewInt(int64(v)), nil
	case int64:
		return NewInt(v), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%v is no finite number", v)
		}
		return NewFloat(v), nil
	case json.Number:
		return fromNumber(v)
	case []any:
		return fromSlice(v)
	case []string:
		return NewStrings(v), nil
	case map[string]any:
		return fromMap(v)
	}
	return nil, fmt.Errorf("a %T is no JSON value", v)
}

func fromNumber(v json.Number) (*Node, error) {
	d := &jsonDecoder{data: string(v), line: 1}
	n := &Node{}
	if err := d.number(n); err != nil || d.pos < len(d.data) {
		return nil, fmt.Errorf("%s is no JSON number", strconv.Quote(string(v)))
	}
	return n, nil
}

func fromSlice(v []any) (*Node, error) {
	n := &Node{Kind: List}
	for i, item := range v {
		child, err := FromAny(item)
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
		n.Items = append(n.Items, child)
	}
	return n, nil
}

func fromMap(v map[string]any) (*Node, error) {
	n := &Node{Kind: Map}
	for _, key := range slices.Sorted(maps.Keys(v)) {
		child, err := FromAny(v[key])
		if err != nil {
			return nil, fmt.Errorf("key %q: %w", key, err)
		}
		n.Fields = append(n.Fields, F(key, child))
	}
	return n, nil
}
