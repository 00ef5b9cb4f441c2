package store

import (
	"os"

	"golang.org/x/sys/unix"
)

// renameNoReplace gives a file another name if that is free. Not every file system can do so.
func renameNoReplace(from, to string) error {
	if err := unix.RenamexNp(from, to, unix.RENAME_EXCL); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
