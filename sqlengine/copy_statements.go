package sqlengine

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine/change"
	"deltasql/sqlengine/duckgen"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/meta"
	"deltasql/sqlengine/parse"
	"deltasql/txn"
	"deltasql/txn/log"
)

// copying is a COPY INTO while it runs.
type copying struct {
	s       *parse.CopyInto
	options *copyOptions
	files   []copyFile
	target  target
	pending []copyFile // not loaded yet by the version that was read
	written inserted
	corrupt int
	preview *Result // of VALIDATE
}

// copyInto is COPY INTO: it appends the rows of files, of each file once. Which files a table has is part of its log, as transactions
// of an application of its own for each file, so that it goes with the commit and is part of what commits conflict over.
func (st *statement) copyInto(s *parse.CopyInto) (*Result, error) {
	t, table, err := st.changeTarget(s.Table, "COPY INTO")
	if err != nil {
		return nil, err
	}
	c := &copying{s: s, target: t}
	place := func(err error) error { return at(err, parse.Name{{Pos: s.Pos}}) }
	if c.options, err = copyOptionsOf(s); err != nil {
		return nil, place(err)
	}
	if c.files, err = st.copyFiles(s); err != nil {
		return nil, place(err)
	}
	for run := 0; ; run++ {
		c.written, c.corrupt = inserted{}, 0
		committed, err := st.changeTable(t, table, func(tx *txn.Transaction) (*txn.Operation, error) { return st.copyFilesInto(tx, c) })
		if err != nil {
			return nil, c.explained(err)
		}
		if !committed.AlreadyApplied {
			break
		}
		// Nothing was written: another commit was first to load one of the files, or has the session's own transaction.
		c.written = inserted{}
		own, err := st.ownApplied(table)
		if err != nil {
			return nil, err
		}
		if own {
			break
		}
		if run == maxReruns {
			return nil, protocol.NewError("DELTA_MAX_COMMIT_RETRIES_EXCEEDED", "COPY INTO %s was run %d times, and each time another one loaded some of the files first", t.shown(), run)
		}
		clear(st.pins)
	}
	if c.preview != nil {
		return c.preview, nil
	}
	return st.metaResult(meta.Counts([]string{"num_affected_rows", "num_inserted_rows", "num_skipped_corrupt_files"}, c.written.rows, c.written.rows, int64(c.corrupt)))
}

// ownApplied tells whether a table has the transaction that the session's variables name.
func (st *statement) ownApplied(table *log.Table) (bool, error) {
	app := st.session.settings.get("deltasql_txn_app_id")
	if app == "" {
		return false, nil
	}
	version, err := wholeNumber("deltasql_txn_version", st.session.settings.get("deltasql_txn_version"))
	if err != nil {
		return false, err
	}
	now, err := table.Snapshot(st.ctx)
	if err != nil {
		return false, err
	}
	last, ok := now.Transactions()[app]
	return ok && last.Version >= version, nil
}

// copyFilesInto stages the rows of the files that the table has not got, and that it has them now.
func (st *statement) copyFilesInto(tx *txn.Transaction, c *copying) (*txn.Operation, error) {
	c.pending = nil
	known := map[string]int64{}
	for _, file := range c.files {
		last, loaded := tx.ReadApp(file.appID())
		if loaded && !c.options.force {
			continue
		}
		known[file.path] = last
		if loaded {
			known[file.path]++
		}
		c.pending = append(c.pending, file)
	}
	if len(c.pending) == 0 {
		if c.s.Validate {
			return nil, st.emptyPreview(c)
		}
		return nil, nil
	}
	source, err := st.copySource(c, tx.Config().Schema)
	if err != nil {
		return nil, err
	}
	c.corrupt = source.corrupt
	if len(source.files) == 0 {
		if c.s.Validate {
			return nil, st.emptyPreview(c)
		}
		return nil, nil
	}
	plan, err := st.copyPlan(tx, c, source)
	if err != nil {
		return nil, err
	}
	insertion := &insertion{query: plan.Query, done: plan.Done, identity: plan.Identity}
	if c.s.Validate {
		return nil, st.copyPreview(c, insertion)
	}
	if c.written, err = st.insertRows(tx, insertion); err != nil {
		return nil, err
	}
	for _, file := range source.files {
		if err := file.unchanged(); err != nil {
			return nil, err
		}
		if err := tx.SetTxn(file.appID(), known[file.path]); err != nil {
			return nil, err
		}
	}
	operation := &txn.Operation{Name: "COPY INTO", Parameters: []txn.Parameter{{Key: "statsOnLoad", Value: json.RawMessage(`"true"`)}}, Metrics: c.written.metrics()}
	operation.Metrics = append(operation.Metrics, txn.Metric{Key: "numSkippedCorruptFiles", Value: strconv.Itoa(c.corrupt)})
	return operation, nil
}

// unchanged refuses a file that was written to while it was read.
func (f copyFile) unchanged() error {
	info, err := os.Stat(f.path)
	if err == nil && info.Size() == f.size && info.ModTime().Equal(f.modified) {
		return nil
	}
	return protocol.NewError("DELTASQL_STORAGE", "the file %s changed while it was loaded", f.path).WithCause(err).
		WithHint("nothing was loaded; run the statement again when the file is complete")
}

func (st *statement) copySource(c *copying, schema protocol.DataType) (*copySource, error) {
	if c.options.format == "csv" {
		return st.csvSource(c.pending, c.options)
	}
	return st.fileSource(c.pending, c.options, schema)
}

