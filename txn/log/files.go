package log

import (
	"bytes"
	"encoding/json"

	"deltasql/protocol"
)

// Files are the live files of a snapshot, numbered from 0 to Len()-1: in the order of their add actions, oldest first.
// They never change and may be used by any number of goroutines.
//
// They implement stats.Source.
type Files struct {
	columns *columns
	// live gives the row of each file; nil where every row is a file.
	live []uint32
	// sizeBytes is the sum of the files' sizes; vectors and deletedRows count their deletion vectors.
	sizeBytes   int64
	vectors     int
	deletedRows int64
}

// Len is the number of files.
func (f *Files) Len() int {
	if f.live == nil {
		return f.columns.rows
	}
	return len(f.live)
}

// NumFiles is Len, for stats.Source.
func (f *Files) NumFiles() int { return f.Len() }

// SizeBytes is the sum of the sizes of the files.
func (f *Files) SizeBytes() int64 { return f.sizeBytes }

// NumDeletionVectors is the number of files that have a deletion vector, TotalDeletedRows the sum of their cardinalities.
func (f *Files) NumDeletionVectors() int { return f.vectors }

// TotalDeletedRows is the number of rows that deletion vectors hide.
func (f *Files) TotalDeletedRows() int64 { return f.deletedRows }

func (f *Files) at(i int) (*chunk, int) {
	if f.live != nil {
		i = int(f.live[i])
	}
	return f.columns.chunk(i)
}

// Path is the file's path as the log has it: a URI reference, see protocol.DecodePath.
func (f *Files) Path(i int) string {
	k, at := f.at(i)
	return string(k.path.at(at))
}

// Size is the file's size in bytes.
func (f *Files) Size(i int) int64 {
	k, at := f.at(i)
	return k.size[at]
}

// ModificationTime is the time of the file in milliseconds since 1970.
func (f *Files) ModificationTime(i int) int64 {
	k, at := f.at(i)
	return k.modification[at]
}

// RawStats is the statistics JSON, nil where the action has none. The bytes must not be written to.
func (f *Files) RawStats(i int) []byte {
	k, at := f.at(i)
	if text := k.stats.at(at); len(text) > 0 {
		return text
	}
	return nil
}

// PartitionValue is the text of a partition value by physical name; null for JSON null and for a missing key.
func (f *Files) PartitionValue(i int, name protocol.PhysicalName) (text string, null bool) {
	value := f.columns.tuples.values[f.PartitionTuple(i)][name]
	if value == nil {
		return "", true
	}
	return *value, false
}

// PartitionTuple numbers the file's partitionValues map: files with equal maps, and no others, have the same number,
// which is below NumPartitionTuples. Values of a whole snapshot are best decoded once for each tuple.
func (f *Files) PartitionTuple(i int) int {
	k, at := f.at(i)
	return int(k.tuple[at])
}

// NumPartitionTuples bounds the numbers of PartitionTuple; some may belong to files that are gone.
func (f *Files) NumPartitionTuples() int { return len(f.columns.tuples.values) }

// TupleValue is PartitionValue for all files of a tuple.
func (f *Files) TupleValue(tuple int, name protocol.PhysicalName) (text string, null bool) {
	value := f.columns.tuples.values[tuple][name]
	if value == nil {
		return "", true
	}
	return *value, false
}

// DeletionVector is the file's vector, nil where it has none. It must not be written to.
func (f *Files) DeletionVector(i int) *protocol.DeletionVector {
	k, at := f.at(i)
	return sparse(k.vectors, at, nil)
}

// DeletedRows is the cardinality of the file's vector, 0 without one; for stats.Source.
func (f *Files) DeletedRows(i int) int64 {
	if vector := f.DeletionVector(i); vector != nil {
		return vector.Cardinality
	}
	return 0
}

// BaseRowID is the row id of the file's first row (Row Tracking).
func (f *Files) BaseRowID(i int) (int64, bool) {
	k, at := f.at(i)
	value := sparse(k.baseRowID, at, absent)
	return value, value != absent
}

