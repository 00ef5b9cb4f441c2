package metamorphic_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine"
	"deltasql/sqlengine/render"
)

var (
	seedFlag    = flag.Int64("seed", 20261130, "seed of the data and the queries; 0 draws one")
	roundsFlag  = flag.Int("rounds", 1, "data sets to make, each from the next seed")
	edgesFlag   = flag.Int("edges", 160, "queries at the bounds of one file each, a data set")
	queriesFlag = flag.Int("queries", 50, "queries a data set")
	keepFlag    = flag.String("keep", "", "folder that keeps the tables of each seed, to look at a failure with the shell")
	rowsFlag    = flag.Int("rows", 220, "rows of a data set")
)

// world is one data set in all its layouts, and two sessions on them.
type world struct {
	data          *dataset
	files         map[string][][]row // by variant, the rows of each file
	engine        *sqlengine.Engine
	skipping, all *sqlengine.Session // with and without skipping and answers from statistics
}

func newWorld(t *testing.T, seed int64) *world {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(seed), 1))
	data, err := newDataset(rng, *rowsFlag)
	if err != nil {
		t.Fatal(err)
	}
	catalog := t.TempDir()
	if *keepFlag != "" {
		catalog = filepath.Join(*keepFlag, fmt.Sprint(seed))
	}
	writer, err := duck.Open(duck.Config{MemoryLimit: "1GB", Threads: 2, KeepOrder: true})
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	w := &world{data: data, files: map[string][][]row{}}
	for _, v := range variants {
		if w.files[v.name], err = v.build(data, filepath.Join(catalog, v.name), writer, rng); err != nil {
			t.Fatal(err)
		}
	}
	if w.engine, err = sqlengine.Open(sqlengine.Options{Catalog: catalog, Memory: "1GB", Threads: 2}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.engine.Close() })
	session := func(settings map[string]string) *sqlengine.Session {
		s, err := w.engine.NewSession(sqlengine.SessionOptions{Settings: settings})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	w.skipping = session(nil)
	w.all = session(map[string]string{"deltasql_skipping": "off", "deltasql_metadata_answers": "off"})
	return w
}

// outcome is what a query gives: rows, in order where the query says one, or the class of an error.
type outcome struct {
	rows  []string
	class protocol.Class
	err   error
}

func (o outcome) equal(p outcome) bool { return o.class == p.class && slices.Equal(o.rows, p.rows) }

// difference says what one outcome has and the other lacks.
func difference(want, got outcome) string {
	if want.err != nil || got.err != nil {
		return fmt.Sprintf("want %v, got %v", describe(want), describe(got))
	}
	lacking := func(of, in []string) (out []string) {
		left := map[string]int{}
		for _, row := range in {
			left[row]++
		}
		for _, row := range of {
			if left[row]--; left[row] < 0 && len(out) < 8 {
				out = append(out, row)
			}
		}
		return out
	}
	return fmt.Sprintf("want %d rows, got %d\nmissing: %s\nwrong:   %s", len(want.rows), len(got.rows),
		strings.Join(lacking(want.rows, got.rows), " | "), strings.Join(lacking(got.rows, want.rows), " | "))
}

func describe(o outcome) string {
	if o.err != nil {
		return o.err.Error()
	}
	return fmt.Sprintf("%d rows", len(o.rows))
}

// negativeZero is printed like zero: which of the two a group or a minimum shows is open.
var negativeZero = regexp.MustCompile(`(^|[\[,:])-0\.0([,\]}]|$)`)

func ask(session *sqlengine.Session, q query, first, second string) (o outcome) {
	ctx := context.Background()
	fail := func(err error) outcome { return outcome{class: protocol.ClassOf(err), err: err} }
	result, err := session.Execute(ctx, strings.NewReplacer("$1", first, "$2", second).Replace(q.String()))
	if err != nil {
		return fail(err)
	}
	defer result.Close()
	for {
		batch, err := result.Next(ctx)
		if errors.Is(err, io.EOF) {
			if q.orderBy == "" {
				slices.Sort(o.rows)
			}
			return o
		}
		if err != nil {
			return fail(err)
		}
		for row := range batch.Len() {
			var line []byte
			for i := range result.Columns {
				if i > 0 {
					line = append(line, ',')
				}
				line = render.AppendJSON(line, batch.Vector(i), row, &result.Columns[i].Type, render.VariantWrapped)
			}
			o.rows = append(o.rows, negativeZero.ReplaceAllString(string(line), "${1}0.0$2"))
		}
	}
}

func TestQueries(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Int64N(1 << 40)
	}
	for round := range *roundsFlag {
		seed := seed + int64(round)
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			w := newWorld(t, seed)
			t.Run("queries", func(t *testing.T) { w.compare(t, seed) })
			t.Run("edges", func(t *testing.T) { w.edges(t, seed) })
			t.Run("files", w.skips)
		})
	}
}

