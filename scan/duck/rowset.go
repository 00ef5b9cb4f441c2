package duck

/*
#include "rowset.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"
)

// SetSpec is what a row set knows of the files of one read_parquet list; index i stands for DuckDB's file_index i.
type SetSpec struct {
	Files   int
	Deleted [][]uint64  // per file the deleted rows, bit r of word r/64 for row r; nil or short: the rest is live
	Ints    []IntColumn // per-file constants, answered by delta_int(set, column, file_index)
	Strings []StrColumn // per-file constants, answered by delta_str(set, column, file_index)
}

// IntColumn has a value and "not NULL" for each file.
type IntColumn struct {
	Values []int64
	Valid  []bool
}

// StrColumn has a text and "not NULL" for each file.
type StrColumn struct {
	Values []string
	Valid  []bool
}

// Set is a row set that the functions delta_live, delta_int and delta_str can look into:
//
//	delta_live(set BIGINT, file_index UBIGINT, file_row_number BIGINT) -> BOOLEAN  whether the row is not deleted
//	delta_int(set BIGINT, column INTEGER, file_index UBIGINT)          -> BIGINT
//	delta_str(set BIGINT, column INTEGER, file_index UBIGINT)          -> VARCHAR
//
// set and column must be constants within a statement. The functions are written in C because a callback into Go costs
// three times as much (docs/decisions/0002). Sets outlive the database they are used on, so replacing it loses none.
type Set struct {
	id       int64
	released atomic.Bool
}

// errSetMemory is the failure of C's allocator.
var errSetMemory = errors.New("no memory for a row set")

// NewSet copies the facts to where DuckDB's threads can read them. Release the set when no statement uses it any more.
func NewSet(spec SetSpec) (*Set, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	set := C.deltasql_rowset_new(C.uint64_t(spec.Files), C.uint64_t(len(spec.Ints)), C.uint64_t(len(spec.Strings)))
	if set == nil {
		return nil, errSetMemory
	}
	if !spec.copyTo(set) {
		C.deltasql_rowset_free(set)
		return nil, errSetMemory
	}
	id := int64(C.deltasql_rowset_publish(set))
	if id == 0 {
		C.deltasql_rowset_free(set)
		return nil, errors.New("too many row sets are open")
	}
	return &Set{id: id}, nil
}

func (spec SetSpec) check() error {
	if len(spec.Deleted) > spec.Files {
		return fmt.Errorf("row set: %d deletion bitmaps for %d files", len(spec.Deleted), spec.Files)
	}
	for _, column := range spec.Ints {
		if len(column.Values) != spec.Files || len(column.Valid) != spec.Files {
			return fmt.Errorf("row set: a column of %d values for %d files", len(column.Values), spec.Files)
		}
	}
	for _, column := range spec.Strings {
		if len(column.Values) != spec.Files || len(column.Valid) != spec.Files {
			return fmt.Errorf("row set: a column of %d texts for %d files", len(column.Values), spec.Files)
		}
	}
	return nil
}

func (spec SetSpec) copyTo(set *C.deltasql_rowset) bool {
	for file, words := range spec.Deleted {
		if len(words) == 0 {
			continue
		}
		data := (*C.uint64_t)(unsafe.Pointer(unsafe.SliceData(words)))
		if C.deltasql_rowset_deleted(set, C.uint64_t(file), data, C.uint64_t(len(words))) == 0 {
			return false
		}
	}
	if spec.Files == 0 {
		return true
	}
	for i, column := range spec.Ints {
		values := (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(column.Values)))
		if C.deltasql_rowset_ints(set, C.uint64_t(i), values, validBytes(column.Valid)) == 0 {
			return false
		}
	}
	for i, column := range spec.Strings {
		offsets := make([]uint64, spec.Files+1)
		var bytes []byte
		for file, value := range column.Values {
			bytes = append(bytes, value...)
			offsets[file+1] = uint64(len(bytes))
		}
		bytes = append(bytes, 0) // never an empty array
		if C.deltasql_rowset_strs(set, C.uint64_t(i), (*C.char)(unsafe.Pointer(&bytes[0])),
			(*C.uint64_t)(unsafe.Pointer(&offsets[0])), validBytes(column.Valid)) == 0 {
			return false
		}
	}
	return true
}

// validBytes reads a slice of bool as bytes of 0 and 1, which is how Go keeps it.
func validBytes(valid []bool) *C.uint8_t {
	return (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(valid)))
}

// ID is the number that SQL names the set by.
func (s *Set) ID() int64 { return s.id }

// Release frees the set; a statement that still uses it fails with a clear error. It may be called more than once.
func (s *Set) Release() {
	if s != nil && s.released.CompareAndSwap(false, true) {
		C.deltasql_rowset_retract(C.int64_t(s.id))
	}
}
