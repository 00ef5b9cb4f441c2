package rewrite

import (
	"context"
	"fmt"
	"math"
	"strings"

	"deltasql/protocol"
	"deltasql/scan"
	"deltasql/scan/duck"
	"deltasql/stats"
	"deltasql/txn/log"
)

// statisticsFiles is how many files one query makes statistics of.
const statisticsFiles = 1_000

// gatherFacts reads, by groups of rows, what statistics say of leaves. The query gives the number of the group and then an expression a
// leaf, which may be empty for a leaf that no row has.
func gatherFacts(ctx context.Context, in *duck.Instance, from string, args []any, group string, encoder *stats.Encoder, expressions []string, each func(group, rows int64, facts []stats.LeafFacts) error) error {
	outputs := []string{group, "count(*)"}
	at := make([]int, len(expressions)) // of the count of each leaf
	for k, e := range expressions {
		if e == "" {
			continue
		}
		at[k] = len(outputs)
		outputs = append(outputs, "count("+e+")")
		leaf := &encoder.Leaves[k]
		switch {
		case !stats.Bounded(leaf.Type) || leaf.Type.Kind == protocol.KindString && encoder.Prefix() == 0:
		case leaf.Type.Kind == protocol.KindFloat || leaf.Type.Kind == protocol.KindDouble:
			filter := " FILTER (WHERE NOT isnan(" + e + "))"
			outputs = append(outputs, "min("+e+")"+filter, "max("+e+")"+filter, "coalesce(bool_or(isnan("+e+")), false)")
		default:
			outputs = append(outputs, "min("+e+")", "max("+e+")")
		}
	}
	stream, err := in.Query(ctx, "SELECT "+strings.Join(outputs, ", ")+" FROM "+from+" GROUP BY 1", args...)
	if err != nil {
		return err
	}
	defer stream.Close()
	return eachRow(ctx, stream, func(batch *duck.Batch, row int) error {
		rows := batch.Vector(1).Int64(row)
		facts := make([]stats.LeafFacts, len(expressions))
		for k, e := range expressions {
			if e == "" {
				facts[k].Nulls = rows
				continue
			}
			leaf := &encoder.Leaves[k]
			i := at[k]
			facts[k].Nulls = rows - batch.Vector(i).Int64(row)
			if !stats.Bounded(leaf.Type) || leaf.Type.Kind == protocol.KindString && encoder.Prefix() == 0 {
				continue
			}
			low, ok1 := vectorValue(leaf.Type, batch.Vector(i+1), row)
			high, ok2 := vectorValue(leaf.Type, batch.Vector(i+2), row)
			if kind := leaf.Type.Kind; (kind == protocol.KindFloat || kind == protocol.KindDouble) && batch.Vector(i+3).Bool(row) {
				nan := protocol.Value{Kind: kind, Float: math.NaN()}
				high, ok2 = nan, true
				if !ok1 {
					low, ok1 = nan, true
				}
			}
			if ok1 && ok2 {
				facts[k].Min, facts[k].Max = &low, &high
			}
		}
		return each(batch.Vector(0).Int64(row), rows, facts)
	})
}

// Measure makes the statistics of live files anew from their rows, and gives the files with them in the order of the numbers. Of a file
// with a vector they are about the rows that are left, and said to be wide, since they count all that the file holds.
func Measure(ctx context.Context, in *duck.Instance, snapshot *log.Snapshot, numbers []int32) ([]protocol.AddFile, error) {
	var clustering [][]protocol.PhysicalName
	if domain, ok := snapshot.Domain(protocol.DomainClustering); ok && !domain.Removed {
		var err error
		if clustering, err = protocol.ClusteringColumns(domain.Configuration); err != nil {
			return nil, err
		}
	}
	encoder, err := stats.NewEncoder(snapshot.Config(), clustering)
	if err != nil {
		return nil, err
	}
	out := make([]protocol.AddFile, len(numbers))
	for start := 0; start < len(numbers); start += statisticsFiles {
		part := numbers[start:min(start+statisticsFiles, len(numbers))]
		if err := measurePart(ctx, in, snapshot, encoder, part, out[start:start+len(part)]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func measurePart(ctx context.Context, in *duck.Instance, snapshot *log.Snapshot, encoder *stats.Encoder, numbers []int32, out []protocol.AddFile) error {
	request := scan.Request{Snapshot: snapshot, Subset: scan.Subset{Only: numbers}, Hidden: []scan.HiddenColumn{scan.FileNumber}, Unpadded: true}
	places := map[int]int{} // of schema fields among the columns
	for i := range encoder.Leaves {
		column := encoder.Leaves[i].Column
		if _, ok := places[column]; !ok {
			places[column] = len(request.Columns)
			request.Columns = append(request.Columns, column)
		}
	}
	relation, err := scan.Build(ctx, in, request)
	if err != nil {
		return err
	}
	defer relation.Release()
	group := fmt.Sprintf("c%d", len(request.Columns))
	outputs := []string{group}
	for i := range request.Columns {
		column := fmt.Sprintf("c%d", i)
		outputs = append(outputs, relation.Logical(i, column)+" AS "+column)
	}
	expressions := make([]string, len(encoder.Leaves))
	for k := range encoder.Leaves {
		leaf := encoder.Leaves[k]
		if leaf.Type.Kind == protocol.KindVoid {
			continue
		}
		leaf.Column = places[leaf.Column]
		expressions[k] = leafExpression(leaf)
	}
	at := map[int64]int{}
	for i, number := range numbers {
		at[int64(number)] = i
	}
	seen := map[int]bool{}
	files := snapshot.Files()
	describe := func(i int, rows int64, facts []stats.LeafFacts) error {
		add := files.Add(int(numbers[i]))
		add.DataChange = false
		records := rows + files.DeletedRows(int(numbers[i]))
		if known, ok := files.NumRecords(int(numbers[i])); ok && known != records {
			return protocol.NewError("DELTA_FAILED_TO_READ_FILE", "the log says that the file %s has %d rows, but it has %d", add.Path, known, records).WithTable(snapshot.Table().Name())
		}
		for k := range facts {
			if facts[k].Nulls == rows && rows > 0 {
				facts[k].Nulls = records // all rows: also those that are gone
			}
		}
		var err error
		if add.Stats, err = encoder.Encode(records, facts); err == nil && add.DeletionVector != nil {
			add.Stats, err = wideStatistics(add.Stats, records, 0)
		}
		out[i], seen[i] = add, true
		return err
	}
	from := "(SELECT " + strings.Join(outputs, ", ") + " FROM (" + relation.SQL + "))"
	err = gatherFacts(ctx, in, from, relation.Args, group, encoder, expressions, func(group, rows int64, facts []stats.LeafFacts) error {
		return describe(at[group], rows, facts)
	})
	if err != nil {
		return relation.Diagnose(err)
	}
	for i := range numbers { // files without a live row give none
		if !seen[i] {
			facts := make([]stats.LeafFacts, len(encoder.Leaves))
			if err := describe(i, 0, facts); err != nil {
				return err
			}
		}
	}
	return nil
}
