package meta

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deltasql/protocol"
	"deltasql/txn/log"
	"deltasql/txn/store"
)

// newSubject opens a table written here: each commit is a list of action lines.
func newSubject(t *testing.T, commits ...[]string) Subject {
	t.Helper()
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, protocol.LogFolder), 0o755); err != nil {
		t.Fatal(err)
	}
	for i, lines := range commits {
		name := filepath.Join(folder, protocol.LogFolder, protocol.CommitName(int64(i)))
		if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return openSubject(t, folder)
}

func openSubject(t *testing.T, folder string) Subject {
	t.Helper()
	files, err := store.NewLocal(folder)
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := log.OpenTable(files, "t", nil).Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return Subject{Catalog: "spark_catalog", Database: "default", Name: "t", Location: folder, Managed: true, Snapshot: snapshot}
}

// text is a table as lines of values, for comparison.
func rowsText(t *testing.T, table Table) []string {
	t.Helper()
	var lines []string
	for row, err := range table.Rows {
		if err != nil {
			t.Fatal(err)
		}
		if len(row) != len(table.Columns) {
			t.Fatalf("a row has %d values for %d columns", len(row), len(table.Columns))
		}
		line, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	return lines
}

const (
	legacyProtocol = `{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}`
	partitioned    = `{"metaData":{"id":"i","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":false,\"metadata\":{\"comment\":\"the key\"}},{\"name\":\"s\",\"type\":{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"integer\",\"nullable\":true,\"metadata\":{\"comment\":\"inner\"}}]},\"nullable\":true,\"metadata\":{}},{\"name\":\"p\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}},{\"name\":\"q\",\"type\":\"integer\",\"nullable\":true,\"metadata\":{}}]}","partitionColumns":["p","q"],"configuration":{"delta.appendOnly":"true","user.key":"v 1","delta.constraints.pos":"id > 0"},"createdTime":1700000000000,"description":"a table"}}`
)

func addLine(path, p, q string) string {
	return `{"add":{"path":"` + path + `","partitionValues":{"p":` + p + `,"q":` + q + `},"size":10,"modificationTime":1700000000000,"dataChange":true,"stats":"{\"numRecords\":3,\"minValues\":{\"id\":1},\"maxValues\":{\"id\":9},\"nullCount\":{}}"}}`
}

func partitionedSubject(t *testing.T) Subject {
	return newSubject(t,
		[]string{`{"commitInfo":{"timestamp":1700000000000,"operation":"CREATE TABLE","operationParameters":{"isManaged":"true","description":null,"n":5},"job":{"jobId":"7"},"isBlindAppend":true,"operationMetrics":{}}}`, legacyProtocol, partitioned},
		[]string{addLine("a1", `"a"`, `"1"`), addLine("a2", `"a"`, `"2"`), addLine("a3", `"a"`, `"2"`), addLine("n", `null`, `"2"`)})
}

func expect(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\ngot  %s\nwant %s", what, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

func TestDescribe(t *testing.T) {
	s := partitionedSubject(t)
	expect(t, "DESCRIBE", rowsText(t, Describe(s, false)), []string{
		`["id","bigint","the key"]`, `["s","struct\u003ca:int\u003e",null]`, `["p","string",null]`, `["q","int",null]`,
		`["# Partition Information","",""]`, `["# col_name","data_type","comment"]`, `["p","string",null]`, `["q","int",null]`,
	})
	expect(t, "DESCRIBE EXTENDED", rowsText(t, Describe(s, true))[8:], []string{
		`["","",""]`, `["# Constraints","",""]`, `["pos","CHECK (id \u003e 0)",""]`,
		`["","",""]`, `["# Detailed Table Information","",""]`, `["Catalog","spark_catalog",""]`, `["Namespace","default",""]`,
		`["Database","default",""]`, `["Table","t",""]`, `["Type","MANAGED",""]`, `["Comment","a table",""]`,
		`["Location","file:` + s.Location + `",""]`, `["Provider","delta",""]`, `["Is_managed_location","true",""]`,
		`["Table Properties","[delta.appendOnly=true,delta.constraints.pos=id \u003e 0,delta.minReaderVersion=1,delta.minWriterVersion=2,user.key=v 1]",""]`,
	})
	expect(t, "DESCRIBE t id", rowsText(t, DescribeColumn(s, s.Snapshot.Config().Schema.Fields[0])),
		[]string{`["col_name","id"]`, `["data_type","bigint"]`, `["comment","the key"]`})
}

func TestShowOfATable(t *testing.T) {
	s := partitionedSubject(t)
	expect(t, "TBLPROPERTIES", rowsText(t, Properties(s, "")), []string{
		`["delta.appendOnly","true"]`, `["delta.constraints.pos","id \u003e 0"]`, `["delta.minReaderVersion","1"]`, `["delta.minWriterVersion","2"]`, `["user.key","v 1"]`,
	})
	expect(t, "one property", rowsText(t, Properties(s, "DELTA.APPENDONLY")), []string{`["DELTA.APPENDONLY","true"]`})
	expect(t, "a missing property", rowsText(t, Properties(s, "no.such")), []string{`["no.such","Table spark_catalog.default.t does not have property: no.such"]`})
	expect(t, "CONSTRAINTS", rowsText(t, Constraints(s)), []string{`[null,"NOT NULL","id IS NOT NULL",true]`, `["pos","CHECK","id \u003e 0",true]`})
	expect(t, "FEATURES", rowsText(t, Features(s)), []string{`["appendOnly","writer","active",true,"delta.appendOnly = true",null]`,
		`["invariants","writer","active",false,"column id","[DELTASQL_FEATURE_IN_USE] the table feature invariants cannot be dropped: there is a NOT NULL column or an invariant: id"]`})
	expect(t, "FILES", rowsText(t, Files(s))[:1], []string{`["a1",10,{"p":"a","q":"1"},3,0,"{\"id\":1}","{\"id\":9}",1700000000000000,null,null]`})
	want := "CREATE TABLE spark_catalog.default.t (\n  id BIGINT NOT NULL COMMENT 'the key',\n  s STRUCT<a: INT COMMENT 'inner'>,\n  p STRING,\n  q INT,\n" +
		"  CONSTRAINT pos CHECK (id > 0))\nUSING delta\nPARTITIONED BY (p, q)\nCOMMENT 'a table'\nTBLPROPERTIES (\n  'delta.appendOnly' = 'true',\n" +
		"  'delta.minReaderVersion' = '1',\n  'delta.minWriterVersion' = '2',\n  'user.key' = 'v 1')\n"
	for row := range CreateTable(s).Rows {
		if row[0] != want {
			t.Errorf("SHOW CREATE TABLE:\n%s\nwant\n%s", row[0], want)
		}
	}
}

func TestPartitions(t *testing.T) {
	s := partitionedSubject(t)
	all, err := Partitions(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "PARTITIONS", rowsText(t, all), []string{`["a",1]`, `["a",2]`, `[null,2]`})
	some, err := Partitions(s, []PartitionFilter{{Column: "Q", Value: protocol.Value{Kind: protocol.KindInteger, Int: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "PARTITION (q = 2)", rowsText(t, some), []string{`["a",2]`, `[null,2]`})
	if _, err := Partitions(s, []PartitionFilter{{Column: "id"}}); protocol.ClassOf(err) != "DELTA_SHOW_PARTITION_IN_NON_PARTITIONED_COLUMN" {
		t.Errorf("a filter on another column: %v", err)
	}
	plain := newSubject(t, []string{legacyProtocol, strings.Replace(partitioned, `["p","q"]`, `[]`, 1)})
	if _, err := Partitions(plain, nil); protocol.ClassOf(err) != "DELTA_SHOW_PARTITION_IN_NON_PARTITIONED_TABLE" {
		t.Errorf("a table without partitions: %v", err)
	}
}

// Values that writers spell in different ways are one partition; times and sizes that cannot be are NULL, not what overflow makes of them.
func TestImpossibleNumbers(t *testing.T) {
	decimals := strings.NewReplacer(`\"q\",\"type\":\"integer\"`, `\"q\",\"type\":\"decimal(5,2)\"`, `1700000000000,"desc`, `9223372036854775807,"desc`).Replace(partitioned)
	huge := func(path, q string) string {
		return strings.NewReplacer(`"size":10`, `"size":9223372036854775807`, `"modificationTime":1700000000000`, `"modificationTime":9223372036854775807`).Replace(addLine(path, `"a"`, q))
	}
	s := newSubject(t, []string{legacyProtocol, decimals, huge("x", `"1.5"`), huge("y", `"1.50"`)})
	partitions, err := Partitions(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "PARTITIONS", rowsText(t, partitions), []string{`["a","1.50"]`})
	for row := range Detail(s).Rows {
		if row[5] != nil || row[9] != int64(2) || row[10] != nil {
			t.Errorf("DETAIL: created %v, %v files of %v bytes", row[5], row[9], row[10])
		}
	}
	for row := range Files(s).Rows {
		if row[7] != nil {
			t.Errorf("FILES: modified %v", row[7])
		}
	}
}

func TestTypesOfCreateTable(t *testing.T) {
	str := func(collation string) protocol.DataType {
		return protocol.DataType{Kind: protocol.KindString, Collation: collation}
	}
	plain, folded := str(""), str("UTF8_LCASE")
	for _, test := range []struct {
		of   protocol.DataType
		want string
	}{
		{plain, "STRING"}, {folded, "STRING COLLATE UTF8_LCASE"},
		{protocol.DataType{Kind: protocol.KindMap, Key: &plain, Value: &folded}, "MAP<STRING, STRING COLLATE UTF8_LCASE>"},
		{protocol.DataType{Kind: protocol.KindStruct, Fields: []protocol.Field{{Name: "a b", Type: folded}}}, "STRUCT<`a b`: STRING COLLATE UTF8_LCASE NOT NULL>"},
		{protocol.DataType{Kind: protocol.KindDecimal, Precision: 5, Scale: 2}, "DECIMAL(5,2)"},
	} {
		if got := sqlType(test.of); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}

func TestDetailAndHistory(t *testing.T) {
	s := partitionedSubject(t)
	rows := rowsText(t, Detail(s))
	if len(rows) != 1 || !strings.Contains(rows[0], `["p","q"],[],4,40,{`) || !strings.Contains(rows[0], `"spark_catalog.default.t","a table"`) ||
		!strings.HasSuffix(rows[0], `1,2,["appendOnly","invariants"]]`) {
		t.Errorf("DETAIL: %s", rows)
	}
	commits, err := s.Snapshot.Table().History(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	history := rowsText(t, History(commits))
	if len(history) != 2 {
		t.Fatalf("HISTORY: %v", history)
	}
	if !strings.Contains(history[1], `"CREATE TABLE",{"description":null,"isManaged":"true","n":"5"},["7",null,null,null,null,null],null,null,null,null,true,{},null,null]`) {
		t.Errorf("HISTORY of version 0: %s", history[1])
	}
}

// TestClusteringColumns checks both forms of the domain: paths, which writers write, and names, which the protocol's text shows.
func TestClusteringColumns(t *testing.T) {
	for configuration, want := range map[string][]string{
		`{\"clusteringColumns\":[[\"id\"],[\"s\",\"a\"]]}`: {"id", "s.a"},
		`{\"clusteringColumns\":[\"id\",\"p\"]}`:           {"id", "p"},
		`{\"clusteringColumns\":[]}`:                       {},
	} {
		subject := newSubject(t, []string{legacyProtocol, partitioned,
			`{"domainMetadata":{"domain":"delta.clustering","configuration":"` + configuration + `","removed":false}}`})
		expect(t, configuration, clusteringColumns(subject.Snapshot), want)
	}
}

func TestMatchLike(t *testing.T) {
	for _, test := range []struct {
		pattern, name string
		mysql, want   bool
	}{
		{"t_*", "t_one", false, true}, {"t_*", "tXone", false, false}, {"o*|t_one", "other", false, true}, {"o*|t_one", "T_ONE", false, true},
		{"zzz", "t", false, false}, {"*", "", false, true}, {"%", "abc", false, true}, {"a_c", "abc", true, true}, {"a_c", "abc", false, false},
		{"%b%", "abc", true, true}, {"*b*b*b", "abababa", false, false}, {"*b*b*b", "ababab", false, true},
	} {
		if got := MatchLike(&test.pattern, test.name, test.mysql); got != test.want {
			t.Errorf("%q LIKE %q (mysql %t): %t", test.name, test.pattern, test.mysql, got)
		}
	}
	if !MatchLike(nil, "x", false) {
		t.Error("no pattern matches everything")
	}
}

func TestSlice(t *testing.T) {
	table := Names("n", []string{"a", "b", "c"})
	expect(t, "LIMIT 1 OFFSET 1", rowsText(t, Slice(table, 1, 1, true)), []string{`["b"]`})
	expect(t, "OFFSET 2", rowsText(t, Slice(table, 2, 0, false)), []string{`["c"]`})
	expect(t, "LIMIT 0", rowsText(t, Slice(table, 0, 0, true)), nil)
}
