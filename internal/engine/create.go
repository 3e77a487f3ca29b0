package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/gitopsctr/gitopsctr/internal/document"
	"github.com/gitopsctr/gitopsctr/internal/resource"
	"github.com/gitopsctr/gitopsctr/internal/scaffold"
)

// A CreateRequest asks to write a new document into the working tree (chapter A, section 9).
type CreateRequest struct {
	Document scaffold.Document
	// Environment is the environment that the document belongs to, "" for documents of the project.
	Environment string
	// Replace allows to write over a document that exists.
	Replace bool
	// Dry returns the text and writes nothing.
	Dry bool
}

// An ExistsError tells that a document to be created is there already.
type ExistsError struct{ File string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("%s exists; edit it, or write over it with --force (--or-update for stacks and templates)", e.File)
}

// Create writes a new document, and returns its path in the repository and its text. Nothing is committed.
func (e *Engine) Create(r CreateRequest) (file string, data []byte, err error) {
	stem, suffix, err := e.place(r)
	if err != nil {
		return "", nil, err
	}
	existing, err := resource.Representation(stem, func(p string) bool { _, err := fs.Stat(e.work, p); return err == nil })
	switch {
	case err != nil:
		return "", nil, err
	case existing != "" && !r.Replace:
		return "", nil, &ExistsError{existing}
	case existing != "":
		file = existing
	default:
		file = stem + suffix
	}
	if data, err = scaffold.Text(r.Document, file); err != nil || r.Dry {
		return file, data, err
	}
	return file, data, e.writeDocument(file, data, r.Replace)
}

// place is the path of the document without its suffix, and the suffix of a new one.
func (e *Engine) place(r CreateRequest) (stem, suffix string, err error) {
	if _, isProject := r.Document.(scaffold.Project); isProject {
		return e.placeOfProject(r)
	}
	p, err := e.loadProject(e.work)
	if err != nil {
		return "", "", err
	}
	if r.Environment != "" {
		if _, _, err := loadEnvironment(e.work, p, r.Environment); err != nil {
			return "", "", err
		}
	}
	stem = r.Document.Stem(scaffold.Layout{EnvironmentsPath: p.EnvironmentsPath, StackTemplatesPath: p.StackTemplatesPath})
	if path.Clean(stem) != stem || !fs.ValidPath(stem) {
		return "", "", fmt.Errorf("%q is no path inside the repository", stem)
	}
	return stem, p.WriteFormat.Suffix(), nil
}

// placeOfProject is that of the one Project file that is there, or of a new one, which is always YAML.
func (e *Engine) placeOfProject(r CreateRequest) (stem, suffix string, err error) {
	stem = r.Document.Stem(scaffold.Layout{})
	var found []string
	for _, name := range resource.ProjectFileNames() {
		if _, err := fs.Stat(e.work, name); err == nil {
			found = append(found, name)
		}
	}
	switch {
	case len(found) > 1:
		slices.Sort(found)
		return "", "", &resource.DuplicateRepresentationError{Paths: found}
	case len(found) == 1 && !r.Replace:
		return "", "", &ExistsError{found[0]}
	case len(found) == 1:
		suffix = path.Ext(found[0])
		return found[0][:len(found[0])-len(suffix)], suffix, nil
	}
	return stem, document.YAML.Suffix(), nil
}

// writeDocument writes a file of the working tree, and nothing outside of it, whatever symbolic links say.
func (e *Engine) writeDocument(file string, data []byte, replace bool) (err error) {
	root, err := os.OpenRoot(e.root)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if err := root.MkdirAll(path.Dir(file), 0o755); err != nil {
		return fmt.Errorf("make the directory of %s: %w", file, err)
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if replace {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := root.OpenFile(file, flags, 0o644)
	if err != nil {
		return fmt.Errorf("create %s: %w", file, err)
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
