package sqlengine

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"deltasql/protocol"
	"deltasql/scan"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/meta"
	"deltasql/sqlengine/parse"
)

// explanation collects what EXPLAIN shows of a statement's tables.
type explanation struct{ scans []scanned }

// scanned is one use of a table.
type scanned struct {
	name    string
	version string // "version 7", "changes 3 to 9"
	report  scan.Report
	answer  string  // set where statistics answered and no file is read
	sizes   []int64 // bytes of the snapshot's files, ascending
}

// explainStatement answers EXPLAIN: one text column, plan, a line a row.
func (st *statement) explainStatement(s *parse.Explain) (*Result, error) {
	if alter, ok := s.Statement.(*parse.AlterTable); ok && len(alter.Actions) == 1 {
		if drop, ok := alter.Actions[0].(*parse.DropFeature); ok {
			return st.explainDrop(alter.Name, drop)
		}
	}
	query, ok := s.Statement.(*parse.QueryStatement)
	if !ok {
		return nil, protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "EXPLAIN is only supported for queries")
	}
	switch s.Format {
	case "", "EXTENDED", "FORMATTED", "COST", "TREE":
	default:
		return nil, protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "EXPLAIN FORMAT=%s is not supported; EXPLAIN, EXPLAIN EXTENDED and EXPLAIN ANALYZE are", s.Format)
	}
	started := time.Now()
	st.explain = &explanation{}
	bound, err := bind.Query(st.ctx, query.Query, st.bindOptions())
	if err != nil {
		return nil, err
	}
	planned, err := st.plan(bound)
	if err != nil {
		return nil, err
	}
	lines := st.explain.lines(s.Analyze)
	lines = append(lines, "Output: "+outputText(planned.columns), fmt.Sprintf("Planned in %s", roundTime(time.Since(started))))
	if s.Analyze {
		measured, err := st.analyze(planned)
		if err != nil {
			return nil, err
		}
		lines = append(append(lines, ""), measured...)
	}
	if s.Format != "" {
		lines = append(lines, "", "DuckDB statement:", "  "+planned.sql)
	}
	if s.Format != "" && !s.Analyze {
		tree, err := st.duckPlan("EXPLAIN "+planned.sql, planned)
		if err != nil {
			return nil, err
		}
		lines = append(append(lines, "", "DuckDB plan:"), tree...)
	}
	return st.metaResult(meta.Names("plan", lines))
}

func outputText(columns []ColumnInfo) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = c.Name + " " + c.Type.String()
	}
	return strings.Join(parts, ", ")
}

// lines are the blocks of the tables. With bars, a bar shows how the snapshot's files were dealt with.
func (x *explanation) lines(bars bool) []string {
	var out []string
	for _, s := range x.scans {
		out = append(out, fmt.Sprintf("Table %s, %s", s.name, s.version))
		if s.answer != "" {
			out = append(out, "  answered from the log: "+s.answer, "  files read             0 of "+thousands(int64(s.report.Files)), "")
			continue
		}
		r := s.report
		row := func(name string, n int64, more string) {
			out = append(out, strings.TrimRight(fmt.Sprintf("  %-22s %10s  %s", name, thousands(n), more), " "))
		}
		row("files in the snapshot", int64(r.Files), "")
		row("skipped by partition", int64(r.SkippedByPartition), "")
		row("skipped by statistics", int64(r.SkippedByStats), "")
		for _, by := range r.By {
			kind := "statistics"
			if by.Partition {
				kind = "partition"
			}
			row("  by "+kind, int64(by.Skipped), by.Text)
		}
		vectors := ""
		if r.FilesWithVectors > 0 {
			vectors = fmt.Sprintf(", %s with deletion vectors hiding %s rows", thousands(int64(r.FilesWithVectors)), thousands(r.DeletedRows))
		}
		row("files read", int64(r.Read), byteText(r.Bytes)+vectors)
		if r.RowsKnown {
			row("rows expected", r.Rows, "")
		} else {
			out = append(out, "  rows expected             unknown  some files have no statistics")
		}
		if bars && r.Files > 0 {
			out = append(out, "  "+skippingBar(r))
		}
		if bars && len(s.sizes) > 1 {
			low, middle, high := s.sizes[0], s.sizes[len(s.sizes)/2], s.sizes[len(s.sizes)-1]
			out = append(out, fmt.Sprintf("  file sizes %s  %s to %s, median %s", sizesPlot(s.sizes), byteText(low), byteText(high), byteText(middle)))
		}
		out = append(out, "")
	}
	return out
}

