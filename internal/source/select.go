package source

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Why a path or pattern selects nothing usable. An *InputError wraps one of them.
var (
	// ErrUnsafePath is for a path that is empty, absolute or has a ".." component.
	ErrUnsafePath = errors.New("unsafe path")
	// ErrMissing is for a path without wildcard that does not exist.
	ErrMissing = errors.New("does not exist")
	// ErrNoMatch is for a pattern with a wildcard that matches nothing.
	ErrNoMatch = errors.New("matches nothing")
	// ErrLeavesTree is for a symbolic link that leads out of the source tree.
	ErrLeavesTree = errors.New("symbolic link leads out of the source tree")
	// ErrSubmodule is for a git submodule, whose files are not in the tree.
	ErrSubmodule = errors.New("is a git submodule")
	// ErrTooBroad is for a pattern that goes in circles through symbolic links.
	ErrTooBroad = errors.New("visits too many paths")
)

// NoIndex is the Index of an InputError about source.path.
const NoIndex = -1

// An InputError tells which path or pattern of a Unit's source is at fault.
type InputError struct {
	// Index is the position in source.inputs, or NoIndex for source.path.
	Index int
	// Pattern is the path or pattern as authored.
	Pattern string
	// File is the path in the source tree that is at fault, "" when none is.
	File string
	// Err is one of the errors above, or that of reading the tree.
	Err error
}

// Error says what is wrong and what to do, without the place in the document: that is Pointer's.
func (e *InputError) Error() string {
	file := ""
	if e.File != "" && e.File != e.Pattern {
		file = fmt.Sprintf(": %q", e.File)
	}
	s := fmt.Sprintf("%q%s: %v", e.Pattern, file, e.Err)
	switch {
	case errors.Is(e.Err, ErrUnsafePath):
		return s + `; use a relative path below the repository, not empty and without ".."`
	case errors.Is(e.Err, ErrMissing):
		return s + " in the source revision; correct the path, or commit the file"
	case errors.Is(e.Err, ErrNoMatch):
		return s + " in the source revision; correct the pattern, or remove it"
	case errors.Is(e.Err, ErrLeavesTree):
		return s + "; replace the link by the file that it means, or leave it out of the inputs"
	case errors.Is(e.Err, ErrSubmodule):
		return s + "; its files cannot be hashed: copy them into the repository, or leave it out of the inputs"
	case errors.Is(e.Err, ErrTooBroad):
		return s + "; name the directories that you mean"
	}
	return s
}

func (e *InputError) Unwrap() error { return e.Err }

// Pointer is the JSON Pointer of the faulty value from the Unit's spec: "/source/path" or "/source/inputs/2".
func (e *InputError) Pointer() string {
	if e.Index < 0 {
		return "/source/path"
	}
	return fmt.Sprintf("/source/inputs/%d", e.Index)
}

// CheckPath tells whether source.path or an entry of source.inputs is safe: not empty, not absolute, and without a ".."
// component (chapter B, 3.1). The error is an *InputError without index.
func CheckPath(path string) error {
	if path == "" || strings.HasPrefix(path, "/") || slices.Contains(strings.Split(path, "/"), "..") {
		return &InputError{Index: NoIndex, Pattern: path, Err: ErrUnsafePath}
	}
	return nil
}

// An Input is one file or symbolic link that belongs to a Unit.
type Input struct {
	// Path is as in the input hash: relative to source.path when the Unit has inputs, else to the root of the tree.
	Path string
	// File is where the content is; its path differs from Path also where Path goes through a symbolic link.
	File File
}

// Select returns the inputs of a Unit, sorted by path (chapter B, 3.2). sourcePath and inputs are as authored; without
// hasInputs, everything that sourcePath selects belongs to the Unit. Errors about a path are an *InputError.
func (x *Index) Select(sourcePath string, inputs []string, hasInputs bool) ([]Input, error) {
	if err := CheckPath(sourcePath); err != nil {
		return nil, err
	}
	s := selection{index: x, inputs: map[string]Input{}}
	if !hasInputs {
		if err := s.add(x.root, sourcePath); err != nil {
			return nil, atIndex(err, NoIndex)
		}
		return s.sorted(), nil
	}
	for i, pattern := range inputs {
		if err := CheckPath(pattern); err != nil {
			return nil, atIndex(err, i)
		}
	}
	if len(inputs) == 0 {
		return nil, nil
	}
	root, err := x.lookup(sourcePath)
	if err == nil && root == nil {
		err = ErrMissing
	}
	if err != nil {
		return nil, inputError(sourcePath, err)
	}
	for i, pattern := range inputs {
		if err := s.add(root, pattern); err != nil {
			return nil, atIndex(err, i)
		}
	}
	return s.sorted(), nil
}

type selection struct {
	index  *Index
	inputs map[string]Input
}

func (s *selection) add(root *entry, pattern string) error {
	matches, err := s.matches(root, pattern)
	if err != nil {
		return inputError(pattern, err)
	}
	for _, m := range matches {
		if err := s.include(m.entry, m.Path); err != nil {
			return inputError(pattern, err)
		}
	}
	return nil
}

func (s *selection) matches(root *entry, pattern string) ([]Match, error) {
	glob := isGlob(pattern)
	if !glob {
		pattern = strings.TrimRight(pattern, "/") // Even behind a file's name it means nothing here.
	}
	matches, err := s.index.glob(root, pattern)
	switch {
	case err != nil:
		return nil, err
	case len(matches) > 0:
		return matches, nil
	case glob:
		return nil, ErrNoMatch
	}
	return nil, ErrMissing
}

// include adds a file or link, or all files and links below a directory.
func (s *selection) include(e *entry, path string) error {
	switch e.file.Mode {
	case ModeDir:
		for _, name := range e.names {
			below := name
			if path != "." {
				below = path + "/" + name
			}
			if err := s.include(e.children[name], below); err != nil {
				return err
			}
		}
		return nil
	case ModeSubmodule:
		return &InputError{Index: NoIndex, File: e.file.Path, Err: ErrSubmodule}
	case ModeSymlink:
		if _, err := s.index.follow(e); err != nil {
			return err
		}
	}
	s.inputs[path] = Input{Path: path, File: e.file}
	return nil
}

func (s *selection) sorted() []Input {
	inputs := make([]Input, 0, len(s.inputs))
	for _, in := range s.inputs {
		inputs = append(inputs, in)
	}
	slices.SortFunc(inputs, func(a, b Input) int { return strings.Compare(a.Path, b.Path) })
	return inputs
}

// inputError makes an error one about a pattern, keeping what is known of the faulty file.
func inputError(pattern string, err error) *InputError {
	out := &InputError{Index: NoIndex, Pattern: pattern, Err: err}
	var inner *InputError
	if errors.As(err, &inner) {
		out.File, out.Err = inner.File, inner.Err
	}
	return out
}

func atIndex(err error, index int) error {
	var e *InputError
	if errors.As(err, &e) {
		e.Index = index
	}
	return err
}
