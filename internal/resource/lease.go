package resource

import "github.com/gitopsctr/gitopsctr/internal/document"

// An EffectLease says that a run holds a Unit: nobody else may change the world for it (chapter D, section 6.2).
type EffectLease struct {
	Name, QualifiedName, UID string
	// Token proves ownership; Owner is for people.
	Token, Owner string
	// DesiredRevision is the desired commit at acquisition, or at the last rebase.
	DesiredRevision string
	// Snapshot is nil in old leases; such a lease can only be recovered.
	Snapshot *LeaseSnapshot
}

// A LeaseSnapshot is what the lease holder knows of the Unit; "" for what does not exist.
type LeaseSnapshot struct {
	UnitPath, UnitBlob       string
	GVK                      GVK
	Driver                   string
	SourceRevision           string
	CleanupPath, CleanupBlob string
}

// DecodeEffectLease reads a lease. All its faults come as document.Errors.
func DecodeEffectLease(file string, data []byte) (*EffectLease, error) {
	n, err := decodeControl(file, data, leaseShape)
	if err != nil {
		return nil, err
	}
	if err := checkLocalName(file, n, "unitName"); err != nil {
		return nil, err
	}
	l := &EffectLease{
		Name: n.Get("unitName").Str(), QualifiedName: n.Get("qualifiedName").Str(), UID: n.Get("uid").Str(),
		Token: n.Get("token").Str(), Owner: n.Get("owner").Str(), DesiredRevision: n.Get("desiredRevision").Str(),
	}
	if s := n.Get("snapshot"); s != nil {
		l.Snapshot = &LeaseSnapshot{
			UnitPath: s.Get("unitPath").Str(), UnitBlob: s.Get("unitBlob").Str(),
			GVK:    GVK{s.Get("apiVersion").Str(), s.Get("kind").Str()},
			Driver: s.Get("driver").Str(), SourceRevision: s.Get("sourceRevision").Str(),
			CleanupPath: s.Get("cleanupPath").Str(), CleanupBlob: s.Get("cleanupBlob").Str(),
		}
	}
	return l, nil
}

// Path returns where the lease lies on its branch.
func (l *EffectLease) Path() string { return LeasesPath + "/" + l.QualifiedName + ".json" }

// Encode writes the file.
func (l *EffectLease) Encode() ([]byte, error) {
	fields := []document.Field{schemaOne, controlKind("UnitEffectLease"),
		document.F("unitName", document.NewString(l.Name)),
		document.F("qualifiedName", document.NewString(l.QualifiedName)),
		document.F("uid", document.NewString(l.UID)),
		document.F("token", document.NewString(l.Token)),
		document.F("owner", document.NewString(l.Owner)),
		document.F("desiredRevision", document.NewString(l.DesiredRevision)),
	}
	if s := l.Snapshot; s != nil {
		fields = append(fields, document.F("snapshot", document.NewMap(
			document.F("unitPath", nullable(s.UnitPath)),
			document.F("unitBlob", nullable(s.UnitBlob)),
			document.F("apiVersion", nullable(s.GVK.APIVersion)),
			document.F("kind", nullable(s.GVK.Kind)),
			document.F("driver", nullable(s.Driver)),
			document.F("sourceRevision", nullable(s.SourceRevision)),
			document.F("cleanupPath", nullable(s.CleanupPath)),
			document.F("cleanupBlob", nullable(s.CleanupBlob)))))
	}
	return encodeControl(fields...)
}

var leaseShape = object("", needSchemaOne,
	need("kind", oneOf("UnitEffectLease"), ""),
	need("unitName", text(localName), ""),
	need("qualifiedName", text(qualifiedName), ""),
	need("uid", text(identifier), ""),
	need("token", text(leaseToken), ""),
	need("owner", text(nonEmpty), ""),
	need("desiredRevision", text(objectID), ""),
	leave("snapshot", object("",
		need("unitPath", orNull(anyText), ""),
		need("unitBlob", orNull(text(objectID)), ""),
		need("apiVersion", orNull(anyText), ""),
		need("kind", orNull(anyText), ""),
		need("driver", orNull(anyText), ""),
		need("sourceRevision", orNull(text(objectID)), ""),
		need("cleanupPath", orNull(anyText), ""),
		need("cleanupBlob", orNull(text(objectID)), "")), ""))
