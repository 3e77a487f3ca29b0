package inspect

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"text/template"

	"k8s.io/client-go/util/jsonpath"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

// The outputs that print what an expression selects from the JSON form, as kubectl has them.
const (
	JSONPath   Output = "jsonpath"
	GoTemplate Output = "go-template"
)

// ParseOutput reads what stands behind -o: the name of an output, with "=" and an expression for those that take one.
func (q *Query) ParseOutput(text string) error {
	name, expression, given := strings.Cut(text, "=")
	q.Output, q.Expression = Output(name), expression
	switch q.Output {
	case Table, Wide, YAML, JSON, Name:
		if !given {
			return nil
		}
	case JSONPath:
		if given {
			_, err := q.path()
			return err
		}
		return fmt.Errorf("-o jsonpath needs an expression: -o jsonpath='{.spec.source.revision}'")
	case GoTemplate:
		if given {
			_, err := q.template()
			return err
		}
		return fmt.Errorf("-o go-template needs a template: -o go-template='{{.metadata.name}}'")
	}
	return fmt.Errorf("-o must be one of %s, not %q", strings.Join(Outputs(), ", "), text)
}

// path parses the expression; without braces it is a path alone.
func (q *Query) path() (*jsonpath.JSONPath, error) {
	expression := q.Expression
	if !strings.Contains(expression, "{") {
		expression = "{." + strings.TrimPrefix(expression, ".") + "}"
	}
	p := jsonpath.New("-o jsonpath").AllowMissingKeys(true)
	if err := p.Parse(expression); err != nil {
		return nil, fmt.Errorf("-o jsonpath=%s: %w", q.Expression, err)
	}
	return p, nil
}

func (q *Query) template() (*template.Template, error) {
	t, err := template.New("-o go-template").Option("missingkey=zero").Parse(q.Expression)
	if err != nil {
		return nil, fmt.Errorf("-o go-template=%s: %w", q.Expression, err)
	}
	return t, nil
}

// evaluate prints what the expression selects from a document.
func (q *Query) evaluate(n *document.Node) ([]byte, error) {
	var b bytes.Buffer
	if q.Output == JSONPath {
		p, err := q.path()
		if err != nil {
			return nil, err
		}
		if err := p.Execute(&b, plain(n)); err != nil {
			return nil, fmt.Errorf("-o jsonpath=%s: %w", q.Expression, err)
		}
		return b.Bytes(), nil
	}
	t, err := q.template()
	if err != nil {
		return nil, err
	}
	if err := t.Execute(&b, plain(n)); err != nil {
		return nil, fmt.Errorf("-o go-template=%s: %w", q.Expression, err)
	}
	return b.Bytes(), nil
}

// plain is a document as Go values that expressions can compare: int64 for integers that fit, else float64.
func plain(n *document.Node) any {
	if n == nil {
		return nil
	}
	switch n.Kind {
	case document.Map:
		m := make(map[string]any, len(n.Fields))
		for _, f := range n.Fields {
			m[f.Key] = plain(f.Value)
		}
		return m
	case document.List:
		l := make([]any, len(n.Items))
		for i, item := range n.Items {
			l[i] = plain(item)
		}
		return l
	case document.String:
		return n.Text
	case document.Bool:
		return n.Bool
	case document.Float:
		return n.Float
	case document.Int:
		if i, err := strconv.ParseInt(n.Text, 10, 64); err == nil {
			return i
		}
		f, err := strconv.ParseFloat(n.Text, 64)
		if err != nil {
			return n.Text
		}
		return f
	}
	return nil
}
