package source

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// An Index is a Tree made ready for questions. It is made once per tree and may be used concurrently.
type Index struct {
	tree Tree
	root *entry

	mu    sync.Mutex
	links map[string]string // path of a symbolic link → its text, once read
}

// An entry is a file or directory of the index. It is not changed after NewIndex.
type entry struct {
	file     File
	parent   *entry // nil for the root
	children map[string]*entry
	names    []string // of the children, sorted
}

func (e *entry) dir() bool { return e.file.Mode == ModeDir }

// NewIndex lists the tree once. A tree with unsafe paths (absolute, "..", below .git) or with one path twice is an error.
func NewIndex(t Tree) (*Index, error) {
	x := &Index{tree: t, root: &entry{file: File{Mode: ModeDir}}, links: map[string]string{}}
	// Sorted, so that of several faults always the same is told.
	files := slices.SortedFunc(slices.Values(t.Files("")), func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	for _, f := range files {
		if !validTreePath(f.Path) {
			return nil, fmt.Errorf("the source tree has the unsafe path %q; remove it from the repository", f.Path)
		}
		if err := x.add(f); err != nil {
			return nil, err
		}
	}
	x.root.sortNames()
	return x, nil
}

func (x *Index) add(f File) error {
	at, rest := x.root, f.Path
	for {
		name, below, more := strings.Cut(rest, "/")
		child := at.children[name]
		switch {
		case child == nil:
			child = &entry{file: f, parent: at}
			if more {
				child.file = File{Path: f.Path[:len(f.Path)-len(below)-1], Mode: ModeDir}
			}
			if at.children == nil {
				at.children = map[string]*entry{}
			}
			at.children[name] = child
		case !child.dir() || (!more && f.Mode != ModeDir):
			return fmt.Errorf("the source tree has %q as a file and once more as something else", child.file.Path)
		}
		if !more {
			return nil
		}
		at, rest = child, below
	}
}

func (e *entry) sortNames() {
	e.names = make([]string, 0, len(e.children))
	for name, child := range e.children {
		e.names = append(e.names, name)
		child.sortNames()
	}
	slices.Sort(e.names)
}

// maxLinks is how many symbolic links one path may pass, as in Linux.
const maxLinks = 40

// follow returns what the entry is once its symbolic links are followed: itself when it is none, nil when the link
// dangles. The error is an *InputError of ErrLeavesTree with the link's path, or that of reading the link.
func (x *Index) follow(e *entry) (*entry, error) {
	links := 0
	return x.followCounted(e, &links)
}

func (x *Index) followCounted(e *entry, links *int) (*entry, error) {
	if !e.file.Symlink() {
		return e, nil
	}
	if *links++; *links > maxLinks {
		return nil, nil
	}
	text, err := x.linkText(e.file.Path)
	if err != nil {
		return nil, err
	}
	var target *entry
	if strings.HasPrefix(text, "/") {
		err = ErrLeavesTree
	} else {
		target, err = x.walk(e.parent, text, links)
	}
	// An error that names a link already is about one further on.
	var named *InputError
	if errors.Is(err, ErrLeavesTree) && !errors.As(err, &named) {
		err = &InputError{Index: NoIndex, File: e.file.Path, Err: ErrLeavesTree}
	}
	return target, err
}

// walk goes from a directory along a path as the operating system would, but never out of the tree.
func (x *Index) walk(from *entry, path string, links *int) (*entry, error) {
	at := from
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if part == "" || part == "." {
			continue
		}
		if !at.dir() {
			return nil, danglingWithin(at, parts[i:])
		}
		if part == ".." {
			if at.parent == nil {
				return nil, ErrLeavesTree
			}
			at = at.parent
			continue
		}
		child := at.children[part]
		if child == nil {
			return nil, danglingWithin(at, parts[i:])
		}
		next, err := x.followCounted(child, links)
		if err != nil {
			return nil, err
		}
		if next == nil {
			return nil, danglingWithin(at, parts[i:])
		}
		at = next
	}
	return at, nil
}

// danglingWithin returns ErrLeavesTree when the rest of a path that does not exist would, read as text, leave the tree.
func danglingWithin(at *entry, rest []string) error {
	depth := 0
	for e := at; e.parent != nil; e = e.parent {
		depth++
	}
	for _, part := range rest {
		switch part {
		case "", ".":
		case "..":
			if depth--; depth < 0 {
				return ErrLeavesTree
			}
		default:
			depth++
		}
	}
	return nil
}

func (x *Index) linkText(path string) (string, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if text, ok := x.links[path]; ok {
		return text, nil
	}
	data, err := x.tree.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the symbolic link %s: %w", path, err)
	}
	x.links[path] = string(data)
	return string(data), nil
}
