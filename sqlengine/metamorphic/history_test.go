package metamorphic_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"deltasql/protocol"
	"deltasql/sqlengine"
	"deltasql/sqlengine/render"
)

var historyFlag = flag.Int64("history", 1, "seed of the first history")

// layout is how one table of a history is kept.
type layout struct {
	name                    string
	partitions              []string
	cluster                 bool
	vectors, feeds, tracked bool
	mapping                 string
	checkpoints             int
}

func (l layout) create() string {
	by := ""
	if len(l.partitions) > 0 {
		by = " PARTITIONED BY (" + strings.Join(l.partitions, ", ") + ")"
	} else if l.cluster {
		by = " CLUSTER BY (k, v)"
	}
	return fmt.Sprintf("CREATE TABLE %s (u BIGINT NOT NULL, k BIGINT, v STRING, d DOUBLE, n DECIMAL(12,3), dt DATE, ts TIMESTAMP, st STRUCT<x: INT, y: STRING>, p STRING, PRIMARY KEY (u))%s"+
		" TBLPROPERTIES ('delta.enableDeletionVectors' = '%t', 'delta.enableChangeDataFeed' = '%t', 'delta.enableRowTracking' = '%t', 'delta.columnMapping.mode' = '%s', 'delta.checkpointInterval' = '%d')",
		l.name, by, l.vectors, l.feeds, l.tracked, l.mapping, l.checkpoints)
}

// drawLayouts are n different ways.
func drawLayouts(r *rand.Rand, n int) (list []layout) {
	for i := range n {
		list = append(list, layout{
			name: "t" + strconv.Itoa(i), partitions: [][]string{nil, {"p"}, nil, {"p", "dt"}, {"n"}, {"ts", "p"}}[r.IntN(6)], cluster: r.IntN(2) == 0,
			vectors: (i+r.IntN(2))%2 == 0, feeds: r.IntN(3) > 0, tracked: r.IntN(3) > 0,
			mapping: []string{"none", "name", "id"}[r.IntN(3)], checkpoints: []int{1, 1, 10}[r.IntN(3)],
		})
	}
	return list
}

// historyTable is a table of a history and what is known of it.
type historyTable struct {
	layout
	state   *state
	mark    int64 // the greatest row id seen
	version int64
	past    map[int64]*state // by version, the changes included
}

// history is one sequence of statements, done to tables of several layouts and to the model.
type history struct {
	t       *testing.T
	catalog string
	engine  *sqlengine.Engine
	session *sqlengine.Session // that changes
	other   *sqlengine.Session // that sees nothing before COMMIT
	author  *author
	log     []string
	// versions are the tables' versions after each step.
	versions [][]int64
}

// TestHistories makes random histories of every kind of change on tables of several layouts: all tables must have the model's rows, give
// its change rows and keep the ids of rows. DELTASQL_HISTORIES is how long to go on, such as 15m; by default there is one short history.
func TestHistories(t *testing.T) {
	seed, until, steps, tables := *historyFlag, time.Now(), 14, 3
	if text := os.Getenv("DELTASQL_HISTORIES"); text != "" {
		long, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		until, steps, tables = until.Add(long), 30, 4
	}
	for failures := 0; failures < 5; seed++ {
		if !t.Run(fmt.Sprintf("history=%d", seed), func(t *testing.T) { runHistory(t, uint64(seed), steps, tables) }) {
			failures++
		}
		if !time.Now().Before(until) {
			return
		}
	}
}

