package sqlengine

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"deltasql/protocol"
)

// textFormat is how a text divides into records and fields.
type textFormat struct {
	fieldEnd    []byte
	recordEnd   []byte // nil: \n, \r\n or \r
	recordStart []byte // what stands before it in a record is skipped, and so are records without it (MySQL)
	quote       byte   // 0: none
	escape      byte   // 0: none
	comment     byte   // records that begin with it are skipped; 0: none
	mysql       bool   // LOAD DATA's rules of quotes and escapes instead of CSV's
	multiLine   bool   // quoted fields of CSV may hold ends of records
	trimStart   bool   // of CSV's unquoted fields
	trimEnd     bool
}

// textField is one field of a record. Its text is valid until the next record is read.
type textField struct {
	text   []byte
	quoted bool
	null   bool // \N, or NULL without quotes, by MySQL's rules
}

// maxTextRecord bounds one record: DuckDB reads it as one line.
const maxTextRecord = 64 << 20

// textReader reads records. It is not safe for concurrent use.
type textReader struct {
	textFormat
	in     *bufio.Reader
	number int64 // of the record read last, from 1
	buf    []byte
	ends   []textField // text is nil until the record is whole
	limits []int       // where each field ends in buf
}

func newTextReader(in io.Reader, format textFormat) *textReader {
	return &textReader{textFormat: format, in: bufio.NewReaderSize(in, 1<<18), buf: make([]byte, 0, 4096)}
}

// faults of a record; the caller says where.
var (
	errOpenQuote  = errors.New("a quoted field does not end")
	errQuoteInner = errors.New("a quoted field goes on behind its closing quote")
	errLineInside = errors.New("a quoted field holds the end of a line")
	errNotUTF8    = errors.New("a field is not UTF-8 text")
	errTooLong    = errors.New("a record is longer than 64 MiB")
)

// next reads a record; io.EOF behind the last.
func (r *textReader) next() ([]textField, error) {
	for {
		r.buf, r.ends, r.limits = r.buf[:0], r.ends[:0], r.limits[:0]
		var err error
		if r.mysql {
			err = r.mysqlRecord()
		} else {
			err = r.csvRecord()
		}
		if err == errSkipped {
			continue
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				r.number++
			}
			return nil, err
		}
		r.number++
		start := 0
		for i := range r.ends {
			r.ends[i].text = r.buf[start:r.limits[i]:r.limits[i]]
			if start = r.limits[i]; !utf8.Valid(r.ends[i].text) {
				return nil, errNotUTF8
			}
		}
		return r.ends, nil
	}
}

var errSkipped = errors.New("skipped")

// skipRecord passes over one record without looking for quotes or escapes, as IGNORE n LINES does.
func (r *textReader) skipRecord() error {
	for {
		c, err := r.in.ReadByte()
		if err != nil {
			return err
		}
		if r.endsRecord(c) {
			return nil
		}
	}
}

// follows tells whether c, which has been read, begins a mark, and takes the rest of it.
func (r *textReader) follows(c byte, mark []byte) bool {
	if len(mark) == 0 || c != mark[0] {
		return false
	}
	if len(mark) == 1 {
		return true
	}
	ahead, _ := r.in.Peek(len(mark) - 1)
	if !bytes.Equal(ahead, mark[1:]) {
		return false
	}
	r.in.Discard(len(mark) - 1)
	return true
}

func (r *textReader) endsRecord(c byte) bool {
	if r.recordEnd != nil {
		return r.follows(c, r.recordEnd)
	}
	if c == '\r' {
		if ahead, _ := r.in.Peek(1); len(ahead) == 1 && ahead[0] == '\n' {
			r.in.Discard(1)
		}
		return true
	}
	return c == '\n'
}

func (r *textReader) put(c byte) error {
	if r.buf = append(r.buf, c); len(r.buf) > maxTextRecord {
		return errTooLong
	}
	return nil
}

func (r *textReader) endField(quoted, null bool) {
	r.ends = append(r.ends, textField{quoted: quoted, null: null})
	r.limits = append(r.limits, len(r.buf))
}

// csvRecord reads a record of CSV: a field is quoted as a whole or not at all; inside quotes a doubled quote is one, and the escape
// takes a quote or itself. Empty lines are none.
func (r *textReader) csvRecord() error {
	for first := true; ; first = false {
		c, err := r.in.ReadByte()
		if err != nil {
			if first {
				return err
			}
			if errors.Is(err, io.EOF) {
				r.endField(false, false)
				return nil
			}
			return err
		}
		if first && r.endsRecord(c) {
			return errSkipped
		}
		if first && r.comment != 0 && c == r.comment {
			if err := r.skipRecord(); err != nil {
				return err
			}
			return errSkipped
		}
		last, err := r.csvField(c)
		if err != nil || last {
			return err
		}
	}
}

// csvField reads a field that begins with c; last tells that the record ends with it.
func (r *textReader) csvField(c byte) (last bool, err error) {
	for r.trimStart && (c == ' ' || c == '\t') && !r.follows(c, r.fieldEnd) {
		if c, err = r.in.ReadByte(); err != nil {
			r.endField(false, false)
			return true, ended(err)
		}
	}
	if r.quote != 0 && c == r.quote {
		return r.quotedField()
	}
	start := len(r.buf)
	finish := func() {
		for r.trimEnd && len(r.buf) > start && (r.buf[len(r.buf)-1] == ' ' || r.buf[len(r.buf)-1] == '\t') {
			r.buf = r.buf[:len(r.buf)-1]
		}
		r.endField(false, false)
	}
	for {
		switch {
		case r.follows(c, r.fieldEnd):
			finish()
			return false, nil
		case r.endsRecord(c):
			finish()
			return true, nil
		}
		if err := r.put(c); err != nil {
			return false, err
		}
		if c, err = r.in.ReadByte(); err != nil {
			finish()
			return true, ended(err)
		}
	}
}

