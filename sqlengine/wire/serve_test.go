package wire_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"deltasql/sqlengine"
	"deltasql/sqlengine/wire"
)

const testdata = "../../testdata"

// serve serves a catalog on a port of its own and gives its address.
func serve(t testing.TB, catalog string, options wire.Options) string {
	t.Helper()
	if catalog == "" {
		catalog = t.TempDir()
	}
	engine, err := sqlengine.Open(sqlengine.Options{Catalog: catalog, Memory: "1GB", Threads: 2, Roots: []string{testdata, catalog}})
	if err != nil {
		t.Fatal(err)
	}
	server := wire.New(engine, options)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-served; !errors.Is(err, wire.ErrClosed) {
			t.Errorf("serve: %v", err)
		}
		engine.Close()
	})
	return l.Addr().String()
}

// open opens a client's pool of one connection.
func open(t testing.TB, address, parameters string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", fmt.Sprintf("root@tcp(%s)/default?%s", address, parameters))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db
}

func errnoOf(err error) uint16 {
	var known *mysql.MySQLError
	if errors.As(err, &known) {
		return known.Number
	}
	return 0
}

// TestValues reads one value of every type by both protocols: they must agree, and the column must be described rightly.
func TestValues(t *testing.T) {
	db := open(t, serve(t, "", wire.Options{}), "")
	if _, err := db.Exec("SET deltasql_dialect = 'spark'"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("SET time_zone = 'Europe/Paris'"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ sql, of, want string }{
		{"true", "TINYINT", "1"},
		{"false", "TINYINT", "0"},
		{"CAST(-128 AS TINYINT)", "TINYINT", "-128"},
		{"CAST(-32768 AS SMALLINT)", "SMALLINT", "-32768"},
		{"CAST(-2147483648 AS INT)", "INT", "-2147483648"},
		{"CAST(-9223372036854775808 AS BIGINT)", "BIGINT", "-9223372036854775808"},
		{"CAST(1.5 AS FLOAT)", "FLOAT", "1.5"},
		{"CAST(0.1 AS DOUBLE)", "DOUBLE", "0.1"},
		{"CAST('NaN' AS DOUBLE)", "DOUBLE", ""},
		{"CAST('-Infinity' AS FLOAT)", "FLOAT", ""},
		{"CAST(1.10 AS DECIMAL(5,2))", "DECIMAL", "1.10"},
		{"CAST(-0.05 AS DECIMAL(18,2))", "DECIMAL", "-0.05"},
		{"CAST(0 AS DECIMAL(38,10))", "DECIMAL", "0.0000000000"},
		{"CAST('-9999999999999999999999999999.9999999999' AS DECIMAL(38,10))", "DECIMAL", "-9999999999999999999999999999.9999999999"},
		{"CAST('99999999999999999999999999999999999999' AS DECIMAL(38,0))", "DECIMAL", "99999999999999999999999999999999999999"},
		{"'žluťoučký 🐎'", "VARCHAR", "žluťoučký 🐎"},
		{"''", "VARCHAR", ""},
		{"repeat('x', 70000)", "VARCHAR", ""},
		{"X'00FF7F'", "BLOB", "\x00\xff\x7f"},
		{"DATE '0001-01-01'", "DATE", "0001-01-01"},
		{"DATE '9999-12-31'", "DATE", "9999-12-31"},
		{"date_add(DATE '9999-12-31', 1)", "DATE", ""},
		{"TIMESTAMP_NTZ '0001-01-01 00:00:00'", "DATETIME", "0001-01-01 00:00:00.000000"},
		{"TIMESTAMP_NTZ '1969-12-31 23:59:59.999999'", "DATETIME", "1969-12-31 23:59:59.999999"},
		{"TIMESTAMP '2024-07-01 12:00:00.5 UTC'", "TIMESTAMP", "2024-07-01 14:00:00.500000"},
		{"TIMESTAMP '2024-01-01 12:00:00 UTC'", "TIMESTAMP", "2024-01-01 13:00:00.000000"},
		{"array(1, NULL, 3)", "JSON", "[1, null, 3]"},
		{"map('a', 1.50BD, 'b', NULL)", "JSON", `{"a": 1.50, "b": null}`},
		{"map(1, 'x')", "JSON", `{"1": "x"}`},
		{"named_struct('a', X'00FF', 'b', DATE '2024-01-31', 'c', array(true))", "JSON", `{"a": "AP8=", "b": "2024-01-31", "c": [true]}`},
		{`parse_json('{"k":[1,"x"]}')`, "JSON", `{"k": [1, "x"]}`},
		{"INTERVAL '1-2' YEAR TO MONTH", "VARCHAR", "INTERVAL '1-2' YEAR TO MONTH"},
		{"INTERVAL '1 02:03:04.5' DAY TO SECOND", "VARCHAR", "INTERVAL '1 02:03:04.5' DAY TO SECOND"},
		{"CAST(NULL AS INT)", "INT", ""},
	} {
		text := "SELECT " + c.sql + " AS v"
		got := cells(t, db, text)
		bound := cells(t, db, text+" WHERE ? = 1", 1)
		long := len(got.value.String) > 1000
		if got.of != c.of || bound.of != c.of || got.value != bound.value || !long && got.value.String != c.want {
			t.Errorf("%s: %s %+.80q by text, %s %+.80q prepared, want %s %q", c.sql, got.of, got.value.String, bound.of, bound.value.String, c.of, c.want)
		}
		if null := c.want == "" && c.sql != "''" && !long; got.value.Valid == null {
			t.Errorf("%s: NULL is %v", c.sql, !got.value.Valid)
		}
	}
}

// TestTimes reads values of MySQL's TIME.
func TestTimes(t *testing.T) {
	db := open(t, serve(t, "", wire.Options{}), "")
	for text, want := range map[string]string{
		"TIME '10:11:12'": "10:11:12", "TIME '-838:59:59'": "-838:59:59", "TIME '00:00:00'": "00:00:00", "SEC_TO_TIME(3661)": "01:01:01",
	} {
		got, bound := cells(t, db, "SELECT "+text), cells(t, db, "SELECT "+text+" WHERE ? = 1", 1)
		if got.of != "TIME" || got.value.String != want {
			t.Errorf("%s is %s %q", text, got.of, got.value.String)
		}
		// The client prints a prepared TIME with the digits of the column's description.
		if bound.of != "TIME" || bound.value.String != want && bound.value.String != want+".000000" {
			t.Errorf("%s prepared is %s %q", text, bound.of, bound.value.String)
		}
	}
}

type cell struct {
	of    string
	value sql.NullString
}

// cells gives the one value of a query.
func cells(t testing.TB, db *sql.DB, text string, args ...any) cell {
	t.Helper()
	rows, err := db.Query(text, args...)
	if err != nil {
		t.Errorf("%s: %v", text, err)
		return cell{}
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		t.Fatal(err)
	}
	out := cell{of: types[0].DatabaseTypeName()}
	if !rows.Next() {
		t.Errorf("%s: no row, %v", text, rows.Err())
		return out
	}
	if err := rows.Scan(&out.value); err != nil {
		t.Errorf("%s: %v", text, err)
	}
	if rows.Next() || rows.Err() != nil {
		t.Errorf("%s: more than one row, or %v", text, rows.Err())
	}
	return out
}

// TestParameters sends a value of every Go type.
func TestParameters(t *testing.T) {
	db := open(t, serve(t, "", wire.Options{}), "")
	at := time.Date(2024, 2, 29, 13, 14, 15, 123456000, time.UTC)
	for _, c := range []struct {
		sql  string
		arg  any
		want string
	}{
		{"SELECT ?", int64(-5), "-5"},
		{"SELECT ?", uint64(1<<64 - 1), "18446744073709551615"},
		{"SELECT ? + 1", 41, "42"},
		{"SELECT ?", 1.25, "1.25"},
		{"SELECT ?", "it's \\ \"x\" 🐎", "it's \\ \"x\" 🐎"},
		{"SELECT ?", "", ""},
		{"SELECT HEX(?)", []byte{0, 255}, "00FF"},
		{"SELECT ? IS NULL", nil, "1"},
		{"SELECT ?", true, "1"},
		{"SELECT DATE(?)", at, "2024-02-29"},
		{"SELECT CAST(? AS DATETIME(6))", at, "2024-02-29 13:14:15.123456"},
		{"SELECT a FROM (SELECT 1 AS a UNION ALL SELECT 2 UNION ALL SELECT 3) t WHERE a > 1 ORDER BY a LIMIT ?", 1, "2"},
		{"SELECT COUNT(*) FROM (SELECT 1 AS a UNION ALL SELECT 2) t WHERE a IN (?, 7)", 2, "1"},
		{"SELECT CONCAT('%', ?)", "x", "%x"},
		{"SELECT CASE WHEN 1 = ? THEN 'yes' ELSE 'no' END", 1, "yes"},
		{"SELECT DATE '2024-01-31' + INTERVAL ? DAY", 1, "2024-02-01"},
	} {
		if got := cells(t, db, c.sql, c.arg); got.value.String != c.want {
			t.Errorf("%s with %v is %q, want %q", c.sql, c.arg, got.value.String, c.want)
		}
	}
	if _, err := db.Query("SELECT ?, ?", 1); err == nil {
		t.Error("one value for two parameters")
	}
}

// TestErrors holds numbers and states against MySQL's, and that the connection lives on.
func TestErrors(t *testing.T) {
	db := open(t, serve(t, "", wire.Options{}), "")
	for text, want := range map[string]uint16{
		"SELEC 1": 1064, "SELECT * FROM nowhere": 1146, "SELECT nope FROM (SELECT 1 AS a) t": 1054, "USE nowhere": 1049, "SELECT nofunction(1)": 1305,
		"SELECT @@no_variable": 1193, "KILL 123456": 1094, "KILL 'x'": 1094, "": 1065, "/* only a comment */": 1065, "SELECT 1; SELECT 2": 1064,
		"SELECT * FROM csv.`/etc/passwd`": 1290, "SELECT * FROM delta.`/`": 1290, "SELECT * FROM parquet.`/etc/*`": 1290,
	} {
		_, err := db.Query(text)
		if errnoOf(err) != want {
			t.Errorf("%q: %v, want %d", text, err, want)
		}
		// The same when it is prepared. Statements that are no queries are looked at when they run.
		statement, err := db.Prepare(text)
		if err == nil {
			_, err = statement.Exec()
			statement.Close()
		}
		if errnoOf(err) != want && errnoOf(err) != 1064 {
			t.Errorf("prepared %q: %v, want %d", text, err, want)
		}
	}
	if got := cells(t, db, "SELECT 1"); got.value.String != "1" {
		t.Error("the connection did not live on")
	}
}

// TestLateError makes sure that rows before an error are no success (W1).
func TestLateError(t *testing.T) {
	db := open(t, serve(t, "", wire.Options{}), "")
	if _, err := db.Exec("SET deltasql_dialect = 'spark'"); err != nil {
		t.Fatal(err)
	}
	rows, err := db.Query("SELECT CAST(concat(CASE WHEN id = 2900000 THEN 'x' ELSE '' END, id) AS INT) FROM range(3000000)")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for rows.Next() {
		n++
	}
	if n == 0 || n >= 3000000 || rows.Err() == nil || errnoOf(rows.Err()) != 1292 {
		t.Errorf("%d rows, then %v", n, rows.Err())
	}
	rows.Close()
	if got := cells(t, db, "SELECT connection_id() > 0"); got.value.String != "1" {
		t.Error("the connection did not live on")
	}
}

func TestMultiStatements(t *testing.T) {
	db := open(t, serve(t, "", wire.Options{}), "multiStatements=true")
	rows, err := db.Query("SELECT 1; SET sql_mode = 'ANSI_QUOTES'; SELECT \"a;b\" FROM (SELECT 2 AS \"a;b\") t; SELEC; SELECT 4")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var got []string
	for {
		for rows.Next() {
			var v string
			if err := rows.Scan(&v); err != nil {
				t.Fatal(err)
			}
			got = append(got, v)
		}
		if !rows.NextResultSet() {
			break
		}
	}
	if fmt.Sprint(got) != "[1 2]" || errnoOf(rows.Err()) != 1064 {
		t.Errorf("%v, then %v", got, rows.Err())
	}
}

// TestKill ends a statement and then a connection.
func TestKill(t *testing.T) {
	address := serve(t, "", wire.Options{})
	victim, other := open(t, address, ""), open(t, address, "")
	id := cells(t, victim, "SELECT connection_id()").value.String
	failed := make(chan error, 1)
	long := "SELECT sum(a.id * b.id % 7) FROM range(1000000) a CROSS JOIN range(1000000) b"
	run := func() {
		var v any
		failed <- victim.QueryRow(long).Scan(&v)
	}
	go run()
	waitFor(t, func() bool { return cells(t, other, "SELECT 1").value.Valid && running(t, other, id) == long })
	if _, err := other.Exec("KILL QUERY " + id); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; errnoOf(err) != 1317 {
		t.Errorf("the killed statement: %v", err)
	}
	if got := cells(t, victim, "SELECT connection_id()").value.String; got != id {
		t.Errorf("connection %s became %s", id, got)
	}
	go run()
	waitFor(t, func() bool { return running(t, other, id) == long })
	if _, err := other.Exec("KILL " + id); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err == nil {
		t.Error("the statement of a killed connection went on")
	}
	waitFor(t, func() bool { return running(t, other, id) == "gone" })
}

// running is the statement that a connection runs.
func running(t testing.TB, db *sql.DB, id string) string {
	t.Helper()
	rows, err := db.Query("SHOW FULL PROCESSLIST")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var number, user, host, command string
		var database, state, info sql.NullString
		var seconds int64
		if err := rows.Scan(&number, &user, &host, &database, &command, &seconds, &state, &info); err != nil {
			t.Fatal(err)
		}
		if number == id {
			return info.String
		}
	}
	return "gone"
}

