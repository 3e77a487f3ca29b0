package terraform

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	tfjson "github.com/hashicorp/terraform-json"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/driver"
)

// plan is what the driver needs of the tool's structured plan. It holds sensitive values: it is never printed.
type plan struct {
	resources []*tfjson.ResourceChange
	outputs   map[string]*tfjson.Change
	// declared are the root module's outputs in the configuration.
	declared map[string]*tfjson.ConfigOutput
	// values are the members of output_changes with exact numbers.
	values *document.Node
}

// readPlan reads the plan file in its structured form.
func (s *session) readPlan(ctx context.Context) (*plan, error) {
	var out bytes.Buffer
	if _, err := s.run(ctx, step{name: "show", args: []string{"-no-color", "-json", s.planFile}, stdout: &out, quiet: true}); err != nil {
		return nil, err
	}
	p, err := parsePlan(out.Bytes())
	if err != nil {
		return nil, &driver.Error{Op: s.tool.Name + " show", Detail: "the structured plan cannot be read: " + err.Error(), Err: err}
	}
	return p, nil
}

func parsePlan(data []byte) (*plan, error) {
	var typed tfjson.Plan
	if err := json.Unmarshal(data, &typed); err != nil {
		return nil, err
	}
	var raw struct {
		OutputChanges json.RawMessage `json:"output_changes"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, err
	}
	p := &plan{resources: typed.ResourceChanges, outputs: typed.OutputChanges, values: document.NewMap()}
	if typed.Config != nil && typed.Config.RootModule != nil {
		p.declared = typed.Config.RootModule.Outputs
	}
	if len(raw.OutputChanges) > 0 {
		values, err := document.Decode("plan.json", raw.OutputChanges)
		if err != nil {
			return nil, fmt.Errorf("output changes: %w", err)
		}
		p.values = values
	}
	return p, nil
}

// changes counts and lists what the plan changes: what is lost first.
func (p *plan) changes() driver.Changes {
	var c driver.Changes
	byAction := map[string][]driver.ResourceChange{}
	for _, r := range p.resources {
		action := actionOf(r)
		switch action {
		case "":
			continue
		case "create":
			c.Create++
		case "update":
			c.Update++
		case "replace":
			c.Replace++
		case "destroy":
			c.Destroy++
		}
		address := r.Address
		if r.DeposedKey != "" {
			address += " (deposed " + r.DeposedKey + ")"
		}
		byAction[action] = append(byAction[action], driver.ResourceChange{Address: address, Action: action})
	}
	for _, action := range []string{"destroy", "replace", "update", "create"} {
		c.Resources = append(c.Resources, byAction[action]...)
	}
	for _, o := range p.outputs {
		if !o.Actions.NoOp() {
			c.Outputs++
		}
	}
	return c
}

// actionOf names what happens to a resource, "" for nothing. What changes in the state only (a resource that moves, is
// imported or forgotten) is an update.
func actionOf(r *tfjson.ResourceChange) string {
	if r.Change == nil {
		return ""
	}
	a := r.Change.Actions
	switch {
	case a.Replace():
		return "replace"
	case a.Create():
		return "create"
	case a.Delete():
		return "destroy"
	case a.Update(), a.Forget(), r.Change.Importing != nil, r.PreviousAddress != "":
		return "update"
	}
	return ""
}

// sensitive tells whether the tool treats an output as sensitive, by the configuration or by its planned value.
func (p *plan) sensitive(output string) bool {
	if d := p.declared[output]; d != nil && d.Sensitive {
		return true
	}
	o := p.outputs[output]
	return o != nil && anyTrue(o.AfterSensitive)
}

// knownOutputs returns the values that the named outputs will have as far as the plan knows them wholly and may show them.
func (p *plan) knownOutputs(names []string) *document.Node {
	known := document.NewMap()
	for _, name := range names {
		o := p.outputs[name]
		if o == nil || p.sensitive(name) || anyTrue(o.AfterUnknown) {
			continue
		}
		if value := p.values.Path(name, "after"); !value.IsNull() {
			known.Fields = append(known.Fields, document.F(name, value))
		}
	}
	return known
}

// anyTrue tells whether a mask of the structured plan (true, or nested lists and objects of it) marks anything.
func anyTrue(mask any) bool {
	switch m := mask.(type) {
	case bool:
		return m
	case []any:
		return slices.ContainsFunc(m, anyTrue)
	case map[string]any:
		for _, v := range m {
			if anyTrue(v) {
				return true
			}
		}
	}
	return false
}