func runHistory(t *testing.T, seed uint64, steps, tables int) {
	random := rand.New(rand.NewPCG(seed, 5))
	h := &history{t: t, catalog: t.TempDir(), author: &author{Rand: random}}
	if *keepFlag != "" {
		h.catalog = filepath.Join(*keepFlag, fmt.Sprint("history", seed))
		if err := os.MkdirAll(h.catalog, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if h.engine, err = sqlengine.Open(sqlengine.Options{Catalog: h.catalog, Memory: "1GB", Threads: 2}); err != nil {
		t.Fatal(err)
	}
	defer h.engine.Close()
	h.session, h.other = h.newSession(), h.newSession()
	h.author.next = 100
	for range 7 {
		h.author.src = append(h.author.src, h.author.row())
	}
	h.author.src[0].values[colK], h.author.src[1].values[colK] = null, wholeDatum(4)
	h.author.next = 0
	h.must("CREATE TABLE src (u BIGINT, k BIGINT, v STRING)")
	h.must("INSERT INTO src " + valuesOf(h.author.src, colU, colK, colV))
	list := make([]*historyTable, tables)
	for i, l := range drawLayouts(random, tables) {
		list[i] = &historyTable{layout: l, state: &state{columns: colE, tracked: l.tracked}, mark: -1, past: map[int64]*state{}}
		h.must(l.create())
		list[i].past[0] = list[i].state.clone()
	}
	for range steps {
		h.step(list)
		if t.Failed() {
			break
		}
		versions := make([]int64, len(list))
		for i, table := range list {
			versions[i] = table.version
		}
		h.versions = append(h.versions, versions)
	}
	if !t.Failed() {
		for _, table := range list {
			h.compareRanges(table)
		}
	}
	if t.Failed() {
		for _, table := range list {
			t.Logf("%+v at version %d", table.layout, table.version)
		}
		t.Logf("the statements were\n%s", strings.Join(h.log, "\n"))
	}
}

func (h *history) newSession() *sqlengine.Session {
	s, err := h.engine.NewSession(sqlengine.SessionOptions{})
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// step does one thing to all tables: a statement, a transaction, or something that changes no row.
func (h *history) step(tables []*historyTable) {
	first := tables[0].state
	switch choice := h.author.IntN(20); {
	case choice < 12:
		a := h.author.statement(first)
		h.each(tables, func(table *historyTable) {
			h.do(table, a)
			h.committed(table, 1)
		})
	case choice < 16:
		h.transaction(tables)
	case choice < 17 && len(h.versions) > 1:
		h.restore(tables)
	default:
		text := []string{"OPTIMIZE $t", "REORG TABLE $t APPLY (PURGE)", "ALTER TABLE $t SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
			"ALTER TABLE $t SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')", "ALTER TABLE $t SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')"}[h.author.IntN(5)]
		h.each(tables, func(table *historyTable) {
			sql := strings.ReplaceAll(text, "$t", table.name)
			if strings.Contains(text, "enableRowTracking") && table.tracked {
				return
			}
			if _, err := h.run(h.session, sql); err != nil {
				if protocol.ClassOf(err) != "DELTASQL_UNSUPPORTED_STATEMENT" {
					h.t.Errorf("%s: %v", sql, err)
				}
				return
			}
			if strings.Contains(text, "enableRowTracking") {
				table.tracked, table.state.tracked = true, true
				for i := range table.state.rows {
					table.state.rows[i].id, table.state.rows[i].version = -2, -2 // given by the backfill
				}
			}
			h.committed(table, 1)
		})
	}
}

func (h *history) each(tables []*historyTable, do func(*historyTable)) {
	for _, table := range tables {
		do(table)
		if h.t.Failed() {
			h.t.Logf("failed on %s", table.name)
			return
		}
	}
}

// do runs a statement on a table and on its model.
func (h *history) do(table *historyTable, a act) {
	h.t.Helper()
	if a.mysql {
		h.must("SET deltasql_dialect = mysql")
		defer h.must("SET deltasql_dialect = spark")
	}
	for _, sql := range strings.Split(a.sql(table.layout), "; ") {
		sql = strings.ReplaceAll(sql, "$t", table.name)
		affected, err := h.run(h.session, sql)
		switch {
		case a.class != "":
			if string(protocol.ClassOf(err)) != a.class {
				h.t.Errorf("%s: %v, not %s", sql, err, a.class)
			}
		case err != nil:
			h.t.Errorf("%s: %v", sql, err)
			return
		case !strings.HasPrefix(sql, "SET "):
			if want := a.apply(table.state); want >= 0 && affected != want {
				h.t.Errorf("%s changes %d rows, not %d", sql, affected, want)
			}
		}
	}
}

// transaction is several statements with savepoints and failures, kept or not.
func (h *history) transaction(tables []*historyTable) {
	type part struct {
		act  *act
		text string
	}
	parts := []part{{text: "BEGIN"}}
	view := tables[0].state.clone()
	var saved *state
	for range 2 + h.author.IntN(4) {
		if saved != nil && h.author.IntN(4) == 0 {
			parts, view = append(parts, part{text: "ROLLBACK TO sp"}), saved.clone()
			continue
		}
		if h.author.IntN(4) == 0 {
			saved = view.clone()
			parts = append(parts, part{text: "SAVEPOINT sp"})
		}
		a := h.author.statement(view)
		if a.sql(tables[0].layout) == "TRUNCATE TABLE $t" { // ends the transaction
			continue
		}
		if a.apply != nil {
			a.apply(view)
		}
		parts = append(parts, part{act: &a})
	}
	end := []string{"COMMIT", "COMMIT", "ROLLBACK"}[h.author.IntN(3)]
	h.each(tables, func(table *historyTable) {
		before := table.state.clone()
		var saved *state
		statements := 0
		for _, p := range parts {
			switch {
			case p.act != nil:
				statements++
				h.do(table, *p.act)
				h.compareRows(table, h.session)
			case p.text == "ROLLBACK TO sp":
				h.must(p.text)
				table.state = saved.clone()
				h.compareRows(table, h.session)
			default:
				h.must(p.text)
				if p.text == "SAVEPOINT sp" {
					saved = table.state.clone()
				}
			}
			if h.t.Failed() {
				return
			}
		}
		now := table.state
		table.state = before
		h.compareRows(table, h.other)
		h.must(end)
		if end == "COMMIT" {
			table.state = now
		}
		h.committed(table, statements)
	})
}

// restore brings the rows of an earlier version back, with their ids.
func (h *history) restore(tables []*historyTable) {
	var steps []int
	for i, versions := range h.versions {
		same := true
		for k, table := range tables {
			past := table.past[versions[k]]
			same = same && past != nil && past.columns == table.state.columns && past.tracked == table.state.tracked
		}
		if same {
			steps = append(steps, i)
		}
	}
	if len(steps) == 0 {
		return
	}
	versions := h.versions[steps[h.author.IntN(len(steps))]]
	k := -1
	h.each(tables, func(table *historyTable) {
		k++
		h.must(fmt.Sprintf("RESTORE TABLE %s TO VERSION AS OF %d", table.name, versions[k]))
		now := table.past[versions[k]].clone()
		now.changes = nil
		for i := range table.state.rows {
			now.note("delete", &table.state.rows[i])
		}
		for i := range now.rows {
			now.note("insert", &now.rows[i])
		}
		table.state = now
		h.committed(table, 2)
	})
}

// committed compares everything after a commit, or after what made none.
func (h *history) committed(table *historyTable, statements int) {
	h.t.Helper()
	if h.t.Failed() {
		return
	}
	h.compareRows(table, h.other)
	version := h.newest(table)
	if table.tracked {
		h.compareIDs(table, version)
	}
	changes := table.state.changes
	table.state.changes = nil
	if version == table.version {
		if len(changes) > 0 && statements == 1 {
			h.t.Errorf("no version of %s for the changes %q", table.name, changes)
		}
		return
	}
	if table.feeds {
		got := h.rows(h.other, fmt.Sprintf("SELECT * EXCEPT (_commit_version, _commit_timestamp) FROM table_changes('%s', %d, %d)", table.name, table.version+1, version))
		want := slices.Sorted(slices.Values(changes))
		if statements > 1 {
			got, want = net(got), net(want)
		}
		if !slices.Equal(got, want) {
			h.t.Errorf("versions %d to %d of %s change\n%s\nnot\n%s", table.version+1, version, table.name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	table.version = version
	table.past[version] = table.state.clone()
}

// net is what change rows come to.
func net(changes []string) []string {
	counts := map[string]int{}
	for _, line := range changes {
		at := strings.LastIndex(line, ",")
		switch line[at:] {
		case `,"delete"`, `,"update_preimage"`:
			counts[line[:at]]--
		default:
			counts[line[:at]]++
		}
	}
	out := []string{}
	for row, n := range counts {
		if n != 0 {
			out = append(out, fmt.Sprintf("%+d %s", n, row))
		}
	}
	slices.Sort(out)
	return out
}

func (h *history) compareRows(table *historyTable, by *sqlengine.Session) {
	h.t.Helper()
	if h.t.Failed() {
		return
	}
	got := h.rows(by, "SELECT * FROM "+table.name)
	want := []string{}
	for i := range table.state.rows {
		want = append(want, table.state.rows[i].text(table.state.columns))
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		h.t.Errorf("%s: %s", table.name, difference(outcome{rows: want}, outcome{rows: got}))
	}
}

// compareIDs holds the ids of rows stable, unique and rising.
func (h *history) compareIDs(table *historyTable, version int64) {
	h.t.Helper()
	at := map[int64]int{}
	for i := range table.state.rows {
		at[table.state.rows[i].values[colU].whole] = i
	}
	mark, seen := table.mark, map[int64]bool{}
	for _, line := range h.rows(h.other, "SELECT u, _metadata.row_id, _metadata.row_commit_version FROM "+table.name) {
		var u, id, changed int64
		if _, err := fmt.Sscanf(line, "%d,%d,%d", &u, &id, &changed); err != nil {
			h.t.Errorf("%s: %s: %v", table.name, line, err)
			return
		}
		r := &table.state.rows[at[u]]
		if r.id == -1 && id <= table.mark {
			h.t.Errorf("%s: the new row %d has the id %d, and %d was given before", table.name, u, id, table.mark)
		}
		if r.id < 0 {
			r.id = id
		}
		if r.version == -1 {
			r.version = version
		} else if r.version == -2 {
			r.version = changed
		}
		if id != r.id || changed != r.version {
			h.t.Errorf("%s: the row %d has the id %d of version %d, not %d of %d", table.name, u, id, changed, r.id, r.version)
		}
		if seen[id] {
			h.t.Errorf("%s: two rows have the id %d", table.name, id)
		}
		seen[id] = true
		mark = max(mark, id)
	}
	table.mark = mark
}

// compareRanges compares older versions, and the changes over ranges with those of each of their versions.
func (h *history) compareRanges(table *historyTable) {
	columns := names(plainColumns())
	for version, s := range table.past {
		if h.author.IntN(3) > 0 {
			continue
		}
		got := h.rows(h.other, fmt.Sprintf("SELECT %s FROM %s VERSION AS OF %d", columns, table.name, version))
		want := []string{}
		for i := range s.rows {
			want = append(want, s.rows[i].text(colE))
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			h.t.Errorf("version %d of %s: %s", version, table.name, difference(outcome{rows: want}, outcome{rows: got}))
		}
	}
	if !table.feeds {
		return
	}
	single := make([][]string, table.version+1)
	ask := func(from, to int64) []string {
		return h.rows(h.other, fmt.Sprintf("SELECT %s, _change_type, _commit_version FROM table_changes('%s', %d, %d)", columns, table.name, from, to))
	}
	for v := range single {
		single[v] = ask(int64(v), int64(v))
	}
	for from := range single {
		to := from + h.author.IntN(len(single)-from)
		want := slices.Sorted(slices.Values(slices.Concat(single[from : to+1]...)))
		if got := ask(int64(from), int64(to)); !slices.Equal(got, want) {
			h.t.Errorf("versions %d to %d of %s change %q, one by one %q", from, to, table.name, got, want)
		}
	}
}

func (h *history) newest(table *historyTable) int64 {
	entries, err := os.ReadDir(filepath.Join(h.catalog, "default", table.name, "_delta_log"))
	if err != nil {
		entries, err = os.ReadDir(filepath.Join(h.catalog, table.name, "_delta_log"))
	}
	if err != nil {
		h.t.Fatal(err)
	}
	newest := int64(-1)
	for _, entry := range entries {
		if name, ok := strings.CutSuffix(entry.Name(), ".json"); ok {
			if v, err := strconv.ParseInt(name, 10, 64); err == nil {
				newest = max(newest, v)
			}
		}
	}
	return newest
}

func (h *history) must(sql string) {
	h.t.Helper()
	if _, err := h.run(h.session, sql); err != nil {
		h.t.Errorf("%s: %v", sql, err)
	}
}

// run executes a statement that changes something.
func (h *history) run(s *sqlengine.Session, sql string) (int64, error) {
	h.log = append(h.log, sql+";")
	result, err := s.Execute(context.Background(), sql)
	if err != nil {
		return 0, err
	}
	defer result.Close()
	for {
		if _, err := result.Next(context.Background()); errors.Is(err, io.EOF) {
			return result.Affected, nil
		} else if err != nil {
			return 0, err
		}
	}
}

// rows are the sorted rows of a query.
func (h *history) rows(s *sqlengine.Session, sql string) []string {
	h.t.Helper()
	result, err := s.Execute(context.Background(), sql)
	if err != nil {
		h.t.Errorf("%s: %v", sql, err)
		return nil
	}
	defer result.Close()
	list := []string{}
	for {
		batch, err := result.Next(context.Background())
		if errors.Is(err, io.EOF) {
			slices.Sort(list)
			return list
		}
		if err != nil {
			h.t.Errorf("%s: %v", sql, err)
			return nil
		}
		for row := range batch.Len() {
			var line []byte
			for i := range result.Columns {
				if i > 0 {
					line = append(line, ',')
				}
				line = render.AppendJSON(line, batch.Vector(i), row, &result.Columns[i].Type, render.VariantWrapped)
			}
			list = append(list, string(line))
		}
	}
}
