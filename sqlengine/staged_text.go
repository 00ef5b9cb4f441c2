package sqlengine

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/expr"
)

// stagedText hands records that were read here to DuckDB: they are written to a temporary file in the one form of CSV that both
// sides understand alike. Every text is quoted, NULL is nothing at all, and each line begins with a mark, so that none is empty.
type stagedText struct {
	path    string
	file    *os.File
	out     *bufio.Writer
	columns int
	rows    int64
	longest int // bytes of a line
	line    []byte
}

// stageText makes a stage for records of so many columns, which goes with the statement.
func (st *statement) stageText(columns int) (*stagedText, error) {
	folder, err := st.session.engine.temporaryFolder("deltasql-load-")
	if err != nil {
		return nil, stageFailed(err)
	}
	st.onClose(func() { st.session.engine.removeTemporary(folder) })
	s := &stagedText{path: filepath.Join(folder, "rows.csv"), columns: columns}
	if s.file, err = os.Create(s.path); err != nil {
		return nil, stageFailed(err)
	}
	st.onClose(func() { s.file.Close() })
	s.out = bufio.NewWriterSize(s.file, 1<<18)
	return s, nil
}

func stageFailed(err error) error {
	return protocol.NewError("DELTASQL_STORAGE", "the rows cannot be kept in a temporary file").WithCause(err).
		WithHint("temporary files lie in the folder given by --temp")
}

// add writes a record; nil is NULL.
func (s *stagedText) add(values [][]byte) error {
	s.line = append(s.line[:0], '-')
	for _, v := range values {
		s.line = append(s.line, ',')
		if v == nil {
			continue
		}
		s.line = append(s.line, '"')
		for {
			at := bytes.IndexByte(v, '"')
			if at < 0 {
				s.line = append(s.line, v...)
				break
			}
			s.line = append(append(s.line, v[:at+1]...), '"')
			v = v[at+1:]
		}
		s.line = append(s.line, '"')
	}
	s.line = append(s.line, '\n')
	s.longest = max(s.longest, len(s.line))
	s.rows++
	if _, err := s.out.Write(s.line); err != nil {
		return stageFailed(err)
	}
	return nil
}

// mark and rewind give up what was added since.
func (s *stagedText) mark() (offset, rows int64, err error) {
	if err := s.out.Flush(); err != nil {
		return 0, 0, stageFailed(err)
	}
	offset, err = s.file.Seek(0, 1)
	return offset, s.rows, err
}

func (s *stagedText) rewind(offset, rows int64) error {
	s.out.Reset(s.file)
	s.rows = rows
	if err := s.file.Truncate(offset); err != nil {
		return stageFailed(err)
	}
	if _, err := s.file.Seek(offset, 0); err != nil {
		return stageFailed(err)
	}
	return nil
}

// relation is the records as texts, in their order, without names.
func (s *stagedText) relation() (bind.SQLTable, error) {
	if err := s.out.Flush(); err != nil {
		return bind.SQLTable{}, stageFailed(err)
	}
	table := bind.SQLTable{}
	types := []string{"'mark': 'VARCHAR'"}
	items := make([]string, s.columns)
	for i := range s.columns {
		types = append(types, "'"+out(i)+"': 'VARCHAR'")
		items[i] = out(i)
		table.Columns = append(table.Columns, expr.OutputColumn{Out: out(i), Type: protocol.DataType{Kind: protocol.KindString}, Nullable: true})
	}
	line := max(s.longest+1024, 1<<20)
	table.SQL = fmt.Sprintf(`(SELECT %s FROM read_csv(%s, auto_detect = false, header = false, delim = ',', quote = '"', escape = '"', new_line = '\n', `+
		`nullstr = '', allow_quoted_nulls = false, parallel = false, max_line_size = %d, buffer_size = %d, columns = {%s}))`,
		strings.Join(items, ", "), duck.QuoteString(duck.LiteralPath(s.path)), line, max(2*line, 8<<20), strings.Join(types, ", "))
	return table, nil
}
