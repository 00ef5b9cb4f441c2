package rewrite

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"deltasql/protocol"
	"deltasql/scan"
	"deltasql/stats"
	"deltasql/txn"
	"deltasql/txn/log"
)

// layoutChoice is a configuration of a table.
type layoutChoice struct {
	vectors, partitioned, feeds, tracked bool
	mapping                              string
}

func (l layoutChoice) String() string {
	text := "mapping " + l.mapping
	for name, on := range map[string]bool{"vectors": l.vectors, "partitioned": l.partitioned, "feeds": l.feeds, "tracked": l.tracked} {
		if on {
			text += " " + name
		}
	}
	words := strings.Fields(text)
	slices.Sort(words[2:])
	return strings.Join(words, " ")
}

func layoutChoices() (all []layoutChoice) {
	for _, mapping := range []string{"none", "name", "id"} {
		for bits := range 16 {
			all = append(all, layoutChoice{bits&1 != 0, bits&2 != 0, bits&4 != 0, bits&8 != 0, mapping})
		}
	}
	return all
}

// newModelTable makes a table of the columns k, v, n, x and p.
func newModelTable(t testing.TB, l layoutChoice) *testTable {
	in := openInstance(t)
	configuration := map[string]string{
		"delta.enableDeletionVectors": strconv.FormatBool(l.vectors), "delta.enableChangeDataFeed": strconv.FormatBool(l.feeds), "delta.columnMapping.mode": l.mapping,
	}
	if l.tracked {
		configuration["delta.enableRowTracking"] = "true"
		configuration["delta.rowTracking.materializedRowIdColumnName"] = "_row-id-col-1"
		configuration["delta.rowTracking.materializedRowCommitVersionColumnName"] = "_row-commit-version-col-1"
	}
	id := 0
	named := func(name, typ string) string {
		id++
		metadata := "{}"
		if l.mapping != "none" {
			metadata = fmt.Sprintf(`{"delta.columnMapping.id":%d,"delta.columnMapping.physicalName":"col-%d"}`, id, id)
		}
		return fmt.Sprintf(`{"name":%q,"type":%s,"nullable":true,"metadata":%s}`, name, typ, metadata)
	}
	fields := []string{named("k", `"long"`), named("v", `"string"`),
		named("n", `{"type":"struct","fields":[`+named("a", `"long"`)+","+named("b", `"string"`)+`]}`), named("x", `"variant"`), named("p", `"string"`)}
	if l.mapping != "none" {
		configuration["delta.columnMapping.maxColumnId"] = strconv.Itoa(id)
	}
	var partitions []string
	if l.partitioned {
		partitions = []string{"p"}
	}
	return newTable(t, in, strings.Join(fields, ","), partitions, configuration)
}

// modelRow is a row; its other columns follow from k.
type modelRow struct {
	k           int64
	v, p        string // "" for NULL
	id, version int64  // where rows are tracked
}

// text is the row as testTable.read gives it.
func (r modelRow) text() string {
	n, x, or := fmt.Sprintf("{'a': %d, 'b': b%d}", r.k%7, r.k), fmt.Sprintf(`{"$variant":%d}`, r.k), func(text string) string { return cmp.Or(text, "NULL") }
	if r.k%5 == 0 {
		n = "NULL"
	}
	if r.k%3 == 0 {
		x = "NULL"
	}
	return fmt.Sprintf("%d|%s|%s|%s|%s", r.k, or(r.v), n, x, or(r.p))
}

// values are the expressions of the row's columns.
func (r modelRow) values() string {
	text := func(s string) string {
		if s == "" {
			return "CAST(NULL AS VARCHAR)"
		}
		return "'" + s + "'"
	}
	n, x := fmt.Sprintf("{'a': %d::BIGINT, 'b': 'b%d'}", r.k%7, r.k), fmt.Sprintf("%d::BIGINT::VARIANT", r.k)
	if r.k%5 == 0 {
		n = "CAST(NULL AS STRUCT(a BIGINT, b VARCHAR))"
	}
	if r.k%3 == 0 {
		x = "CAST(NULL AS VARIANT)"
	}
	return fmt.Sprintf("%d::BIGINT, %s, %s, %s, %s", r.k, text(r.v), n, x, text(r.p))
}

// model is the table as plain rows.
type model struct {
	*rand.Rand
	*testTable
	layout layoutChoice
	rows   map[int64]modelRow
	before map[int64]modelRow // at the last commit
	next   int64              // the next k
	mark   int64              // the greatest row id so far
	// changes are the change rows of the statements since the last commit, which may be several.
	changes    []string
	statements int
}

func (m *model) insertRows() []modelRow {
	list := make([]modelRow, 1+m.IntN(12))
	for i := range list {
		list[i] = modelRow{k: m.next, v: fmt.Sprintf("v%d", m.IntN(5)), p: []string{"", "a", "b=c %"}[m.IntN(3)]}
		if m.IntN(4) == 0 {
			list[i].v = ""
		}
		m.next++
	}
	return list
}

