package inspect

import (
	"fmt"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// Collect answers the query for one environment. The planes that the query does not read are empty ones.
func (q *Query) Collect(environment string, v *observed.Survey) (List, error) {
	chosen, err := selected(q.Selector)
	if err != nil {
		return List{}, err
	}
	c := &collector{Query: q, environment: environment, survey: v}
	if q.ReadsObserved() {
		v.DecodeReceipts()
	}
	for _, f := range chosen {
		c.family(f)
	}
	for _, fault := range v.Faults() {
		if c.wants(fault) {
			c.faults(fault.Err)
		}
	}
	if q.ofReceipt() {
		return c.described()
	}
	c.list.Sort()
	return c.list, nil
}

// A collector gathers the items of one environment.
type collector struct {
	*Query
	environment string
	survey      *observed.Survey
	list        List
}

func (c *collector) faults(err error) {
	if err != nil {
		c.list.Add(List{Faults: []error{err}})
	}
}

// wants tells whether a fault matters to the query: with a name, broken neighbours do not.
func (c *collector) wants(fault observed.Fault) bool {
	if c.Name != "" && fault.Name != c.Name {
		return fault.Family == "" && c.rows()
	}
	if c.Producer != "" && fault.Name != c.Producer && !strings.HasPrefix(fault.Name, c.Producer+"/") {
		return false
	}
	chosen, err := selected(c.Selector)
	if err != nil {
		return false
	}
	for _, f := range chosen {
		if f == fault.Family || fault.Family == "" && readsObserved(f, c.rows()) {
			return true
		}
	}
	return false
}

func (c *collector) family(f Family) {
	v := c.survey
	switch f {
	case observed.UnitFamily:
		for _, name := range v.Names() {
			if c.named(name) {
				c.unit(v.Unit(name))
			}
		}
	case observed.StackFamily:
		for name, stack := range v.Stacks {
			if c.named(name) {
				c.stack(stack)
			}
		}
	case observed.StackTemplateFamily:
		for name, template := range v.Templates {
			if c.named(name) {
				c.template(template)
			}
		}
	case observed.PromotionFamily:
		if p := v.Promotion; p != nil && c.named(p.Environment) {
			c.promotion(p)
		}
	case observed.ReceiptFamily:
		for _, name := range v.ReceiptNames() {
			if c.named(name) {
				c.receipt(name)
			}
		}
	case observed.ArtifactFamily:
		c.artifacts()
	}
}

func (c *collector) named(name string) bool { return c.Name == "" || c.Name == name }

// add completes an item of a plane and keeps it, if its labels are those that are asked for.
func (c *collector) add(plane observed.Plane, item Item, labels []resource.Label, cells func() []string) {
	item.Environment, item.Ref, item.Revision = c.environment, plane.Ref, plane.Revision
	item.Labels = map[string]string{}
	for _, l := range labels {
		item.Labels[l.Key] = l.Value
	}
	for key, value := range c.Labels {
		if got, ok := item.Labels[key]; !ok || got != value {
			return
		}
	}
	if c.documents() {
		n, err := persisted(plane.Tree, item.Path)
		if err != nil {
			c.faults(fmt.Errorf("read %s: %w", plane.Ref, err))
			return
		}
		item.Document = n
	}
	if c.rows() {
		item.Cells = cells()
	}
	c.list.Items = append(c.list.Items, item)
}

// persisted is a document as it is on the ref, nothing added.
func persisted(tree observed.Tree, path string) (*document.Node, error) {
	data, err := tree.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return document.DecodeLenient(path, data)
}

// partition is the PARTITION cell of a resource.
func (c *collector) partition(m resource.Metadata) string {
	p, err := c.survey.Partition(m)
	c.faults(err)
	return orDash(p)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// shortRevision and shortDigest abbreviate as chapter H, 3.2 says.
func shortRevision(s string) string { return orDash(s[:min(12, len(s))]) }

func shortDigest(s string) string {
	if len(s) <= 19 {
		return orDash(s)
	}
	return s[:19] + "..."
}

func joined(names []string) string { return strings.Join(names, ", ") }