// compare asks queries of some variants each.
func (w *world) compare(t *testing.T, seed int64) {
	const variantsAQuery, enough = 3, 5
	g := newGenerator(w.data, rand.New(rand.NewPCG(uint64(seed), 2)))
	failures, refused, rows := 0, 0, 0
	for _, v := range variants {
		whole := query{items: []string{"*"}, from: "$1 t"}
		if want, got := ask(w.all, whole, "plain", ""), ask(w.all, whole, v.name, ""); !want.equal(got) {
			t.Fatalf("%s does not hold the data: %s", v.name, difference(want, got))
		}
	}
	for n := range *queriesFlag {
		q := g.next()
		want := ask(w.all, q, "plain", "plain")
		rows += len(want.rows)
		if want.err != nil {
			refused++
			t.Logf("%s\n%v", q, want.err)
			if want.class == protocol.ClassInternal {
				t.Errorf("%s\n%v", q, want.err)
				failures++
			}
		}
		for k := range variantsAQuery {
			first, second := variants[(n*variantsAQuery+k)%len(variants)].name, pick(g, variants...).name
			if got := ask(w.skipping, q, first, second); !want.equal(got) {
				w.report(t, q, first, second)
				failures++
				break
			}
		}
		if failures >= enough {
			t.Fatalf("stopped after %d failures; seed %d, query %d", failures, seed, n)
		}
	}
	t.Logf("seed %d: %d queries, %d refused, %d rows", seed, *queriesFlag, refused, rows)
	if refused > *queriesFlag/4+2 {
		t.Errorf("%d of %d queries were refused: the generator is of no use", refused, *queriesFlag)
	}
}

// edges asks for what lies at the bounds of a file, where a bound that is too narrow by the least shows, and for what statistics
// answer by themselves.
func (w *world) edges(t *testing.T, seed int64) {
	g := newGenerator(w.data, rand.New(rand.NewPCG(uint64(seed), 3)))
	failures := 0
	for range *edgesFlag {
		v := pick(g, variants...)
		q := g.edge(pick(g, w.files[v.name]...))
		if !ask(w.all, q, "plain", "plain").equal(ask(w.skipping, q, v.name, "plain")) {
			w.report(t, q, v.name, "plain")
			if failures++; failures == 5 {
				t.Fatalf("stopped after %d failures; seed %d", failures, seed)
			}
		}
	}
}

// report makes a failing query as small as it goes and shows it.
func (w *world) report(t *testing.T, q query, first, second string) {
	differs := func(q query) bool {
		return !ask(w.all, q, "plain", "plain").equal(ask(w.skipping, q, first, second))
	}
	for again := true; again; {
		again = false
		for _, less := range q.smaller() {
			if differs(less) {
				q, again = less, true
				break
			}
		}
	}
	want := ask(w.all, q, "plain", "plain")
	t.Errorf("$1 = %s, $2 = %s: %s\nwith skipping:    %s\nwithout skipping: %s", first, second, q,
		difference(want, ask(w.skipping, q, first, second)), difference(want, ask(w.all, q, first, second)))
}

var filesRead = regexp.MustCompile(`files read +([0-9,]+)`)

// read is how many files the scans of a query read, by EXPLAIN.
func (w *world) read(t *testing.T, sql string) int {
	t.Helper()
	result, err := w.skipping.Execute(context.Background(), "EXPLAIN "+sql)
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	total := 0
	for {
		batch, err := result.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return total
		}
		if err != nil {
			t.Fatal(err)
		}
		for row := range batch.Len() {
			for _, match := range filesRead.FindAllStringSubmatch(batch.Vector(0).Text(row), -1) {
				n, err := strconv.Atoi(strings.ReplaceAll(match[1], ",", ""))
				if err != nil {
					t.Fatal(err)
				}
				total += n
			}
		}
	}
}

// skips holds the other side: queries over which nothing is ever skipped would agree too.
func (w *world) skips(t *testing.T) {
	for _, c := range []struct {
		sql   string
		files int
	}{
		{"SELECT * FROM plain WHERE id = 137", 1},
		{"SELECT * FROM plain WHERE id IN (3, 4, 5)", 1},
		{"SELECT * FROM plain WHERE id BETWEEN 100 AND 119", 1},
		{"SELECT * FROM by_name WHERE id = 137", 1},
		{"SELECT * FROM small_files WHERE id = 137", 1},
		{"SELECT * FROM vectored WHERE id < 0", 0},
		{"SELECT * FROM part_p WHERE p = 'nowhere'", 0},
		{"SELECT t.id FROM plain t JOIN by_name u ON t.id = u.id WHERE t.id = 137", 2},
		{"SELECT id FROM plain WHERE id IN (SELECT id FROM by_name WHERE id = 137) AND id = 137", 2},
	} {
		if read := w.read(t, c.sql); read > c.files {
			t.Errorf("%s reads %d files, want %d", c.sql, read, c.files)
		}
	}
}
