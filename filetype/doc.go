// Package filetype is what the type FILE needs beside the schema: the mark that its groups have in the footers of Parquet files,
// and what the name of a file tells of its content. A file value is a group of six optional members (protocol.FileMembers).
//
// What it promises:
//
//	F1 Annotate changes nothing of a footer but the groups that it marks, and keeps what it does not know.
//
// It reads and writes no file.
package filetype
