package sqlengine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/scan"
	"deltasql/scan/duck"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/duckgen"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/meta"
	"deltasql/sqlengine/parse"
	"deltasql/stats"
	"deltasql/txn/log"
)

// plan is a statement for DuckDB: its text, its bound values, and what its result means.
type plan struct {
	sql       string
	args      []any
	columns   []ColumnInfo
	relations []*scan.Relation // whose files an error may be about
	wide      bool             // decimals are computed in 128 bits
}

// diagnose names the table and the file in an error that is about a data file, and gives every error its class.
func (p *plan) diagnose(err error) error {
	if err == nil {
		return nil
	}
	for _, r := range p.relations {
		err = r.Diagnose(err)
	}
	err = translate(err, "")
	if !p.wide && isDecimalOverflow(err) {
		err.(*protocol.Error).WithHint("SET deltasql_wide_decimals = on computes every decimal in 128 bits")
	}
	return err
}

// isDecimalOverflow tells whether a computation left the 64 bits in which DuckDB keeps decimals of up to 18 digits.
func isDecimalOverflow(err error) bool {
	var known *protocol.Error
	return errors.As(err, &known) && known.Class == "ARITHMETIC_OVERFLOW" && strings.Contains(known.Message, " of DECIMAL(18)")
}

// query runs a query. Decimals are computed in 64 bits where DuckDB does so by itself; if that overflows before there is a row, the
// query is run once more in 128 bits.
func (st *statement) query(q *parse.Query) (*Result, error) {
	p, stream, err := st.start(q)
	if isDecimalOverflow(err) && !st.widens() {
		st.wide = true
		p, stream, err = st.start(q)
	}
	if err != nil {
		return nil, err
	}
	result := &Result{Columns: p.columns}
	first := true
	result.next = func(ctx context.Context) (*duck.Batch, error) {
		batch, err := stream.Next(ctx)
		if err != nil && !errors.Is(err, io.EOF) {
			err = p.diagnose(err)
			if first && isDecimalOverflow(err) && !st.widens() {
				st.wide = true
				stream.Close()
				again, wider, failure := st.start(q)
				if failure != nil {
					return nil, failure
				}
				p, stream = again, wider
				return result.next(ctx)
			}
			return nil, err
		}
		first = false
		return batch, err
	}
	st.onClose(func() { stream.Close() })
	return result, nil
}

// start binds and plans a query and has DuckDB begin with it.
func (st *statement) start(q *parse.Query) (*plan, *duck.Stream, error) {
	st.forgetNotes()
	bound, err := bind.Query(st.ctx, q, st.bindOptions())
	if err != nil {
		return nil, nil, err
	}
	p, err := st.plan(bound)
	if err != nil {
		return nil, nil, err
	}
	ctx := st.ctx
	if report := st.session.options.Progress; report != nil {
		ctx = duck.WithProgress(ctx, report)
	}
	stream, err := st.open(ctx, p)
	return p, stream, err
}

// plan turns a bound query into a plan: the log answers what it can, each scan becomes a relation over the files that
// pruning keeps, and the tree is printed. What the relations hold is freed when the statement closes.
func (st *statement) plan(bound *expr.Query) (*plan, error) {
	p := &plan{wide: st.widens(), columns: resultColumns(bound)}
	if st.tx == nil { // a change notes what it reads, see reads
		if answer, ok := st.answerFromLog(bound); ok {
			bound = answer
		}
	}
	instance, err := st.session.engine.duck()
	if err != nil {
		return nil, err
	}
	planner := &planner{st: st, instance: instance, plan: p, texts: map[*expr.Relation]string{}}
	if p.sql, p.args, err = duckgen.Print(bound, duckgen.Options{Relation: planner.relation}); err != nil {
		return nil, err
	}
	p.sql = st.outermost(p.sql, p.columns)
	return p, nil
}

