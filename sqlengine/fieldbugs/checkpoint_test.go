package fieldbugs_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"deltasql/scan/duck"
)

// The columns of checkpoints, as DuckDB types.
const (
	addColumn = `add: 'STRUCT(path VARCHAR, partitionValues MAP(VARCHAR, VARCHAR), size BIGINT, modificationTime BIGINT, dataChange BOOLEAN, ` +
		`stats VARCHAR, deletionVector STRUCT(storageType VARCHAR, pathOrInlineDv VARCHAR, "offset" INTEGER, sizeInBytes INTEGER, cardinality BIGINT))'`
	oldAddColumn   = `add: 'STRUCT(path VARCHAR, partitionValues MAP(VARCHAR, VARCHAR), size BIGINT, modificationTime BIGINT, dataChange BOOLEAN, stats VARCHAR)'`
	removeColumn   = `remove: 'STRUCT(path VARCHAR, deletionTimestamp BIGINT, dataChange BOOLEAN, size BIGINT)'`
	metadataColumn = `metaData: 'STRUCT(id VARCHAR, format STRUCT(provider VARCHAR, options MAP(VARCHAR, VARCHAR)), schemaString VARCHAR, ` +
		`partitionColumns VARCHAR[], configuration MAP(VARCHAR, VARCHAR), createdTime BIGINT)'`
	protocolColumn    = `protocol: 'STRUCT(minReaderVersion INTEGER, minWriterVersion INTEGER, readerFeatures VARCHAR[], writerFeatures VARCHAR[])'`
	oldProtocolColumn = `protocol: 'STRUCT(minReaderVersion INTEGER, minWriterVersion INTEGER)'`
	txnColumn         = `txn: 'STRUCT(appId VARCHAR, version BIGINT, lastUpdated BIGINT)'`
	sidecarColumn     = `sidecar: 'STRUCT(path VARCHAR, sizeInBytes BIGINT, modificationTime BIGINT)'`
	manifestColumn    = `checkpointMetadata: 'STRUCT(version BIGINT)'`
)

var checkpointColumns = []string{addColumn, removeColumn, metadataColumn, protocolColumn, txnColumn}

// checkpointName is the classic name of a version's checkpoint.
func checkpointName(version int) string {
	return fmt.Sprintf("_delta_log/%020d.checkpoint.parquet", version)
}

// checkpoint writes actions as the classic checkpoint of a version, with the usual columns.
func (tb *table) checkpoint(version int, actions ...string) {
	tb.t.Helper()
	tb.actionsFile(checkpointName(version), checkpointColumns, actions...)
}

// actionsFile writes actions as Parquet rows with the given columns; members of the actions without a column are left out.
func (tb *table) actionsFile(name string, columns []string, actions ...string) {
	tb.t.Helper()
	lines := filepath.Join(tb.t.TempDir(), "actions.json")
	tb.check(os.WriteFile(lines, []byte(strings.Join(actions, "\n")+"\n"), 0o644))
	tb.parquet(name, fmt.Sprintf("SELECT * FROM read_json(%s, format = 'newline_delimited', maximum_object_size = 100000000, columns = {%s})",
		duck.QuoteString(lines), strings.Join(columns, ", ")))
}

// renameInFooter replaces a name in the schema of a Parquet file, for what COPY cannot write. Names in a footer are a length
// byte and the text, and nothing in the footer hangs on its own length, which stands in its last eight bytes.
func (tb *table) renameInFooter(name string, old, new string) {
	tb.t.Helper()
	data := tb.read(name)
	size := int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	start := len(data) - 8 - size
	counted := func(text string) string { return string(rune(len(text))) + text }
	footer := strings.ReplaceAll(string(data[start:len(data)-8]), counted(old), counted(new))
	if footer == string(data[start:len(data)-8]) {
		tb.t.Fatalf("%s has no name %s in its footer", name, old)
	}
	out := append(data[:start:start], footer...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(footer)))
	tb.write(name, append(out, "PAR1"...))
}
