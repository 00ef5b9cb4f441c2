package rewrite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deltasql/protocol"
	"deltasql/scan"
	"deltasql/scan/duck"
	"deltasql/txn"
	"deltasql/txn/log"
	"deltasql/txn/store"

	"github.com/google/uuid"
)

func openInstance(t testing.TB) *duck.Instance {
	t.Helper()
	in, err := duck.Open(duck.Config{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return in
}

// testTable is a table in a folder of its own, made by transactions.
type testTable struct {
	*log.Table
	t   testing.TB
	in  *duck.Instance
	dir string
}

var features = protocol.Protocol{
	MinReaderVersion: 3, MinWriterVersion: 7,
	ReaderFeatures: []string{"columnMapping", "timestampNtz", "variantType", "variantShredding", "deletionVectors"},
	WriterFeatures: []string{"columnMapping", "timestampNtz", "variantType", "variantShredding", "deletionVectors", "rowTracking", "domainMetadata", "changeDataFeed", "appendOnly", "identityColumns"},
}

// newTable makes a table without rows: fields are those of the schema, in JSON.
func newTable(t testing.TB, in *duck.Instance, fields string, partitionColumns []string, configuration map[string]string) *testTable {
	t.Helper()
	metadata := protocol.Metadata{
		ID: "id", Provider: "parquet", SchemaString: `{"type":"struct","fields":[` + fields + `]}`,
		PartitionColumns: partitionColumns, Configuration: configuration,
	}
	return newTableOf(t, in, features, metadata)
}

func newTableOf(t testing.TB, in *duck.Instance, p protocol.Protocol, metadata protocol.Metadata, domains ...protocol.DomainMetadata) *testTable {
	t.Helper()
	return newTableIn(t, in, filepath.Join(t.TempDir(), "t"), p, metadata, domains...)
}

func newTableIn(t testing.TB, in *duck.Instance, dir string, p protocol.Protocol, metadata protocol.Metadata, domains ...protocol.DomainMetadata) *testTable {
	t.Helper()
	st, err := store.NewLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	tt := &testTable{Table: log.OpenTable(st, dir, scan.LogParquet{Instance: in}), t: t, in: in, dir: dir}
	tx, err := txn.Create(context.Background(), tt.Table, transactionOptions())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(tx.SetProtocol(p), tx.SetMetadata(metadata)); err != nil {
		t.Fatal(err)
	}
	for _, d := range domains {
		if err := tx.SetDomain(d); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tx.Commit(context.Background(), txn.Operation{Name: "CREATE TABLE"}); err != nil {
		t.Fatal(err)
	}
	return tt
}

func transactionOptions() txn.Options {
	return txn.Options{Now: time.Now, NewID: uuid.NewString, Engine: "test"}
}

func (tt *testTable) begin() *txn.Transaction {
	tt.t.Helper()
	tx, err := txn.Begin(context.Background(), tt.Table, tt.snapshot(), transactionOptions())
	if err != nil {
		tt.t.Fatal(err)
	}
	return tx
}

func (tt *testTable) snapshot() *log.Snapshot {
	tt.t.Helper()
	s, err := tt.Snapshot(context.Background())
	if err != nil {
		tt.t.Fatal(err)
	}
	return s
}

// write appends rows, which are said to satisfy whatever the table demands of them.
func (tt *testTable) write(sql string, args ...any) *Written {
	tt.t.Helper()
	written, err := tt.tryWrite(context.Background(), Rows{SQL: sql, Args: args}, Options{DataChange: true})
	if err != nil {
		tt.t.Fatal(err)
	}
	return written
}

func (tt *testTable) tryWrite(ctx context.Context, rows Rows, o Options) (*Written, error) {
	tx := tt.begin()
	rows.Done = tx.Duties()
	written, err := Write(ctx, tt.in, tx, rows, o)
	if err != nil {
		tx.Abort(context.Background())
		return nil, err
	}
	_, err = tx.Commit(context.Background(), txn.Operation{Name: "WRITE", AllowEmpty: true})
	return written, err
}

// rows are the rows of a query, a text each, in order of the texts.
func rows(t testing.TB, in *duck.Instance, sql string, args ...any) []string {
	t.Helper()
	stream, err := in.Query(context.Background(), sql, args...)
	if err != nil {
		t.Fatalf("%v in %s", err, sql)
	}
	defer stream.Close()
	out := []string{}
	for {
		batch, err := stream.Next(context.Background())
		if errors.Is(err, io.EOF) {
			slices.Sort(out)
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		for row := range batch.Len() {
			var text strings.Builder
			for i := range stream.Columns() {
				if i > 0 {
					text.WriteByte('|')
				}
				if v := batch.Vector(i); v.Valid(row) {
					text.Write(v.Bytes(row))
				} else {
					text.WriteString("NULL")
				}
			}
			out = append(out, text.String())
		}
	}
}

// read are the rows of the table, in the form of comparable.
func (tt *testTable) read() []string {
	tt.t.Helper()
	snapshot := tt.snapshot()
	fields := snapshot.Config().Schema.Fields
	columns := make([]int, len(fields))
	outputs := make([]string, len(fields))
	for i := range columns {
		columns[i] = i
	}
	relation, err := scan.Build(context.Background(), tt.in, scan.Request{Snapshot: snapshot, Columns: columns})
	if err != nil {
		tt.t.Fatal(err)
	}
	defer relation.Release()
	for i := range outputs {
		outputs[i] = comparable(relation.Logical(i, fmt.Sprintf("c%d", i)), fields[i].Type)
	}
	return rows(tt.t, tt.in, "SELECT "+strings.Join(outputs, ", ")+" FROM ("+relation.SQL+")", relation.Args...)
}

// comparable is an expression of the text of a value, in which a variant's null differs from NULL.
func comparable(e string, t protocol.DataType) string {
	if hasVariant(t) {
		return "CAST(CAST(" + tagged(e, t) + " AS JSON) AS VARCHAR)"
	}
	return "CAST(" + e + " AS VARCHAR)"
}

func hasVariant(t protocol.DataType) bool {
	switch t.Kind {
	case protocol.KindVariant:
		return true
	case protocol.KindArray:
		return hasVariant(*t.Element)
	case protocol.KindMap:
		return hasVariant(*t.Value)
	case protocol.KindStruct:
		return slices.ContainsFunc(t.Fields, func(f protocol.Field) bool { return hasVariant(f.Type) })
	}
	return false
}

func tagged(e string, t protocol.DataType) string {
	if !hasVariant(t) {
		return e
	}
	switch t.Kind {
	case protocol.KindVariant:
		return "CASE WHEN " + e + " IS NOT NULL THEN {'$variant': CAST(" + e + " AS JSON)} END"
	case protocol.KindArray:
		return "list_transform(" + e + ", lambda x: " + tagged("x", *t.Element) + ")"
	case protocol.KindMap:
		return "map_from_entries(list_transform(map_entries(" + e + "), lambda y: {'key': y.key, 'value': " + tagged("y.value", *t.Value) + "}))"
	}
	var members []string
	for _, f := range t.Fields {
		name := duck.QuoteIdentifier(string(f.Name))
		members = append(members, name+" := "+tagged(e+"."+name, f.Type))
	}
	return "CASE WHEN " + e + " IS NOT NULL THEN struct_pack(" + strings.Join(members, ", ") + ") END"
}

// dataFiles are the files of the table's folder but for its log.
func (tt *testTable) dataFiles() []string {
	tt.t.Helper()
	var out []string
	err := filepath.WalkDir(tt.dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(tt.dir, path)
		if entry.IsDir() && name == "_delta_log" {
			return filepath.SkipDir
		}
		if !entry.IsDir() {
			out = append(out, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		tt.t.Fatal(err)
	}
	return out
}

func field(name, typ string) string {
	return fmt.Sprintf(`{"name":%q,"type":%s,"nullable":true,"metadata":{}}`, name, typ)
}