// outermost casts variants, which have no form of their own in a batch, to their JSON text, and takes of files what is shown.
func (st *statement) outermost(sql string, columns []ColumnInfo) string {
	found := false
	items := make([]string, len(columns))
	for i, c := range columns {
		items[i] = "c" + strconv.Itoa(i)
		if c.Type.Holds(protocol.KindFile) {
			found = true
			strict := st.session.settings.on("deltasql_file_strict")
			shown := (&fileValues{do: func(x string) string { return expr.FileShown(x, strict) }}).in(c.Type, items[i])
			if c.Type.Holds(protocol.KindVariant) {
				shown = "CAST(" + shown + " AS " + variantsAsJSON(c.Type) + ")"
			}
			items[i] = shown + " AS " + items[i]
			continue
		}
		if c.Type.Holds(protocol.KindVariant) {
			found = true
			items[i] = "CAST(" + items[i] + " AS " + variantsAsJSON(c.Type) + ") AS " + items[i]
		}
	}
	if !found {
		return sql
	}
	return "SELECT " + strings.Join(items, ", ") + "\nFROM (" + sql + ")"
}

// variantsAsJSON is a type with JSON for VARIANT.
func variantsAsJSON(t protocol.DataType) string {
	switch t.Kind {
	case protocol.KindVariant:
		return "JSON"
	case protocol.KindFile:
		return expr.FileShownType
	case protocol.KindArray:
		return variantsAsJSON(*t.Element) + "[]"
	case protocol.KindMap:
		return "MAP(" + variantsAsJSON(*t.Key) + ", " + variantsAsJSON(*t.Value) + ")"
	case protocol.KindStruct:
		members := make([]string, len(t.Fields))
		for i, field := range t.Fields {
			members[i] = duck.QuoteIdentifier(string(field.Name)) + " " + variantsAsJSON(field.Type)
		}
		return "STRUCT(" + strings.Join(members, ", ") + ")"
	}
	return expr.DuckType(t)
}

// open waits for the statement's turn, starts a plan and holds DuckDB's result types against the bound ones (Q2). A difference is a fault of ours that a cast
// around the statement still answers rightly; onTypeMismatch lets tests see it.
func (st *statement) open(ctx context.Context, p *plan) (*duck.Stream, error) {
	if err := st.admit(); err != nil {
		return nil, err
	}
	instance, err := st.session.engine.duck()
	if err != nil {
		return nil, err
	}
	stream, err := instance.Query(ctx, p.sql, p.args...)
	if err != nil {
		return nil, p.diagnose(err)
	}
	agreed := true
	items := make([]string, len(p.columns))
	for i, c := range p.columns {
		items[i] = "c" + strconv.Itoa(i)
		got := duck.Type{}
		if i < len(stream.Columns()) {
			got = stream.Columns()[i].Type
		}
		if !sameType(c.Type, got) {
			agreed = false
			items[i] = "CAST(" + items[i] + " AS " + variantsAsJSON(c.Type) + ")"
			if onTypeMismatch != nil {
				onTypeMismatch(p.sql, c, got)
			}
		}
	}
	if agreed {
		return stream, nil
	}
	stream.Close()
	st.forgetNotes()
	p.sql = "SELECT " + strings.Join(items, ", ") + "\nFROM (" + p.sql + ")"
	if stream, err = instance.Query(ctx, p.sql, p.args...); err != nil {
		return nil, p.diagnose(err)
	}
	return stream, nil
}

var onTypeMismatch func(sql string, column ColumnInfo, got duck.Type)

// planner prints the scans of one statement.
type planner struct {
	st       *statement
	instance *duck.Instance
	plan     *plan
	texts    map[*expr.Relation]string // of relations already printed, for a tree that mentions one twice
}

// relation implements duckgen.Options.Relation.
func (pl *planner) relation(r *expr.Relation, next int) (string, []any, error) {
	if text, ok := pl.texts[r]; ok {
		return text, nil, nil
	}
	text, args, err := pl.build(r, next)
	if err == nil {
		pl.texts[r] = text
	}
	return text, args, err
}

