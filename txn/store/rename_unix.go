//go:build linux || darwin

package store

import (
	"errors"
	"syscall"
)

// noSuchOperation tells that the file system, or the system, cannot do what was asked at all.
func noSuchOperation(err error) bool {
	for _, cannot := range []syscall.Errno{syscall.ENOSYS, syscall.ENOTSUP, syscall.EINVAL, syscall.EPERM, syscall.EMLINK, syscall.EXDEV} {
		if errors.Is(err, cannot) {
			return true
		}
	}
	return false
}
