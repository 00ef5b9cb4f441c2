package fieldbugs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine"
	"deltasql/sqlengine/render"
)

// engine answers the statements of all tests, over the catalog engineFolder; writer is a DuckDB of its own that makes their Parquet files.
var (
	engine       *sqlengine.Engine
	engineFolder string
	writer       *duck.Instance
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	catalog, err := os.MkdirTemp("", "fieldbugs")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(catalog)
	engineFolder = catalog
	if engine, err = sqlengine.Open(sqlengine.Options{Catalog: catalog, Memory: "1GB", Threads: 2}); err != nil {
		return 0, err
	}
	defer engine.Close()
	if writer, err = duck.Open(duck.Config{MemoryLimit: "1GB", Threads: 2, KeepOrder: true}); err != nil {
		return 0, err
	}
	defer writer.Close()
	return m.Run(), nil
}

// table is a folder with hand-written log lines and Parquet files made by COPY, and two sessions that read it.
type table struct {
	t               *testing.T
	dir             string
	skipping, plain *sqlengine.Session // with and without skipping and answers from statistics
	vectors         int                // files of deletion vectors so far
	moved           time.Duration      // of the times of commits, for a log that is written anew
}

// shape is what version 0 of a table says. The zero value of each member means the plainest table: protocol (1,2), no partition.
type shape struct {
	protocol    string   // the action's inner JSON
	features    string   // reader and writer features, separated by blanks: protocol (3,7)
	fields      []string // "name type", "name type not null", or a field's JSON
	partitionBy []string
	config      map[string]string
	id          string
}

// columns is the shape of a table with these fields and nothing else.
func columns(fields ...string) shape { return shape{fields: fields} }

// newTable writes version 0: protocol, metadata and the actions.
func newTable(t *testing.T, s shape, actions ...string) *table {
	t.Helper()
	tb := emptyFolder(t)
	tb.commit(0, append([]string{s.protocolAction(), s.metadataAction()}, actions...)...)
	return tb
}

// emptyFolder is a table of which only the folder of the log is there.
func emptyFolder(t *testing.T) *table {
	t.Helper()
	tb := &table{t: t, dir: t.TempDir()}
	var err error
	if tb.skipping, err = engine.NewSession(sqlengine.SessionOptions{}); err != nil {
		t.Fatal(err)
	}
	off := map[string]string{"deltasql_skipping": "off", "deltasql_metadata_answers": "off"}
	if tb.plain, err = engine.NewSession(sqlengine.SessionOptions{Settings: off}); err != nil {
		t.Fatal(err)
	}
	tb.check(os.Mkdir(filepath.Join(tb.dir, "_delta_log"), 0o755))
	return tb
}

// readerFeatures are the ones of shape.features that belong into both lists.
var readerFeatures = strings.Fields("columnMapping deletionVectors timestampNtz typeWidening typeWidening-preview v2Checkpoint variantType " +
	"variantType-preview variantShredding-preview vacuumProtocolCheck catalogManaged someFutureFeature otherFutureFeature thirdFutureFeature")

func (s shape) protocolAction() string {
	switch {
	case s.protocol != "":
		return `{"protocol":` + s.protocol + `}`
	case s.features == "":
		return `{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}`
	}
	var reader []string
	for _, name := range strings.Fields(s.features) {
		if slices.Contains(readerFeatures, name) {
			reader = append(reader, name)
		}
	}
	return fmt.Sprintf(`{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":%s,"writerFeatures":%s}}`,
		asJSON(append([]string{}, reader...)), asJSON(strings.Fields(s.features)))
}

func (s shape) metadataAction() string {
	id := s.id
	if id == "" {
		id = "5fba94ed-9794-4965-ba6e-6ee3c0d22af9"
	}
	config := s.config
	if config == nil {
		config = map[string]string{}
	}
	return fmt.Sprintf(`{"metaData":{"id":%q,"format":{"provider":"parquet","options":{}},"schemaString":%s,"partitionColumns":%s,`+
		`"configuration":%s,"createdTime":1700000000000}}`, id, asJSON(s.schema()), asJSON(append([]string{}, s.partitionBy...)), asJSON(config))
}

func (s shape) schema() string { return structType(s.fields...) }

// structType is a struct's schema JSON of fields as in shape.
func structType(fields ...string) string {
	out := make([]string, len(fields))
	for i, f := range fields {
		if strings.HasPrefix(f, "{") {
			out[i] = f
			continue
		}
		f, notNull := strings.CutSuffix(f, " not null")
		name, typ, _ := strings.Cut(f, " ")
		out[i] = field(name, typ, !notNull, "{}")
	}
	return `{"type":"struct","fields":[` + strings.Join(out, ",") + `]}`
}

