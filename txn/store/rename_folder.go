package store

import (
	"errors"
	"io/fs"
	"os"
)

// RenameFolder moves a folder to a name that must be free: fs.ErrExist where anything is there. A system that has no such rename
// replaces an empty folder that comes between the look and the move.
func RenameFolder(from, to string) error {
	err := renameNoReplace(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) || !noSuchOperation(err) {
		return err
	}
	if _, err := os.Lstat(to); err == nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: fs.ErrExist}
	}
	return os.Rename(from, to)
}
