package resource

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Refs are the branches of one environment, in canonical form.
type Refs struct{ Desired, Observed string }

// RefOverrides are branches that the caller asks for; "" is no override.
type RefOverrides struct{ Desired, Observed, Candidate string }

// Refs resolves the branches of an environment: override, then the Environment's, then the Project's template
// (chapter A, section 5).
func (p *Project) Refs(e *Environment, o RefOverrides) (Refs, error) {
	desired, err := CanonicalRef(or(or(o.Desired, e.DesiredRef), expand(p.DesiredTemplate, e.Name)))
	if err != nil {
		return Refs{}, fmt.Errorf("desired ref of %s: %w", e.Name, err)
	}
	observed, err := CanonicalRef(or(or(o.Observed, e.ObservedRef), expand(p.ObservedTemplate, e.Name)))
	if err != nil {
		return Refs{}, fmt.Errorf("observed ref of %s: %w", e.Name, err)
	}
	if desired == observed {
		return Refs{}, fmt.Errorf("the desired and the observed ref of %s are both %q; give them different names", e.Name, desired)
	}
	return Refs{desired, observed}, nil
}

// CandidateRef resolves the branch of a change under review. An override is taken as it is.
func (p *Project) CandidateRef(e *Environment, o RefOverrides, operation, id string) (string, error) {
	ref := o.Candidate
	if ref == "" {
		ref = expand(or(e.CandidateTemplate, p.CandidateTemplate), e.Name)
		ref = strings.ReplaceAll(ref, "{operation}", operation)
		ref = strings.ReplaceAll(ref, "{id}", id)
	}
	ref, err := CanonicalRef(ref)
	if err != nil {
		return "", fmt.Errorf("candidate ref of %s: %w", e.Name, err)
	}
	return ref, nil
}

// LeaseRef resolves the branch of the lease store of an environment, "" when leases are off.
func (p *Project) LeaseRef(environment string) (string, error) {
	if p.LeaseTemplate == "" {
		return "", nil
	}
	ref := expand(p.LeaseTemplate, environment)
	if strings.Contains(ref, "{unit}") {
		return "", fmt.Errorf("the lease ref %q: one branch per Unit is not supported; remove {unit}", p.LeaseTemplate)
	}
	ref, err := CanonicalRef(ref)
	if err != nil {
		return "", fmt.Errorf("lease ref: %w", err)
	}
	return ref, nil
}

func expand(template, environment string) string {
	return strings.ReplaceAll(template, "{environment}", environment)
}

// CanonicalRef returns the short branch name of a ref that is read and written: without refs/heads/, valid for Git, not
// reserved (chapters A 5 and F 2.1).
func CanonicalRef(name string) (string, error) {
	short := strings.TrimPrefix(name, "refs/heads/")
	switch {
	case short == "":
		return "", fmt.Errorf("the ref is empty")
	case strings.HasPrefix(short, "refs/"):
		return "", fmt.Errorf("%s is not a branch; use a branch name", quote(name))
	case short == "HEAD" || strings.HasPrefix(short, "-"):
		return "", fmt.Errorf("%s cannot be a branch here; use another name", quote(name))
	}
	for _, reserved := range []string{"gitopsctr/pins", "gitopsctr/owners", "gitopsctr/locks"} {
		if short == reserved || strings.HasPrefix(short, reserved+"/") {
			return "", fmt.Errorf("%s is reserved; use a name outside %s", quote(name), reserved)
		}
	}
	if why := refFault(short); why != "" {
		return "", fmt.Errorf("%s is not a valid branch name: %s", quote(name), why)
	}
	return short, nil
}

// refFault says which rule of git check-ref-format a branch name breaks, "" for none.
func refFault(name string) string {
	if !utf8.ValidString(name) {
		return "it is not valid UTF-8"
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "":
			return "it has an empty part"
		case strings.HasPrefix(part, "."):
			return "a part starts with a dot"
		case strings.HasSuffix(part, ".lock"):
			return "a part ends in .lock"
		}
	}
	switch {
	case strings.Contains(name, ".."):
		return `it contains ".."`
	case strings.Contains(name, "@{"):
		return `it contains "@{"`
	case strings.HasSuffix(name, "."):
		return "it ends in a dot"
	}
	if i := strings.IndexFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || strings.ContainsRune(` ~^:?*[\`, r) }); i >= 0 {
		return fmt.Sprintf("it contains %q", name[i:i+1])
	}
	return ""
}

// literalRef is the rule for the refs of an Environment: no template, and a branch that CanonicalRef takes.
var literalRef = &textRule{pattern: `^[^{}]*$`, says: "a branch name (placeholders are only for the Project's refs and for candidate)",
	ok: func(s string) bool { return !strings.ContainsAny(s, "{}") }}

// A RefRole tells what the branches of a run are for; used by CheckDistinct.
type RefRole struct{ Role, Ref string }

// CheckDistinct checks that no two roles share a branch. Empty refs are left out.
func CheckDistinct(roles ...RefRole) error {
	for i, r := range roles {
		if r.Ref == "" {
			continue
		}
		if j := slices.IndexFunc(roles[:i], func(e RefRole) bool { return e.Ref == r.Ref }); j >= 0 {
			return fmt.Errorf("the %s and the %s ref are both %q; give them different names", roles[j].Role, r.Role, r.Ref)
		}
	}
	return nil
}
