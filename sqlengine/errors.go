package sqlengine

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"strings"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine/expr"
)

// translate makes every error a *protocol.Error (Q3). DuckDB's errors get the class of the fault they stand for; table names
// the table concerned where there is one.
func translate(err error, table string) error {
	if err == nil {
		return nil
	}
	var known *protocol.Error
	if errors.As(err, &known) {
		return known
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return protocol.NewError("DELTASQL_CANCELLED", "the statement was cancelled")
	}
	if errors.Is(err, duck.ErrClosed) {
		return engineClosed()
	}
	var fault *duck.Error
	if !errors.As(err, &fault) {
		return protocol.NewError(protocol.ClassInternal, "%s", err.Error()).WithTable(table)
	}
	return translateDuck(fault, table)
}

// engineClosed is the error of a statement that needs DuckDB after Close.
func engineClosed() *protocol.Error {
	return protocol.NewError("DELTASQL_CANCELLED", "the engine is closed")
}

// cancelled is the error of a statement whose context ended.
func cancelled(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return protocol.NewError("DELTASQL_CANCELLED", "the statement ran out of time")
	}
	return protocol.NewError("DELTASQL_CANCELLED", "the statement was cancelled")
}

// recovered is the error of a panic: a fault of ours, reported with its stack.
func recovered(fault any) error {
	return protocol.NewError(protocol.ClassInternal, "%v\n%s", fault, debug.Stack()).
		WithHint("this is a fault of deltasql: please report it with the statement")
}

var quotedFile = regexp.MustCompile(`"([^"\n]+)"|'([^'\n]+\.parquet)'`)

// translateDuck gives DuckDB's error its class.
func translateDuck(fault *duck.Error, table string) error {
	text := strings.TrimSpace(fault.Message)
	classed := func(class protocol.Class, message string) *protocol.Error {
		return protocol.NewError(class, "%s", message).WithTable(table)
	}
	switch fault.Kind {
	case duck.ErrorOutOfMemory:
		return classed("DELTASQL_OUT_OF_MEMORY", text).WithHint("give more memory (--memory), a folder to spill to (--temp), or fewer threads (--threads)")
	case duck.ErrorInterrupt:
		return classed("DELTASQL_CANCELLED", "the statement was cancelled")
	case duck.ErrorInternal, duck.ErrorFatal:
		return classed(protocol.ClassInternal, text).WithHint("DuckDB failed and was started afresh; the session goes on")
	case duck.ErrorIO:
		return translateFile(text, table)
	}
	// What lowered expressions raise, and DuckDB's own run-time errors, are package expr's to name.
	if known := expr.DuckError(string(fault.Kind) + " Error: " + text); known != nil {
		return known.WithTable(table)
	}
	switch {
	case looksLikeFile(text):
		return translateFile(text, table)
	case fault.Kind == duck.ErrorInvalidInput:
		return classed("INVALID_PARAMETER_VALUE", text)
	}
	return classed(protocol.ClassInternal, fmt.Sprintf("%s: %s", fault.Kind, text))
}

func looksLikeFile(text string) bool {
	for _, mark := range []string{".parquet", "Parquet", "parquet", "TProtocolException", "thrift", "Snappy", "ZSTD"} {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

// translateFile names the data file and what is wrong with it.
func translateFile(text, table string) error {
	file := ""
	if m := quotedFile.FindStringSubmatch(text); m != nil {
		file = m[1] + m[2]
	}
	if strings.Contains(text, "No such file") || strings.Contains(text, "No files found") || strings.Contains(text, "does not exist") {
		// Package scan names a table's files itself; this one was named in the statement.
		return protocol.NewError("DELTA_PATH_DOES_NOT_EXIST", "there is no file %s", orUnknown(file)).WithTable(table)
	}
	if strings.Contains(text, "temp_directory") || strings.Contains(text, "deltasql-spill") {
		return protocol.NewError("DELTASQL_STORAGE", "%s", text).WithHint("statements spill to the folder given by --temp")
	}
	return protocol.NewError("DELTA_FAILED_TO_READ_FILE", "%s", text).WithTable(table)
}

func orUnknown(file string) string {
	if file == "" {
		return "of that name"
	}
	return file
}
