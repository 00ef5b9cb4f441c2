package sqlengine

import (
	"strconv"

	"deltasql/protocol"
	"deltasql/scan"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
	"deltasql/stats"
)

// answerFromLog answers SELECT of count(*), count(column), min and max over one table from the log's statistics, where those
// prove the answer; no data file is opened. A WHERE is allowed where partition values decide it for every file. The answer is a
// query over literals with the columns of the one asked.
func (st *statement) answerFromLog(q *expr.Query) (*expr.Query, bool) {
	block, ok := q.Body.(*expr.Select)
	if !ok || !st.session.settings.on("deltasql_metadata_answers") || !onlyAggregates(q, block) {
		return nil, false
	}
	relation, ok := block.From.(*expr.Relation)
	if !ok || relation.Kind != expr.RelScan || relation.Sample != "" {
		return nil, false
	}
	source, ok := relation.Scan.Source.(*tableSource)
	if !ok {
		return nil, false
	}
	table := source.snapshot.Stats()
	var files []int32 // nil: all
	var predicate stats.Predicate
	if block.Where != nil {
		if files, predicate, ok = st.filesDecided(source, table, block); !ok {
			return nil, false
		}
	}
	items := make([]expr.Expr, len(block.Items))
	for i, item := range block.Items {
		if items[i], ok = answerItem(item, source, relation, table, files); !ok {
			return nil, false
		}
	}
	st.reads(source, predicate)
	if st.explain != nil {
		st.explain.scans = append(st.explain.scans, scanned{
			name: source.target.shown(), version: "version " + strconv.FormatInt(source.snapshot.Version(), 10),
			report: scan.Report{Files: source.snapshot.Files().Len()}, answer: "counts and bounds are exact",
		})
	}
	return &expr.Query{Body: &expr.Select{Items: items, Visible: block.Visible}, Output: q.Output, Columns: q.Columns}, true
}

// onlyAggregates tells whether a query is one block without anything but FROM and WHERE around its items.
func onlyAggregates(q *expr.Query, s *expr.Select) bool {
	return len(q.With) == 0 && len(q.OrderBy) == 0 && q.Limit == nil && q.Offset == nil && !s.Distinct && len(s.DistinctOn) == 0 &&
		s.From != nil && !s.Grouped && s.Having == nil && s.Qualify == nil && len(s.Items) > 0
}

// filesDecided are the files all of whose rows satisfy WHERE, if no other file has a row that does: the condition must hang on
// partition values alone and be understood whole.
func (st *statement) filesDecided(source *tableSource, table *stats.Table, block *expr.Select) ([]int32, stats.Predicate, bool) {
	config := source.snapshot.Config()
	predicate := bind.Predicate(st.ctx, []expr.Expr{block.Where}, bind.Skipping{
		Context: st.context(), Fold: st.foldOnce,
		Leaf: func(column int, path []protocol.LogicalName) (stats.Leaf, bool) { return leafOf(config, column, path) },
	})
	var leaves []stats.Leaf
	if !decidedByPartition(predicate, &leaves) {
		return nil, nil, false
	}
	for _, leaf := range leaves {
		// A count that cannot be given means that some file's partition value is not understood.
		if _, ok := table.NullCount(leaf, nil); !ok {
			return nil, nil, false
		}
	}
	keep := table.Prune(predicate).Keep
	if keep == nil {
		keep = []int32{}
	}
	return keep, predicate, true
}

// decidedByPartition tells whether a predicate has the same truth for all rows of a file, which pruning works out exactly, and
// collects its leaves.
func decidedByPartition(p stats.Predicate, leaves *[]stats.Leaf) bool {
	all := func(members []stats.Predicate) bool {
		for _, m := range members {
			if !decidedByPartition(m, leaves) {
				return false
			}
		}
		return true
	}
	// Values of another kind than the leaf are compared only roughly; floats have orders of their own.
	exact := func(leaf stats.Leaf, values ...protocol.Value) bool {
		if !leaf.Partition {
			return false
		}
		switch leaf.Type.Kind {
		case protocol.KindByte, protocol.KindShort, protocol.KindInteger, protocol.KindLong, protocol.KindDate, protocol.KindBoolean:
		case protocol.KindString:
			if leaf.Type.Collation != "" {
				return false
			}
		default:
			return false
		}
		for _, v := range values {
			if v.Kind != leaf.Type.Kind {
				return false
			}
		}
		*leaves = append(*leaves, leaf)
		return true
	}
	switch p := p.(type) {
	case stats.And:
		return all(p)
	case stats.Or:
		return all(p)
	case stats.Not:
		return decidedByPartition(p.Of, leaves)
	case stats.Compare:
		return exact(p.Leaf, p.Value)
	case stats.InList:
		return exact(p.Leaf, p.Values...)
	case stats.IsNull:
		return exact(p.Leaf)
	case stats.IsNotNull:
		return exact(p.Leaf)
	case stats.Const, stats.Null:
		return true
	}
	return false
}

// answerItem works out one item from the log.
func answerItem(item expr.Expr, source *tableSource, relation *expr.Relation, table *stats.Table, files []int32) (expr.Expr, bool) {
	if cast, ok := item.(*expr.Cast); ok && !cast.Try {
		inner, ok := answerItem(cast.Operand, source, relation, table, files)
		return &expr.Cast{Typed: cast.Typed, Operand: inner}, ok
	}
	a, ok := item.(*expr.Aggregate)
	if !ok || a.Distinct || a.Filter != nil || len(a.OrderBy) > 0 {
		return nil, false
	}
	rows, exact := table.Rows(files)
	if !exact {
		return nil, false
	}
	if a.Name == "count" && len(a.Args) == 0 {
		return countLiteral(a, rows), true
	}
	if len(a.Args) != 1 {
		return nil, false
	}
	column, ok := a.Args[0].(*expr.Column)
	if !ok || column.Relation != relation {
		if literal, isLiteral := a.Args[0].(*expr.Literal); a.Name == "count" && isLiteral && !literal.Value.Null {
			return countLiteral(a, rows), true
		}
		return nil, false
	}
	leaf, ok := leafOf(source.snapshot.Config(), column.Index, nil)
	if !ok {
		return nil, false
	}
	switch a.Name {
	case "count":
		nulls, ok := table.NullCount(leaf, files)
		return countLiteral(a, rows-nulls), ok && nulls <= rows
	case "min", "max":
		if !a.Of.Equal(leaf.Type) {
			return nil, false
		}
		low, high, exact := table.MinMax(leaf, files)
		if a.Name == "max" {
			low = high
		}
		return &expr.Literal{Typed: expr.Typed{Of: a.Of, Null: true}, Value: low}, exact
	}
	return nil, false
}

func countLiteral(a *expr.Aggregate, n int64) expr.Expr {
	return &expr.Literal{Typed: expr.Typed{Of: a.Of}, Value: protocol.Value{Kind: a.Of.Kind, Int: n}}
}