// barWidth is the length of the bar in characters.
const barWidth = 40

// skippingBar draws the share of the snapshot's files: read, skipped by statistics, skipped by partition values.
func skippingBar(r scan.Report) string {
	part := func(n int) int { return (n*barWidth + r.Files/2) / r.Files }
	read, byStats := part(r.Read), part(r.SkippedByStats)
	if r.Read > 0 && read == 0 {
		read = 1
	}
	read = min(read, barWidth)
	byStats = min(byStats, barWidth-read)
	byPartition := barWidth - read - byStats
	if r.SkippedByPartition == 0 {
		byStats, byPartition = byStats+byPartition, 0
		if r.SkippedByStats == 0 {
			read, byStats = barWidth, 0
		}
	}
	return "[" + strings.Repeat("█", read) + strings.Repeat("▒", byStats) + strings.Repeat("░", byPartition) + "]  █ read  ▒ skipped by statistics  ░ skipped by partition"
}

// sizesPlot draws how many files there are of each size, on a logarithmic scale from the smallest to the largest.
func sizesPlot(ascending []int64) string {
	const columns = 16
	var counts [columns]int
	low, high := math.Log(float64(max(ascending[0], 1))), math.Log(float64(max(ascending[len(ascending)-1], 1)))
	most := 0
	for _, size := range ascending {
		at := 0
		if high > low {
			at = min(int((math.Log(float64(max(size, 1)))-low)/(high-low)*columns), columns-1)
		}
		counts[at]++
		most = max(most, counts[at])
	}
	levels := []rune("▁▂▃▄▅▆▇█")
	plot := make([]rune, columns)
	for i, n := range counts {
		plot[i] = ' '
		if n > 0 {
			plot[i] = levels[(n*len(levels)-1)/most]
		}
	}
	return "[" + string(plot) + "]"
}

// analyze runs the statement to its end and measures it.
func (st *statement) analyze(p *plan) ([]string, error) {
	if err := st.admit(); err != nil { // the wait for other statements is not this one's time
		return nil, err
	}
	started := time.Now()
	stream, err := st.open(st.ctx, p)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	rows, batches := int64(0), 0
	var first time.Duration
	for {
		batch, err := stream.Next(st.ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, p.diagnose(err)
		}
		if batches == 0 {
			first = time.Since(started)
		}
		batches++
		rows += int64(batch.Len())
	}
	took := time.Since(started)
	if batches == 0 {
		first = took
	}
	expected, bytes, known := int64(0), int64(0), true
	for _, s := range st.explain.scans {
		if s.answer == "" {
			expected, known = expected+s.report.Rows, known && s.report.RowsKnown
			bytes += s.report.Bytes
		}
	}
	lines := []string{
		"Measured",
		fmt.Sprintf("  %-22s %10s", "rows returned", thousands(rows)),
		fmt.Sprintf("  %-22s %10s", "time", roundTime(took)),
		fmt.Sprintf("  %-22s %10s", "first rows after", roundTime(first)),
		fmt.Sprintf("  %-22s %10s", "size of the files read", byteText(bytes)),
	}
	if took > 0 && expected > 0 && known {
		lines = append(lines, fmt.Sprintf("  %-22s %10s", "rows read a second", thousands(int64(float64(expected)/took.Seconds()))))
	}
	return lines, nil
}

// duckPlan runs an EXPLAIN of DuckDB's and gives its text.
func (st *statement) duckPlan(sql string, p *plan) ([]string, error) {
	instance, err := st.session.engine.duck()
	if err != nil {
		return nil, err
	}
	stream, err := instance.Query(st.ctx, sql, p.args...)
	if err != nil {
		return nil, p.diagnose(err)
	}
	defer stream.Close()
	var lines []string
	for {
		batch, err := stream.Next(st.ctx)
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return nil, p.diagnose(err)
		}
		last := batch.Vector(len(stream.Columns()) - 1)
		for row := range batch.Len() {
			lines = append(lines, strings.Split(strings.TrimRight(last.Text(row), "\n"), "\n")...)
		}
	}
}

// thousands writes a number with separators.
func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// byteText writes a size for people.
func byteText(n int64) string {
	size, units := float64(n), []string{"B", "kB", "MB", "GB", "TB", "PB"}
	unit := 0
	for size >= 1000 && unit < len(units)-1 {
		size /= 1000
		unit++
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", size, units[unit])
}

// roundTime writes a duration with three digits or so.
func roundTime(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}
