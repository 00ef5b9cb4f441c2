package scan

import (
	"path/filepath"
	"strings"

	"deltasql/protocol"
)

// HiddenColumn is a member of the _metadata struct that every row has, or FileNumber.
type HiddenColumn uint8

// The hidden columns, in the order of Spark's _metadata.
const (
	FilePath HiddenColumn = iota
	FileName
	FileSize
	FileBlockStart
	FileBlockLength
	FileModificationTime
	RowIndex
	BaseRowID
	DefaultRowCommitVersion
	RowID
	RowCommitVersion
	// FileNumber is the file's number in the snapshot: the one that is no member of _metadata, for statements that change rows.
	FileNumber
	numHidden
)

// HiddenInfo describes a hidden column.
type HiddenInfo struct {
	Name string
	Type protocol.DataType
	// RowTracking columns exist only where the table has row tracking switched on.
	RowTracking bool
}

var hiddenColumns = [numHidden]HiddenInfo{
	FilePath:                {Name: "file_path", Type: protocol.DataType{Kind: protocol.KindString}},
	FileName:                {Name: "file_name", Type: protocol.DataType{Kind: protocol.KindString}},
	FileSize:                {Name: "file_size", Type: protocol.DataType{Kind: protocol.KindLong}},
	FileBlockStart:          {Name: "file_block_start", Type: protocol.DataType{Kind: protocol.KindLong}},
	FileBlockLength:         {Name: "file_block_length", Type: protocol.DataType{Kind: protocol.KindLong}},
	FileModificationTime:    {Name: "file_modification_time", Type: protocol.DataType{Kind: protocol.KindTimestamp}},
	RowIndex:                {Name: "row_index", Type: protocol.DataType{Kind: protocol.KindLong}},
	BaseRowID:               {Name: "base_row_id", Type: protocol.DataType{Kind: protocol.KindLong}, RowTracking: true},
	DefaultRowCommitVersion: {Name: "default_row_commit_version", Type: protocol.DataType{Kind: protocol.KindLong}, RowTracking: true},
	RowID:                   {Name: "row_id", Type: protocol.DataType{Kind: protocol.KindLong}, RowTracking: true},
	RowCommitVersion:        {Name: "row_commit_version", Type: protocol.DataType{Kind: protocol.KindLong}, RowTracking: true},
	FileNumber:              {Name: "file_number", Type: protocol.DataType{Kind: protocol.KindLong}},
}

// Info describes the column.
func (h HiddenColumn) Info() HiddenInfo { return hiddenColumns[h] }

// Hidden are the hidden columns of a table, in the order of Spark's _metadata.
func Hidden(config *protocol.TableConfig) []HiddenColumn {
	tracked := tracksRows(config)
	var list []HiddenColumn
	for h := range FileNumber {
		if !hiddenColumns[h].RowTracking || tracked {
			list = append(list, h)
		}
	}
	return list
}

// tracksRows says that every row of the table has an id (protocol, "Row Tracking").
func tracksRows(config *protocol.TableConfig) bool {
	enabled, err := config.BoolProperty("delta.enableRowTracking")
	return err == nil && enabled && config.Supports("rowTracking")
}

// The properties that name the columns with materialised row ids and commit versions.
const (
	rowIDProperty            = "delta.rowTracking.materializedRowIdColumnName"
	rowCommitVersionProperty = "delta.rowTracking.materializedRowCommitVersionColumnName"
)

// hiddenExpression writes a hidden column; facts answers per-file values and file reads a column of the file.
func hiddenExpression(h HiddenColumn, config *protocol.TableConfig, facts *facts, file func(name string) string) string {
	perFile := func(value func(f *dataFile) (int64, bool)) string { return facts.integer(int(h), value) }
	switch h {
	case FilePath:
		return facts.text(int(h), func(f *dataFile) string { return "file:" + escapePath(filepath.ToSlash(f.local)) })
	case FileName:
		return facts.text(int(h), func(f *dataFile) string { return escapePath(filepath.Base(f.local)) })
	case FileSize, FileBlockLength:
		return perFile(func(f *dataFile) (int64, bool) { return f.size, true })
	case FileBlockStart:
		return "CAST(0 AS BIGINT)"
	case FileModificationTime:
		return "CAST(make_timestamp(" + perFile(func(f *dataFile) (int64, bool) { return f.modTime * 1000, true }) +
			") AS TIMESTAMP WITH TIME ZONE)"
	case RowIndex:
		return "file_row_number"
	case FileNumber:
		return perFile(func(f *dataFile) (int64, bool) { return int64(f.number), f.number >= 0 })
	case BaseRowID:
		return perFile(func(f *dataFile) (int64, bool) { return optional(f.baseRowID) })
	case DefaultRowCommitVersion:
		return perFile(func(f *dataFile) (int64, bool) { return optional(f.commitVersion) })
	case RowID:
		computed := hiddenExpression(BaseRowID, config, facts, file) + " + file_row_number"
		return materialised(config.Property(rowIDProperty), computed, file)
	default:
		computed := hiddenExpression(DefaultRowCommitVersion, config, facts, file)
		return materialised(config.Property(rowCommitVersionProperty), computed, file)
	}
}

// materialisedProperty is the property that names the column in which rewritten files keep a hidden column, "" for most.
func materialisedProperty(h HiddenColumn) string {
	switch h {
	case RowID:
		return rowIDProperty
	case RowCommitVersion:
		return rowCommitVersionProperty
	}
	return ""
}

// materialised prefers the value that a rewrite has stored in the file.
func materialised(column, computed string, file func(name string) string) string {
	if column == "" {
		return computed
	}
	return "COALESCE(" + file(column) + ", " + computed + ")"
}

func optional(n *int64) (int64, bool) {
	if n == nil {
		return 0, false
	}
	return *n, true
}

// escapePath writes a path as Java's URIs do, which is how Spark prints it: characters that a URI cannot hold become
// percent-escapes, letters beyond ASCII stay.
func escapePath(local string) string {
	const allowed = "-_.!~*'()/:@&=+$,;"
	const hexDigits = "0123456789ABCDEF"
	var text strings.Builder
	for i := range len(local) {
		c := local[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c >= 0x80, strings.IndexByte(allowed, c) >= 0:
			text.WriteByte(c)
		default:
			text.WriteByte('%')
			text.WriteByte(hexDigits[c>>4])
			text.WriteByte(hexDigits[c&15])
		}
	}
	return text.String()
}