func (m *model) note(kind string, r modelRow) { m.changes = append(m.changes, kind+"|"+r.text()) }

// pick chooses keys of live rows: sometimes none, sometimes all.
func (m *model) pick() []int64 {
	keys := slices.Sorted(maps.Keys(m.rows))
	m.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	return keys[:[]int{0, 1, m.IntN(len(keys) + 1), m.IntN(len(keys) + 1), len(keys)}[m.IntN(5)]%(len(keys)+1)]
}

// statement is a change of picked rows: actions say what becomes of each.
func (m *model) statement(tx *txn.Transaction, actions map[int64]Action, inserts []modelRow, step int) (*Applied, error) {
	view, err := tx.View()
	if err != nil {
		return nil, err
	}
	c := Changes{HasOld: m.IntN(2) == 0, ChangeFiles: m.IntN(2) == 0, Done: tx.Duties()}
	updated := map[int64]modelRow{}
	for k, action := range actions {
		c.HasNew = c.HasNew || action == Update || action == UpdateBySource
		if r := m.rows[k]; action == Update || action == UpdateBySource {
			r.v = fmt.Sprintf("u%d", step)
			if m.IntN(3) == 0 {
				r.p = []string{"", "a", "new"}[m.IntN(3)]
			}
			updated[k] = r
		}
	}
	c.HasNew = c.HasNew || len(inserts) > 0 || m.IntN(3) == 0
	c.HasRowIDs = m.layout.tracked && c.HasNew
	request := scan.Request{Snapshot: view, Columns: []int{0, 1, 2, 3, 4}, Hidden: []scan.HiddenColumn{scan.FileNumber, scan.RowIndex}}
	if c.HasRowIDs {
		request.Hidden = append(request.Hidden, scan.RowID, scan.RowCommitVersion)
	}
	relation, err := scan.Build(context.Background(), m.in, request)
	if err != nil {
		return nil, err
	}
	defer relation.Release()
	old := fmt.Sprintf("c0, c1, %s, %s, c4", relation.Logical(2, "c2"), relation.Logical(3, "c3"))
	const none = "CAST(NULL AS BIGINT), CAST(NULL AS VARCHAR), CAST(NULL AS STRUCT(a BIGINT, b VARCHAR)), CAST(NULL AS VARIANT), CAST(NULL AS VARCHAR)"
	var parts []string
	part := func(place string, action Action, olds, news, ids, rest string) {
		sql := fmt.Sprintf("SELECT %s, %d::TINYINT", place, action)
		for _, more := range []struct {
			wanted bool
			sql    string
		}{{c.HasOld, olds}, {c.HasNew, news}, {c.HasRowIDs, ids}} {
			if more.wanted {
				sql += ", " + more.sql
			}
		}
		parts = append(parts, sql+rest)
	}
	for k, action := range actions {
		news := none
		if r, ok := updated[k]; ok {
			news = r.values()
		}
		part("c5, c6", action, old, news, "c7, c8", fmt.Sprintf(" FROM r WHERE c0 = %d", k))
	}
	for _, r := range inserts {
		part("NULL::BIGINT, NULL::BIGINT", Insert, none, r.values(), "NULL::BIGINT, NULL::BIGINT", "")
	}
	if len(parts) == 0 {
		part("c5, c6", Delete, old, none, "c7, c8", " FROM r WHERE false")
	}
	c.SQL, c.Args = "WITH r AS ("+relation.SQL+") "+strings.Join(parts, " UNION ALL "), relation.Args
	a, err := Apply(context.Background(), m.in, tx, view, c, Options{})
	if err != nil {
		return nil, err
	}
	want := Applied{Inserted: int64(len(inserts))}
	for k, action := range actions {
		switch action {
		case Delete, DeleteBySource:
			want.Deleted++
			m.note("delete", m.rows[k])
			delete(m.rows, k)
		case Update, UpdateBySource:
			want.Updated++
			m.note("update_preimage", m.rows[k])
			m.note("update_postimage", updated[k])
			r := updated[k]
			r.version = -1
			m.rows[k] = r
		}
	}
	m.insert(inserts)
	if a.Deleted != want.Deleted || a.Updated != want.Updated || a.Inserted != want.Inserted {
		m.t.Errorf("%d deleted, %d updated, %d inserted, not %+v", a.Deleted, a.Updated, a.Inserted, want)
	}
	return a, nil
}

func (m *model) insert(list []modelRow) {
	for _, r := range list {
		r.id, r.version = -1, -1
		m.rows[r.k] = r
		m.note("insert", r)
	}
}

