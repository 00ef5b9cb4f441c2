package rewrite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"deltasql/protocol"
	"deltasql/scan"
	"deltasql/scan/duck"
	"deltasql/txn/log"
)

// Rows are put in the order of a curve through the space of some columns, so that each file holds a small box of it. The coordinates
// are ranks: each column is divided into ranges with about as many rows each, by a sample. The bits of the ranks of all columns are
// interleaved (Z-order). A rank is found by comparing, in a tree of CASEs whose leaves are the rank's bits already spread out, so
// that a row costs some ten comparisons a column and an addition.

const (
	// curveName is what files that are in this order are tagged with.
	curveName = "zorder"
	// rankBits is how finely a column is divided at most.
	rankBits = 10
	// curveSample is how many rows the ranges are made from.
	curveSample = 100_000
)

// curveOrder gives the expressions over the columns of Rows by which rows of files are to be sorted. A single column needs no curve.
func curveOrder(ctx context.Context, in *duck.Instance, snapshot *log.Snapshot, files []int32, leaves []protocol.Leaf) ([]string, error) {
	columns := make([]string, len(leaves))
	for i, leaf := range leaves {
		columns[i] = leafExpression(leaf)
	}
	if len(leaves) == 1 {
		return columns, nil
	}
	bits := min(rankBits, 62/len(leaves))
	if bits == 0 {
		return nil, protocol.NewError("DELTASQL_LIMIT_EXCEEDED", "rows can be ordered by up to 62 columns at once, not by %d", len(leaves))
	}
	bounds, err := ranges(ctx, in, snapshot, files, columns, leaves, 1<<bits-2)
	if err != nil {
		return nil, err
	}
	terms := make([]string, len(leaves))
	for i, leaf := range leaves {
		kind, err := scan.TypeText(leaf.Type, protocol.MappingNone)
		if err != nil {
			return nil, err
		}
		// Bit b of the rank is bit b*n+place of the key; the first column has the highest place.
		spread := func(rank int) uint64 {
			key := uint64(0)
			for b := range bits {
				key |= uint64(rank>>b&1) << (b*len(leaves) + len(leaves) - 1 - i)
			}
			return key
		}
		var tree func(low, high int) string
		tree = func(low, high int) string {
			if low == high {
				return fmt.Sprintf("%d::BIGINT", spread(low+1)) // 0 is NULL's
			}
			middle := (low + high) / 2
			bound := "CAST(" + duck.QuoteString(bounds[i][middle]) + " AS " + kind + ")"
			return "CASE WHEN " + columns[i] + " < " + bound + " THEN " + tree(low, middle) + " ELSE " + tree(middle+1, high) + " END"
		}
		terms[i] = "CASE WHEN " + columns[i] + " IS NULL THEN 0::BIGINT ELSE " + tree(0, len(bounds[i])) + " END"
	}
	return []string{strings.Join(terms, " + ")}, nil
}

// leafExpression is a leaf as Rows has it: members of structs under their logical names.
func leafExpression(leaf protocol.Leaf) string {
	text := fmt.Sprintf("c%d", leaf.Column)
	for _, name := range leaf.Logical[1:] {
		text += "." + duck.QuoteIdentifier(string(name))
	}
	return text
}

// ranges gives, for each column, ascending values that divide its rows into parts of about the same size, as texts.
func ranges(ctx context.Context, in *duck.Instance, snapshot *log.Snapshot, files []int32, columns []string, leaves []protocol.Leaf, n int) ([][]string, error) {
	relation, rows, err := keptRows(ctx, in, snapshot, scan.Subset{Only: files}, false, 1)
	if err != nil {
		return nil, err
	}
	defer relation.Release()
	fractions := make([]string, n)
	for i := range fractions {
		fractions[i] = fmt.Sprintf("%.6f", float64(i+1)/float64(n+1))
	}
	inner, outer := make([]string, len(columns)), make([]string, len(columns))
	for i, column := range columns {
		inner[i] = fmt.Sprintf("%s AS k%d", column, i)
		outer[i] = fmt.Sprintf("list_transform(quantile_disc(k%d, [%s]), lambda v: CAST(v AS VARCHAR))", i, strings.Join(fractions, ","))
	}
	sql := "SELECT " + strings.Join(outer, ", ") + " FROM (SELECT * FROM (SELECT " + strings.Join(inner, ", ") + " FROM (" + rows + ")) USING SAMPLE reservoir(" +
		fmt.Sprint(curveSample) + " ROWS) REPEATABLE (42))"
	stream, err := in.Query(ctx, sql, relation.Args...)
	if err != nil {
		return nil, relation.Diagnose(err)
	}
	defer stream.Close()
	bounds := make([][]string, len(columns))
	batch, err := stream.Next(ctx)
	if errors.Is(err, io.EOF) {
		return bounds, nil
	}
	if err != nil {
		return nil, relation.Diagnose(err)
	}
	for i := range columns {
		v := batch.Vector(i)
		if !v.Valid(0) {
			continue // no value but NULL
		}
		offset, count := v.List(0)
		for k := offset; k < offset+count; k++ {
			// What does not survive as a literal is no bound; the range is only wider then.
			if text := v.Child(0); text.Valid(k) && !strings.Contains(text.Text(k), "\x00") {
				bounds[i] = append(bounds[i], text.Text(k))
			}
		}
		bounds[i] = slices.Compact(bounds[i])
	}
	return bounds, nil
}
