package crash_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"deltasql/protocol"
	"deltasql/sqlengine"
)

// writerTask is one writer of many, in a process of its own.
type writerTask struct {
	Number, Statements int
	Kind               string // append, overwrite, alter
}

// done is a statement of a writer, or a look at the table.
type done struct {
	Call, Return int64  // nanoseconds of the machine's clock
	Mark         string // the statement's user metadata; "" for a look
	Class        string // of its error
	Error        string
	Rows         string // what the look gave: how many rows
}

// work runs the writer's statements once its standard input has ended, and prints what it did.
func (w *writerTask) work(engine *sqlengine.Engine, database string) int {
	ctx := context.Background()
	session, err := engine.NewSession(sqlengine.SessionOptions{Database: database})
	if err != nil {
		fmt.Println(err)
		return 2
	}
	if _, _, err := rowsIn(ctx, session, "SELECT count(*) FROM t WHERE w = 0"); err != nil {
		fmt.Println(err)
		return 2
	}
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
	out := json.NewEncoder(os.Stdout)
	run := func(mark, sql string) {
		d := done{Mark: mark, Call: time.Now().UnixNano()}
		rows, _, err := rowsIn(ctx, session, sql)
		d.Return = time.Now().UnixNano()
		if err != nil {
			d.Class, d.Error = string(protocol.ClassOf(err)), err.Error()
		}
		if mark == "" {
			d.Rows = strings.Join(rows, " ")
		}
		out.Encode(d)
	}
	for i := range w.Statements {
		mark := fmt.Sprintf("%d-%d", w.Number, i)
		if err := executeIn(ctx, session, database, "SET deltasql_user_metadata = '"+mark+"'"); err != nil {
			fmt.Println(err)
			return 2
		}
		switch {
		case w.Kind == "overwrite":
			run(mark, fmt.Sprintf("INSERT OVERWRITE t (w, n) VALUES (%d, %d)", w.Number, i))
		case w.Kind == "alter":
			run(mark, fmt.Sprintf("ALTER TABLE t SET TBLPROPERTIES ('step' = '%d')", i))
		case i%2 == 0:
			run(mark, fmt.Sprintf("INSERT INTO t (w, n) VALUES (%d, %d)", w.Number, i))
		default:
			run(mark, fmt.Sprintf("INSERT INTO t VALUES (%d, %d, %d)", -1_000_000*w.Number-i, w.Number, i))
		}
		if i%10 == 3 {
			run("", "SELECT count(*) FROM t")
		}
	}
	return 0
}

// writeTogether runs writers at the same time and gives what each did.
func writeTogether(t *testing.T, database string, writers []writerTask) (all []done, took time.Duration) {
	t.Helper()
	type process struct {
		command *exec.Cmd
		lines   *bufio.Scanner
		start   io.WriteCloser
	}
	var processes []process
	for i := range writers {
		c, err := command(task{Database: database, Writer: &writers[i]})
		if err != nil {
			t.Fatal(err)
		}
		c.Stderr = os.Stderr
		stdin, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		defer c.Process.Kill()
		processes = append(processes, process{c, bufio.NewScanner(stdout), stdin})
	}
	for _, p := range processes {
		if !p.lines.Scan() || p.lines.Text() != "ready" {
			t.Fatalf("a writer does not start: %s", p.lines.Text())
		}
	}
	began := time.Now()
	var group sync.WaitGroup
	var mu sync.Mutex
	for i, p := range processes {
		p.start.Close()
		group.Go(func() {
			for p.lines.Scan() {
				var d done
				if err := json.Unmarshal(p.lines.Bytes(), &d); err != nil {
					t.Errorf("writer %d: %s", i, p.lines.Text())
					continue
				}
				mu.Lock()
				all = append(all, d)
				mu.Unlock()
			}
			if err := p.command.Wait(); err != nil {
				t.Errorf("writer %d: %v", i, err)
			}
		})
	}
	group.Wait()
	return all, time.Since(began)
}

// committed is a version of the log.
type committed struct {
	mark      string
	operation string
	adds      int
	removes   int
	rows      int64
}

