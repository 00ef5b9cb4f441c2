package sqlengine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"deltasql/protocol"
	"deltasql/sqlengine/change"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/parse"
	"deltasql/txn"
)

// MySQL's numbers of rows that have not as many fields as they should.
const (
	warnFewFields  = 1261
	warnManyFields = 1262
)

// loadData is MySQL's LOAD DATA: the rows of a text file, the server's or with LOCAL the client's, become one append.
func (st *statement) loadData(s *parse.LoadData) (*Result, error) {
	t, table, err := st.changeTarget(s.Table, "LOAD DATA")
	if err != nil {
		return nil, err
	}
	place := func(err *protocol.Error) error { return err.At(s.Pos.Line, s.Pos.Column) }
	if s.Replace {
		return nil, place(protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "LOAD DATA ... REPLACE is not supported: tables have no unique keys").
			WithHint("load into a temporary table, then MERGE INTO %s", t.shown()))
	}
	st.ignored(s.Ignored)
	format, err := loadFormat(s)
	if err != nil {
		return nil, at(err, parse.Name{{Pos: s.Pos}})
	}
	var stage *stagedText
	result := &Result{}
	err = st.changeRows(t, table, result, func(tx *txn.Transaction) (*txn.Operation, error) {
		if stage == nil { // a client's file comes once, also where the statement runs again
			targets := loadTargets(s, tx.Config())
			in, err := st.openLoad(s)
			if err != nil {
				return nil, err
			}
			defer in.Close()
			if stage, err = st.readLoad(s, in, format, targets, withDefaults(targets, tx.Config())); err != nil {
				return nil, err
			}
		}
		source, err := stage.relation()
		if err != nil {
			return nil, err
		}
		listed := *s
		listed.Targets = loadTargets(s, tx.Config())
		plan, err := change.LoadData(st.ctx, &listed, source, st.changed(tx, t), st.changeOptions())
		if err != nil {
			return nil, err
		}
		written, err := st.insertRows(tx, &insertion{query: plan.Query, done: plan.Done, identity: plan.Identity})
		if err != nil {
			return nil, err
		}
		result.Affected, result.LastInsertID = written.rows, firstGenerated(plan.Identity)
		return &txn.Operation{
			Name:       "WRITE",
			Parameters: []txn.Parameter{{Key: "mode", Value: json.RawMessage(`"Append"`)}, {Key: "partitionBy", Value: json.RawMessage(`"[]"`)}},
			Metrics:    written.metrics(),
		}, nil
	})
	if err != nil {
		return nil, err
	}
	st.session.insertedID(result, nil)
	result.Info = fmt.Sprintf("Records: %d  Deleted: 0  Skipped: 0  Warnings: %d", result.Affected, st.warningCount())
	return result, nil
}

