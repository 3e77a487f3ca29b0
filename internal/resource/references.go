package resource

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

// Here is only the grammar of reference expressions, as far as documents are checked for it (chapter B, section 5.1).
// What they mean, and their values, is the business of package expression.

// referenceKeys are the keys that make a mapping a reference expression.
var referenceKeys = []string{"fromReceipt", "fromArtifact", "fromPromotion", "fromEnvironment", "fromParameter"}

// hasReferenceKey tells whether the node is meant as a reference expression.
func hasReferenceKey(n *document.Node) bool {
	if n == nil || n.Kind != document.Map {
		return false
	}
	for _, f := range n.Fields {
		if strings.HasPrefix(f.Key, "from") && slices.Contains(referenceKeys, f.Key) {
			return true
		}
	}
	return false
}

// hasReferences tells whether a reference expression stands anywhere in the node.
func hasReferences(n *document.Node) bool {
	switch {
	case n == nil:
		return false
	case n.Kind == document.List:
		return slices.ContainsFunc(n.Items, hasReferences)
	case n.Kind == document.Map:
		return hasReferenceKey(n) || slices.ContainsFunc(n.Fields, func(f document.Field) bool { return hasReferences(f.Value) })
	}
	return false
}

// The shapes of what may hold reference expressions.
var (
	unitReference = newReference(false)
	// unitBindings is a mapping whose values may hold references: Terraform variables, Helm values.
	unitBindings = &shape{kind: bindingsShape, name: "bindings", reference: unitReference,
		doc: "A mapping in which a value, at any depth, may be a reference such as {fromReceipt: {unit: net, pointer: /outputs/id}}."}
	// stackTemplated is a whole Unit spec in a StackTemplate, where fromParameter may stand everywhere.
	stackTemplated = &shape{kind: bindingsShape, name: "templatedSpec", reference: newReference(true),
		doc: "The spec of the Unit. Everywhere in it a value may be {fromParameter: {name: NAME}}; other references as in a Unit."}
)

// newReference builds the shape of a reference expression. Its fallback may hold references again.
func newReference(parameters bool) *shape {
	template := &shape{kind: templateShape, name: "template", doc: "Any value; a mapping in it may be a reference."}
	fallback := leave("dryFallback", template, "The value to use in dry runs while the referenced value is not available. It may hold references itself.")
	at := func(what, example string) field {
		return with("pointer", text(jsonPointer), document.NewString(""), "JSON Pointer into "+what+", for example "+example+"; empty is the whole value.")
	}
	ref := union("A reference to a value that another document holds. It is the only key of its mapping.", "",
		variant{"fromReceipt", object("A value from the evidence that a Unit left.",
			need("fromReceipt", object("",
				need("unit", text(qualifiedName), "The Unit that is read: NAME, or STACK/NAME."),
				at("status.result of the Unit's Receipt", "/outputs/id"), fallback), "A value from the Receipt of another Unit."))},
		variant{"fromArtifact", object("A value from an artifact that a Unit published.",
			need("fromArtifact", object("",
				need("unit", text(qualifiedName), "The Unit that publishes the artifact: NAME, or STACK/NAME."),
				need("name", text(qualifiedName), "The name of the artifact, for example containers."),
				need("apiVersion", text(apiVersion), "The API version of the artifact, artifact.gitopsctr.io/v1."),
				need("kind", text(kindName), "The kind of the artifact: ContainerImages or FrontendBundle."),
				at("the artifact document", "/images/app/uri"), fallback), "A value from an artifact of another Unit."))},
		variant{"fromPromotion", object("A value from the environment that is promoted from.",
			need("fromPromotion", object("",
				leave("unit", text(qualifiedName), "The Unit of the source environment; this Unit when absent."),
				leave("pointer", text(jsonPointer), "JSON Pointer into its spec; the place of this reference when absent."), fallback),
				"A value of the same or another Unit in the environment that is promoted from."))},
		variant{"fromEnvironment", object("A value from the Environment document.",
			need("fromEnvironment", object("", at("the Environment's name and spec", "/name")), "A value from the environment's own document."))},
	)
	if parameters {
		ref.variants = append(ref.variants, variant{"fromParameter", object("The value of a parameter of the StackTemplate.",
			need("fromParameter", object("", need("name", text(qualifiedName), "The name of the parameter.")), "The value of a parameter."))})
	}
	ref.name = "reference"
	template.reference = ref
	return ref
}

// template returns the shape of values that may hold this reference.
func (s *shape) template() *shape {
	return s.variants[0].shape.fields[0].shape.field("dryFallback").shape
}

func (c *checker) template(s *shape, n *document.Node) {
	switch {
	case hasReferenceKey(n):
		c.reference(s.reference, n)
	case n.Kind == document.Map:
		for _, f := range n.Fields {
			c.in(f.Key)
			c.check(s, f.Value)
			c.out()
		}
	case n.Kind == document.List:
		for i, item := range n.Items {
			c.in(strconv.Itoa(i))
			c.check(s, item)
			c.out()
		}
	}
}

func (c *checker) bindings(s *shape, n *document.Node) {
	if !c.want(s, n, n.Kind == document.Map) {
		return
	}
	if hasReferenceKey(n) {
		c.fault(n, "cannot itself be a reference", "make it a mapping and put references in its values")
		return
	}
	c.template(s.reference.template(), n)
}

func (c *checker) reference(s *shape, n *document.Node) {
	if s.choose(n) == nil && n.Has("fromParameter") {
		c.fault(n, "fromParameter is only for StackTemplates", "write the value itself")
		return
	}
	c.check(s, n)
}

// resolved refuses reference expressions in a desired document (chapter B, section 5.2; fromEnvironment is not refused).
func (c *checker) resolved(n *document.Node) {
	switch n.Kind {
	case document.Map:
		for i := range n.Fields {
			f := &n.Fields[i]
			c.in(f.Key)
			switch f.Key {
			case "fromReceipt", "fromArtifact", "fromPromotion":
				c.add(f.Line, f.Column, fmt.Sprintf("a desired document must not hold the key %q", f.Key), "")
			}
			c.resolved(f.Value)
			c.out()
		}
	case document.List:
		for i, item := range n.Items {
			c.in(strconv.Itoa(i))
			c.resolved(item)
			c.out()
		}
	}
}
