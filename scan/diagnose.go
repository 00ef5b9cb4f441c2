package scan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"deltasql/protocol"
	"deltasql/scan/duck"
)

// missingFile is the error of a data file that the log names and the store lacks.
func missingFile(f *dataFile) error {
	return protocol.NewError("DELTA_FILE_NOT_FOUND_DETAILED", "the data file %s is in the table's log but not on the store", f.path).
		WithHint("it was deleted by hand, or by VACUUM with too short a retention while this version was still in use")
}

func damagedFile(f *dataFile, what string) error {
	return protocol.NewError("DELTA_FAILED_TO_READ_FILE", "the data file %s cannot be read: %s", f.path, what)
}

// diagnose turns DuckDB's error about a data file into Delta's, naming the table and the file. Errors of another kind
// (of a user's expression, a cancelled context) are left as they are.
func diagnose(err error, table string, files []*dataFile) error {
	var known *protocol.Error
	if errors.As(err, &known) {
		if known.Table != "" {
			return err
		}
		named := *known
		return named.WithTable(table)
	}
	var e *duck.Error
	if !errors.As(err, &e) {
		return err
	}
	if e.Kind == duck.ErrorOutOfMemory || e.Kind == duck.ErrorInterrupt {
		return err
	}
	f := namedFile(e.Message, files)
	if f == nil {
		return err
	}
	if strings.Contains(e.Message, "No files found") || strings.Contains(e.Message, "No such file") {
		return missingFile(f).(*protocol.Error).WithTable(table)
	}
	message, _, _ := strings.Cut(e.Message, "\n")
	return damagedFile(f, strings.ReplaceAll(message, f.local, f.path)).(*protocol.Error).WithTable(table)
}

// namedFile finds the file that a message of DuckDB mentions.
func namedFile(message string, files []*dataFile) *dataFile {
	for _, f := range files {
		if strings.Contains(message, f.local) || strings.Contains(message, duck.LiteralPath(f.local)) {
			return f
		}
	}
	return nil
}

// namesNoFile recognises the faults of Parquet's inner layers, which say what is wrong and not where.
func namesNoFile(err error) bool {
	var e *duck.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Kind {
	case duck.ErrorInternal, duck.ErrorInvalid:
		return true
	}
	return slices.ContainsFunc([]string{"TProtocolException", "decompress", "metadata is corrupt"},
		func(mark string) bool { return strings.Contains(e.Message, mark) })
}

// nameBrokenFile puts the file into the message of such a fault: each is read on its own until one fails in the same way.
// A table whose files take longer than a few seconds gets the error as it is.
func nameBrokenFile(in *duck.Instance, err error, files []*dataFile) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var fault, e *duck.Error
	errors.As(err, &fault)
	message, _, _ := strings.Cut(fault.Message, "\n")
	for _, f := range files {
		read := in.Exec(ctx, "SELECT max(hash(t)) FROM read_parquet("+duck.QuoteString(duck.LiteralPath(f.local))+") AS t")
		if errors.As(read, &e) && strings.HasPrefix(e.Message, message) {
			return &duck.Error{Kind: fault.Kind, Message: fmt.Sprintf("%q: %s", f.local, message)}
		}
		if ctx.Err() != nil {
			break
		}
	}
	return err
}
