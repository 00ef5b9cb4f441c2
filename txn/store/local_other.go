//go:build !unix

package store

import "io/fs"

// inode: such systems give none through the standard library; size and time must do.
func inode(fs.FileInfo) uint64 { return 0 }

// syncFolder: such systems cannot open a folder for writing; they make names durable with the file.
func syncFolder(string) error { return nil }
