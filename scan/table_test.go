package scan

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/txn/log"
)

// testTable is a Delta table made by hand: Parquet files by COPY, a log of JSON lines.
type testTable struct {
	*log.Table
	t       testing.TB
	in      *duck.Instance
	dir     string
	version int
}

// newTable makes a table from a schema as "name type" pairs in JSON fields, and further members of metaData and protocol.
func newTable(t testing.TB, in *duck.Instance, fields string, partitionColumns []string, configuration map[string]string) *testTable {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "_delta_log"), 0o755); err != nil {
		t.Fatal(err)
	}
	tt := &testTable{Table: openTable(t, in, dir), t: t, in: in, dir: dir}
	tt.commit(
		`{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors","columnMapping","timestampNtz"],`+
			`"writerFeatures":["deletionVectors","columnMapping","timestampNtz","changeDataFeed","rowTracking","domainMetadata","appendOnly","invariants"]}}`,
		metadataLine(fields, partitionColumns, configuration))
	return tt
}

func metadataLine(fields string, partitionColumns []string, configuration map[string]string) string {
	var settings []string
	for name, value := range configuration {
		settings = append(settings, fmt.Sprintf("%q:%q", name, value))
	}
	quoted := make([]string, len(partitionColumns))
	for i, name := range partitionColumns {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	return fmt.Sprintf(`{"metaData":{"id":"x","format":{"provider":"parquet","options":{}},"schemaString":%q,"partitionColumns":[%s],"configuration":{%s}}}`,
		`{"type":"struct","fields":[`+fields+`]}`, strings.Join(quoted, ","), strings.Join(settings, ","))
}

// field is a nullable field of a schema; typ is JSON.
func field(name, typ string) string {
	return fmt.Sprintf(`{"name":%q,"type":%s,"nullable":true,"metadata":{}}`, name, typ)
}

func mapped(name, typ, physical string, id int) string {
	return fmt.Sprintf(`{"name":%q,"type":%s,"nullable":true,"metadata":{"delta.columnMapping.physicalName":%q,"delta.columnMapping.id":%d}}`,
		name, typ, physical, id)
}

func (tt *testTable) commit(lines ...string) {
	tt.t.Helper()
	name := filepath.Join(tt.dir, "_delta_log", fmt.Sprintf("%020d.json", tt.version))
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		tt.t.Fatal(err)
	}
	tt.version++
}

// write makes a Parquet file inside the table.
func (tt *testTable) write(path, query, options string) {
	tt.t.Helper()
	full := filepath.Join(tt.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		tt.t.Fatal(err)
	}
	if err := tt.in.Exec(context.Background(), "COPY ("+query+") TO "+duck.QuoteString(full)+" (FORMAT parquet"+options+")"); err != nil {
		tt.t.Fatal(err)
	}
}

// add is an add action; more are further members of it.
func add(path, partitionValues, more string) string {
	return fmt.Sprintf(`{"add":{"path":%q,"partitionValues":{%s},"size":1,"modificationTime":1000,"dataChange":true%s}}`, path, partitionValues, more)
}

// relation builds a scan of the newest version over the named columns.
func (tt *testTable) relation(hidden []HiddenColumn, names ...string) (*Relation, error) {
	tt.t.Helper()
	snapshot, err := tt.Snapshot(context.Background())
	if err != nil {
		tt.t.Fatal(err)
	}
	var columns []int
	for _, name := range names {
		columns = append(columns, snapshot.Config().Schema.Lookup(name))
	}
	return Build(context.Background(), tt.in, Request{Snapshot: snapshot, Columns: columns, Hidden: hidden})
}

// rows are the rows of a scan, sorted; expressions (over c0, c1, ...) replace the columns where they are given.
func (tt *testTable) rows(expressions, where string, names ...string) string {
	tt.t.Helper()
	relation, err := tt.relation(nil, names...)
	if err != nil {
		return string(protocol.ClassOf(err))
	}
	defer relation.Release()
	return query(tt.t, tt.in, relation, expressions, where)
}

// query runs a statement over a relation and gives its rows, or the class of its error.
func query(t testing.TB, in *duck.Instance, relation *Relation, expressions, where string) string {
	t.Helper()
	if where != "" {
		where = " WHERE " + where
	}
	sql := fmt.Sprintf("SELECT CAST([%s] AS VARCHAR) FROM (%s)%s", expressions, relation.SQL, where)
	stream, err := in.Query(context.Background(), sql, relation.Args...)
	if err != nil {
		return errorText(t, relation.Diagnose(err))
	}
	defer stream.Close()
	var rows []string
	for {
		batch, err := stream.Next(context.Background())
		if err != nil {
			if err = relation.Diagnose(err); err.Error() != "EOF" {
				return errorText(t, err)
			}
			slices.Sort(rows)
			return strings.Join(rows, " ")
		}
		for row := range batch.Len() {
			rows = append(rows, batch.Vector(0).Text(row))
		}
	}
}

func errorText(t testing.TB, err error) string {
	if class := protocol.ClassOf(err); class != protocol.ClassInternal {
		return string(class)
	}
	t.Log(err)
	return "error"
}
