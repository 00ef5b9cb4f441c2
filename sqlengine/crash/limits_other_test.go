//go:build !unix

package crash_test

import "errors"

func limitFiles(uint64) error { return errors.New("this system knows no limit of a file's size") }
