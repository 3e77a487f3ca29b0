package inspect

import (
	"fmt"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

const invalid = "INVALID" // in place of a state that cannot be told; a fault says why

func (c *collector) unit(u *observed.Unit) {
	c.faults(c.survey.CheckAddress(u))
	item := Item{Family: observed.UnitFamily, Plane: "desired", Path: u.Path, Name: u.Name, Type: u.GVK().String()}
	c.add(c.survey.Desired, item, u.Metadata.Labels, func() []string {
		state, err := c.survey.UnitState(u.Name)
		condition, reason := string(state.Condition), state.Reason
		if err != nil {
			c.faults(err)
			condition, reason = invalid, firstLine(err)
		}
		return []string{u.Name, u.Kind, c.partition(u.Metadata), shortRevision(u.Blob), string(state.Observation), condition, reason}
	})
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

func (c *collector) receipt(name string) {
	r, err := c.survey.Receipt(name)
	if err != nil {
		c.faults(err)
		return
	}
	observation, err := c.survey.Observation(name)
	c.faults(err)
	item := Item{Family: observed.ReceiptFamily, Plane: "observed", Path: r.Path, Name: name, Type: resource.CoreAPI + "/Receipt"}
	c.add(c.survey.Observed, item, nil, func() []string {
		return []string{name, r.Subject.Kind, c.partitionOf(name), string(observation), fmt.Sprint(len(r.Artifacts))}
	})
}

// partitionOf is the PARTITION cell of evidence: that of its Unit.
func (c *collector) partitionOf(name string) string {
	u := c.survey.Unit(name)
	if u == nil {
		return "-"
	}
	return c.partition(u.Metadata)
}

func (c *collector) artifacts() {
	files, faults := c.survey.Artifacts()
	for _, fault := range faults {
		if c.wants(fault) || c.Name != "" && strings.HasPrefix(c.Name, fault.Name+"/") {
			c.faults(fault.Err)
		}
	}
	for i := range files {
		f := &files[i]
		if !c.named(f.Name) || c.Producer != "" && f.Producer != c.Producer {
			continue
		}
		item := artifactItem(f)
		item.Authentication = f.Authentication
		c.add(c.survey.Observed, item, nil, func() []string {
			partition := "-"
			if f.Authentication == observed.Current {
				partition = c.partitionOf(f.Producer)
			}
			return []string{f.Name, f.Kind, partition, string(f.Authentication)}
		})
	}
}

func artifactItem(f *observed.ArtifactFile) Item {
	return Item{Family: observed.ArtifactFamily, Plane: "observed", Path: f.Path, Name: f.Name, Type: f.GVK().String()}
}

// described answers a query for the artifacts that one Receipt describes (chapter H, 5.3).
func (c *collector) described() (List, error) {
	if len(c.list.Items) == 0 {
		return c.list, nil
	}
	files, err := c.survey.Described(c.Name)
	if err != nil {
		return List{}, err
	}
	c.list.Items = nil
	var known []string
	for i := range files {
		f := &files[i]
		known = append(known, resource.LocalName(f.Name))
		if c.Artifact == "" || resource.LocalName(f.Name) == c.Artifact {
			c.add(c.survey.Observed, artifactItem(f), nil, nil)
		}
	}
	if c.Artifact != "" && len(c.list.Items) == 0 {
		return List{}, &NotFoundError{observed.ArtifactFamily, c.Artifact, "the Receipt of " + c.Name, known}
	}
	c.list.Sort()
	return c.list, nil
}

func (c *collector) promotion(p *observed.PromotionFile) {
	item := Item{Family: observed.PromotionFamily, Plane: "desired", Path: p.Path, Name: p.Environment, Type: resource.CoreAPI + "/Promotion"}
	c.add(c.survey.Desired, item, nil, func() []string {
		return []string{p.Environment, p.Environment, "-", shortRevision(p.DesiredRevision), shortRevision(p.ObservedRevision), shortRevision(p.SpecificationRevision)}
	})
}