func waitFor(t testing.TB, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not come about")
		}
	}
}

// TestLostClient makes sure that a statement whose client has gone ends.
func TestLostClient(t *testing.T) {
	address := serve(t, "", wire.Options{})
	victim, other := open(t, address, ""), open(t, address, "")
	id := cells(t, victim, "SELECT connection_id()").value.String
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		var v any
		victim.QueryRowContext(ctx, "SELECT sum(a.id * b.id % 7) FROM range(1000000) a CROSS JOIN range(1000000) b").Scan(&v)
		close(done)
	}()
	waitFor(t, func() bool { return len(running(t, other, id)) > 10 })
	cancel() // the driver closes its connection
	<-done
	waitFor(t, func() bool { return running(t, other, id) == "gone" })
}

// TestTimeout ends a statement that takes too long.
func TestTimeout(t *testing.T) {
	db := open(t, serve(t, "", wire.Options{StatementTimeout: 100 * time.Millisecond}), "")
	var v any
	err := db.QueryRow("SELECT sum(a.id * b.id % 7) FROM range(1000000) a CROSS JOIN range(1000000) b").Scan(&v)
	if errnoOf(err) != 3024 {
		t.Errorf("%v", err)
	}
	if got := cells(t, db, "SELECT 1"); got.value.String != "1" {
		t.Error("the connection did not live on")
	}
}