// ended is nil for the end of the input.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func (r *textReader) quotedField() (last bool, err error) {
	for {
		c, err := r.in.ReadByte()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = errOpenQuote
			}
			return false, err
		}
		if r.escape != 0 && r.escape != r.quote && c == r.escape {
			if ahead, _ := r.in.Peek(1); len(ahead) == 1 && (ahead[0] == r.quote || ahead[0] == r.escape) {
				c = ahead[0]
				r.in.Discard(1)
			}
			if err := r.put(c); err != nil {
				return false, err
			}
			continue
		}
		if c == r.quote {
			c, err := r.in.ReadByte()
			switch {
			case err != nil:
				r.endField(true, false)
				return true, ended(err)
			case c == r.quote:
				if err := r.put(c); err != nil {
					return false, err
				}
				continue
			case r.follows(c, r.fieldEnd):
				r.endField(true, false)
				return false, nil
			case r.endsRecord(c):
				r.endField(true, false)
				return true, nil
			}
			return false, errQuoteInner
		}
		if !r.multiLine && (c == '\n' || c == '\r' || r.recordEnd != nil && r.follows(c, r.recordEnd)) {
			return false, errLineInside
		}
		if err := r.put(c); err != nil {
			return false, err
		}
	}
}

// mysqlRecord reads a record by the rules of LOAD DATA.
func (r *textReader) mysqlRecord() error {
	if len(r.recordStart) > 0 {
		for {
			c, err := r.in.ReadByte()
			if err != nil {
				return err
			}
			if r.follows(c, r.recordStart) {
				break
			}
		}
	} else if _, err := r.in.Peek(1); err != nil {
		return err
	}
	for {
		if last, err := r.mysqlField(); err != nil || last {
			return err
		}
	}
}

// mysqlField reads a field. A quote at its start encloses it up to a quote before the end of the field or the record; quotes
// elsewhere are text. Escapes work inside and outside of quotes.
func (r *textReader) mysqlField() (last bool, err error) {
	start := len(r.buf)
	enclosed, sawNull := false, false
	finish := func(quoted bool) {
		text := r.buf[start:]
		null := len(text) == 1 && sawNull || !quoted && r.quote != 0 && string(text) == "NULL"
		r.endField(quoted, null)
	}
	for first := true; ; first = false {
		c, err := r.in.ReadByte()
		if err != nil {
			if errors.Is(err, io.EOF) && enclosed {
				// Nothing closes the quote, which so is text.
				r.buf = append(r.buf[:start], append([]byte{r.quote}, r.buf[start:]...)...)
			}
			finish(false)
			return true, ended(err)
		}
		if first && r.quote != 0 && c == r.quote {
			enclosed = true
			continue
		}
		if r.escape != 0 && c == r.escape {
			next, err := r.in.ReadByte()
			switch {
			case err != nil && !errors.Is(err, io.EOF):
				return false, err
			case err != nil:
				r.buf = append(r.buf, c)
				finish(false)
				return true, nil
			case r.escape != r.quote || next == r.escape:
				sawNull = sawNull || next == 'N'
				if err := r.put(unescaped(next)); err != nil {
					return false, err
				}
				continue
			}
			r.in.UnreadByte()
		}
		switch {
		case enclosed && c == r.quote:
			next, err := r.in.ReadByte()
			switch {
			case err != nil:
				finish(true)
				return true, ended(err)
			case next == r.quote:
			case r.follows(next, r.fieldEnd):
				finish(true)
				return false, nil
			case r.endsRecord(next):
				finish(true)
				return true, nil
			default:
				r.in.UnreadByte()
			}
		case enclosed:
		case r.endsRecord(c):
			finish(false)
			return true, nil
		case r.follows(c, r.fieldEnd):
			finish(false)
			return false, nil
		}
		if err := r.put(c); err != nil {
			return false, err
		}
	}
}

// unescaped is what an escape and a letter stand for.
func unescaped(c byte) byte {
	switch c {
	case '0':
		return 0
	case 'b':
		return '\b'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'Z':
		return 26
	}
	return c
}

// textFault is the error of a record that cannot be read.
func textFault(err error, file string, number int64) error {
	switch {
	case errors.Is(err, errTooLong):
		return protocol.NewError("DELTASQL_LIMIT_EXCEEDED", "%s, record %d: %v", file, number, err)
	case errors.Is(err, errLineInside):
		return protocol.NewError("MALFORMED_RECORD_IN_PARSING", "%s, record %d: %v", file, number, err).
			WithHint("the option 'multiLine' = 'true' reads fields of several lines")
	case errors.Is(err, errOpenQuote), errors.Is(err, errQuoteInner):
		return protocol.NewError("MALFORMED_RECORD_IN_PARSING", "%s, record %d: %v", file, number, err).
			WithHint("the options 'quote' and 'escape' say how fields are quoted")
	case errors.Is(err, errNotUTF8):
		return protocol.NewError("MALFORMED_RECORD_IN_PARSING", "%s, record %d: %v", file, number, err).
			WithHint("convert the file to UTF-8")
	}
	return protocol.NewError("DELTA_FAILED_TO_READ_FILE", "%s cannot be read", file).WithCause(err)
}
