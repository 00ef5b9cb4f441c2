package wire_test

import (
	"io"
	"strings"
	"testing"

	"deltasql/sqlengine/wire"

	"github.com/go-sql-driver/mysql"
)

// TestLoadLocal loads a file that the client has, and goes on where the statement does not want it.
func TestLoadLocal(t *testing.T) {
	var text strings.Builder
	for range 100_000 {
		text.WriteString("7,\"some, text\"\n")
	}
	mysql.RegisterReaderHandler("rows", func() io.Reader { return strings.NewReader(text.String()) })
	mysql.RegisterReaderHandler("bad", func() io.Reader { return strings.NewReader("1,x\n" + strings.Repeat("\xff,x\n", 200_000)) })
	defer mysql.DeregisterReaderHandler("rows")
	defer mysql.DeregisterReaderHandler("bad")
	db := open(t, serve(t, "", wire.Options{}), "")
	if _, err := db.Exec("CREATE TABLE t (id BIGINT AUTO_INCREMENT, n INT, name VARCHAR(50))"); err != nil {
		t.Fatal(err)
	}
	const clauses = ` INTO TABLE t FIELDS TERMINATED BY ',' ENCLOSED BY '"' (n, name)`
	result, err := db.Exec("LOAD DATA LOCAL INFILE 'Reader::rows'" + clauses)
	if err != nil {
		t.Fatal(err)
	}
	affected, _ := result.RowsAffected()
	first, _ := result.LastInsertId()
	if affected != 100_000 || first != 1 {
		t.Errorf("%d rows, first id %d", affected, first)
	}
	if _, err := db.Exec("LOAD DATA LOCAL INFILE 'Reader::bad'" + clauses); errnoOf(err) == 0 {
		t.Errorf("text that is not UTF-8: %v", err)
	}
	if _, err := db.Exec("LOAD DATA LOCAL INFILE 'Reader::rows' INTO TABLE missing"); errnoOf(err) != 1146 {
		t.Errorf("a missing table: %v", err)
	}
	if result, err = db.Exec("INSERT INTO t (n) VALUES (1), (2)"); err != nil {
		t.Fatal(err)
	}
	if first, _ = result.LastInsertId(); first != 100_001 {
		t.Errorf("the first id of the next statement is %d", first)
	}
	var rows, ids, sum int
	if err := db.QueryRow("SELECT count(*), count(DISTINCT id), sum(n) FROM t WHERE name = 'some, text'").Scan(&rows, &ids, &sum); err != nil || rows != 100_000 || ids != rows || sum != 7*rows {
		t.Errorf("%d rows, %d ids, sum %d, %v", rows, ids, sum, err)
	}
	if _, err := db.Exec("CREATE TEMPORARY TABLE mine (x INT)"); err != nil {
		t.Fatal(err)
	}
}
