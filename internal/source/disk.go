package source

import (
	"fmt"
	"io/fs"
	"os"
)

// A Disk is a Tree of the files below a directory, listed once when it is made. It is for checkouts and work trees that
// nobody changes meanwhile. A .git file or directory is left out, and so are sockets and devices.
type Disk struct {
	root  *os.Root
	files []File
}

// NewDisk lists a directory, which stays the caller's to close. Links are listed, never followed.
func NewDisk(root *os.Root) (*Disk, error) {
	d := &Disk{root: root}
	if err := fs.WalkDir(root.FS(), ".", d.list); err != nil {
		return nil, fmt.Errorf("list the source directory: %w", err)
	}
	return d, nil
}

func (d *Disk) list(path string, e fs.DirEntry, err error) error {
	switch {
	case err != nil:
		return err
	case path == ".":
		return nil
	case e.Name() == ".git" && e.IsDir():
		return fs.SkipDir
	case e.Name() == ".git":
		return nil
	}
	info, err := e.Info()
	if err != nil {
		return err
	}
	f := File{Path: path, Mode: ModeFile}
	switch mode := info.Mode(); {
	case mode.IsDir():
		f.Mode = ModeDir
	case mode&fs.ModeSymlink != 0:
		f.Mode = ModeSymlink
	case !mode.IsRegular():
		return nil
	case mode&0o111 != 0:
		f.Mode = ModeExecutable
	}
	d.files = append(d.files, f)
	return nil
}

// Files lists the entries at and below prefix. Every directory has an entry.
func (d *Disk) Files(prefix string) []File {
	var files []File
	for _, f := range d.files {
		if prefix == "" || f.Path == prefix || len(f.Path) > len(prefix) && f.Path[len(prefix)] == '/' && f.Path[:len(prefix)] == prefix {
			files = append(files, f)
		}
	}
	return files
}

// ReadFile returns the content of a file, or the text of a symbolic link.
func (d *Disk) ReadFile(path string) ([]byte, error) {
	info, err := d.root.Lstat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		text, err := d.root.Readlink(path)
		return []byte(text), err
	}
	return d.root.ReadFile(path)
}
