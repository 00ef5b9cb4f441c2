//go:build !linux && !darwin

package store

import (
	"errors"
	"io/fs"
)

// renameNoReplace: these systems have none that the standard library reaches.
func renameNoReplace(_, _ string) error { return errors.ErrUnsupported }

// noSuchOperation tells that the file system cannot do what was asked; without a better word any failure but a missing
// permission or a missing folder counts.
func noSuchOperation(err error) bool {
	return !errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrNotExist)
}