// commits reads the versions of a table by hand; a gap ends the test.
func commits(t *testing.T, database, table string) []committed {
	t.Helper()
	folder := filepath.Join(catalog, database, table, protocol.LogFolder)
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	var out []committed
	for version, file := range files {
		if want := fmt.Sprintf("%020d.json", version); filepath.Base(file) != want {
			t.Fatalf("there is no version %d: %s", version, file)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var c committed
		for line := range strings.Lines(string(data)) {
			var a struct {
				CommitInfo *struct{ UserMetadata, Operation string }
				Add        *struct{ Stats string }
				Remove     *struct{}
			}
			if err := json.Unmarshal([]byte(line), &a); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			switch {
			case a.CommitInfo != nil:
				c.mark, c.operation = a.CommitInfo.UserMetadata, a.CommitInfo.Operation
			case a.Add != nil:
				var stats struct{ NumRecords int64 }
				if err := json.Unmarshal([]byte(a.Add.Stats), &stats); err != nil {
					t.Fatalf("%s: %v", file, err)
				}
				c.adds++
				c.rows += stats.NumRecords
			case a.Remove != nil:
				c.removes++
			}
		}
		out = append(out, c)
	}
	return out
}

// event is what porcupine is told: a version was made, or so many rows were seen.
type event struct {
	version int // that was made; 0 for a look
	rows    string
}

// linearizable tells whether each writer could have had the table to itself at one moment of each of its statements. rows is what
// a look sees in each version.
func linearizable(all []done, versionOf map[string]int, rows []string) bool {
	model := porcupine.Model{
		Init: func() any { return 0 },
		Step: func(state, _, output any) (bool, any) {
			now, e := state.(int), output.(event)
			if e.version == 0 {
				return rows[now] == e.rows, now
			}
			return e.version == now+1, now + 1
		},
	}
	var operations []porcupine.Operation
	for _, d := range all {
		if d.Class != "" {
			continue
		}
		operations = append(operations, porcupine.Operation{Call: d.Call, Return: d.Return, Output: event{version: versionOf[d.Mark], rows: d.Rows}})
	}
	return porcupine.CheckOperations(model, operations)
}

// TestManyProcesses lets eight processes append rows to one table, half of them with identity values, alone and beside processes that
// overwrite and alter it. What was said to be done is in the log once, what was said to have failed is not, versions have no gap, and
// the table is what the log says.
//
// The table is serializable, so that the order of its versions is the order of the statements; by default an overwrite may come
// after appends that it did not see.
func TestManyProcesses(t *testing.T) {
	each := 16
	if long {
		each = 1000
	}
	for _, others := range [][]string{nil, {"overwrite", "alter"}} {
		t.Run(strings.Join(append([]string{"append"}, others...), ", "), func(t *testing.T) {
			database := newDatabase(t, "")
			must(t, database, "CREATE TABLE t (k BIGINT GENERATED BY DEFAULT AS IDENTITY, w INT, n INT) TBLPROPERTIES ('delta.isolationLevel' = 'Serializable')")
			var writers []writerTask
			for i := range 8 {
				writers = append(writers, writerTask{Number: i + 1, Statements: each, Kind: "append"})
			}
			for i, kind := range others {
				writers = append(writers, writerTask{Number: 9 + i, Statements: max(3, each/20), Kind: kind})
			}
			all, took := writeTogether(t, database, writers)
			log := commits(t, database, "t")
			versions := len(log)
			log = slices.DeleteFunc(log, func(c committed) bool { return c.operation == "CHANGE COLUMN" && c.mark == "" && c.adds == 0 }) // reserves identity values
			t.Logf("%d statements in %v: %.0f a second; %d versions", len(log)-1, took.Round(time.Millisecond), float64(len(log)-1)/took.Seconds(), versions-1)
			versionOf := map[string]int{}
			present := map[string]bool{} // rows as the log has them
			rows := make([]string, len(log))
			count := int64(0)
			for version, c := range log {
				if version > 0 {
					if c.mark == "" || versionOf[c.mark] != 0 {
						t.Fatalf("version %d: the statement %q made two versions, or none of ours did", version, c.mark)
					}
					versionOf[c.mark] = version
				}
				if c.removes > 0 || c.operation == "WRITE" && strings.HasPrefix(c.mark, "9-") {
					count = 0
					clear(present)
				}
				count += c.rows
				if c.rows > 0 {
					present[c.mark] = true
				}
				rows[version] = fmt.Sprintf("[%d]", count)
			}
			failures := map[string]int{}
			for _, d := range all {
				_, there := versionOf[d.Mark]
				switch {
				case d.Class != "":
					failures[d.Class]++
					if d.Mark == "" || len(others) == 0 {
						t.Errorf("%s failed: %s", d.Mark, d.Error)
					}
					if there && d.Class != "DELTASQL_COMMIT_OUTCOME_UNKNOWN" {
						t.Errorf("%s was said to have failed and is there: %s", d.Mark, d.Error)
					}
				case d.Mark != "" && !there:
					t.Errorf("%s was said to be done and is lost", d.Mark)
				}
			}
			if len(failures) > 0 {
				t.Logf("failures: %v", failures)
			}
			want := make([]string, 0, len(present))
			for mark := range present {
				var w, n int
				fmt.Sscanf(mark, "%d-%d", &w, &n)
				want = append(want, fmt.Sprintf("[%d,%d]", w, n))
			}
			got := query(t, database, "SELECT w, n FROM t")
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("the table has %d rows, the log %d", len(got), len(want))
			}
			if twice := query(t, database, "SELECT k, count(*) FROM t GROUP BY k HAVING count(*) > 1"); len(twice) > 0 {
				t.Errorf("identity values were given twice: %s", twice)
			}
			if !linearizable(all, versionOf, rows) {
				t.Error("the history is not linearizable")
			}
			faultless(t, database)
			if left := unreferenced(t, database); len(left) > 0 {
				t.Errorf("files that nothing names: %q", left[:min(5, len(left))])
			}
		})
	}
}
