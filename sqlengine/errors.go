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
	var fault *duck.Error
	if !errors.As(err, &fault) {
		return protocol.NewError(protocol.ClassInternal, "%s", err.Error()).WithTable(table)
	}
	return translateDuck(fault, table)
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

var (
	classPrefix = regexp.MustCompile(`^\[([A-Z][A-Z0-9_.]+)\] (?s:(.*))$`)
	quotedFile  = regexp.MustCompile(`"([^"\n]+)"|'([^'\n]+\.parquet)'`)
)

// translateDuck gives DuckDB's error its class.
func translateDuck(fault *duck.Error, table string) error {
	text := strings.TrimSpace(fault.Message)
	// Our own error() calls carry their class, whatever kind DuckDB wraps them in.
	if m := classPrefix.FindStringSubmatch(text); m != nil {
		return protocol.NewError(protocol.Class(m[1]), "%s", m[2]).WithTable(table)
	}
	make := func(class protocol.Class, message string) *protocol.Error {
		return protocol.NewError(class, "%s", message).WithTable(table)
	}
	switch fault.Kind {
	case duck.ErrorConversion:
		if strings.Contains(text, "out of range") || strings.Contains(text, "overflow") || strings.Contains(text, "can't be cast because the value") {
			return make("CAST_OVERFLOW", text)
		}
		return make("CAST_INVALID_INPUT", text)
	case duck.ErrorOutOfRange:
		if strings.Contains(text, "date") || strings.Contains(text, "timestamp") || strings.Contains(text, "Date") || strings.Contains(text, "Timestamp") {
			return make("DATETIME_OVERFLOW", text)
		}
		if strings.Contains(text, "cast") || strings.Contains(text, "Cast") {
			return make("NUMERIC_VALUE_OUT_OF_RANGE", text)
		}
		return make("ARITHMETIC_OVERFLOW", text)
	case duck.ErrorOutOfMemory:
		return make("DELTASQL_OUT_OF_MEMORY", text).WithHint("give more memory (--memory), a folder to spill to (--temp), or fewer threads (--threads)")
	case duck.ErrorInterrupt:
		return make("DELTASQL_CANCELLED", "the statement was cancelled")
	case duck.ErrorIO:
		return translateFile(text, table)
	case duck.ErrorInvalidInput:
		if strings.Contains(text, "More than one row returned by a subquery") {
			return make("SCALAR_SUBQUERY_TOO_MANY_ROWS", "a subquery used as an expression gave more than one row")
		}
		if looksLikeFile(text) {
			return translateFile(text, table)
		}
		return make("INVALID_PARAMETER_VALUE", text)
	case duck.ErrorInternal, duck.ErrorFatal:
		return make(protocol.ClassInternal, text).WithHint("DuckDB failed and was started afresh; the session goes on")
	}
	if looksLikeFile(text) {
		return translateFile(text, table)
	}
	return make(protocol.ClassInternal, fmt.Sprintf("%s: %s", fault.Kind, text))
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
		return protocol.NewError("DELTA_FILE_NOT_FOUND_DETAILED", "file %s is named by the table's log but is not there", orUnknown(file)).WithTable(table).
			WithHint("VACUUM or another program removed it: read a version that still has its files, or restore the file")
	}
	if strings.Contains(text, "temp_directory") || strings.Contains(text, "deltasql-spill") {
		return protocol.NewError("DELTASQL_STORAGE", "%s", text).WithHint("statements spill to the folder given by --temp")
	}
	return protocol.NewError("DELTA_FAILED_TO_READ_FILE", "%s", text).WithTable(table)
}

func orUnknown(file string) string {
	if file == "" {
		return "of the table"
	}
	return file
}