// TestIdle closes a connection that says nothing.
func TestIdle(t *testing.T) {
	address := serve(t, "", wire.Options{IdleTimeout: 50 * time.Millisecond})
	db, other := open(t, address, ""), open(t, address, "")
	id := cells(t, db, "SELECT connection_id()").value.String
	waitFor(t, func() bool { return running(t, other, id) == "gone" })
}

func TestTooManyConnections(t *testing.T) {
	address := serve(t, "", wire.Options{MaxConnections: 1})
	first, second := open(t, address, ""), open(t, address, "")
	if got := cells(t, first, "SELECT 1"); got.value.String != "1" {
		t.Fatal("the first connection")
	}
	if err := second.Ping(); errnoOf(err) != 1040 {
		t.Errorf("the second connection: %v", err)
	}
}

// TestTLS connects over TLS with a certificate that is made on the way.
func TestTLS(t *testing.T) {
	address := serve(t, "", wire.Options{TLS: wire.SelfSignedTLS(), RequireTLS: true})
	if got := cells(t, open(t, address, "tls=skip-verify"), "SELECT repeat('x', 100000)"); len(got.value.String) != 100000 {
		t.Error("over TLS")
	}
	secured := open(t, address, "tls=skip-verify")
	for name, prefix := range map[string]string{"Ssl_cipher": "TLS_", "Ssl_version": "TLSv1."} {
		var value string
		if err := secured.QueryRow("SHOW STATUS LIKE '"+name+"'").Scan(&name, &value); err != nil || !strings.HasPrefix(value, prefix) {
			t.Errorf("%s is %q (%v), want it to begin with %s", name, value, err, prefix)
		}
	}
	if err := open(t, address, "").Ping(); errnoOf(err) != 3159 {
		t.Errorf("without TLS: %v", err)
	}
}

