package source

import (
	"errors"
	"slices"
	"strings"
)

// maxSteps bounds how many names one pattern is compared with. A "**" in a tree of 100,000 files stays below it; patterns
// that go through symbolic links to their own directory do not.
const maxSteps = 400_000

// A Match is one path that a pattern selects.
type Match struct {
	// Path is relative to the directory that the pattern starts from, "." for that directory itself. Its components are
	// those that the pattern went through, also where one of them is a symbolic link to a directory.
	Path string
	// File is the entry of the tree: ModeDir for a directory. A symbolic link is not followed.
	File File

	entry *entry
}

// Glob returns what a pattern selects below a directory of the tree, sorted by path (chapter B, 3.2; chapter G, 5.4):
// wildcards match leading dots, "**" as a whole component means zero or more directories and does not pass through
// symbolic links, other components do, and a trailing slash restricts to directories. A pattern without wildcard is
// matched in the same way. No match is no error; an unsafe pattern is an *InputError.
func (x *Index) Glob(dir, pattern string) ([]Match, error) {
	if err := CheckPath(pattern); err != nil {
		return nil, err
	}
	start, err := x.lookup(dir)
	if err != nil || start == nil {
		return nil, err
	}
	return x.glob(start, pattern)
}

// lookup follows a path from the root. nil means that it does not exist.
func (x *Index) lookup(path string) (*entry, error) {
	links := 0
	return x.walk(x.root, path, &links)
}

func (x *Index) glob(start *entry, pattern string) ([]Match, error) {
	g := globber{index: x, seen: map[visit]bool{}, found: map[string]Match{}, steps: maxSteps}
	if err := g.match(place{entry: start, named: true}, splitPattern(pattern)); err != nil {
		return nil, inputError(pattern, err)
	}
	matches := make([]Match, 0, len(g.found))
	for _, m := range g.found {
		matches = append(matches, m)
	}
	slices.SortFunc(matches, func(a, b Match) int { return strings.Compare(a.Path, b.Path) })
	return matches, nil
}

type globber struct {
	index *Index
	seen  map[visit]bool
	found map[string]Match
	steps int
}

// A visit is a path together with how much of the pattern is left: never worth doing twice.
type visit struct {
	path string
	left int
}

// A place is where the matching of a pattern has come to.
type place struct {
	entry *entry
	path  string // "" is the start
	named bool   // whether the pattern spells out the last component
}

func (p place) child(name string, named bool) place {
	path := name
	if p.path != "" {
		path = p.path + "/" + name
	}
	return place{entry: p.entry.children[name], path: path, named: named}
}

// match goes on from a place with the rest of the pattern.
func (g *globber) match(at place, parts []string) error {
	v := visit{at.path, len(parts)}
	if g.seen[v] {
		return nil
	}
	g.seen[v] = true
	if len(parts) == 0 {
		g.emit(at)
		return nil
	}
	dir, err := g.directory(at)
	if err != nil || dir == nil {
		return err
	}
	inside := place{entry: dir, path: at.path}
	part, rest := parts[0], parts[1:]
	switch {
	case part == "":
		g.emit(at)
		return nil
	case part == "**":
		for len(rest) > 0 && rest[0] == "**" {
			rest = rest[1:]
		}
		if err := g.match(at, rest); err != nil {
			return err
		}
		return g.descend(inside, rest)
	case isGlob(part):
		for _, name := range dir.names {
			if g.steps--; g.steps < 0 {
				return ErrTooBroad
			}
			if matchName(part, name) {
				if err := g.match(inside.child(name, false), rest); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if dir.children[part] == nil {
		return nil
	}
	return g.match(inside.child(part, true), rest)
}

// descend matches the rest of the pattern in every directory below a directory; without a rest, all below it matches.
func (g *globber) descend(at place, rest []string) error {
	for _, name := range at.entry.names {
		if g.steps--; g.steps < 0 {
			return ErrTooBroad
		}
		child := at.child(name, false)
		if child.entry.dir() || len(rest) == 0 {
			if err := g.match(child, rest); err != nil {
				return err
			}
		}
		if child.entry.dir() {
			if err := g.descend(child, rest); err != nil {
				return err
			}
		}
	}
	return nil
}

// directory returns the directory that a place is or links to, or nil. A link that leads out of the tree is passed over
// where a wildcard found it, and an error where the pattern names it.
func (g *globber) directory(at place) (*entry, error) {
	target, err := g.index.follow(at.entry)
	if errors.Is(err, ErrLeavesTree) && !at.named {
		return nil, nil
	}
	if err != nil || target == nil || !target.dir() {
		return nil, err
	}
	return target, nil
}

func (g *globber) emit(at place) {
	path := at.path
	if path == "" {
		path = "."
	}
	g.found[path] = Match{Path: path, File: at.entry.file, entry: at.entry}
}
