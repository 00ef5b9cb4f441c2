package check

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"deltasql/protocol"
	"deltasql/scan"
	"deltasql/scan/duck"
	"deltasql/txn/log"
)

// fileStatistics are a file's statistics, parsed plainly.
type fileStatistics struct {
	NumRecords  *int64         `json:"numRecords"`
	TightBounds *bool          `json:"tightBounds"`
	MinValues   map[string]any `json:"minValues"`
	MaxValues   map[string]any `json:"maxValues"`
	NullCount   map[string]any `json:"nullCount"`
}

// parseFileStatistics reads statistics; nil where the file has none.
func parseFileStatistics(raw []byte) (*fileStatistics, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.UseNumber()
	var s fileStatistics
	if err := decoder.Decode(&s); err != nil {
		return nil, err
	}
	return &s, nil
}

// tight tells whether bounds and counts are those of the rows as they are.
func (s *fileStatistics) tight() bool { return s.TightBounds == nil || *s.TightBounds }

// statisticsEntry finds a leaf's entry.
func statisticsEntry(values map[string]any, path []protocol.PhysicalName) any {
	var found any = values
	for _, name := range path {
		members, ok := found.(map[string]any)
		if !ok {
			return nil
		}
		found = members[string(name)]
	}
	return found
}

// bound is a leaf's bound as a value; false where there is none, or none that a reader would use.
func bound(values map[string]any, leaf protocol.Leaf) (protocol.Value, bool) {
	var text string
	switch entry := statisticsEntry(values, leaf.Physical).(type) {
	case string:
		text = entry
	case json.Number:
		text = entry.String()
	case bool:
		text = fmt.Sprint(entry)
	default:
		return protocol.Value{}, false
	}
	if leaf.Type.Kind == protocol.KindString {
		return protocol.Value{Kind: protocol.KindString, Str: text}, true
	}
	return protocol.ParseValue(leaf.Type, text, time.UTC)
}

func count(values map[string]any, leaf protocol.Leaf) (int64, bool) {
	number, ok := statisticsEntry(values, leaf.Physical).(json.Number)
	if !ok {
		return 0, false
	}
	n, err := number.Int64()
	return n, err == nil
}

// checkStatistics checks a file's statistics against themselves.
func (c *checker) checkStatistics(s *log.Snapshot, file *checkedFile) {
	stats, err := parseFileStatistics(s.Files().RawStats(file.index))
	if err != nil {
		c.fault(file.path, "its statistics are no JSON object: %v", err)
		return
	}
	if stats == nil {
		return
	}
	leaves, err := s.Config().StatisticsLeaves()
	if err != nil {
		return // a property that readers pass over as well
	}
	for _, leaf := range leaves {
		low, hasLow := bound(stats.MinValues, leaf)
		high, hasHigh := bound(stats.MaxValues, leaf)
		if hasLow && hasHigh && low.Compare(high) > 0 {
			c.fault(file.path, "the statistics of %s: minValues %s is above maxValues %s", describeLeaf(leaf), low.Text(), high.Text())
		}
		nulls, ok := count(stats.NullCount, leaf)
		if ok && (nulls < 0 || stats.NumRecords != nil && nulls > *stats.NumRecords && leaf.Type.Kind != protocol.KindArray && leaf.Type.Kind != protocol.KindMap) {
			c.fault(file.path, "the statistics of %s: nullCount is %d of %d rows", describeLeaf(leaf), nulls, *stats.NumRecords)
		}
	}
}

// leafFacts is what a query finds out of a leaf in one file.
type leafFacts struct {
	leaf     protocol.Leaf
	bounded  bool // minimum and maximum are asked for
	column   int  // of the query's result; the count of values, then minimum and maximum
	wasFloat bool // see wasFloat
}

// checkData reads all rows and compares each file's statistics with them (S2): bounds hold every live value, and the counts of NULLs
// say nothing that is not so.
func (c *checker) checkData(ctx context.Context, s *log.Snapshot) error {
	c.options.Progress("rows", 0, 1)
	var columns []int
	for i := range s.Config().Schema.Fields {
		columns = append(columns, i)
	}
	relation, err := scan.Build(ctx, c.target.DuckDB, scan.Request{Snapshot: s, Columns: columns, Hidden: []scan.HiddenColumn{scan.FilePath}})
	if err != nil {
		return c.failed(ctx, "", err)
	}
	defer relation.Release()
	sql, facts := factsQuery(s.Config(), relation.SQL)
	index := map[string]int{}
	for i := range s.Files().Len() {
		if _, local, err := c.localFile(ctx, s.Files().Path(i)); err == nil {
			index[local] = i
		}
	}
	err = c.each(ctx, sql, func(batch *duck.Batch) error {
		for row := range batch.Len() {
			local, err := url.PathUnescape(strings.TrimPrefix(batch.Vector(0).Text(row), "file:"))
			if err != nil {
				return err
			}
			if i, ok := index[local]; ok {
				c.compareFacts(s, i, facts, batch, row)
			}
		}
		return nil
	}, relation.Args...)
	if err != nil {
		return c.failed(ctx, "", relation.Diagnose(err))
	}
	return nil
}

