package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/expression"
	"github.com/gitopsctr/gitopsctr/internal/graph"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// authoredDependencies reads who needs whom from the authored documents of an environment: its Units, and the Units of its
// Stacks, for which inline StackTemplates are looked into. A template that lies elsewhere is an error only when one of its
// Units matters.
func (e *Engine) authoredDependencies(tree fs.FS, r DependenciesRequest) (*graph.Graph, error) {
	p, err := e.loadProject(tree)
	if err != nil {
		return nil, err
	}
	if _, _, err := loadEnvironment(tree, p, r.Environment); err != nil {
		return nil, err
	}
	dir := path.Join(p.EnvironmentsPath, r.Environment)
	all := &graph.Graph{}
	err = eachDocument(tree, path.Join(dir, "units"), func(file string, data []byte) error {
		u, err := resource.DecodeAuthoredUnit(file, data)
		if err == nil {
			all.Add(u.Name, authoredProducers(u)...)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	elsewhere := map[string]error{} // Stacks
	err = eachDocument(tree, path.Join(dir, "stacks"), func(file string, data []byte) error {
		stack, err := resource.DecodeAuthoredStack(file, data)
		if err != nil {
			return err
		}
		err = addStack(all, tree, p, stack)
		var external *externalTemplateError
		if errors.As(err, &external) {
			elsewhere[stack.Name] = err
			return nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, unreachable(all, r, elsewhere)
}

// unreachable returns why a Unit of a Stack that cannot be looked into, and that matters to the request, is missing.
func unreachable(all *graph.Graph, r DependenciesRequest, elsewhere map[string]error) error {
	for _, u := range r.Units {
		if err := elsewhere[resource.StackOf(u)]; err != nil {
			return err
		}
	}
	known := slices.DeleteFunc(slices.Clone(r.Units), func(u string) bool { return !all.Has(u) })
	scope, err := all.Closure(known, r.Depth)
	if err != nil {
		return err
	}
	if len(scope) == 0 {
		return nil
	}
	for _, missing := range all.Missing(scope...) {
		if err := elsewhere[resource.StackOf(missing.Producer)]; err != nil {
			return err
		}
	}
	return nil
}

// An externalTemplateError tells that a Stack's template is not in this repository's tree.
type externalTemplateError struct{ stack, template string }

func (e *externalTemplateError) Error() string {
	return fmt.Sprintf("the units of stack %s are not known from the source: its template %s comes from another place; use --from desired", e.stack, e.template)
}

// addStack adds the Units that a Stack makes.
func addStack(all *graph.Graph, tree fs.FS, p project, stack *resource.AuthoredStack) error {
	name := stack.Spec.Get("template").Str()
	var template *resource.AuthoredStackTemplate
	for _, file := range resource.Representations(path.Join(p.StackTemplatesPath, name)) {
		data, err := fs.ReadFile(tree, file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if template, err = resource.DecodeAuthoredStackTemplate(file, data); err != nil {
			return err
		}
		break
	}
	if template == nil || template.Spec.Has("source") {
		return &externalTemplateError{stack.Name, name}
	}
	units := template.Spec.Get("unitTemplates")
	chosen := stack.Spec.Get("units").Strs()
	for _, f := range units.Fields {
		if chosen != nil && !slices.Contains(chosen, f.Key) {
			continue
		}
		all.Add(stack.Name+"/"+f.Key, templateProducers(stack.Name, units, f.Value)...)
	}
	return nil
}

// templateProducers are the producers of one Unit template: names of the template are those of the Stack's Units.
func templateProducers(stack string, units, template *document.Node) []string {
	within := func(name string) string {
		if units.Has(name) {
			return stack + "/" + name
		}
		return name
	}
	var out []string
	for _, name := range template.Get("dependsOn").Strs() {
		out = append(out, within(name))
	}
	_ = expression.Walk("", template.Get("spec"), func(r *expression.Reference) error { // a fault is reported where documents are admitted
		if r.Kind == expression.FromReceipt || r.Kind == expression.FromArtifact {
			out = append(out, within(r.Unit))
		}
		return nil
	})
	return out
}

// eachDocument reads the documents directly in a directory, in name order; a directory that does not exist has none.
func eachDocument(tree fs.FS, dir string, visit func(file string, data []byte) error) error {
	entries, err := fs.ReadDir(tree, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list %s: %w", dir, err)
	}
	for _, entry := range entries {
		if _, ok := resource.QualifiedNameOf("d/"+entry.Name(), "d"); !ok || entry.IsDir() {
			continue
		}
		file := path.Join(dir, entry.Name())
		data, err := fs.ReadFile(tree, file)
		if err != nil {
			return err
		}
		if err := visit(file, data); err != nil {
			return err
		}
	}
	return nil
}