// field is a field's schema JSON; typ is a type's name or JSON, metadata is JSON.
func field(name, typ string, nullable bool, metadata string) string {
	if !strings.HasPrefix(typ, "{") {
		typ = asJSON(typ)
	}
	return fmt.Sprintf(`{"name":%s,"type":%s,"nullable":%t,"metadata":%s}`, asJSON(name), typ, nullable, metadata)
}

// mapped is a nullable field under column mapping.
func mapped(name, typ, physical string, id int) string {
	return field(name, typ, true, fmt.Sprintf(`{"delta.columnMapping.id":%d,"delta.columnMapping.physicalName":%s}`, id, asJSON(physical)))
}

func arrayOf(typ string) string {
	if !strings.HasPrefix(typ, "{") {
		typ = asJSON(typ)
	}
	return `{"type":"array","elementType":` + typ + `,"containsNull":true}`
}

func mapOf(key, value string) string {
	if !strings.HasPrefix(value, "{") {
		value = asJSON(value)
	}
	return `{"type":"map","keyType":` + asJSON(key) + `,"valueType":` + value + `,"valueContainsNull":true}`
}

func asJSON(value any) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // only texts, lists and maps of texts are given
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// commit writes a version of the log, whose time is a minute a version after 2024-05-01 10:00 UTC.
func (tb *table) commit(version int, actions ...string) {
	tb.t.Helper()
	name := fmt.Sprintf("_delta_log/%020d.json", version)
	// A commit appears whole, as every writer of the format makes it: some tests read while others commit.
	unfinished := fmt.Sprintf("_delta_log/.%020d.tmp", version)
	tb.write(unfinished, []byte(strings.Join(actions, "\n")+"\n"))
	tb.setTime(unfinished, commitTime(version).Add(tb.moved))
	tb.check(os.Rename(tb.path(unfinished), tb.path(name)))
}

func commitTime(version int) time.Time {
	return time.Date(2024, 5, 1, 10, version, 0, 0, time.UTC)
}

func (tb *table) setTime(name string, at time.Time) {
	tb.t.Helper()
	tb.check(os.Chtimes(tb.path(name), at, at))
}

// path is where a file of the table lies.
func (tb *table) path(name string) string { return filepath.Join(tb.dir, name) }

func (tb *table) write(name string, data []byte) {
	tb.t.Helper()
	tb.check(os.MkdirAll(filepath.Dir(tb.path(name)), 0o755))
	tb.check(os.WriteFile(tb.path(name), data, 0o644))
}

func (tb *table) read(name string) []byte {
	tb.t.Helper()
	data, err := os.ReadFile(tb.path(name))
	tb.check(err)
	return data
}

func (tb *table) remove(name string) {
	tb.t.Helper()
	tb.check(os.RemoveAll(tb.path(name)))
}

func (tb *table) check(err error) {
	tb.t.Helper()
	if err != nil {
		tb.t.Fatal(err)
	}
}

// parquet writes the rows of a DuckDB query as a file of the table; options are COPY's.
func (tb *table) parquet(name, query string, options ...string) {
	tb.t.Helper()
	tb.check(os.MkdirAll(filepath.Dir(tb.path(name)), 0o755))
	all := strings.Join(append([]string{"FORMAT parquet"}, options...), ", ")
	if err := writer.Exec(context.Background(), "COPY ("+query+") TO "+duck.QuoteString(tb.path(name))+" ("+all+")"); err != nil {
		tb.t.Fatalf("%s: %v", query, err)
	}
}

// ids is the query of rows with a BIGINT id from first to last.
func ids(first, last int) string {
	return fmt.Sprintf("SELECT range AS id FROM range(%d, %d)", first, last+1)
}

// add is an add action of a path as the log writes it; the size is the file's if it is there. Members are further ones of the
// action: stats, partition, a vector.
func (tb *table) add(path string, members ...string) string {
	return tb.fileAction("add", path, append(members, `"modificationTime":1700000000000`)...)
}

// drop is a remove action.
func (tb *table) drop(path string, members ...string) string {
	return tb.fileAction("remove", path, append(members, `"deletionTimestamp":1700000000000,"extendedFileMetadata":true`)...)
}

func (tb *table) fileAction(kind, path string, members ...string) string {
	size := int64(1000)
	if plain, err := url.PathUnescape(path); err == nil {
		if info, err := os.Stat(tb.path(plain)); err == nil {
			size = info.Size()
		}
	}
	all := strings.Join(members, ",")
	if !strings.Contains(all, `"partitionValues"`) {
		all += `,"partitionValues":{}`
	}
	if !strings.Contains(all, `"dataChange"`) {
		all += `,"dataChange":true`
	}
	return fmt.Sprintf(`{%q:{"path":%s,"size":%d,%s}}`, kind, asJSON(path), size, all)
}

// stats is the member of an add with statistics JSON.
func stats(text string) string { return `"stats":` + asJSON(text) }

