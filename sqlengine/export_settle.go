package sqlengine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"deltasql/protocol"
)

// settle makes what was written durable and gives it its name.
func (o *exportOptions) settle(written, path string) error {
	failed := func(err error) error {
		if err == nil {
			return nil
		}
		return protocol.NewError("DELTASQL_STORAGE", "the export cannot be put to %s", path).WithCause(err)
	}
	if o.partitionBy != nil {
		if _, err := os.Stat(written); errors.Is(err, fs.ErrNotExist) { // no rows, no files
			if err := os.Mkdir(written, 0o777); err != nil {
				return failed(err)
			}
		}
	}
	err := filepath.WalkDir(written, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return syncPath(path)
	})
	if err != nil {
		return failed(err)
	}
	switch {
	case !o.overwrite:
		// Nothing of the name was there; what has come meanwhile stays.
		if o.partitionBy == nil {
			if err = os.Link(written, path); err == nil {
				err = os.Remove(written)
			} else if !errors.Is(err, fs.ErrExist) {
				err = os.Rename(written, path) // no links on this file system
			}
		} else if _, err = os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			err = os.Rename(written, path)
		} else if err == nil {
			err = fs.ErrExist
		}
	case o.partitionBy == nil:
		err = os.Rename(written, path)
	default:
		err = replaceFolder(written, path)
	}
	if errors.Is(err, fs.ErrExist) {
		return protocol.NewError("DELTASQL_FILE_EXISTS", "%s was made meanwhile", path).WithHint("(OVERWRITE) replaces it")
	}
	if err == nil {
		err = syncPath(filepath.Dir(path))
	}
	return failed(err)
}

// replaceFolder puts a folder in the place of what is there, which is gone for a moment.
func replaceFolder(written, path string) error {
	old := written + "-old"
	if err := os.Rename(path, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(written, path); err != nil {
		return errors.Join(err, os.Rename(old, path))
	}
	return os.RemoveAll(old)
}

// syncPath makes a file, or a folder's entries, survive a loss of power.
func syncPath(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
