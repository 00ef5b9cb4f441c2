package sqlengine

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"
	"time"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/meta"
)

// rowsAtOnce is how many rows of a metadata answer become one DuckDB relation; long answers stream in such pieces.
const rowsAtOnce = 4096

// metaResult turns a metadata answer into a Result. The rows go through DuckDB as JSON, so that results have one kind of batch.
func (st *statement) metaResult(table meta.Table) (*Result, error) {
	instance, err := st.session.engine.duck()
	if err != nil {
		return nil, err
	}
	result := &Result{}
	for _, c := range table.Columns {
		result.Columns = append(result.Columns, ColumnInfo{Name: c.Name, Type: c.Type, Nullable: c.Nullable, Digits: allDigits})
	}
	next, stop := iter.Pull2(table.Rows)
	rows := &metaRows{instance: instance, columns: table.Columns, sql: rowsSQL(table.Columns), next: next}
	result.next = rows.batch
	result.onClose(stop)
	result.onClose(rows.close)
	return result, nil
}

// answerFunction names the table function that stands for a metadata answer while it is filtered. No user can write it.
const answerFunction = "\x00answer"

// maxAnswer bounds the text of an answer that is filtered as a whole.
const maxAnswer = 256 << 20

// metaRelation makes a relation of a metadata answer.
func metaRelation(table meta.Table) (*bind.SQLTable, error) {
	next, stop := iter.Pull2(table.Rows)
	defer stop()
	rows := &metaRows{columns: table.Columns, next: next}
	var text strings.Builder
	for !rows.ended {
		part, err := rows.read()
		if err != nil {
			return nil, err
		}
		if part = strings.TrimSuffix(strings.TrimPrefix(part, "["), "]"); part != "" && text.Len() > 0 {
			text.WriteByte(',')
		}
		if text.WriteString(part); text.Len() > maxAnswer {
			return nil, protocol.NewError("DELTASQL_LIMIT_EXCEEDED", "the answer is too long to be filtered by WHERE").WithHint("use LIMIT")
		}
	}
	sql := strings.Replace(rowsSQL(table.Columns), "$1", duck.QuoteString("["+text.String()+"]"), 1)
	relation := &bind.SQLTable{SQL: "(" + sql + ")"}
	for i, c := range table.Columns {
		relation.Columns = append(relation.Columns, expr.OutputColumn{Name: c.Name, Out: out(i), Type: c.Type, Nullable: true})
	}
	return relation, nil
}

type metaRows struct {
	instance *duck.Instance
	columns  []meta.Column
	sql      string
	next     func() ([]any, error, bool)
	stream   *duck.Stream
	ended    bool
}

func (m *metaRows) close() {
	if m.stream != nil {
		m.stream.Close()
		m.stream = nil
	}
}

func (m *metaRows) batch(ctx context.Context) (*duck.Batch, error) {
	for {
		if m.stream != nil {
			batch, err := m.stream.Next(ctx)
			if err == nil {
				return batch, nil
			}
			m.close()
			if !errors.Is(err, io.EOF) {
				return nil, translate(err, "")
			}
		}
		if m.ended {
			return nil, io.EOF
		}
		text, err := m.read()
		if err != nil {
			return nil, translate(err, "")
		}
		if m.stream, err = m.instance.Query(ctx, m.sql, text); err != nil {
			m.stream = nil
			return nil, translate(err, "")
		}
	}
}

// read encodes the next rows as a JSON array of objects.
func (m *metaRows) read() (string, error) {
	out := []byte{'['}
	for n := 0; n < rowsAtOnce; n++ {
		row, err, ok := m.next()
		if err != nil {
			return "", err
		}
		if !ok {
			m.ended = true
			break
		}
		if n > 0 {
			out = append(out, ',')
		}
		out = append(out, '{')
		for i, value := range row {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, `"c`+strconv.Itoa(i)+`":`...)
			out = appendValue(out, value, m.columns[i].Type)
		}
		out = append(out, '}')
	}
	return string(append(out, ']')), nil
}

// rowsSQL is the query that types such an array. Its parameter is the array's text.
func rowsSQL(columns []meta.Column) string {
	shape := make([]string, len(columns))
	items := make([]string, len(columns))
	for i, c := range columns {
		name := "c" + strconv.Itoa(i)
		items[i] = `u."` + name + `"`
		kind := expr.DuckType(c.Type)
		if c.Type.Kind == protocol.KindBinary {
			kind = "VARCHAR"
			items[i] = "unhex(" + items[i] + `) AS "` + name + `"`
		}
		shape[i] = quoteJSON(name) + ":" + quoteJSON(kind)
	}
	return "SELECT " + strings.Join(items, ", ") + " FROM (SELECT unnest(json_transform_strict($1::JSON, " +
		duck.QuoteString("[{"+strings.Join(shape, ",")+"}]") + ")) AS u)"
}

func quoteJSON(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		return `""`
	}
	return string(quoted)
}

// appendValue writes a value of a meta.Table as JSON that DuckDB reads as the type.
func appendValue(out []byte, value any, t protocol.DataType) []byte {
	switch v := value.(type) {
	case nil:
		return append(out, "null"...)
	case bool:
		return strconv.AppendBool(out, v)
	case string:
		return append(out, quoteJSON(v)...)
	case meta.Decimal:
		return append(out, quoteJSON(string(v))...)
	case []byte:
		return append(out, quoteJSON(hex.EncodeToString(v))...)
	case int:
		return strconv.AppendInt(out, int64(v), 10)
	case int64:
		return appendInteger(out, v, t)
	case float64:
		switch {
		case math.IsNaN(v):
			return append(out, `"NaN"`...)
		case math.IsInf(v, 0):
			return append(out, `"`+strings.TrimPrefix(strconv.FormatFloat(v, 'g', -1, 64), "+")+`"`...)
		}
		return strconv.AppendFloat(out, v, 'g', -1, 64)
	case []string, map[string]*string:
		text, err := json.Marshal(v)
		if err != nil {
			return append(out, "null"...)
		}
		return append(out, text...)
	case []any:
		out = append(out, '{')
		for i, member := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, quoteJSON(string(t.Fields[i].Name))+":"...)
			out = appendValue(out, member, t.Fields[i].Type)
		}
		return append(out, '}')
	}
	return append(out, "null"...)
}

func appendInteger(out []byte, v int64, t protocol.DataType) []byte {
	switch t.Kind {
	case protocol.KindDate:
		return append(out, time.Unix(v*86400, 0).UTC().Format(`"2006-01-02"`)...)
	case protocol.KindTimestamp:
		return append(out, time.UnixMicro(v).UTC().Format(`"2006-01-02 15:04:05.000000+00"`)...)
	case protocol.KindTimestampNTZ:
		return append(out, time.UnixMicro(v).UTC().Format(`"2006-01-02 15:04:05.000000"`)...)
	}
	return strconv.AppendInt(out, v, 10)
}
