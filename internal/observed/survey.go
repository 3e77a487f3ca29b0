package observed

import (
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// A Family is a sort of documents as people ask for them (chapter H, 2.1).
type Family string

// The families of an environment's planes.
const (
	UnitFamily          Family = "unit"
	StackFamily         Family = "stack"
	StackTemplateFamily Family = "stacktemplate"
	PromotionFamily     Family = "promotion"
	ReceiptFamily       Family = "receipt"
	ArtifactFamily      Family = "artifact"
)

// A Survey is what can be read of an environment's planes, and what cannot. Operations refuse a ref with one broken
// document (Load); a person who looks for it wants to see the others (chapter H 13, 5).
type Survey struct {
	*State
	// Stacks and Templates are the desired roots by name.
	Stacks, Templates map[string]*Root
	// Promotion is the recorded promotion, nil without.
	Promotion *PromotionFile

	faults     []Fault
	unreadable map[string]bool // desired Units
	byUID      map[string][]*Unit
}

// A Fault is one document that cannot be used, or a relation that does not hold.
type Fault struct {
	// Family and Name tell what cannot be shown; Name is "" when it is no single document.
	Family Family
	Name   string
	Err    error
}

// A Root is a desired Stack or StackTemplate and the file that holds it.
type Root struct {
	Kind, Name, Path string
	Metadata         resource.Metadata
	Spec             *document.Node
}

// A PromotionFile is the Promotion of a desired ref and the file that holds it.
type PromotionFile struct {
	*resource.Promotion
	Path string
}

// NewSurvey reads the planes. A plane that does not matter is one with the empty tree.
func NewSurvey(desired, observed Plane) *Survey {
	v := &Survey{
		State:  &State{Desired: desired, Observed: observed, units: map[string]*Unit{}, receipts: map[string]*receiptFile{}},
		Stacks: map[string]*Root{}, Templates: map[string]*Root{}, unreadable: map[string]bool{}, byUID: map[string][]*Unit{},
	}
	v.surveyUnits()
	if err := v.loadControl(); err != nil {
		v.Blocks = resource.TransitionBlocks{}
		v.fault("", "", desired, err)
	}
	v.surveyRoots(StackFamily, resource.StacksPath, v.Stacks)
	v.surveyRoots(StackTemplateFamily, resource.StackTemplatesPath, v.Templates)
	v.surveyPromotion()
	v.indexReceipts()
	v.eachFile(ReceiptFamily, observed, resource.UnitsPath, func(string, string, string) {})
	return v
}

// Faults are the documents that could not be read.
func (v *Survey) Faults() []Fault { return v.faults }

func (v *Survey) fault(family Family, name string, plane Plane, err error) {
	v.faults = append(v.faults, Fault{family, name, fmt.Errorf("read %s: %w", plane.Ref, err)})
}

// eachFile visits the documents of a collection, with a fault for every file whose path is no name.
func (v *Survey) eachFile(family Family, plane Plane, collection string, visit func(name, path, blob string)) {
	for _, f := range plane.Tree.Files(collection) {
		name, ok := resource.QualifiedNameOf(f.Path, collection)
		switch {
		case name == "":
		case !ok:
			v.fault(family, name, plane, &document.Error{File: f.Path, Message: fmt.Sprintf("%q is no qualified name", name), Fix: "rename or remove the file"})
		case !f.Mode.IsRegular():
			v.fault(family, name, plane, &document.Error{File: f.Path, Message: "is no regular file", Fix: "remove it from the ref"})
		default:
			visit(name, f.Path, f.Blob)
		}
	}
}

func (v *Survey) surveyUnits() {
	var units []*Unit
	v.eachFile(UnitFamily, v.Desired, resource.UnitsPath, func(name, path, blob string) {
		if other := v.units[name]; other != nil {
			v.unreadable[name] = true
			v.fault(UnitFamily, name, v.Desired, &resource.DuplicateRepresentationError{Paths: []string{other.Path, path}})
			return
		}
		u := &Unit{Name: name, Path: path, Blob: blob}
		v.units[name] = u
		units = append(units, u)
	})
	faults := parallel(len(units), func(i int) error { return units[i].load(v.Desired.Tree, nil) })
	for i, u := range units {
		if faults[i] != nil {
			v.unreadable[u.Name] = true
			v.fault(UnitFamily, u.Name, v.Desired, faults[i])
		}
		if v.unreadable[u.Name] {
			delete(v.units, u.Name)
			continue
		}
		v.byUID[u.Metadata.UID] = append(v.byUID[u.Metadata.UID], u)
	}
}

func (v *Survey) surveyRoots(family Family, collection string, found map[string]*Root) {
	twice := map[string]bool{}
	v.eachFile(family, v.Desired, collection, func(name, path, _ string) {
		if other := found[name]; other != nil {
			twice[name] = true
			v.fault(family, name, v.Desired, &resource.DuplicateRepresentationError{Paths: []string{other.Path, path}})
			return
		}
		root, err := v.readRoot(family, name, path)
		if err != nil {
			v.fault(family, name, v.Desired, err)
			return
		}
		found[name] = root
	})
	for name := range twice {
		delete(found, name)
	}
}

func (v *Survey) readRoot(family Family, name, path string) (*Root, error) {
	data, err := v.Desired.Tree.ReadFile(path)
	if err != nil {
		return nil, err
	}
	root := &Root{Name: name, Path: path}
	if family == StackFamily {
		stack, err := resource.DecodeStack(path, data)
		if err != nil {
			return nil, err
		}
		root.Kind, root.Metadata, root.Spec = "Stack", stack.Metadata, stack.Spec
	} else {
		template, err := resource.DecodeStackTemplate(path, data)
		if err != nil {
			return nil, err
		}
		root.Kind, root.Metadata, root.Spec = "StackTemplate", template.Metadata, template.Spec
	}
	return root, resource.CheckPath(path, name, root.Metadata.Name)
}

func (v *Survey) surveyPromotion() {
	exists := func(path string) bool {
		files := v.Desired.Tree.Files(path)
		return len(files) == 1 && files[0].Path == path
	}
	path, err := resource.Representation(resource.PromotionStem, exists)
	if err != nil || path == "" {
		if err != nil {
			v.fault(PromotionFamily, "", v.Desired, err)
		}
		return
	}
	data, err := v.Desired.Tree.ReadFile(path)
	if err == nil {
		var promotion *resource.Promotion
		if promotion, err = resource.DecodePromotion(path, data); err == nil {
			v.Promotion = &PromotionFile{promotion, path}
			return
		}
	}
	v.fault(PromotionFamily, "", v.Desired, err)
}

// DecodeReceipts decodes all Receipts, several at a time; Receipt then has them at hand.
func (v *Survey) DecodeReceipts() {
	names := v.ReceiptNames()
	_ = parallel(len(names), func(i int) error {
		_, err := v.Receipt(names[i]) // kept, and returned to whoever asks for it
		return err
	})
}

// parallel calls do for 0 to n-1 on all processors, and returns what each call returned.
func parallel(n int, do func(i int) error) []error {
	out := make([]error, n)
	var group errgroup.Group
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		group.Go(func() error {
			for i := w; i < n; i += workers {
				out[i] = do(i)
			}
			return nil
		})
	}
	_ = group.Wait() // the workers return nil
	return out
}