// step makes one random statement in the transaction.
func (m *model) step(tx *txn.Transaction, step int) (string, error) {
	m.statements++
	actions := map[int64]Action{}
	each := func(choices ...Action) {
		for _, k := range m.pick() {
			actions[k] = choices[m.IntN(len(choices))]
		}
	}
	switch m.IntN(8) {
	case 0, 1:
		list := m.insertRows()
		var values []string
		for _, r := range list {
			values = append(values, "SELECT "+r.values())
		}
		done := append(tx.Duties(), txn.Duty{Kind: txn.ChangeRows}, txn.Duty{Kind: txn.RowIDs})
		_, err := Write(context.Background(), m.in, tx, Rows{SQL: "SELECT * FROM (" + strings.Join(values, " UNION ALL ") + ") AS rows(c0, c1, c2, c3, c4)", Done: done}, Options{DataChange: true})
		m.insert(list)
		return "WRITE", err
	case 2, 3:
		each(Delete)
		_, err := m.statement(tx, actions, nil, step)
		return "DELETE", err
	case 4, 5:
		each(Update)
		_, err := m.statement(tx, actions, nil, step)
		return "UPDATE", err
	case 6:
		each(Update, Delete, Keep, UpdateBySource, DeleteBySource)
		_, err := m.statement(tx, actions, m.insertRows(), step)
		return "MERGE of all kinds", err // not called MERGE, whose metrics would have to be there
	}
	view, err := tx.View()
	if err != nil {
		return "", err
	}
	p := stats.Predicate(nil)
	gone := func(r modelRow) bool { return true }
	if m.layout.partitioned {
		leaf := stats.Leaf{Path: []protocol.PhysicalName{view.Config().PhysicalName(4)}, Type: protocol.DataType{Kind: protocol.KindString}, Partition: true}
		p = stats.Or{stats.Compare{Leaf: leaf, Op: stats.Equal, Value: protocol.Value{Kind: protocol.KindString, Str: "a"}}, stats.IsNull{Leaf: leaf}}
		gone = func(r modelRow) bool { return r.p == "a" || r.p == "" }
	}
	a, decided, err := RemoveWhere(context.Background(), m.in, tx, view, p)
	if err != nil || !decided {
		return "", fmt.Errorf("decided %t: %w", decided, err)
	}
	deleted := int64(0)
	for k, r := range m.rows {
		if gone(r) {
			deleted++
			m.note("delete", r)
			delete(m.rows, k)
		}
	}
	if a.Deleted != deleted {
		m.t.Errorf("%d rows were deleted with their files, not %d", a.Deleted, deleted)
	}
	return "DELETE", nil
}

// commit commits and compares everything.
func (m *model) commit(tx *txn.Transaction, operation string) {
	m.t.Helper()
	done, err := tx.Commit(context.Background(), txn.Operation{Name: operation})
	if err != nil {
		m.t.Fatalf("%s: %v", operation, err)
	}
	if len(done.Warnings) > 0 {
		m.t.Errorf("%s: %q", operation, done.Warnings)
	}
	m.compareRows(done.Version)
	if done.Empty {
		if len(m.changes) > 0 && m.statements == 1 { // what several insert and delete again leaves nothing
			m.t.Errorf("%s made no version for %q", operation, m.changes)
		}
	} else if m.layout.feeds {
		m.compareChanges(done.Version)
	}
	if entries, err := m.in.Query(context.Background(), "SELECT count(*) FROM duckdb_tables()"); err != nil {
		m.t.Error(err)
	} else {
		if batch, err := entries.Next(context.Background()); err != nil || batch.Vector(0).Int64(0) != 0 {
			m.t.Errorf("%s left tables (%v)", operation, err)
		}
		entries.Close()
	}
	m.before, m.changes, m.statements = maps.Clone(m.rows), nil, 0
}

