package scan

import (
	"fmt"
	"math"
	"strings"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/stats"
)

// maxFilesWithStatistics is up to how many files a snapshot may have for the log's statistics to be handed to DuckDB: they
// are parsed for the whole snapshot.
const maxFilesWithStatistics = 20_000

// statistics hands to DuckDB what it orders joins by beside the number of rows: how many values a column has at most, where the
// bounds in the log leave room for fewer than there are rows. DuckDB takes it for an estimate, never for a proof (docs/decisions/0011).
func (w *branchWriter) statistics() string {
	if w.bounds == nil || w.bounds.files > maxFilesWithStatistics {
		return ""
	}
	files := make([]int32, len(w.branch.files))
	rows := int64(0)
	for i, f := range w.branch.files {
		if f.number < 0 || f.records < 0 {
			return ""
		}
		files[i] = f.number
		rows += f.records
	}
	leaves := make([]stats.Leaf, len(w.read))
	for i, c := range w.read {
		leaves[i] = stats.Leaf{Path: []protocol.PhysicalName{c.physical}, Type: c.typ}
	}
	var entries []string
	for i, bound := range w.bounds.table.Bounds(leaves, files) {
		if n, ok := mostValues(bound, w.read[i].typ); ok && n <= rows {
			entries = append(entries, fmt.Sprintf("%s: MAP {'distinct_count': '%d'}", duck.QuoteString(duck.QuoteIdentifier(w.read[i].name)), n))
		}
	}
	if len(entries) == 0 {
		return ""
	}
	return ", column_statistics => MAP {" + strings.Join(entries, ", ") + "}"
}

// mostValues is how many values lie between the bounds of a discrete type.
func mostValues(b stats.Bound, t protocol.DataType) (int64, bool) {
	low, high := b.Min.Int, b.Max.Int
	switch t.Kind {
	case protocol.KindByte, protocol.KindShort, protocol.KindInteger, protocol.KindLong, protocol.KindDate:
	case protocol.KindDecimal:
		var fits [2]bool
		low, fits[0] = b.Min.Dec.Int64()
		high, fits[1] = b.Max.Dec.Int64()
		if !fits[0] || !fits[1] {
			return 0, false
		}
	default:
		return 0, false
	}
	n := uint64(high) - uint64(low)
	return int64(n) + 1, b.Enclosed && n < math.MaxInt64
}