// build makes the scan of a relation, whose placeholders are numbered from first.
func (pl *planner) build(r *expr.Relation, first int) (string, []any, error) {
	st := pl.st
	switch source := r.Scan.Source.(type) {
	case *tableSource:
		config := source.snapshot.Config()
		columns, hidden, outs := source.wanted(r.Scan)
		predicate := bind.Predicate(st.ctx, r.Scan.Filters, bind.Skipping{
			Context: st.context(),
			Leaf: func(column int, path []protocol.LogicalName) (stats.Leaf, bool) {
				return leafOf(config, column, path)
			},
			Fold: st.foldOnce,
			Text: conditionText,
		})
		st.reads(source, predicate)
		relation, err := scan.Build(st.ctx, pl.instance, scan.Request{
			Snapshot: source.snapshot, Columns: columns, Hidden: hidden, Predicate: st.withGenerated(source.target, config, predicate),
			Skip: st.session.settings.on("deltasql_skipping"), FirstParameter: first,
		})
		if err != nil {
			return "", nil, withTable(translate(err, source.target.shown()), source.target)
		}
		pl.add(relation, source.target.shown(), "version "+strconv.FormatInt(source.snapshot.Version(), 10))
		if explain := st.explain; explain != nil {
			explain.scans[len(explain.scans)-1].sizes = fileSizes(source.snapshot.Files())
		}
		return scanText(relation, outs), relation.Args, nil
	case *systemSource:
		return source.build(st, r.Scan, first)
	case *changesSource:
		relation, err := source.build(st.ctx, pl.instance, first)
		if err != nil {
			return "", nil, withTable(translate(err, source.target.shown()), source.target)
		}
		outs := make([]string, len(source.columns))
		for i, c := range source.columns {
			outs[i] = c.Out
		}
		pl.add(relation, source.target.shown(), fmt.Sprintf("changes of versions %d to %d", source.from, source.to))
		return scanText(relation, outs), relation.Args, nil
	}
	return "", nil, protocol.NewError(protocol.ClassInternal, "a source of an unknown kind %T", r.Scan.Source)
}

// add notes a relation: what it holds is freed with the statement, errors may be about its files, EXPLAIN shows its report.
func (pl *planner) add(relation *scan.Relation, name, version string) {
	pl.st.onClose(relation.Release)
	pl.plan.relations = append(pl.plan.relations, relation)
	if pl.st.explain != nil {
		pl.st.explain.scans = append(pl.st.explain.scans, scanned{name: name, version: version, report: relation.Report})
	}
}

// scanText is a relation as a table expression whose columns have the names that the printer uses.
func scanText(relation *scan.Relation, outs []string) string {
	items := make([]string, len(outs))
	for i, name := range outs {
		items[i] = duck.QuoteIdentifier(relation.Columns[i].Name) + " AS " + duck.QuoteIdentifier(name)
	}
	if len(items) == 0 {
		return "(" + relation.SQL + ")"
	}
	return "(SELECT " + strings.Join(items, ", ") + " FROM (" + relation.SQL + "))"
}

// fileSizes are the sizes of a snapshot's files, ascending.
func fileSizes(files *log.Files) []int64 {
	sizes := make([]int64, files.Len())
	for i := range sizes {
		sizes[i] = files.Size(i)
	}
	slices.Sort(sizes)
	return sizes
}

// wanted splits the columns that a scan uses into those of the schema and hidden ones, with their names for the printer.
func (s *tableSource) wanted(use *expr.Scan) (columns []int, hidden []scan.HiddenColumn, outs []string) {
	fields := len(s.snapshot.Config().Schema.Fields)
	all := append(scan.Hidden(s.snapshot.Config()), scan.FileNumber)
	for i, used := range use.Used {
		switch {
		case !used:
			continue
		case i < fields:
			columns = append(columns, i)
		default:
			hidden = append(hidden, all[i-fields])
		}
		outs = append(outs, s.columns[i].Out)
	}
	return columns, hidden, outs
}

// conditionText prints a condition for EXPLAIN; one that does not stand by itself has no text.
func conditionText(e expr.Expr) string {
	text, _, err := duckgen.Expression(e, duckgen.Options{})
	if err != nil {
		return ""
	}
	return text
}

// outputColumns are a query's columns for a metadata answer.
func outputColumns(columns []expr.OutputColumn) []meta.Column {
	out := make([]meta.Column, len(columns))
	for i, c := range columns {
		out[i] = meta.Column{Name: c.Name, Type: c.Type, Nullable: c.Nullable}
	}
	return out
}
