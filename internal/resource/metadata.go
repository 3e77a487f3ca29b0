package resource

import (
	"slices"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

// PartitionLabel is the label that puts a root resource into a partition (chapter B, section 7).
const PartitionLabel = "gitopsctr.io/partition"

// Metadata is what names and owns a desired document (chapter A, section 7).
type Metadata struct {
	// Name is the local name: the last segment of the qualified name.
	Name string
	// UID is the identity of this incarnation.
	UID string
	// Labels in written order; nil when there are none. An empty list that was read stays.
	Labels []Label
	// Owner is the Stack that owns the Unit, nil for a root resource.
	Owner *OwnerReference
	// Deletion is set once the resource is to be deleted.
	Deletion *Deletion
}

// A Label is one entry of metadata.labels.
type Label struct{ Key, Value string }

// An OwnerReference names the resource that owns another one.
type OwnerReference struct{ APIVersion, Kind, Name, UID string }

// A Deletion marks a resource for deletion.
type Deletion struct {
	// Generation counts the marks, from 1.
	Generation int64
	// ResourceDigest is the content digest of the resource without the mark.
	ResourceDigest string
}

// Label returns the value of a label and whether it is there.
func (m Metadata) Label(key string) (string, bool) {
	for _, l := range m.Labels {
		if l.Key == key {
			return l.Value, true
		}
	}
	return "", false
}

// Partition returns the partition of a root resource, "" for none.
func (m Metadata) Partition() string {
	p, _ := m.Label(PartitionLabel)
	return p
}

// WithLabel returns a copy with the label set: an existing one keeps its place, a new one is appended.
func (m Metadata) WithLabel(key, value string) Metadata {
	m.Labels = slices.Clone(m.Labels)
	for i := range m.Labels {
		if m.Labels[i].Key == key {
			m.Labels[i].Value = value
			return m
		}
	}
	m.Labels = append(m.Labels, Label{key, value})
	return m
}

// WithoutLabel returns a copy without the label; removing the last one removes the labels.
func (m Metadata) WithoutLabel(key string) Metadata {
	var kept []Label
	for _, l := range m.Labels {
		if l.Key != key {
			kept = append(kept, l)
		}
	}
	m.Labels = kept
	return m
}

// Node returns the written form: name, uid, and what else there is.
func (m Metadata) Node() *document.Node {
	fields := []document.Field{document.F("name", document.NewString(m.Name)), document.F("uid", document.NewString(m.UID))}
	if m.Labels != nil {
		labels := document.NewMap()
		for _, l := range m.Labels {
			labels.Fields = append(labels.Fields, document.F(l.Key, document.NewString(l.Value)))
		}
		fields = append(fields, document.F("labels", labels))
	}
	if o := m.Owner; o != nil {
		fields = append(fields, document.F("ownerReferences", document.NewList(document.NewMap(
			document.F("apiVersion", document.NewString(o.APIVersion)), document.F("kind", document.NewString(o.Kind)),
			document.F("name", document.NewString(o.Name)), document.F("uid", document.NewString(o.UID))))))
	}
	if d := m.Deletion; d != nil {
		fields = append(fields, document.F("deletion", document.NewMap(
			document.F("generation", document.NewInt(d.Generation)),
			document.F("resourceDigest", document.NewString(d.ResourceDigest)))))
	}
	return document.NewMap(fields...)
}

// metadataOf reads checked metadata.
func metadataOf(n *document.Node) Metadata {
	m := Metadata{Name: n.Get("name").Str(), UID: n.Get("uid").Str()}
	if labels := n.Get("labels"); labels != nil {
		m.Labels = make([]Label, 0, len(labels.Fields))
		for _, f := range labels.Fields {
			m.Labels = append(m.Labels, Label{f.Key, f.Value.Str()})
		}
	}
	if owners := n.Get("ownerReferences"); owners != nil && len(owners.Items) > 0 {
		o := owners.Items[0]
		m.Owner = &OwnerReference{o.Get("apiVersion").Str(), o.Get("kind").Str(), o.Get("name").Str(), o.Get("uid").Str()}
	}
	if d := n.Get("deletion"); d != nil {
		generation, _ := d.Get("generation").Int64()
		m.Deletion = &Deletion{generation, d.Get("resourceDigest").Str()}
	}
	return m
}

// checkMetadata checks what the shape cannot say: the partition label.
func checkMetadata(file string, n *document.Node) error {
	partition := n.Path("labels", PartitionLabel)
	if partition == nil {
		return nil
	}
	c := checker{file: file, path: []string{"metadata", "labels", PartitionLabel}}
	c.check(text(identifier), partition)
	if n.Has("ownerReferences") {
		c.fault(partition, "an owned resource has no partition of its own", "remove the label; the owner has it")
	}
	return c.err()
}

func authoredMetadata(name *textRule) *shape {
	return object("", need("name", text(name), "Name of the document; its file has the same name."))
}

func desiredMetadata(name *textRule) *shape {
	return named("metadata", object("What names and owns the document.",
		need("name", text(name), "Name of the document; the last part of its path."),
		need("uid", text(identifier), "Identity of this incarnation of the resource."),
		leave("labels", table("Labels. "+PartitionLabel+" puts a root resource into a partition.", nonEmpty, anyText), "Labels, in written order."),
		leave("ownerReferences", &shape{kind: listShape, minItems: 1, maxItems: 1, elem: object("The Stack that owns this Unit.",
			need("apiVersion", text(nonEmpty), "API version of the owner."),
			need("kind", text(nonEmpty), "Kind of the owner."),
			need("name", text(nonEmpty), "Name of the owner."),
			need("uid", text(identifier), "UID of the owner."))}, "The one owner; absent for a root resource."),
		leave("deletion", object("The mark of a resource that is to be deleted.",
			need("generation", integer(0, 1), "Counts the marks, from 1."),
			need("resourceDigest", text(sha256Digest), "Content digest of the resource without this mark.")), "Present once the resource is to be deleted."),
	))
}
