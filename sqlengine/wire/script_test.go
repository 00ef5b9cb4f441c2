package wire

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"deltasql/protocol"
	"deltasql/sqlengine"
	"deltasql/sqlengine/sqllogic"
)

// TestScripts runs testdata/slt through the port, each statement by the text protocol and, where it can be prepared, by the binary one.
func TestScripts(t *testing.T) {
	root := filepath.Join("..", "..", "testdata", "slt")
	var paths []string
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".slt") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts below %s: %v", root, err)
	}
	for _, path := range paths {
		name, _ := filepath.Rel(root, path)
		t.Run(name, func(t *testing.T) {
			sqllogic.RunFile(t, path, sqllogic.Options{Open: openPort, Cell: normalCell})
		})
	}
}

// portDatabase serves scripts through the port.
type portDatabase struct {
	engine *sqlengine.Engine
	server *Server
	at     net.Listener
}

func openPort(t testing.TB, catalog string) sqllogic.Database {
	t.Helper()
	folder := t.TempDir()
	if catalog != "" && catalog != "none" {
		folder = filepath.Join("..", "..", "testdata", catalog)
	}
	engine, err := sqlengine.Open(sqlengine.Options{Catalog: folder, Memory: "1GB", Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	// Scripts are of Spark's dialect unless they say otherwise.
	server := New(engine, Options{Session: sqlengine.SessionOptions{Dialect: "spark"}})
	go server.Serve(at)
	return portDatabase{engine, server, at}
}

func (d portDatabase) Close() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	d.server.Shutdown(ctx)
	d.engine.Close()
}

func (d portDatabase) Connect(t testing.TB) sqllogic.Connection {
	t.Helper()
	conn, err := net.Dial("tcp", d.at.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	c := &client{conn: conn, in: packetReader{from: conn, limit: 64 << 20}}
	if err := c.login(); err != nil {
		t.Fatal(err)
	}
	return c
}

// client is a client that shows all that the server sends.
type client struct {
	conn net.Conn
	in   packetReader
	seq  uint8
}

func (c *client) send(payload []byte) error {
	w := packetWriter{to: c.conn, seq: c.seq}
	w.begin()
	w.out = append(w.out, payload...)
	w.end()
	return w.flush()
}

func (c *client) receive() ([]byte, error) {
	m, err := c.in.next(nil)
	c.seq = m.last + 1
	return m.payload, err
}

func (c *client) login() error {
	if _, err := c.receive(); err != nil {
		return err
	}
	if err := c.send(helloOf(clientDefault|clientDeprecateEOF, "root", nil, "", methodSHA2)); err != nil {
		return err
	}
	answer, err := c.receive()
	if err == nil && answer[0] != 0 {
		err = serverError(answer)
	}
	return err
}

var classInMessage = regexp.MustCompile(`^\[([A-Z0-9_.]+)\] \([0-9A-Z]{5}\) (?s:(.*))$`)

// serverError makes the error that the server's session had out of an ERR packet.
func serverError(payload []byte) error {
	text := string(payload[9:])
	m := classInMessage.FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("error %d without a class: %s", errnoOf(payload), text)
	}
	message, _, _ := strings.Cut(m[2], "\nhint: ")
	return protocol.NewError(protocol.Class(m[1]), "%s", message)
}

// sentColumn is a column definition.
type sentColumn struct {
	name    string
	kind    uint8
	charset uint16
	length  uint32
	scale   uint8
}

func readColumn(payload []byte) sentColumn {
	in := cursor{data: payload}
	for range 4 {
		in.text()
	}
	out := sentColumn{name: string(in.text())}
	in.text()
	in.uint8()
	out.charset, out.length, out.kind = in.uint16(), in.uint32(), in.uint8()
	in.uint16()
	out.scale = in.uint8()
	return out
}

// Run implements sqllogic.Connection.
func (c *client) Run(text string) ([]sqllogic.Column, [][]string, error) {
	columns, rows, err := c.query(text)
	if err != nil || columns == nil {
		return nil, nil, err
	}
	if err := c.compare(text, columns, rows); err != nil {
		return nil, nil, err
	}
	letters := make([]sqllogic.Column, len(columns))
	for i, column := range columns {
		letters[i] = sqllogic.Column{Name: column.name, Letter: column.letter()}
		for _, row := range rows {
			row[i] = column.shown(row[i])
		}
	}
	return letters, rows, nil
}

// query runs a statement by the text protocol. A row that is NULL has the text of null.
func (c *client) query(text string) ([]sentColumn, [][]string, error) {
	c.seq = 0
	if err := c.send(append([]byte{comQuery}, text...)); err != nil {
		return nil, nil, err
	}
	return c.result(func(payload []byte, columns []sentColumn) []string {
		in := cursor{data: payload}
		row := make([]string, len(columns))
		for i := range row {
			if len(in.data) > 0 && in.data[0] == 0xfb {
				in.uint8()
				row[i] = null
				continue
			}
			row[i] = string(in.text())
		}
		if in.bad || len(in.data) > 0 {
			row[0] = "malformed row"
		}
		return row
	})
}

const null = "\x00NULL"

// result reads columns and rows.
func (c *client) result(read func(payload []byte, columns []sentColumn) []string) ([]sentColumn, [][]string, error) {
	first, err := c.receive()
	switch {
	case err != nil:
		return nil, nil, err
	case first[0] == 0xff:
		return nil, nil, serverError(first)
	case first[0] == 0:
		return nil, nil, nil
	}
	columns := make([]sentColumn, first[0])
	if len(first) > 1 {
		in := cursor{data: first}
		columns = make([]sentColumn, in.length())
	}
	for i := range columns {
		payload, err := c.receive()
		if err != nil {
			return nil, nil, err
		}
		columns[i] = readColumn(payload)
	}
	rows := [][]string{}
	for {
		payload, err := c.receive()
		switch {
		case err != nil:
			return nil, nil, err
		case payload[0] == 0xff:
			return nil, nil, serverError(payload)
		case payload[0] == 0xfe && len(payload) < maxPayload:
			return columns, rows, nil
		}
		rows = append(rows, read(payload, columns))
	}
}

// compare runs a query once more as a prepared statement: it must be described as it then is, and give the same values.
func (c *client) compare(text string, columns []sentColumn, rows [][]string) error {
	if !strings.HasPrefix(strings.ToUpper(strings.TrimSpace(text)), "SELECT") || strings.Contains(strings.ToLower(text), "rand") {
		return nil
	}
	c.seq = 0
	if err := c.send(append([]byte{comStmtPrepare}, text...)); err != nil {
		return err
	}
	head, err := c.receive()
	if err != nil {
		return err
	}
	if head[0] == 0xff {
		return fmt.Errorf("prepared it fails: %w", serverError(head))
	}
	in := cursor{data: head[1:]}
	id, count, parameters := in.uint32(), in.uint16(), in.uint16()
	for range int(count) + int(parameters) {
		payload, err := c.receive()
		if err != nil {
			return err
		}
		if column := readColumn(payload); parameters == 0 && !slices.Contains(columns, column) {
			return fmt.Errorf("prepared it is described as %+v, run as %+v", column, columns)
		}
	}
	c.seq = 0
	if err := c.send(append(appendUint32([]byte{comStmtExecute}, id), 0, 1, 0, 0, 0)); err != nil {
		return err
	}
	again, bound, err := c.result(readBinaryRow)
	if err != nil {
		return fmt.Errorf("prepared it fails: %w", err)
	}
	if !slices.Equal(columns, again) || len(rows) != len(bound) {
		return fmt.Errorf("prepared it gives %d rows of %+v, as text %d of %+v", len(bound), again, len(rows), columns)
	}
	key := func(row []string) string { return strings.Join(row, "\x01") }
	if !strings.Contains(strings.ToUpper(text), "ORDER BY") {
		rows, bound = slices.Clone(rows), slices.Clone(bound)
		slices.SortFunc(rows, func(a, b []string) int { return strings.Compare(key(a), key(b)) })
		slices.SortFunc(bound, func(a, b []string) int { return strings.Compare(key(a), key(b)) })
	}
	for i := range rows {
		if !slices.Equal(rows[i], bound[i]) {
			return fmt.Errorf("prepared it gives %q, as text %q", bound[i], rows[i])
		}
	}
	c.seq = 0
	return c.send(appendUint32([]byte{comStmtClose}, id))
}

// readBinaryRow writes the values of a binary row as the text protocol has them.
func readBinaryRow(payload []byte, columns []sentColumn) []string {
	in := cursor{data: payload[1:]}
	nulls := in.take((len(columns) + 9) / 8)
	row := make([]string, len(columns))
	for i, column := range columns {
		if nulls[(i+2)/8]&(1<<((i+2)%8)) != 0 {
			row[i] = null
			continue
		}
		switch column.kind {
		case typeTiny:
			row[i] = strconv.Itoa(int(int8(in.uint8())))
		case typeShort:
			row[i] = strconv.Itoa(int(int16(in.uint16())))
		case typeLong:
			row[i] = strconv.Itoa(int(int32(in.uint32())))
		case typeLongLong:
			row[i] = strconv.FormatInt(int64(in.uint64()), 10)
		case typeFloat, typeDouble:
			kind := parameterType{kind: column.kind}
			value, _ := readParameter(&in, kind)
			size := 64
			if column.kind == typeFloat && math.Abs(value.Value.Float) < nearMaxFloat {
				size = 32
			}
			row[i] = string(appendFloat(nil, value.Value.Float, size))
		case typeDate, typeDatetime, typeTimestamp:
			value, _ := readMoment(&in, column.kind)
			text, _ := appendDate(nil, value.Value.Int)
			if column.kind != typeDate {
				text, _ = appendMoment(nil, value.Value.Int, allDigits)
			}
			row[i] = string(text)
		default:
			row[i] = string(in.text())
		}
	}
	if in.bad || len(in.data) > 0 {
		row[0] = "malformed row"
	}
	return row
}

// letter is the script language's letter of a type.
func (c sentColumn) letter() byte {
	switch c.kind {
	case typeTiny:
		if c.length == 1 {
			return 'B'
		}
		return 'I'
	case typeShort, typeLong, typeLongLong:
		return 'I'
	case typeFloat, typeDouble, typeNewDecimal:
		return 'R'
	case typeDate:
		return 'D'
	case typeDatetime, typeTimestamp:
		return 'P'
	case typeJSON, typeGeometry, typeTime:
		return 'V'
	}
	return 'T'
}

// shown writes a value as the library does.
func (c sentColumn) shown(value string) string {
	switch {
	case value == null:
		return "NULL"
	case c.letter() == 'B':
		return map[string]string{"0": "false", "1": "true"}[value]
	case c.kind == typeBlob:
		return hex.EncodeToString([]byte(value))
	}
	return value
}

// normalCell is a value in the form that library and port share: what the protocol cannot carry is NULL, numbers are numbers, and
// nested values do not tell maps from structs.
func normalCell(letter byte, value string) string {
	switch letter {
	case 'R':
		if value == "NaN" || strings.HasSuffix(value, "Infinity") {
			return "NULL"
		}
		if f, err := strconv.ParseFloat(value, 64); err == nil && strings.Contains(value, "e") {
			if math.Abs(f) >= nearMaxFloat && math.Abs(f) < 2*nearMaxFloat {
				f = float64(float32(f))
			}
			value = strconv.FormatFloat(f, 'f', -1, 64)
		}
		return strings.TrimSuffix(value, ".0") // a float without a fraction
	case 'P':
		if strings.Contains(value, ".") {
			return strings.TrimRight(strings.TrimRight(value, "0"), ".")
		}
	case 'V':
		decoder := json.NewDecoder(strings.NewReader(value))
		decoder.UseNumber()
		var tree any
		if decoder.Decode(&tree) == nil {
			return string(normalJSON(nil, tree))
		}
	}
	return value
}

var instantText = regexp.MustCompile(`^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\.\d{6}Z?$`)

// normalJSON writes objects as lists of pairs in the order of their keys, and every scalar as text.
func normalJSON(out []byte, value any) []byte {
	var pairs []string
	switch v := value.(type) {
	case nil:
		return append(out, "null"...)
	case map[string]any:
		for name, member := range v {
			pairs = append(pairs, string(normalJSON(normalJSON([]byte("("), name), member))+")")
		}
	case []any:
		for _, element := range v {
			if pair, ok := element.([]any); ok && len(pair) == 2 {
				pairs = append(pairs, string(normalJSON(normalJSON([]byte("("), pair[0]), pair[1]))+")")
				continue
			}
			pairs = append(pairs, string(normalJSON(nil, element))+",")
		}
	case json.Number:
		f, _ := v.Float64()
		return fmt.Appendf(out, "%g ", f)
	case bool:
		return fmt.Appendf(out, "%v ", v)
	case string:
		switch f, err := strconv.ParseFloat(v, 64); {
		case v == "NaN" || strings.HasSuffix(v, "Infinity"):
			return append(out, "null"...)
		case err == nil:
			return fmt.Appendf(out, "%g ", f)
		case instantText.MatchString(v):
			v = strings.TrimSuffix(strings.Replace(v, "T", " ", 1), "Z")
		}
		if data, err := base64.StdEncoding.DecodeString(v); err == nil && strings.HasSuffix(v, "=") {
			v = hex.EncodeToString(data)
		}
		return fmt.Appendf(out, "%q", v)
	}
	slices.Sort(pairs)
	return append(append(append(out, '['), strings.Join(pairs, "")...), ']')
}

// TestNoAllocation makes sure that rows cost no memory of their own.
func TestNoAllocation(t *testing.T) {
	engine := newEngine(t)
	session, err := engine.NewSession(sqlengine.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := session.Execute(t.Context(), "SELECT id, CAST(id AS DECIMAL(20,2)), concat('x', id), CAST(id AS DOUBLE) / 3, DATE '2024-01-31', "+
		"TIMESTAMP '2024-01-31 12:00:00.5', CAST(id AS DECIMAL(38,5)), array(id, 2), id > 7 FROM range(3000)")
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	batch, err := result.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := packetWriter{to: &bytes.Buffer{}, out: make([]byte, 0, 1<<20)}
	rows := newRowWriter(&out, columnsOf(result.Columns, session.Dialect()))
	write := func(binary bool) func() {
		return func() {
			out.out = out.out[:0]
			if rows.batch(batch, 0, 100, binary) != nil {
				t.Fatal("the buffer is written")
			}
		}
	}
	for _, binary := range []bool{false, true} {
		if n := testing.AllocsPerRun(20, write(binary)); n > 2 {
			t.Errorf("100 rows (binary: %v) took %.0f allocations", binary, n)
		}
	}
}