// loadFormat is the text's form by the statement's clauses; MySQL's is fields between tabs, \N for NULL, backslash escapes.
func loadFormat(s *parse.LoadData) (textFormat, error) {
	or := func(text *string, otherwise string) string {
		if text != nil {
			return *text
		}
		return otherwise
	}
	f := textFormat{
		mysql: true, fieldEnd: []byte(or(s.FieldsEnd, "\t")), recordEnd: []byte(or(s.LinesEnd, "\n")), recordStart: []byte(or(s.LinesStart, "")),
	}
	for _, one := range []struct {
		clause string
		text   string
		into   *byte
	}{{"ENCLOSED BY", or(s.Enclosed, ""), &f.quote}, {"ESCAPED BY", or(s.Escaped, `\`), &f.escape}} {
		if len(one.text) > 1 {
			return f, protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "%s takes one character of one byte, not %q", one.clause, one.text)
		}
		if one.text != "" {
			*one.into = one.text[0]
		}
	}
	switch charset := strings.ToLower(s.Charset); charset {
	case "", "utf8mb4", "utf8mb3", "utf8", "ascii", "binary":
	default:
		return f, protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "the character set %s is not supported: text is UTF-8", s.Charset).
			WithHint("convert the file to UTF-8")
	}
	switch {
	case len(f.fieldEnd) == 0:
		return f, protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "fields of fixed width (FIELDS TERMINATED BY '') are not supported")
	case len(f.recordEnd) == 0:
		f.recordEnd = f.fieldEnd
	}
	return f, nil
}

// loadTargets are the statement's columns and variables, or all columns of the table that are not computed.
func loadTargets(s *parse.LoadData, config *protocol.TableConfig) []parse.LoadTarget {
	if s.Targets != nil {
		return s.Targets
	}
	var out []parse.LoadTarget
	for _, f := range config.Schema.Fields {
		if _, generated := f.Metadata.GenerationExpression(); !generated {
			out = append(out, parse.LoadTarget{Column: &parse.Ident{Name: string(f.Name), Quoted: true}})
		}
	}
	return out
}

// withDefaults tells which targets are columns that have a default.
func withDefaults(targets []parse.LoadTarget, config *protocol.TableConfig) []bool {
	out := make([]bool, len(targets))
	for i, to := range targets {
		if to.Column == nil {
			continue
		}
		if at := config.Schema.Lookup(to.Column.Name); at >= 0 {
			_, out[i] = config.Schema.Fields[at].Metadata.CurrentDefault()
		}
	}
	return out
}

// openLoad opens the file. With LOCAL it is the client's, where the door has a client with files of its own.
func (st *statement) openLoad(s *parse.LoadData) (io.ReadCloser, error) {
	if open := st.session.options.LocalFile; s.Local && open != nil {
		return open(st.ctx, s.Path)
	}
	path, err := st.session.engine.fencedPath(s.Path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, protocol.NewError("DELTA_PATH_DOES_NOT_EXIST", "there is no file %s", s.Path)
	case err == nil && !info.Mode().IsRegular():
		return nil, protocol.NewError("DELTASQL_STORAGE", "%s is no file", s.Path)
	case err == nil:
		var file *os.File
		if file, err = os.Open(path); err == nil {
			return file, nil
		}
	}
	return nil, protocol.NewError("DELTASQL_STORAGE", "the file %s cannot be read", s.Path).WithCause(err)
}

// contextReader ends with its context.
type contextReader struct {
	ctx context.Context
	in  io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, cancelled(r.ctx)
	}
	return r.in.Read(p)
}

// readLoad takes the file's records. One with fewer or more fields than there are targets is an error in strict mode, as it is for any
// other statement that cannot store what it was given; with IGNORE, LOCAL or without strict mode the fields that lack are NULL, those
// too many go, and a warning says so. MySQL stores a default where a field lacks; a column that has one is refused such rows.
func (st *statement) readLoad(s *parse.LoadData, in io.Reader, format textFormat, targets []parse.LoadTarget, defaults []bool) (*stagedText, error) {
	stage, err := st.stageText(len(targets))
	if err != nil {
		return nil, err
	}
	reader := newTextReader(contextReader{st.ctx, in}, format)
	lenient := s.Ignore || s.Local || st.session.Dialect() == expr.MySQL && !st.session.settings.sqlMode().strict
	failed := func(err error) error {
		var known *protocol.Error
		if errors.As(err, &known) {
			return known
		}
		return textFault(err, s.Path, reader.number+s.SkipLines)
	}
	for range s.SkipLines {
		if err := reader.skipRecord(); errors.Is(err, io.EOF) {
			return stage, nil
		} else if err != nil {
			return nil, failed(err)
		}
	}
	values := make([][]byte, len(targets))
	for {
		fields, err := reader.next()
		if errors.Is(err, io.EOF) {
			return stage, nil
		}
		if err != nil {
			return nil, failed(err)
		}
		if len(fields) != len(targets) {
			if err := st.fieldCount(len(fields), len(targets), reader.number, lenient); err != nil {
				return nil, err
			}
			if n := len(fields); n < len(defaults) && slices.Contains(defaults[n:], true) {
				return nil, protocol.NewError("DELTASQL_WRONG_NUMBER_OF_FIELDS", "Row %d has no field for a column with a default", reader.number).
					WithHint("complete the file, or leave the column out of the list")
			}
		}
		for i := range values {
			if values[i] = nil; i < len(fields) && !fields[i].null {
				values[i] = fields[i].text
			}
		}
		if err := stage.add(values); err != nil {
			return nil, err
		}
	}
}

func (st *statement) fieldCount(have, want int, row int64, lenient bool) error {
	class, code, text := protocol.Class("DELTASQL_WRONG_NUMBER_OF_FIELDS"), warnFewFields, fmt.Sprintf("Row %d doesn't contain data for all columns", row)
	if have > want {
		code, text = warnManyFields, fmt.Sprintf("Row %d was truncated; it contained more data than there were input columns", row)
	}
	if !lenient {
		return protocol.NewError(class, "%s: %d fields for %d columns and variables", text, have, want).
			WithHint("LOAD DATA ... IGNORE takes what there is")
	}
	st.warn(code, "%s", text)
	return nil
}
