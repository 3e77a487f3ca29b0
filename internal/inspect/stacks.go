package inspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/observed"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

func (c *collector) stack(s *observed.Root) {
	item := Item{Family: observed.StackFamily, Plane: "desired", Path: s.Path, Name: s.Name, Type: resource.CoreAPI + "/Stack"}
	c.add(c.survey.Desired, item, s.Metadata.Labels, func() []string {
		_, err := c.survey.TemplateOf(s)
		c.faults(err)
		observation, err := c.survey.StackObservation(s)
		if err != nil {
			c.faults(err)
			observation = invalid
		}
		ref := s.Spec.Get("templateRef")
		template, digest := orDash(ref.Get("name").Str()), ref.Get("contentDigest").Str()
		declared, bound := members(s.Spec.Path("structuralProjection", "units")), members(s.Spec.Path("activeProjection", "units"))
		partition, state := c.partition(s.Metadata), observed.Lifecycle(s.Metadata)
		if c.Output != Wide {
			return []string{s.Name, template, shortDigest(digest), partition, fmt.Sprintf("%d/%d", len(bound), len(declared)), observation, state}
		}
		return []string{
			s.Name, s.Metadata.UID, template, orDash(ref.Get("uid").Str()), orDash(digest), partition,
			structural(s.Spec.Get("structuralProjection"), declared), active(s.Spec.Get("activeProjection"), bound), topology(declared), observation, state,
		}
	})
}

// members are the fields of a mapping in code point order; none for null.
func members(n *document.Node) []document.Field {
	if n.IsNull() {
		return nil
	}
	out := slices.Clone(n.Fields)
	slices.SortFunc(out, func(a, b document.Field) int { return strings.Compare(a.Key, b.Key) })
	return out
}

func structural(projection *document.Node, units []document.Field) string {
	identity := projection.Get("identity")
	return fmt.Sprintf("projection=%s context=%s units=%s", shortDigest(identity.Get("projectionDigest").Str()),
		shortDigest(identity.Get("projectionContextDigest").Str()),
		each(units, ",", func(f document.Field) string { return f.Key + ":" + f.Value.Get("kind").Str() }))
}

func active(projection *document.Node, units []document.Field) string {
	if projection.IsNull() {
		return "-"
	}
	return fmt.Sprintf("projection=%s source=%s context=%s units=%s", shortDigest(projection.Get("projectionDigest").Str()),
		shortDigest(projection.Get("sourceProjectionDigest").Str()), shortDigest(projection.Get("projectionContextDigest").Str()),
		each(units, ",", func(f document.Field) string {
			return f.Key + ":" + f.Value.Get("name").Str() + "@" + shortDigest(f.Value.Get("desiredDigest").Str())
		}))
}

func topology(units []document.Field) string {
	return each(units, ";", func(f document.Field) string {
		return f.Key + "<-" + orDash(strings.Join(f.Value.Get("dependsOn").Strs(), ","))
	})
}

func each(units []document.Field, separator string, text func(document.Field) string) string {
	parts := make([]string, len(units))
	for i, f := range units {
		parts[i] = text(f)
	}
	return orDash(strings.Join(parts, separator))
}

func (c *collector) template(t *observed.Root) {
	item := Item{Family: observed.StackTemplateFamily, Plane: "desired", Path: t.Path, Name: t.Name, Type: resource.CoreAPI + "/StackTemplate"}
	c.add(c.survey.Desired, item, t.Metadata.Labels, func() []string {
		digest := t.Spec.Get("contentDigest").Str()
		parameters, units := fmt.Sprint(len(t.Spec.Get("parameters").Items)), fmt.Sprint(len(members(t.Spec.Get("unitTemplates"))))
		partition, references, state := c.partition(t.Metadata), c.references(t), observed.Lifecycle(t.Metadata)
		if c.Output != Wide {
			return []string{t.Name, shortDigest(digest), sourceContext(t, shortRevision), parameters, units, partition, references, state}
		}
		return []string{
			t.Name, t.Metadata.UID, orDash(digest), acquisition(t.Spec.Get("acquisition")), sourceContext(t, orDash),
			parameters, units, partition, references, state,
		}
	})
}

// references are the Stacks that select a template and agree with it.
func (c *collector) references(t *observed.Root) string {
	var names []string
	for name, stack := range c.survey.Stacks {
		if selected, err := c.survey.TemplateOf(stack); err == nil && selected == t {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return orDash(strings.Join(names, ","))
}

func sourceContext(t *observed.Root, revision func(string) string) string {
	context := t.Spec.Get("sourceContext")
	if context.IsNull() {
		return "-"
	}
	return withoutCredentials(context.Get("repository").Str()) + "@" + revision(context.Get("revision").Str())
}

// acquisition tells how a template was acquired (chapter H, 3.2).
func acquisition(a *document.Node) string {
	requested, resolved := a.Get("requestedSource"), a.Get("resolvedSource")
	digest := orDash(a.Get("documentDigest").Str())
	mode := firstKey(requested)
	if mode == "" {
		mode = firstKey(resolved)
	}
	switch mode {
	case "fromGit":
		asked, got := requested.Get("fromGit"), resolved.Get("fromGit")
		either := func(key string) string {
			if s := got.Get(key).Str(); s != "" {
				return s
			}
			return orDash(asked.Get(key).Str())
		}
		return fmt.Sprintf("git(repository=%s;requested=%s;resolved=%s;path=%s;document=%s)", withoutCredentials(either("repository")),
			orDash(asked.Get("revision").Str()), orDash(got.Get("revision").Str()), either("path"), digest)
	case "fromPromotion":
		got := resolved.Get("fromPromotion")
		part := func(key string) string { return orDash(got.Get(key).Str()) }
		return fmt.Sprintf("promotion(requested=%s;resolved=%s/%s@%s;template=%s@%s;document=%s)",
			orDash(requested.Path("fromPromotion", "stack").Str()), part("environment"), part("desiredRef"), part("desiredRevision"),
			part("template"), part("templateUid"), digest)
	}
	return fmt.Sprintf("input(document=%s)", digest)
}

func firstKey(n *document.Node) string {
	if n.IsNull() || len(n.Fields) == 0 {
		return ""
	}
	return n.Fields[0].Key
}

// withoutCredentials drops user names and passwords from a repository's address.
func withoutCredentials(repository string) string {
	scheme, rest, isURL := strings.Cut(repository, "://")
	if !isURL {
		return repository[strings.LastIndexByte(repository, '@')+1:]
	}
	end := len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		end = i
	}
	return scheme + "://" + rest[strings.LastIndexByte(rest[:end], '@')+1:]
}
