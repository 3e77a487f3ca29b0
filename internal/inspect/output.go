package inspect

import (
	"fmt"
	"io"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

// Write prints the answer in the form that the query asks for.
func (q *Query) Write(w io.Writer, list List) error {
	var out []byte
	var err error
	switch {
	case q.Output == Name:
		out = names(list)
	case q.rows():
		out = q.tables(list)
	default:
		if out, err = q.encode(q.node(list)); err != nil {
			return err
		}
	}
	if _, err := w.Write(out); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

// encode writes a document in the form that was asked for. A table cannot hold one, so it is YAML then.
func (q *Query) encode(n *document.Node) ([]byte, error) {
	switch q.Output {
	case JSON:
		return document.InspectionJSON(n), nil
	case JSONPath, GoTemplate:
		return q.evaluate(n)
	}
	return document.InspectionYAML(n), nil
}

// node is the one exact document that was asked for (chapter H, 5.1), or a ResourceList (5.2).
func (q *Query) node(list List) *document.Node {
	if q.Name != "" && !q.AsList && !q.Artifacts && len(list.Items) == 1 {
		return list.Items[0].Document
	}
	items := make([]*document.Node, len(list.Items))
	for i := range list.Items {
		items[i] = list.Items[i].node()
	}
	return document.NewMap(
		document.F("apiVersion", document.NewString("inspection.gitopsctr.io/v1")),
		document.F("kind", document.NewString("ResourceList")),
		document.F("metadata", document.NewMap()),
		document.F("items", document.NewList(items...)))
}

// node is an entry of a ResourceList.
func (i *Item) node() *document.Node {
	inspection := document.NewNull()
	if i.Authentication != "" {
		inspection = document.NewMap(document.F("authentication", document.NewString(string(i.Authentication))))
	}
	scope := "environment"
	if i.Family == EnvironmentFamily {
		scope = "project"
	}
	return document.NewMap(
		document.F("provenance", document.NewMap(
			document.F("environment", orNull(i.Environment)),
			document.F("plane", document.NewString(i.Plane)),
			document.F("ref", orNull(i.Ref)),
			document.F("revision", orNull(i.Revision)),
			document.F("path", document.NewString(i.Path)))),
		document.F("address", document.NewMap(
			document.F("family", document.NewString(string(i.Family))),
			document.F("scope", document.NewString(scope)),
			document.F("namespace", orNull(i.Environment)),
			document.F("qualifiedName", document.NewString(i.Name)))),
		document.F("document", i.Document),
		document.F("inspection", inspection))
}

func orNull(s string) *document.Node {
	if s == "" {
		return document.NewNull()
	}
	return document.NewString(s)
}

func names(list List) []byte {
	var b strings.Builder
	for i := range list.Items {
		b.WriteString(string(list.Items[i].Family) + "/" + list.Items[i].Name + "\n")
	}
	return []byte(b.String())
}

// tables are the tables of all families, or the one that was asked for (chapter H, 3.1).
func (q *Query) tables(list List) []byte {
	if len(list.Items) == 0 {
		return []byte("No resources found.\n")
	}
	var b strings.Builder
	for start := 0; start < len(list.Items); {
		family := list.Items[start].Family
		end := start
		var rows [][]string
		for ; end < len(list.Items) && list.Items[end].Family == family; end++ {
			cells := list.Items[end].Cells
			if q.AllEnvironments {
				cells = append([]string{orDash(list.Items[end].Environment)}, cells...)
			}
			rows = append(rows, cells)
		}
		head := columns(family, q.Output == Wide)
		if q.AllEnvironments {
			head = append([]string{"ENVIRONMENT"}, head...)
		}
		if q.Selector == "all" {
			if start > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(strings.ToUpper(string(family)) + "S\n")
		}
		writeTable(&b, head, rows)
		start = end
	}
	return []byte(b.String())
}