func (m *model) compareRows(version int64) {
	m.t.Helper()
	var want []string
	for _, r := range m.rows {
		want = append(want, r.text())
	}
	slices.Sort(want)
	if got := m.read(); !slices.Equal(got, want) {
		m.t.Fatalf("version %d has\n%s\nwant\n%s", version, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !m.layout.tracked {
		return
	}
	relation, err := scan.Build(context.Background(), m.in, scan.Request{Snapshot: m.snapshot(), Columns: []int{0}, Hidden: []scan.HiddenColumn{scan.RowID, scan.RowCommitVersion}})
	if err != nil {
		m.t.Fatal(err)
	}
	defer relation.Release()
	mark, seen := m.mark, map[int64]bool{}
	for _, line := range rows(m.t, m.in, "SELECT c0::VARCHAR, c1::VARCHAR, c2::VARCHAR FROM ("+relation.SQL+")", relation.Args...) {
		var k, id, changed int64
		if _, err := fmt.Sscanf(strings.ReplaceAll(line, "|", " "), "%d %d %d", &k, &id, &changed); err != nil {
			m.t.Fatalf("the row %s: %v", line, err)
		}
		r := m.rows[k]
		if r.id < 0 {
			if id <= m.mark {
				m.t.Errorf("the new row %d has the id %d, of which %d were given before", k, id, m.mark)
			}
			r.id = id
		}
		if r.version < 0 {
			r.version = version
		}
		if id != r.id || changed != r.version {
			m.t.Errorf("the row %d has the id %d and the version %d, not %d and %d", k, id, changed, r.id, r.version)
		}
		if seen[id] {
			m.t.Errorf("two rows have the id %d", id)
		}
		seen[id] = true
		mark = max(mark, id)
		m.rows[k] = r
	}
	m.mark = mark
}

// compareChanges compares a version's change rows: of one statement exactly; of several the sum of what comes and goes.
func (m *model) compareChanges(version int64) {
	m.t.Helper()
	changes, err := scan.BuildChanges(context.Background(), m.in, scan.ChangeRequest{Table: m.Table, From: version, To: version})
	if err != nil {
		m.t.Fatal(err)
	}
	defer changes.Release()
	outputs := []string{"c5"}
	for i, f := range changes.Config.Schema.Fields {
		outputs = append(outputs, comparable(changes.Logical(i, fmt.Sprintf("c%d", i)), f.Type))
	}
	got := rows(m.t, m.in, "SELECT "+strings.Join(outputs, ", ")+" FROM ("+changes.SQL+")", changes.Args...)
	want := slices.Sorted(slices.Values(m.changes))
	if m.statements > 1 {
		got, want = sumOf(got), []string{}
		for k, r := range m.before {
			if now, ok := m.rows[k]; !ok || now.text() != r.text() {
				want = append(want, "-|"+r.text())
			}
		}
		for k, r := range m.rows {
			if was, ok := m.before[k]; !ok || was.text() != r.text() {
				want = append(want, "+|"+r.text())
			}
		}
		slices.Sort(want)
	}
	if !slices.Equal(got, want) {
		m.t.Fatalf("version %d (%d statements) changes\n%s\nwant\n%s", version, m.statements, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// sumOf is what change rows come to.
func sumOf(changes []string) []string {
	counts := map[string]int{}
	for _, line := range changes {
		kind, row, _ := strings.Cut(line, "|")
		if kind == "delete" || kind == "update_preimage" {
			counts[row]--
		} else {
			counts[row]++
		}
	}
	out := []string{}
	for row, n := range counts {
		for ; n > 0; n-- {
			out = append(out, "+|"+row)
		}
		for ; n < 0; n++ {
			out = append(out, "-|"+row)
		}
	}
	slices.Sort(out)
	return out
}

// pack writes some files anew, as OPTIMIZE does.
func (m *model) pack(view *log.Snapshot, tx *txn.Transaction) error {
	files := []int32{}
	rows := int64(0)
	for i := range view.Files().Len() {
		if m.IntN(3) > 0 {
			files = append(files, int32(i))
			n, _ := view.Files().NumRecords(i)
			rows += n - view.Files().DeletedRows(i)
		}
	}
	m.statements++
	a, err := Rewrite(context.Background(), m.in, tx, view, files, Options{Apart: m.IntN(2) == 0})
	if err == nil && (a.Copied != rows || a.FilesRemoved != len(files)) {
		m.t.Errorf("%+v of %d files with %d rows", a, len(files), rows)
	}
	return err
}

// TestModel changes random rows in tables of every configuration and compares rows, change rows, row ids and versions with a plain
// model after each commit; the tables are checked in depth at the end.
func TestModel(t *testing.T) {
	commits := 7
	for i, l := range layoutChoices() {
		if testing.Short() && i%7 != 0 {
			continue
		}
		t.Run(l.String(), func(t *testing.T) {
			runModel(t, l, uint64(i), commits)
		})
	}
}

func runModel(t *testing.T, l layoutChoice, seed uint64, commits int) {
	m := &model{Rand: rand.New(rand.NewPCG(7, seed)), testTable: newModelTable(t, l), layout: l, rows: map[int64]modelRow{}, mark: -1, next: 1}
	for step := range commits {
		tx := m.begin()
		operation := "OPTIMIZE"
		var err error
		switch {
		case step > 1 && m.IntN(5) == 0:
			view, _ := tx.View()
			err = m.pack(view, tx)
		case step == 0 || m.IntN(3) > 0:
			operation, err = m.step(tx, step)
		default:
			for range 2 + m.IntN(2) {
				if operation, err = m.step(tx, step); err != nil {
					break
				}
			}
		}
		if err != nil {
			t.Fatalf("step %d: %s: %v", step, operation, err)
		}
		m.commit(tx, operation)
		if t.Failed() {
			t.Fatalf("step %d was %s", step, operation)
		}
	}
	m.check()
}
