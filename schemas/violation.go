package schemas

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// A Violation is one fault of a value.
type Violation struct {
	// Pointer is the JSON Pointer of the faulty value; of an unknown field, that field.
	Pointer string
	// Message says what is wrong, without a final full stop.
	Message string
}

func refuseURL(url string) (io.ReadCloser, error) {
	return nil, fmt.Errorf("%s is not loaded: schemas are self-contained", url)
}

func (c compiled) violations(value any) ([]Violation, error) {
	err := c.schema.Validate(value)
	if err == nil {
		return nil, nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return nil, err
	}
	var all []Violation
	for _, leaf := range leaves(invalid) {
		all = append(all, c.word(leaf, value)...)
	}
	slices.SortStableFunc(all, func(a, b Violation) int { return strings.Compare(a.Pointer, b.Pointer) })
	return slices.Compact(all), nil
}

// leaves returns the violations that say the most: the deepest ones, and of alternatives those of the one that was meant.
func leaves(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	causes := e.Causes
	if keyword(e) == "anyOf" {
		causes = slices.DeleteFunc(slices.Clone(causes), func(c *jsonschema.ValidationError) bool {
			// That a value is not null says nothing, when it is not the alternative that was meant.
			return keyword(c) == "type" && c.InstanceLocation == e.InstanceLocation && strings.HasSuffix(c.Message, "expected null, but got "+lastWord(c.Message))
		})
		if len(causes) > 1 {
			return []*jsonschema.ValidationError{e}
		}
	}
	if len(causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	var all []*jsonschema.ValidationError
	for _, c := range causes {
		all = append(all, leaves(c)...)
	}
	return all
}

func keyword(e *jsonschema.ValidationError) string {
	return e.KeywordLocation[strings.LastIndexByte(e.KeywordLocation, '/')+1:]
}

func lastWord(s string) string { return s[strings.LastIndexByte(s, ' ')+1:] }

// word says a violation in the words of the schema.
func (c compiled) word(e *jsonschema.ValidationError, value any) []Violation {
	_, fragment, _ := strings.Cut(e.AbsoluteKeywordLocation, "#")
	parent, _ := at(c.tree, fragment[:max(strings.LastIndexByte(fragment, '/'), 0)]).(map[string]any)
	here := at(value, e.InstanceLocation)
	one := func(message string) []Violation { return []Violation{{e.InstanceLocation, message}} }
	switch keyword(e) {
	case "additionalProperties":
		var all []Violation
		known, _ := parent["properties"].(map[string]any)
		object, _ := here.(map[string]any)
		for key := range object {
			if _, ok := known[key]; !ok {
				all = append(all, Violation{e.InstanceLocation + "/" + escape(key), fmt.Sprintf("unknown field %q", key)})
			}
		}
		return all
	case "required":
		var all []Violation
		object, _ := here.(map[string]any)
		names, _ := parent["required"].([]any)
		for _, name := range names {
			if _, ok := object[fmt.Sprint(name)]; !ok {
				all = append(all, Violation{e.InstanceLocation, fmt.Sprintf("missing field %q", name)})
			}
		}
		return all
	case "type":
		return one("must be " + alternatives(parent["type"], typeName) + ", not " + typeName(typeOf(here)))
	case "enum":
		return one("must be " + alternatives(parent["enum"], literal))
	case "const":
		return one("must be " + literal(parent["const"]))
	case "pattern":
		if says, ok := parent["patternErrorMessage"].(string); ok {
			return one(says)
		}
	case "minLength":
		return one("must not be empty")
	case "not":
		if says, ok := parent["errorMessage"].(string); ok {
			return one(says)
		}
	}
	return one(e.Message)
}

// at follows a JSON Pointer; nil when there is nothing.
func at(v any, pointer string) any {
	if pointer == "" {
		return v
	}
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch x := v.(type) {
		case map[string]any:
			v = x[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

func escape(key string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(key) }

// alternatives words one value, or a list of them.
func alternatives(v any, word func(any) string) string {
	list, ok := v.([]any)
	if !ok {
		return word(v)
	}
	words := make([]string, len(list))
	for i, x := range list {
		words[i] = word(x)
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func literal(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}

func typeName(v any) string {
	switch v {
	case "object":
		return "a mapping"
	case "array":
		return "a list"
	case "integer":
		return "an integer"
	case "boolean":
		return "true or false"
	case "null":
		return "null"
	}
	return "a " + fmt.Sprint(v)
}

func typeOf(v any) any {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case map[string]any:
		return "object"
	case []any:
		return "array"
	}
	return "number"
}
