//go:build unix

package store

import (
	"io/fs"
	"os"
	"syscall"
)

// inode tells two files apart that have the same name, size and time.
func inode(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Ino)
	}
	return 0
}

// syncFolder makes the names of a folder durable.
func syncFolder(folder string) error {
	opened, err := os.Open(folder)
	if err != nil {
		return err
	}
	err = opened.Sync()
	if closeErr := opened.Close(); err == nil {
		err = closeErr
	}
	return err
}
