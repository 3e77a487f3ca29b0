package engine

import (
	"fmt"
	"io/fs"
	"path"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// stacks checks the Stacks of an environment: each against its contract, its file name, and the template that it names
// (chapter H 13, 9). They do not count as documents in the VALID line, as the reference has it.
func (v *validation) stacks(environment string) error {
	return v.eachDocument(path.Join(v.project.EnvironmentsPath, environment, "stacks"), func(file string, data []byte) error {
		stack, err := resource.DecodeAuthoredStack(file, data)
		if err != nil {
			return err
		}
		v.stackTemplate(stack)
		return checkStem(file, stack.Name)
	})
}

// stackTemplates checks the StackTemplates of the project.
func (v *validation) stackTemplates() error {
	return v.eachDocument(v.project.StackTemplatesPath, func(file string, data []byte) error {
		template, err := resource.DecodeAuthoredStackTemplate(file, data)
		if err != nil {
			return err
		}
		return checkStem(file, template.Name)
	})
}

// eachDocument checks the documents directly in a directory; two files for one document are a fault.
func (v *validation) eachDocument(dir string, check func(file string, data []byte) error) error {
	known := map[string]string{}
	err := eachDocument(v.engine.work, dir, func(file string, data []byte) error {
		stem, _ := resource.QualifiedNameOf("d/"+path.Base(file), "d")
		other := known[stem]
		known[stem] = file
		if other != "" {
			return v.fault(&resource.DuplicateRepresentationError{Paths: []string{other, file}})
		}
		return v.fault(check(file, data))
	})
	return err
}

// stackTemplate warns of a Stack whose template is not in the project, or whose Units and parameters it does not have.
func (v *validation) stackTemplate(stack *resource.AuthoredStack) {
	name := stack.Spec.Get("template")
	file, template := v.template(name.Str())
	if template == nil {
		if file == "" {
			v.warnStack(stack, "/spec/template", name, fmt.Sprintf("the StackTemplate %q is not in %s", name.Str(), v.project.StackTemplatesPath), "correct the name, or create it")
		}
		return
	}
	if template.Spec.Has("source") {
		return // what it has is known once it is acquired
	}
	if units := stack.Spec.Get("units"); !units.IsNull() {
		for i, unit := range units.Items {
			if !template.Spec.Get("unitTemplates").Has(unit.Str()) {
				v.warnStack(stack, fmt.Sprintf("/spec/units/%d", i), unit, fmt.Sprintf("%s has no Unit %q", file, unit.Str()), "correct the name")
			}
		}
	}
	declared := map[string]bool{}
	for _, parameter := range template.Spec.Get("parameters").Items {
		declared[parameter.Get("name").Str()] = true
		if !stack.Spec.Get("parameters").Has(parameter.Get("name").Str()) {
			v.warnStack(stack, "/spec/parameters", stack.Spec.Get("parameters"), fmt.Sprintf("has no value for the parameter %q of %s", parameter.Get("name").Str(), file), "add it")
		}
	}
	for _, f := range stack.Spec.Get("parameters").Fields {
		if !declared[f.Key] {
			v.warnStack(stack, "/spec/parameters/"+document.PointerToken(f.Key), f.Value, fmt.Sprintf("%s has no parameter %q", file, f.Key), "correct the name")
		}
	}
}

func (v *validation) warnStack(stack *resource.AuthoredStack, pointer string, at *document.Node, message, fix string) {
	position := report.Position{File: stack.File, Pointer: pointer}
	if at != nil {
		position.Line, position.Column = at.Line, at.Column
	}
	v.problems = append(v.problems, report.Problem{Severity: report.Warning, Position: position, Message: message, Fix: fix})
}

// template reads a StackTemplate of the project: the file, "" when there is none, and nil when it cannot be read, which is
// reported where templates are.
func (v *validation) template(name string) (string, *resource.AuthoredStackTemplate) {
	for _, file := range resource.Representations(path.Join(v.project.StackTemplatesPath, name)) {
		data, err := fs.ReadFile(v.engine.work, file)
		if err != nil {
			continue
		}
		template, err := resource.DecodeAuthoredStackTemplate(file, data)
		if err != nil {
			return file, nil
		}
		return file, template
	}
	return "", nil
}

func checkStem(file, name string) error {
	if stem, ok := resource.QualifiedNameOf("d/"+path.Base(file), "d"); ok {
		return resource.CheckPath(file, stem, name)
	}
	return nil
}
