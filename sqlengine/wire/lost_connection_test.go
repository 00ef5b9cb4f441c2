package wire_test

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"deltasql/sqlengine"
	"deltasql/sqlengine/wire"
)

// filesBelow are the names of files below a folder. Folders of partitions stay without files, as another writer may be about to use them.
func filesBelow(t testing.TB, folder string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, path)
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) { // a folder may go while it is walked
		t.Fatal(err)
	}
	return names
}

// lostTables are tables whose changes stage every kind of file there is: data files in folders of partitions, rewritten ones, deletion
// vectors and change files.
var lostTables = []string{
	"CREATE TABLE plain (id INT, v INT) TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')",
	"CREATE TABLE parts (id INT, v INT) PARTITIONED BY (v)",
	"CREATE TABLE vectors (id INT, v INT) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'delta.enableRowTracking' = 'true')",
	"CREATE TABLE fed (id INT, v INT) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'delta.enableChangeDataFeed' = 'true')",
}

// TestLostTransactions ends connections in the middle of a transaction in every way: the table stays as it was, for its readers and on
// the disk, and what is the session's own goes with it.
func TestLostTransactions(t *testing.T) {
	catalog, temporary := t.TempDir(), t.TempDir()
	engine, err := sqlengine.Open(sqlengine.Options{Catalog: catalog, TempDir: temporary, Memory: "512MB", Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	server := wire.New(engine, wire.Options{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	address := l.Addr().String()
	other := open(t, address, "")
	exec := func(db *sql.DB, statements ...string) {
		t.Helper()
		for _, text := range statements {
			if _, err := db.Exec(text); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
	}
	exec(other, lostTables...)
	names := []string{"plain", "parts", "vectors", "fed"}
	for _, name := range names {
		exec(other, "INSERT INTO "+name+" VALUES (1, 1), (2, 2), (3, 3), (4, 4)")
	}
	before, temporaries := filesBelow(t, catalog), filesBelow(t, temporary)

	// The driver's connections go through sockets that the test can break.
	var mu sync.Mutex
	var sockets []net.Conn
	mysql.RegisterDialContext("breakable", func(ctx context.Context, address string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			mu.Lock()
			sockets = append(sockets, c)
			mu.Unlock()
		}
		return c, err
	})
	breakAll := func() {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range sockets {
			_ = c.(*net.TCPConn).SetLinger(0) // the other side is told by a reset, not by a goodbye
			c.Close()
		}
		sockets = nil
	}
	long := "INSERT INTO %s SELECT CAST(a.id AS INT), CAST(a.id %% 3 AS INT) FROM range(100000) a, range(100000) b"
	ways := map[string]func(victim *sql.DB, id, name string){
		"reset": func(*sql.DB, string, string) { breakAll() },
		"quit":  func(victim *sql.DB, _, _ string) { victim.Close() },
		"kill":  func(_ *sql.DB, id, _ string) { exec(other, "KILL "+id) },
		"kill query": func(victim *sql.DB, id, _ string) {
			exec(other, "KILL QUERY "+id)
			exec(victim, "ROLLBACK")
			victim.Close()
		},
		"mid write": nil, // below: the connection breaks while a statement writes
		"mid kill":  nil,
	}
	for way, end := range ways {
		for _, name := range names {
			t.Run(way+"/"+name, func(t *testing.T) {
				victim, err := sql.Open("mysql", fmt.Sprintf("root@breakable(%s)/default", address))
				if err != nil {
					t.Fatal(err)
				}
				victim.SetMaxOpenConns(1)
				defer victim.Close()
				var id string
				if err := victim.QueryRow("SELECT CONNECTION_ID()").Scan(&id); err != nil {
					t.Fatal(err)
				}
				exec(victim, "CREATE TEMPORARY TABLE own (id INT)", "INSERT INTO own VALUES (1)", "BEGIN", "INSERT INTO "+name+" VALUES (5, 5), (6, 6)",
					"UPDATE "+name+" SET v = v + 10 WHERE id IN (2, 5)", "SAVEPOINT s", "DELETE FROM "+name+" WHERE id = 1", "DELETE FROM "+name+" WHERE id = 6")
				if slices.Equal(filesBelow(t, catalog), before) {
					t.Fatal("the transaction has staged nothing")
				}
				if end != nil {
					end(victim, id, name)
				} else {
					failed := make(chan error, 1)
					text := fmt.Sprintf(long, name)
					go func() {
						_, err := victim.Exec(text)
						failed <- err
					}()
					waitFor(t, func() bool { return running(t, other, id) == text })
					if way == "mid kill" {
						exec(other, "KILL "+id)
					} else {
						breakAll()
					}
					if err := <-failed; err == nil {
						t.Error("the statement succeeded")
					}
				}
				waitFor(t, func() bool { return running(t, other, id) == "gone" })
				waitFor(t, func() bool { return slices.Equal(filesBelow(t, catalog), before) })
				waitFor(t, func() bool { return slices.Equal(filesBelow(t, temporary), temporaries) })
				if got := cells(t, other, "SELECT CONCAT(COUNT(*), '/', SUM(v)) FROM "+name).value.String; got != "4/10" {
					t.Errorf("rows and sum are %s", got)
				}
			})
		}
	}

	// The server goes while transactions are open.
	for _, name := range names {
		victim := open(t, address, "")
		exec(victim, "BEGIN", "UPDATE "+name+" SET v = 0", "INSERT INTO "+name+" VALUES (7, 7)")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		t.Errorf("shutdown: %v", err)
	}
	<-served
	if after := filesBelow(t, catalog); !slices.Equal(after, before) {
		t.Errorf("after the shutdown there are\n%q\nthere were\n%q", after, before)
	}
}
