package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/gitopsctr/gitopsctr/internal/desired"
	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/report"
	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// A ValidateRequest selects what to check; the zero value is the Project and every Environment.
type ValidateRequest struct {
	// Files are paths relative to the repository root.
	Files        []string
	Environments []string
	FailFast     bool
}

// An InvalidError tells that documents are faulty; the faults are in the run's problems.
type InvalidError struct{ Count int }

func (e *InvalidError) Error() string {
	if e.Count == 1 {
		return "1 fault"
	}
	return fmt.Sprintf("%d faults", e.Count)
}

// Validate checks documents of the worktree (chapter A, section 9). It reads no ref.
func (e *Engine) Validate(r ValidateRequest) (Outcome, error) {
	v := &validation{engine: e, valid: map[string]bool{}, request: r}
	v.check()
	run := report.Run{Operation: "validate", Problems: v.problems, Result: report.RunClean}
	for _, p := range v.problems {
		if p.Severity != report.Error {
			e.emit(p)
			continue
		}
		e.emit(report.Note{Word: "INVALID", Text: p.String()})
		run.Result = report.RunFailed
	}
	if run.Result == report.RunFailed {
		return Outcome{Run: run}, &InvalidError{Count: v.errors}
	}
	e.emit(report.Note{Word: "VALID", Text: fmt.Sprintf("%s across %s", count(len(v.valid), "document"), count(v.environments, "environment"))})
	return Outcome{Run: run}, nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

type validation struct {
	engine       *Engine
	request      ValidateRequest
	project      project
	valid        map[string]bool // files
	environments int
	problems     []report.Problem
	errors       int
}

var errStop = errors.New("stop at the first fault")

// fault notes an error; with FailFast it ends the validation.
func (v *validation) fault(err error) error {
	if err == nil {
		return nil
	}
	for _, p := range report.Problems(err) {
		p.Severity = report.Error
		v.problems = append(v.problems, p)
		v.errors++
		if v.request.FailFast {
			return errStop
		}
	}
	return nil
}

// warn notes what is right but may not be what its author meant.
func (v *validation) warn(e *document.Error) {
	for _, p := range report.Problems(e) {
		p.Severity = report.Warning
		v.problems = append(v.problems, p)
	}
}

func (v *validation) check() {
	p, err := v.engine.loadProject(v.engine.work)
	whole := len(v.request.Files) == 0 && len(v.request.Environments) == 0
	if err != nil {
		_ = v.fault(err) // nothing else can be found without the Project
		return
	}
	v.project = p
	if err := resource.CheckSchema(p.file, p.Document, resource.NoProfile); err != nil {
		_ = v.fault(err)
		return
	}
	if whole {
		v.valid[p.file] = true
		if v.stackTemplates() != nil {
			return
		}
	}
	for _, file := range v.request.Files {
		if v.file(path.Clean(file)) != nil {
			return
		}
	}
	names := v.request.Environments
	if whole {
		entries, err := fs.ReadDir(v.engine.work, p.EnvironmentsPath)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			_ = v.fault(err)
			return
		}
		for _, entry := range entries {
			if entry.IsDir() {
				names = append(names, entry.Name())
			}
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		v.environments++
		if v.environment(name) != nil {
			return
		}
	}
}

// file checks one named file: a Project, an Environment or a Unit.
func (v *validation) file(file string) error {
	data, err := fs.ReadFile(v.engine.work, file)
	if err != nil {
		return v.fault(&document.Error{File: file, Message: "cannot be read", Fix: "name a file of the repository, relative to its root"})
	}
	n, err := document.Decode(file, data)
	if err != nil {
		return v.fault(err)
	}
	switch kind := n.Get("kind").Str(); {
	case kind == "Project":
		_, err = resource.DecodeProject(file, data)
	case kind == "Environment":
		_, err = resource.DecodeEnvironment(file, data, path.Base(path.Dir(file)))
	case n.Get("apiVersion").Str() == resource.UnitAPI:
		_, err = v.unit(file, data)
	case kind == "Stack":
		_, err = resource.DecodeAuthoredStack(file, data)
	case kind == "StackTemplate":
		_, err = resource.DecodeAuthoredStackTemplate(file, data)
	default:
		err = &document.Error{File: file, Pointer: "/kind", Message: fmt.Sprintf("documents of kind %q are not validated on their own", kind), Fix: "name Project, Environment, Unit, Stack or StackTemplate files"}
	}
	if err != nil {
		return v.fault(err)
	}
	v.valid[file] = true
	return nil
}

func (v *validation) unit(file string, data []byte) (*resource.AuthoredUnit, error) {
	n, surprises, err := document.DecodeAuthored(file, data)
	if err != nil {
		return nil, err
	}
	for _, s := range surprises {
		v.warn(s)
	}
	u, err := resource.AuthoredUnitFromNode(file, n)
	if err != nil {
		return nil, err
	}
	if err := resource.CheckSchema(file, n, resource.Authored); err != nil {
		return nil, err
	}
	if name, ok := resource.QualifiedNameOf("units/"+path.Base(file), "units"); ok && name != u.Name {
		return nil, &document.Error{File: file, Pointer: "/metadata/name", Message: fmt.Sprintf("the name is %q, but the file is named %q", u.Name, name), Fix: "make them equal"}
	}
	return u, errors.Join(u.CheckDirect(), v.checkDriver(file, u))
}

// environment checks an Environment and its Units, one by one and against each other.
func (v *validation) environment(name string) error {
	env, file, err := loadEnvironment(v.engine.work, v.project, name)
	if err != nil {
		return v.fault(err)
	}
	if err := resource.CheckSchema(file, env.Document, resource.NoProfile); err != nil {
		return v.fault(err)
	}
	v.valid[file] = true
	if _, err := v.project.Refs(env, resource.RefOverrides{}); err != nil {
		if err := v.fault(&document.Error{File: file, Pointer: "/spec/refs", Message: err.Error()}); err != nil {
			return err
		}
	}
	units := map[string]*resource.AuthoredUnit{}
	files := map[string]string{}
	dir := path.Join(v.project.EnvironmentsPath, name, "units")
	entries, err := fs.ReadDir(v.engine.work, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return v.fault(err)
	}
	for _, entry := range entries {
		file := path.Join(dir, entry.Name())
		stem, ok := resource.QualifiedNameOf("units/"+entry.Name(), "units")
		if !ok || entry.IsDir() {
			continue
		}
		if other := files[stem]; other != "" {
			if err := v.fault(&resource.DuplicateRepresentationError{Paths: []string{other, file}}); err != nil {
				return err
			}
			continue
		}
		files[stem] = file
		data, err := fs.ReadFile(v.engine.work, file)
		if err != nil {
			return v.fault(err)
		}
		u, err := v.unit(file, data)
		if err != nil {
			if err := v.fault(err); err != nil {
				return err
			}
			continue
		}
		v.valid[file] = true
		units[u.Name] = u
	}
	if err := v.stacks(name); err != nil {
		return err
	}
	return v.references(env, units)
}

// references checks each Unit against the others: producers that never have evidence, artifacts that nobody makes, values
// that cannot be where they are read.
func (v *validation) references(env *resource.Environment, units map[string]*resource.AuthoredUnit) error {
	known := func(name string) (string, *document.Node, bool) {
		if u := units[name]; u != nil {
			return u.Kind, u.Spec, true
		}
		return "", nil, false
	}
	for _, name := range sortedKeys(units) {
		if err := v.fault(desired.CheckReferences(units[name], known, true)); err != nil {
			return err
		}
		for _, fault := range desired.CheckEnvironmentReferences(units[name], env) {
			if err := v.fault(fault); err != nil {
				return err
			}
		}
	}
	if err := v.promotions(env, units); err != nil {
		return err
	}
	return v.cycles(units)
}
