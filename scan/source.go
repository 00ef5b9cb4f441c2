package scan

import (
	"fmt"
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/scan/duck"
)

// readColumn is a column that a branch reads from its files.
type readColumn struct {
	physical protocol.PhysicalName
	name     string // in the files
	alias    string // in the SELECT
	read     string // DuckDB's type that it is read as
	typ      protocol.DataType
}

// readColumn enters a column into what is read and gives the name that it has in the SELECT.
func (w *branchWriter) readColumn(c readColumn) string {
	for _, known := range w.read {
		if known.name == c.name {
			return known.alias
		}
	}
	c.alias = "r" + strconv.Itoa(len(w.read))
	w.read = append(w.read, c)
	return c.alias
}

// source writes the branch's read_parquet, with the list of files as parameter number n.
//
// Where the files' layouts are known, every column that is read is in every file, and bound_schema names them: then DuckDB
// estimates the rows by the first file, and takes what the log knows of the columns. Otherwise schema gives NULL for a column
// that a file lacks, at the price that DuckDB 2.0 estimates one row whatever it is told (docs/decisions/0009).
func (w *branchWriter) source(n int) string {
	options := fmt.Sprintf("read_parquet($%d, hive_partitioning = false", n)
	if !w.adapts {
		// There are no binary columns: text that old writers left unannotated is text.
		options += ", binary_as_string = true"
	}
	if w.branch.layout == nil || len(w.read) == 0 || !w.distinctNames() {
		return options + ", schema => MAP {" + w.schemaMap() + "})"
	}
	bound, aliases := make([]string, len(w.read)), make([]string, len(w.read))
	for i, c := range w.read {
		bound[i] = duck.QuoteIdentifier(c.name) + ": " + duck.QuoteString(c.read)
		aliases[i] = c.alias
	}
	return options + ", bound_schema => {" + strings.Join(bound, ", ") + "}" + w.statistics() + ") AS f(" + strings.Join(aliases, ", ") + ")"
}

// distinctNames says that no two columns differ only in the case of their letters, which bound_schema cannot name.
func (w *branchWriter) distinctNames() bool {
	seen := make(map[string]bool, len(w.read))
	for _, c := range w.read {
		folded := strings.ToLower(c.name)
		if seen[folded] {
			return false
		}
		seen[folded] = true
	}
	return true
}

func (w *branchWriter) schemaMap() string {
	if len(w.read) == 0 {
		// read_parquet needs a column; one that no file has costs nothing.
		return "'deltasql:none': {name: 'none', type: 'INTEGER', default_value: NULL}"
	}
	entries := make([]string, len(w.read))
	for i, c := range w.read {
		entries[i] = fmt.Sprintf("%s: {name: '%s', type: %s, default_value: NULL}", duck.QuoteString(c.name), c.alias, duck.QuoteString(c.read))
	}
	return strings.Join(entries, ", ")
}