// DefaultRowCommitVersion is the commit version of rows that have not changed since the file was written (Row Tracking).
func (f *Files) DefaultRowCommitVersion(i int) (int64, bool) {
	k, at := f.at(i)
	value := sparse(k.rowCommitVersion, at, absent)
	return value, value != absent
}

// Tags are the tags of the add action, nil where it has none.
func (f *Files) Tags(i int) map[string]string {
	k, at := f.at(i)
	text := k.tags.at(at)
	if len(text) == 0 {
		return nil
	}
	var tags map[string]*string
	if json.Unmarshal(text, &tags) != nil {
		return nil // the text was made by this package, or by DuckDB from a map of strings
	}
	out := make(map[string]string, len(tags))
	for name, value := range tags {
		if value != nil {
			out[name] = *value
		}
	}
	return out
}

// NumRecords is the number of rows in the file, deleted ones included, if the statistics have it.
func (f *Files) NumRecords(i int) (int64, bool) { return numRecords(f.RawStats(i)) }

// Add is the file as an action. DataChange is not kept; it says nothing once the commit is over.
func (f *Files) Add(i int) protocol.AddFile {
	k, at := f.at(i)
	add := protocol.AddFile{
		Path:             string(k.path.at(at)),
		Size:             k.size[at],
		ModificationTime: k.modification[at],
		Stats:            string(k.stats.at(at)),
		Tags:             f.Tags(i),
		DeletionVector:   sparse(k.vectors, at, nil),
	}
	tuple := f.columns.tuples.values[k.tuple[at]]
	add.PartitionValues = make(map[string]*string, len(tuple))
	for name, value := range tuple {
		add.PartitionValues[string(name)] = value
	}
	if value, ok := f.BaseRowID(i); ok {
		add.BaseRowID = &value
	}
	if value, ok := f.DefaultRowCommitVersion(i); ok {
		add.DefaultRowCommitVersion = &value
	}
	if code := sparse(k.provider, at, 0); code > 0 {
		add.ClusteringProvider = f.columns.providers[code-1]
	}
	return add
}

// RepeatedPaths gives the paths of files that are live more than once, with different deletion vectors. The protocol
// forbids it; such a table's rows are counted as often, as other engines do, and a check should say so (bugs LR-07).
func (f *Files) RepeatedPaths() []string {
	var repeated []string
	if f.vectors == 0 {
		return nil
	}
	seen := make(map[uint64]bool, f.Len())
	for i := range f.Len() {
		k, at := f.at(i)
		hash := fileKey{path: canonicalPath(k.path.at(at))}.hash()
		if seen[hash] {
			repeated = append(repeated, f.Path(i))
		}
		seen[hash] = true
	}
	return repeated
}

// numRecords finds the member numRecords of a statistics object without parsing the rest: writers put it first, and
// where they do not the object is parsed.
func numRecords(stats []byte) (int64, bool) {
	if n, ok := leadingNumRecords(stats); ok {
		return n, true
	}
	var parsed struct {
		NumRecords *int64 `json:"numRecords"`
	}
	if len(stats) == 0 || json.Unmarshal(stats, &parsed) != nil || parsed.NumRecords == nil || *parsed.NumRecords < 0 {
		return 0, false
	}
	return *parsed.NumRecords, true
}

// leadingNumRecords reads a number of up to 18 digits at the beginning of an object; some writers put blanks behind the colon.
func leadingNumRecords(stats []byte) (int64, bool) {
	rest, ok := bytes.CutPrefix(stats, []byte(`{"numRecords":`))
	if !ok {
		return 0, false
	}
	rest = bytes.TrimLeft(rest, " ")
	n, digits := int64(0), 0
	for digits < len(rest) && digits <= 18 && '0' <= rest[digits] && rest[digits] <= '9' {
		n = n*10 + int64(rest[digits]-'0')
		digits++
	}
	if digits == 0 || digits > 18 || digits == len(rest) || (rest[digits] != ',' && rest[digits] != '}') {
		return 0, false
	}
	return n, true
}
