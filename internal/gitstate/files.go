package gitstate

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// A File is one path of a [Snapshot] or [Worktree] that is not a directory.
type File struct {
	// Path is slash-separated and relative to the root.
	Path string
	// Mode is 0644 or 0755 for regular files; has fs.ModeSymlink for symbolic links and fs.ModeIrregular for submodules,
	// which callers must refuse where a file is needed.
	Mode fs.FileMode
	// Blob is the Git id of the content, 40 hexadecimal digits; "" in a [Worktree].
	Blob string
}

// content is where the bytes of files come from.
type content interface {
	read(path string, e entry) ([]byte, error)
	size(path string, e entry) (int64, error)
}

// files is a tree together with its content: the part that a Snapshot and a Worktree share.
type files struct {
	root    *tree
	content content
}

var errNotRegular = errors.New("not a regular file")

// Files lists the files at or below a directory in the byte order of their paths; "" or "." means all.
// A prefix that names a file gives that file, one that does not exist gives none.
func (f *files) Files(prefix string) []File {
	prefix = path.Clean("./" + prefix)
	e, ok := f.root.find(prefix)
	if !ok {
		return nil
	}
	var out []File
	add := func(p string, e entry) { out = append(out, File{Path: p, Mode: fileMode(e), Blob: blobID(e)}) }
	switch {
	case e.dir == nil:
		add(prefix, e)
	case prefix == ".":
		e.dir.walk("", add)
	default:
		e.dir.walk(prefix+"/", add)
	}
	return out
}

// Blob is the Git id of the file at a path; false when there is no file. In a [Worktree] there are no ids.
func (f *files) Blob(path string) (string, bool) {
	e, ok := f.root.find(path)
	if !ok || e.dir != nil || e.id.IsZero() {
		return "", false
	}
	return e.id.String(), true
}

// Open opens a file or directory, as [fs.FS] says. Symbolic links are not followed.
func (f *files) Open(name string) (fs.File, error) {
	e, err := f.lookup("open", name)
	if err != nil {
		return nil, err
	}
	info, err := f.info(name, e)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	if e.dir != nil {
		return &openDir{info: info, entries: f.list(name, e.dir)}, nil
	}
	data, err := f.regular(name, e)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &openFile{info: info, Reader: bytes.NewReader(data)}, nil
}

// ReadFile reads a regular file.
func (f *files) ReadFile(name string) ([]byte, error) {
	e, err := f.lookup("read", name)
	if err != nil {
		return nil, err
	}
	data, err := f.regular(name, e)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return data, nil
}

// ReadDir lists a directory, sorted by name.
func (f *files) ReadDir(name string) ([]fs.DirEntry, error) {
	e, err := f.lookup("readdir", name)
	if err != nil {
		return nil, err
	}
	if e.dir == nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errors.New("not a directory")}
	}
	return f.list(name, e.dir), nil
}

// Stat describes a file or directory. Symbolic links are not followed.
func (f *files) Stat(name string) (fs.FileInfo, error) {
	e, err := f.lookup("stat", name)
	if err != nil {
		return nil, err
	}
	info, err := f.info(name, e)
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return info, nil
}

func (f *files) lookup(op, name string) (entry, error) {
	if !fs.ValidPath(name) {
		return entry{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	e, ok := f.root.find(name)
	if !ok {
		return entry{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return e, nil
}

func (f *files) regular(name string, e entry) ([]byte, error) {
	if !fileMode(e).IsRegular() {
		return nil, errNotRegular
	}
	return f.content.read(name, e)
}

func (f *files) info(name string, e entry) (fileInfo, error) {
	info := fileInfo{name: path.Base(name), mode: fileMode(e)}
	if !info.mode.IsRegular() {
		return info, nil
	}
	var err error
	info.size, err = f.content.size(name, e)
	return info, err
}

func (f *files) list(name string, t *tree) []fs.DirEntry {
	out := make([]fs.DirEntry, len(t.entries))
	for i, e := range t.entries {
		out[i] = &dirEntry{files: f, path: path.Join(name, e.name), entry: e}
	}
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return out
}

func fileMode(e entry) fs.FileMode {
	switch e.mode {
	case filemode.Dir:
		return fs.ModeDir | 0o755
	case filemode.Regular:
		return 0o644
	case filemode.Executable:
		return 0o755
	case filemode.Symlink:
		return fs.ModeSymlink | 0o777
	default:
		return fs.ModeIrregular
	}
}

func blobID(e entry) string {
	if e.id.IsZero() {
		return ""
	}
	return e.id.String()
}

type fileInfo struct {
	name string
	mode fs.FileMode
	size int64
}

func (i fileInfo) Name() string       { return i.name }
func (i fileInfo) Size() int64        { return i.size }
func (i fileInfo) Mode() fs.FileMode  { return i.mode }
func (i fileInfo) ModTime() time.Time { return time.Time{} }
func (i fileInfo) IsDir() bool        { return i.mode.IsDir() }
func (i fileInfo) Sys() any           { return nil }

type dirEntry struct {
	files *files
	path  string
	entry entry
}

func (d *dirEntry) Name() string               { return d.entry.name }
func (d *dirEntry) IsDir() bool                { return d.entry.dir != nil }
func (d *dirEntry) Type() fs.FileMode          { return fileMode(d.entry).Type() }
func (d *dirEntry) Info() (fs.FileInfo, error) { return d.files.info(d.path, d.entry) }

type openFile struct {
	info fileInfo
	*bytes.Reader
}

func (o *openFile) Stat() (fs.FileInfo, error) { return o.info, nil }
func (o *openFile) Close() error               { return nil }

type openDir struct {
	info    fileInfo
	entries []fs.DirEntry // not yet read
}

func (o *openDir) Stat() (fs.FileInfo, error) { return o.info, nil }
func (o *openDir) Close() error               { return nil }
func (o *openDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: o.info.name, Err: errors.New("is a directory")}
}

func (o *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(o.entries) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(o.entries) {
		n = len(o.entries)
	}
	out := o.entries[:n]
	o.entries = o.entries[n:]
	return out, nil
}
