package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// RenameFolder moves a folder to a name that must be free: fs.ErrExist where anything is there. The move is one step, and outlasts a
// crash of the machine once it has returned without an error; an error that wraps ErrOutcomeUnknown says that it is done and may be
// undone by such a crash. A system that has no such rename replaces an empty folder that comes between the look and the move.
func RenameFolder(from, to string) error {
	err := renameNoReplace(from, to)
	if err != nil && !errors.Is(err, fs.ErrExist) && noSuchOperation(err) {
		if _, err := os.Lstat(to); err == nil {
			return &os.LinkError{Op: "rename", Old: from, New: to, Err: fs.ErrExist}
		}
		err = os.Rename(from, to)
	}
	if err != nil {
		return err
	}
	// The new name first: a crash in between then leaves the folder under both names, or under one, and never under none.
	err = syncFolder(filepath.Dir(to))
	if filepath.Dir(from) != filepath.Dir(to) {
		err = errors.Join(err, syncFolder(filepath.Dir(from)))
	}
	if err != nil {
		return fmt.Errorf("rename %s: %w: %w", from, ErrOutcomeUnknown, err)
	}
	return nil
}
