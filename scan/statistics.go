package scan

import (
	"math"
	"strconv"
	"strings"
	"time"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/stats"
)

// maxFilesWithStatistics is up to how many files a snapshot may have for the log's statistics to be handed to DuckDB: they
// are parsed for the whole snapshot.
const maxFilesWithStatistics = 20_000

// statistics hands to DuckDB what the log knows of the columns: bounds, whether there are NULLs, and by the bounds how many
// values there can be. It plans joins by them, and leaves out checks that cannot fail.
func (w *branchWriter) statistics() string {
	if w.bounds == nil || w.bounds.files > maxFilesWithStatistics {
		return ""
	}
	files := make([]int32, len(w.branch.files))
	rows := int64(0)
	for i, f := range w.branch.files {
		if f.number < 0 {
			return ""
		}
		files[i] = f.number
		if rows >= 0 && f.records >= 0 {
			rows += f.records
		} else {
			rows = -1
		}
	}
	leaves := make([]stats.Leaf, len(w.read))
	for i, c := range w.read {
		leaves[i] = stats.Leaf{Path: []protocol.PhysicalName{c.physical}, Type: c.typ}
	}
	var entries []string
	for i, bound := range w.bounds.table.Bounds(leaves, files) {
		if text := columnStatistics(bound, w.read[i].typ, rows); text != "" {
			entries = append(entries, duck.QuoteString(duck.QuoteIdentifier(w.read[i].name))+": MAP {"+text+"}")
		}
	}
	if len(entries) == 0 {
		return ""
	}
	return ", column_statistics => MAP {" + strings.Join(entries, ", ") + "}"
}

// columnStatistics are the entries of one column; rows is -1 where the number of rows is not known.
func columnStatistics(b stats.Bound, t protocol.DataType, rows int64) string {
	var entries []string
	add := func(key, value string) { entries = append(entries, "'"+key+"': "+duck.QuoteString(value)) }
	if b.NeverNull && isScalar(t) {
		add("null_count", "0")
	}
	if low, ok := boundText(b.Min, t); ok && b.Enclosed {
		if high, ok := boundText(b.Max, t); ok {
			add("min", low)
			add("max", high)
			if n, ok := mostValues(b, t); ok && n <= rows {
				add("distinct_count", strconv.FormatInt(n, 10))
			}
		}
	}
	return strings.Join(entries, ", ")
}

func isScalar(t protocol.DataType) bool {
	return !contains(t, ofKind(protocol.KindStruct, protocol.KindFile, protocol.KindArray, protocol.KindMap, protocol.KindVariant,
		protocol.KindVoid, protocol.KindIntervalDayTime, protocol.KindIntervalYearMonth))
}

// boundText writes a bound as DuckDB reads it.
func boundText(v protocol.Value, t protocol.DataType) (string, bool) {
	switch t.Kind {
	case protocol.KindByte, protocol.KindShort, protocol.KindInteger, protocol.KindLong:
		return strconv.FormatInt(v.Int, 10), true
	case protocol.KindDecimal:
		return v.Dec.String(t.Scale), true
	case protocol.KindDate:
		return instantText(v.Int, 24*time.Hour, time.DateOnly)
	case protocol.KindTimestamp:
		return instantText(v.Int, time.Microsecond, "2006-01-02 15:04:05.000000+00")
	case protocol.KindTimestampNTZ:
		return instantText(v.Int, time.Microsecond, "2006-01-02 15:04:05.000000")
	}
	return "", false
}

// instantText writes n units since 1970; only years of four digits.
func instantText(n int64, unit time.Duration, layout string) (string, bool) {
	perSecond := int64(time.Second / unit)
	seconds, rest := n, int64(0)
	if perSecond > 0 {
		seconds, rest = n/perSecond, n%perSecond
	} else if n > math.MaxInt32 || n < math.MinInt32 {
		return "", false
	} else {
		seconds = n * int64(unit/time.Second)
	}
	at := time.Unix(seconds, rest*int64(unit)).UTC()
	if year := at.Year(); year < 1 || year > 9999 {
		return "", false
	}
	return at.Format(layout), true
}

// mostValues is how many values lie between the bounds of a discrete type.
func mostValues(b stats.Bound, t protocol.DataType) (int64, bool) {
	low, high := b.Min.Int, b.Max.Int
	switch t.Kind {
	case protocol.KindByte, protocol.KindShort, protocol.KindInteger, protocol.KindLong, protocol.KindDate:
	case protocol.KindDecimal:
		if t.Precision > maxShortDecimal {
			return 0, false
		}
		low, high = int64(b.Min.Dec.Lo), int64(b.Max.Dec.Lo)
	default:
		return 0, false
	}
	n := uint64(high) - uint64(low)
	return int64(n) + 1, n < math.MaxInt64
}

// maxShortDecimal is the precision up to which a decimal fits 64 bits.
const maxShortDecimal = 18