// TestLargeMessages sends and gets more than one packet carries.
func TestLargeMessages(t *testing.T) {
	db := open(t, serve(t, "", wire.Options{MaxPacket: 40 << 20}), "maxAllowedPacket=67108864")
	big := make([]byte, 17<<20)
	for i := range big {
		big[i] = byte('a' + i%26)
	}
	var got string
	if err := db.QueryRow("SELECT ?", string(big)).Scan(&got); err != nil || got != string(big) {
		t.Errorf("%d bytes came back as %d, %v", len(big), len(got), err)
	}
	if err := db.QueryRow("SELECT LENGTH('" + string(big) + "')").Scan(&got); err != nil || got != fmt.Sprint(len(big)) {
		t.Errorf("a statement of %d bytes: %.20s, %v", len(big), got, err)
	}
	if _, err := db.Exec("SELECT '" + string(big) + string(big) + string(big) + "'"); err == nil {
		t.Error("more than max_allowed_packet was taken")
	}
	if got := cells(t, db, "SELECT 1"); got.value.String != "1" {
		t.Error("a new connection")
	}
}

// TestSocket serves on a Unix socket.
func TestSocket(t *testing.T) {
	engine, err := sqlengine.Open(sqlengine.Options{Catalog: t.TempDir(), Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	server := wire.New(engine, wire.Options{})
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Skip(err)
	}
	go server.Serve(l)
	defer server.Shutdown(context.Background())
	db, err := sql.Open("mysql", "root@unix("+path+")/")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if got := cells(t, db, "SELECT 1"); got.value.String != "1" {
		t.Error(got)
	}
}

// TestLocalFile loads rows that the client sends, more than one packet of them, and goes on after a load that fails early.
func TestLocalFile(t *testing.T) {
	db := open(t, serve(t, "", wire.Options{}), "allowAllFiles=true")
	var text strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&text, "%d\tline %d\n", i, i)
	}
	mysql.RegisterReaderHandler("rows", func() io.Reader { return strings.NewReader(text.String()) })
	defer mysql.DeregisterReaderHandler("rows")
	for _, sql := range []string{"CREATE TABLE t (a INT, b VARCHAR(20))", "CREATE TABLE dates (a DATE, b INT)"} {
		if _, err := db.Exec(sql); err != nil {
			t.Fatal(err)
		}
	}
	result, err := db.Exec("LOAD DATA LOCAL INFILE 'Reader::rows' INTO TABLE t")
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := result.RowsAffected(); n != 200_000 {
		t.Errorf("%d rows were loaded", n)
	}
	if got := cells(t, db, "SELECT CONCAT(COUNT(*), ' ', SUM(a), ' ', MAX(b)) FROM t"); got.value.String != "200000 19999900000 line 99999" {
		t.Errorf("%q", got.value.String)
	}
	if _, err := db.Exec("LOAD DATA LOCAL INFILE 'Reader::rows' INTO TABLE nowhere"); errnoOf(err) != 1146 {
		t.Errorf("into no table: %v", err)
	}
	if got := cells(t, db, "SELECT 1"); got.value.String != "1" {
		t.Error("the connection did not live on")
	}
}

// TestTransaction rolls back at the driver's word, and when the connection ends.
func TestTransaction(t *testing.T) {
	address := serve(t, "", wire.Options{})
	db, other := open(t, address, ""), open(t, address, "")
	if _, err := db.Exec("CREATE TABLE t (a INT)"); err != nil {
		t.Fatal(err)
	}
	count := func(want string) {
		t.Helper()
		if got := cells(t, other, "SELECT COUNT(*) FROM t").value.String; got != want {
			t.Errorf("%s rows, want %s", got, want)
		}
	}
	for i, end := range []func(*sql.Tx) error{(*sql.Tx).Rollback, (*sql.Tx).Commit} {
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec("INSERT INTO t VALUES (?), (2)", 1); err != nil {
			t.Fatal(err)
		}
		count("0")
		if err := end(tx); err != nil {
			t.Error(i, err)
		}
	}
	count("2")
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("INSERT INTO t VALUES (3)"); err != nil {
		t.Fatal(err)
	}
	var id string
	if err := tx.QueryRow("SELECT CONNECTION_ID()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Exec("KILL " + id); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return running(t, other, id) == "gone" })
	count("2")
}
