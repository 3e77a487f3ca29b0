package resource

import (
	"fmt"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

// SchemaRoot is where the published JSON Schemas live; it begins every "$schema" that documents carry. Nothing is ever
// fetched from it.
const SchemaRoot = "https://niklasrosenstein.github.io/gitopsctr/schemas"

const schemaKey = "$schema"

// A Profile tells the schemas of one kind apart.
type Profile string

// The profiles. Kinds with one form only have none.
const (
	NoProfile Profile = ""
	Authored  Profile = "authored"
	Desired   Profile = "desired"
	Observed  Profile = "receipt"
)

// SchemaPath returns the path of a schema in the catalog (chapter A, section 9), for example
// "apis/unit.gitopsctr.io/v1/Terraform/desired.schema.json".
func SchemaPath(gvk GVK, p Profile) string {
	path := "apis/" + gvk.String()
	if p != NoProfile {
		path += "/" + string(p)
	}
	return path + ".schema.json"
}

// SchemaURL returns the "$schema" of documents of that kind and profile.
func SchemaURL(gvk GVK, p Profile) string { return SchemaRoot + "/" + SchemaPath(gvk, p) }

// envelope returns the members that begin every written document.
func envelope(gvk GVK, p Profile, metadata *document.Node) []document.Field {
	return []document.Field{
		document.F(schemaKey, document.NewString(SchemaURL(gvk, p))),
		document.F("apiVersion", document.NewString(gvk.APIVersion)),
		document.F("kind", document.NewString(gvk.Kind)),
		document.F("metadata", metadata),
	}
}

// envelopeShape is the shape of a whole document: the members that all have, then its own.
func envelopeShape(gvk GVK, doc string, metadata *shape, body ...field) *shape {
	return object(doc, append([]field{
		leave(schemaKey, anyText, "The address of this schema, for editors."),
		need("apiVersion", oneOf(gvk.APIVersion), "Version of the document's format."),
		need("kind", oneOf(gvk.Kind), "Kind of the document."),
		need("metadata", metadata, "What names the document."),
	}, body...)...)
}

// kindOf returns the kind of a document that must have the API version and one of the kinds.
func kindOf(file string, n *document.Node, api string, kinds []string) (string, error) {
	c := checker{file: file}
	for _, f := range []struct {
		name    string
		allowed []string
	}{{"apiVersion", []string{api}}, {"kind", kinds}} {
		v := n.Get(f.name)
		if v == nil {
			c.fault(n, fmt.Sprintf("missing field %q", f.name), "add it: "+orQuoted(f.allowed))
			continue
		}
		c.in(f.name)
		c.check(oneOf(f.allowed...), v)
		c.out()
	}
	return n.Get("kind").Str(), c.err()
}

// faultAt is one fault at the member that the keys lead to.
func faultAt(file string, n *document.Node, message, fix string, keys ...string) error {
	c := checker{file: file}
	for _, k := range keys {
		c.in(k)
	}
	c.fault(n.Path(keys...), message, fix)
	return c.err()
}

// checkLocalName checks that the qualified name in the mapping below the keys ends in the local name there.
func checkLocalName(file string, n *document.Node, name string, keys ...string) error {
	at := n.Path(keys...)
	local, qualified := at.Get(name).Str(), at.Get("qualifiedName").Str()
	if LocalName(qualified) == local {
		return nil
	}
	return faultAt(file, n, quote(qualified)+" does not end in the local name, "+quote(local), "", append(keys, "qualifiedName")...)
}

// nullable returns a string node, or null for "".
func nullable(s string) *document.Node {
	if s == "" {
		return document.NewNull()
	}
	return document.NewString(s)
}
