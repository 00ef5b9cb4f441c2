package sqlengine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"deltasql/protocol"
	"deltasql/txn/store"
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
		return store.Sync(path)
	})
	if err != nil {
		return failed(err)
	}
	switch {
	case !o.overwrite:
		if err = store.Publish(written, path); errors.Is(err, errors.ErrUnsupported) {
			err = takeName(written, path)
		}
		if err == nil {
			err = os.RemoveAll(written) // a file may have both names
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
		err = store.Sync(filepath.Dir(path))
	}
	return failed(err)
}

// takeName is the last resort on file systems that have no renaming which does not replace: a file's name is taken first, by an empty
// file that no other can make as well, and that is replaced. A reader may see the empty one for a moment. A folder never takes the
// place of anything but an empty one.
func takeName(written, path string) error {
	info, err := os.Lstat(written)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.Rename(written, path)
	}
	taken, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if err = taken.Close(); err == nil {
		err = os.Rename(written, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
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