// records is statistics with a row count alone.
func records(n int) string { return stats(`{"numRecords":` + strconv.Itoa(n) + `}`) }

// bounds is statistics of one column whose bounds are JSON values.
func bounds(n int, column, low, high string, nulls int) string {
	return stats(fmt.Sprintf(`{"numRecords":%d,"minValues":{%[2]q:%[3]s},"maxValues":{%[2]q:%[4]s},"nullCount":{%[2]q:%[5]d}}`, n, column, low, high, nulls))
}

// partition is the member of an action with partition values, as pairs of name and JSON text.
func partition(pairs ...string) string {
	var out []string
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, asJSON(pairs[i])+":"+pairs[i+1])
	}
	return `"partitionValues":{` + strings.Join(out, ",") + `}`
}

// rows runs a statement in which $t is the table and $dir its folder, with skipping, and gives its rows as sorted JSON arrays.
func (tb *table) rows(sql string) ([]string, error) { return tb.rowsIn(tb.skipping, sql) }

func (tb *table) rowsIn(session *sqlengine.Session, sql string) ([]string, error) {
	sql = strings.ReplaceAll(strings.ReplaceAll(sql, "$t", "delta.`"+tb.dir+"`"), "$dir", tb.dir)
	ctx := context.Background()
	result, err := session.Execute(ctx, sql)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	rows := []string{}
	for {
		batch, err := result.Next(ctx)
		if errors.Is(err, io.EOF) {
			slices.Sort(rows)
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		for row := range batch.Len() {
			line := []byte{}
			for i := range result.Columns {
				if i > 0 {
					line = append(line, ',')
				}
				line = render.AppendJSON(line, batch.Vector(i), row, &result.Columns[i].Type, render.VariantWrapped)
			}
			rows = append(rows, string(line))
		}
	}
}

// want checks the rows of a query, in any order; each is its values as JSON, separated by commas.
func (tb *table) want(sql string, rows ...string) {
	tb.t.Helper()
	slices.Sort(rows)
	for _, session := range []*sqlengine.Session{tb.skipping, tb.plain} {
		got, err := tb.rowsIn(session, sql)
		if err != nil {
			tb.t.Errorf("%s (skipping %t): %v", sql, session == tb.skipping, err)
		} else if !slices.Equal(got, rows) {
			tb.t.Errorf("%s (skipping %t)\ngot  %s\nwant %s", sql, session == tb.skipping, strings.Join(got, " | "), strings.Join(rows, " | "))
		}
	}
}

// wantIDs checks that a condition holds for exactly these ids.
func (tb *table) wantIDs(condition string, ids ...int) {
	tb.t.Helper()
	rows := make([]string, len(ids))
	for i, id := range ids {
		rows[i] = strconv.Itoa(id)
	}
	tb.want("SELECT id FROM $t WHERE "+condition, rows...)
}

// refuse checks that a statement fails with a class and a message that says all of the texts, and that the session goes on.
func (tb *table) refuse(sql string, class protocol.Class, says ...string) {
	tb.t.Helper()
	rows, err := tb.rows(sql)
	if err == nil {
		tb.t.Errorf("%s\ngave %s\nwant %s", sql, strings.Join(rows, " | "), class)
		return
	}
	text := err.Error()
	if known := (*protocol.Error)(nil); errors.As(err, &known) {
		text += " " + known.Table + " " + known.Hint
	}
	if got := protocol.ClassOf(err); got != class {
		tb.t.Errorf("%s\nfailed with %s: %s\nwant %s", sql, got, text, class)
	}
	for _, part := range says {
		if !strings.Contains(text, strings.ReplaceAll(part, "$dir", tb.dir)) {
			tb.t.Errorf("%s\nthe error does not say %q: %s", sql, part, text)
		}
	}
	if one, err := tb.rows("SELECT 1"); err != nil || !slices.Equal(one, []string{"1"}) {
		tb.t.Errorf("the session does not go on after %s: %v, %v", sql, one, err)
	}
}

var filesRead = regexp.MustCompile(`files read +([0-9,]+)`)

// wantFiles checks how many files the scans of a query read, by EXPLAIN.
func (tb *table) wantFiles(sql string, files int) {
	tb.t.Helper()
	lines, err := tb.linesOf("EXPLAIN " + sql)
	if err != nil {
		tb.t.Errorf("EXPLAIN %s: %v", sql, err)
		return
	}
	read := 0
	for _, match := range filesRead.FindAllStringSubmatch(lines, -1) {
		n, err := strconv.Atoi(strings.ReplaceAll(match[1], ",", ""))
		tb.check(err)
		read += n
	}
	if read != files {
		tb.t.Errorf("%s reads %d files, want %d\n%s", sql, read, files, lines)
	}
}

func (tb *table) linesOf(sql string) (string, error) {
	rows, err := tb.rows(sql)
	return strings.Join(rows, "\n"), err
}