// copyPlan binds the rows; with mergeSchema the table first gets the columns that it lacks.
func (st *statement) copyPlan(tx *txn.Transaction, c *copying, source *copySource) (*change.Plan, error) {
	rows := change.Rows{Source: source.table, Items: c.s.Items, Where: c.s.Where, Columns: c.s.Columns, ByPosition: c.s.ByPosition, Evolve: c.options.evolve}
	if rows.Items == nil {
		var err error
		if rows.Items, err = c.formatted(source, tx.Config().Schema); err != nil {
			return nil, err
		}
	}
	options := st.changeOptions()
	into := st.changed(tx, c.target)
	if c.options.evolve {
		incoming, err := change.IncomingRows(st.ctx, rows, into, options)
		if err != nil {
			return nil, err
		}
		if into, err = st.evolved(tx, c.target, incoming); err != nil {
			return nil, err
		}
	}
	return change.Load(st.ctx, rows, into, options)
}

// formatted are items that read texts by dateFormat and timestampFormat where they go to columns of such types; nil where all columns
// are taken as they are.
func (c *copying) formatted(source *copySource, schema protocol.DataType) ([]parse.SelectItem, error) {
	o := c.options
	if o.dateFormat == "" && o.timeFormat == "" && o.timeNTZFormat == "" {
		return nil, nil
	}
	items := make([]string, len(source.table.Columns))
	for i, column := range source.table.Columns {
		quoted := "`" + strings.ReplaceAll(column.Name, "`", "``") + "`"
		items[i] = quoted
		if column.Type.Kind != protocol.KindString {
			continue
		}
		var to protocol.DataType
		switch {
		case c.s.Columns != nil && i < len(c.s.Columns):
			to = targetType(schema, c.s.Columns[i][len(c.s.Columns[i])-1].Name)
		case c.s.ByPosition && i < len(schema.Fields):
			to = schema.Fields[i].Type
		case c.s.Columns == nil && !c.s.ByPosition:
			to = targetType(schema, column.Name)
		}
		function, format := "", ""
		switch to.Kind {
		case protocol.KindDate:
			function, format = "to_date", o.dateFormat
		case protocol.KindTimestamp:
			function, format = "to_timestamp", o.timeFormat
		case protocol.KindTimestampNTZ:
			function, format = "to_timestamp_ntz", o.timeNTZFormat
		}
		if format != "" {
			items[i] = function + "(" + quoted + ", '" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(format) + "') AS " + quoted
		}
	}
	parsed, err := parse.Parse("SELECT "+strings.Join(items, ", "), parse.Options{Dialect: parse.Spark})
	if err != nil {
		return nil, err
	}
	return parsed.(*parse.QueryStatement).Query.Body.(*parse.Select).Items, nil
}

// explained says what helps where the files have other columns than the table.
func (c *copying) explained(err error) error {
	var known *protocol.Error
	if !errors.As(err, &known) || known.Class != "DELTA_METADATA_MISMATCH" && !strings.HasPrefix(string(known.Class), "INSERT_COLUMN_ARITY_MISMATCH") {
		return err
	}
	if c.options.format == "csv" && !c.options.header && c.s.Items == nil && c.s.Columns == nil && !c.s.ByPosition {
		return known.WithHint("columns of CSV files without a header are called _c0, _c1, ...: COPY INTO t BY POSITION takes them in order, FORMAT_OPTIONS ('header' = 'true') reads their names")
	}
	return known.WithHint("COPY_OPTIONS ('mergeSchema' = 'true') adds columns that the table lacks")
}

// maxPreview is how many rows VALIDATE shows at most.
const maxPreview = 50

// copyPreview is VALIDATE: all rows, or the first ones, are held to what the table asks of them, and some are shown.
func (st *statement) copyPreview(c *copying, source *insertion) error {
	show := int64(maxPreview)
	limit := ""
	if n := c.s.ValidateRows; n != nil {
		show = min(show, *n)
		limit = " LIMIT " + strconv.FormatInt(*n, 10)
	}
	if err := st.admit(); err != nil {
		return err
	}
	instance, err := st.session.engine.duck()
	if err != nil {
		return err
	}
	p := &plan{wide: st.widens(), columns: resultColumns(source.query)}
	planner := &planner{st: st, instance: instance, plan: p, texts: map[*expr.Relation]string{}}
	if p.sql, p.args, err = duckgen.Print(source.query, duckgen.Options{Relation: planner.relation}); err != nil {
		return err
	}
	if err := instance.Exec(st.ctx, "SELECT count(COLUMNS(*)) FROM (SELECT * FROM ("+p.sql+")"+limit+")", p.args...); err != nil {
		return p.diagnose(err)
	}
	p.sql = st.outermost(p.sql, p.columns) + " LIMIT " + strconv.FormatInt(show, 10)
	stream, err := st.open(st.ctx, p)
	if err != nil {
		return err
	}
	st.onClose(func() { stream.Close() })
	c.preview = &Result{Columns: p.columns, next: func(ctx context.Context) (*duck.Batch, error) {
		batch, err := stream.Next(ctx)
		if err != nil && !errors.Is(err, io.EOF) {
			err = p.diagnose(err)
		}
		return batch, err
	}}
	return nil
}

// emptyPreview is VALIDATE where there is nothing to load.
func (st *statement) emptyPreview(c *copying) (err error) {
	c.preview, err = st.metaResult(meta.Counts([]string{"num_affected_rows", "num_inserted_rows", "num_skipped_corrupt_files"}, 0, 0, int64(c.corrupt)))
	return err
}
