package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gitopsctr/gitopsctr/schemas"
)

// A schemaCatalog is a directory that holds the schemas (chapter A, section 9).
type schemaCatalog struct{ dir string }

const catalogIndex = "index.json"

// wanted are the files of the catalog by their slash-separated paths.
func (schemaCatalog) wanted() map[string][]byte {
	files := map[string][]byte{catalogIndex: schemas.Index()}
	for _, name := range schemas.Names() {
		if file, ok := schemas.Path(name); ok {
			files[file], _ = schemas.Raw(name)
		}
	}
	return files
}

// present are the JSON files that are there, and all directories, sorted.
func (c schemaCatalog) present() (files, directories []string, err error) {
	err = fs.WalkDir(os.DirFS(c.dir), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && name == ".":
			return fs.SkipAll
		case err != nil:
			return err
		case entry.IsDir():
			directories = append(directories, name)
		case path.Ext(name) == ".json":
			files = append(files, name)
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("list %s: %w", c.dir, err)
	}
	return files, directories, nil
}

// check is an error that lists every file which write would change.
func (c schemaCatalog) check() error {
	wanted := c.wanted()
	files, _, err := c.present()
	if err != nil {
		return err
	}
	var wrong []string
	for _, name := range files {
		if _, ok := wanted[name]; !ok {
			wrong = append(wrong, name+" (obsolete)")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		data, err := os.ReadFile(filepath.Join(c.dir, filepath.FromSlash(name)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			wrong = append(wrong, name+" (missing)")
		case err != nil:
			return err
		case !bytes.Equal(data, wanted[name]):
			wrong = append(wrong, name+" (stale)")
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	slices.Sort(wrong)
	return fmt.Errorf("%s is not up to date, run gitopsctr schemas export %s: %s", c.dir, c.dir, strings.Join(wrong, ", "))
}

// write makes the directory the catalog: other JSON files and directories that are then empty go.
func (c schemaCatalog) write() error {
	wanted := c.wanted()
	files, _, err := c.present()
	if err != nil {
		return err
	}
	if len(files) > 0 && !slices.Contains(files, catalogIndex) {
		return fmt.Errorf("%s holds %s and no %s, so it is no catalog of schemas; name an empty or new directory", c.dir, files[0], catalogIndex)
	}
	for _, name := range files {
		if _, ok := wanted[name]; !ok {
			if err := os.Remove(filepath.Join(c.dir, filepath.FromSlash(name))); err != nil {
				return err
			}
		}
	}
	for name, data := range wanted {
		file := filepath.Join(c.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			return err
		}
	}
	return c.prune()
}

// prune removes empty directories, the innermost first.
func (c schemaCatalog) prune() error {
	_, directories, err := c.present()
	if err != nil {
		return err
	}
	for _, name := range slices.Backward(directories) {
		entries, err := os.ReadDir(filepath.Join(c.dir, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			if err := os.Remove(filepath.Join(c.dir, filepath.FromSlash(name))); err != nil {
				return err
			}
		}
	}
	return nil
}