// factsQuery asks for each file's facts; all columns are read, those without statistics too.
func factsQuery(config *protocol.TableConfig, relation string) (string, []leafFacts) {
	items := []string{fmt.Sprintf("c%d", len(config.Schema.Fields)), "count(*)"}
	leaves, err := config.StatisticsLeaves()
	if err != nil {
		leaves = nil
	}
	var facts []leafFacts
	touched := map[int]bool{}
	for _, leaf := range leaves {
		reference := fmt.Sprintf("c%d", leaf.Column)
		for _, name := range leaf.Physical[1:] {
			reference += "." + duck.QuoteIdentifier(string(name))
		}
		f := leafFacts{leaf: leaf, column: len(items), wasFloat: wasFloat(config, leaf)}
		touched[leaf.Column] = true
		items = append(items, "count("+reference+")")
		switch leaf.Type.Kind {
		case protocol.KindFloat, protocol.KindDouble:
			// Writers disagree whether NaN counts, so that readers do not rely on it.
			f.bounded = true
			items = append(items, fmt.Sprintf("min(%s) FILTER (WHERE NOT isnan(%s))", reference, reference), fmt.Sprintf("max(%s) FILTER (WHERE NOT isnan(%s))", reference, reference))
		case protocol.KindByte, protocol.KindShort, protocol.KindInteger, protocol.KindLong, protocol.KindDecimal, protocol.KindString, protocol.KindBoolean,
			protocol.KindDate, protocol.KindTimestamp, protocol.KindTimestampNTZ:
			f.bounded = true
			items = append(items, "min("+reference+")", "max("+reference+")")
		}
		facts = append(facts, f)
	}
	for i := range config.Schema.Fields {
		if !touched[i] {
			items = append(items, fmt.Sprintf("count(c%d)", i))
		}
	}
	return "SELECT " + strings.Join(items, ", ") + " FROM (" + relation + ") GROUP BY ALL", facts
}

// compareFacts compares one file's statistics with its rows.
func (c *checker) compareFacts(s *log.Snapshot, i int, facts []leafFacts, batch *duck.Batch, row int) {
	stats, err := parseFileStatistics(s.Files().RawStats(i))
	if err != nil || stats == nil {
		return
	}
	path := s.Files().Path(i)
	rows := batch.Vector(1).Int64(row)
	for _, f := range facts {
		name := describeLeaf(f.leaf)
		nulls := rows - batch.Vector(f.column).Int64(row)
		if logged, ok := count(stats.NullCount, f.leaf); ok {
			switch {
			case f.leaf.Type.Kind == protocol.KindArray || f.leaf.Type.Kind == protocol.KindMap:
				// Some writers count elements.
			case stats.tight() && s.Files().DeletionVector(i) == nil && logged != nulls:
				c.fault(path, "the statistics of %s: nullCount is %d, the file has %d", name, logged, nulls)
			case logged == 0 && nulls > 0:
				c.fault(path, "the statistics of %s: nullCount is 0, the file has %d", name, nulls)
			case stats.NumRecords != nil && logged == *stats.NumRecords && nulls < rows:
				c.fault(path, "the statistics of %s: all is said to be NULL, the file has %d values", name, rows-nulls)
			}
		}
		if !f.bounded || isChar(s.Config(), f.leaf) {
			continue
		}
		if low, ok := bound(stats.MinValues, f.leaf); ok && batch.Vector(f.column+1).Valid(row) {
			if least := valueOf(f.leaf.Type, batch.Vector(f.column+1), row); f.below(least, low) {
				c.fault(path, "the statistics of %s: minValues is %s, the file has %s", name, low.Text(), least.Text())
			}
		}
		if high, ok := bound(stats.MaxValues, f.leaf); ok && batch.Vector(f.column+2).Valid(row) {
			if most := valueOf(f.leaf.Type, batch.Vector(f.column+2), row); f.below(high, most) {
				c.fault(path, "the statistics of %s: maxValues is %s, the file has %s", name, high.Text(), most.Text())
			}
		}
	}
}

// below compares values as far as bounds go: those of times are kept in milliseconds, so that values within one agree, and those of
// a double that was a float may be the text of the float.
func (f leafFacts) below(a, b protocol.Value) bool {
	switch {
	case a.Kind == protocol.KindTimestamp || a.Kind == protocol.KindTimestampNTZ:
		return b.Int-a.Int >= 1000
	case f.wasFloat && float32(a.Float) == float32(b.Float):
		return false
	}
	return a.Compare(b) < 0
}

// wasFloat tells whether older files may hold a leaf, now a double, as a float.
func wasFloat(config *protocol.TableConfig, leaf protocol.Leaf) bool {
	fields, found := config.Schema.Fields, false
	for _, name := range leaf.Logical {
		for _, field := range fields {
			if field.Name != name {
				continue
			}
			changes, err := field.Metadata.TypeChanges()
			found = err == nil && slices.ContainsFunc(changes, func(c protocol.TypeChange) bool { return c.From.Kind == protocol.KindFloat })
			fields = field.Type.Fields
			break
		}
	}
	return found
}

// isChar: CHAR columns are read padded, while their statistics may not be.
func isChar(config *protocol.TableConfig, leaf protocol.Leaf) bool {
	text, ok := config.Schema.Fields[leaf.Column].Metadata.CharVarchar()
	return ok && strings.Contains(text, "char(") && !strings.Contains(text, "varchar(")
}

// valueOf is a value of a result.
func valueOf(t protocol.DataType, v *duck.Vector, row int) protocol.Value {
	out := protocol.Value{Kind: t.Kind}
	switch t.Kind {
	case protocol.KindFloat, protocol.KindDouble:
		out.Float = v.Float64(row)
	case protocol.KindDecimal:
		n := v.Int128(row)
		out.Dec, out.Scale = protocol.Int128{Hi: n.Hi, Lo: n.Lo}, t.Scale
	case protocol.KindString:
		out.Str = v.Text(row)
	case protocol.KindTimestamp, protocol.KindTimestampNTZ:
		out.Int = v.Micros(row)
	default:
		out.Int = v.Int64(row)
	}
	return out
}
