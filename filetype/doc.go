// Package filetype is what the type FILE needs beside the schema: the mark that its groups have in the footers of Parquet files, and
// the rules of a value that refers to bytes elsewhere. A file value is a group of six optional members (protocol.FileMembers); it
// holds the bytes itself or says where they are.
//
// What it promises:
//
//	F1 Annotate changes nothing of a footer but the groups that it marks, and keeps what it does not know.
//	F2 A value without a Fault can be resolved: it has bytes of its own, or an absolute URI and a range that makes sense.
//
// It reads and writes no file.
package filetype
