package crash_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deltasql/protocol"
)

// prepared is a kind with what it does when nothing happens to it: the states before and after, after a second run of it or the error
// that this gives, and the calls it makes.
type prepared struct {
	kind
	database           string
	before, after, two string
	refused            protocol.Class // by the second run
	calls              []string
	stray              []string // files that nothing names before it runs
	versions           string   // the rows of the versions that it keeps
}

func prepare(t *testing.T, k kind) *prepared {
	t.Helper()
	p := &prepared{kind: k, database: newDatabase(t, "")}
	must(t, p.database, k.setup...)
	if k.aged > 0 {
		age(t, p.database, k.aged)
	}
	if k.then != nil {
		k.then(t, p.database)
	}
	database := p.copy(t)
	p.before = p.state(t, database)
	p.stray = unreferenced(t, database)
	p.versions = travel(t, database, k.keeps)
	count := &plan{}
	switch err := execute(count.attach(context.Background()), victim, database, k.run...); {
	case protocol.ClassOf(err) == "DELTASQL_UNSUPPORTED_STATEMENT":
		t.Skipf("the statement does not exist yet: %v", err)
	case err != nil:
		t.Fatal(err)
	}
	p.calls = count.calls
	p.after = p.state(t, database)
	if p.before == p.after && !p.steps {
		t.Fatal("the statement changes nothing")
	}
	p.refused = protocol.ClassOf(execute(context.Background(), survivor, database, k.run...))
	p.two = p.state(t, database)
	faultless(t, database)
	if left := p.left(t, database); len(left) > 0 {
		t.Errorf("files that nothing names: %q", left)
	}
	p.keptVersions(t, database)
	return p
}

// left are the files that nothing names and that were not there before; a log that was cleaned up names its files no more.
func (p *prepared) left(t *testing.T, database string) []string {
	t.Helper()
	if p.aged > 0 {
		return nil
	}
	return slices.DeleteFunc(unreferenced(t, database), func(name string) bool { return slices.Contains(p.stray, name) })
}

// keptVersions checks that older versions are what they were.
func (p *prepared) keptVersions(t *testing.T, database string) {
	t.Helper()
	if now := travel(t, database, p.keeps); now != p.versions {
		t.Errorf("older versions are now:\n%s\nand were:\n%s", now, p.versions)
	}
}

// commit is the number of the call that makes the version, the first of several; 0 where there is none.
func (p *prepared) commit() int {
	return 1 + slices.IndexFunc(p.calls, func(call string) bool {
		return strings.HasPrefix(call, "put-if-absent") && strings.HasSuffix(call, ".json")
	})
}

// copy is a database in which the kind has not run.
func (p *prepared) copy(t *testing.T) string {
	t.Helper()
	database := newDatabase(t, p.database)
	must(t, database, p.each...)
	return database
}

// state is a database's, of a kind with several commits only what its rows are.
func (p *prepared) state(t *testing.T, database string) string {
	t.Helper()
	whole := state(t, database)
	if !p.steps {
		return whole
	}
	var rows []string
	for line := range strings.Lines(whole) {
		if strings.HasPrefix(line, "rows") || strings.HasPrefix(line, "TABLE") {
			rows = append(rows, line)
		}
	}
	return strings.Join(rows, "")
}

// intermediate tells that a kind of several commits may have made some of them.
func (p *prepared) intermediate(state string) bool {
	return p.steps && p.before != p.after && len(state) >= min(len(p.before), len(p.after)) && len(state) <= max(len(p.before), len(p.after))
}

// recovers checks that a database is in the old state or the new one, and that the statement can be run again. It gives which.
func (p *prepared) recovers(t *testing.T, database string) (done bool) {
	t.Helper()
	now := p.state(t, database)
	p.keptVersions(t, database)
	switch {
	case now == p.before:
	case now == p.after:
		done = true
	case p.intermediate(now):
		faultless(t, database)
		return true
	default:
		t.Errorf("neither the old nor the new state:\n%s\nold:\n%s\nnew:\n%s", now, p.before, p.after)
		return false
	}
	if long && (done || !p.hurt) {
		faultless(t, database)
	}
	err := execute(context.Background(), survivor, database, p.run...)
	again := p.state(t, database)
	switch {
	case p.steps: // the first run may have done what a second run then finds done
		if err != nil && protocol.ClassOf(err) != p.refused || again != p.after && again != p.two {
			t.Errorf("a second run: %v\n%s", err, again)
		}
	case !done && (err != nil || again != p.after):
		t.Errorf("a second run does not do it: %v\n%s\nwanted:\n%s", err, again, p.after)
	case done && (protocol.ClassOf(err) != p.refused || again != p.two):
		t.Errorf("a run after the first: %v\n%s\nwanted %s:\n%s", err, again, p.refused, p.two)
	}
	faultless(t, database)
	p.keptVersions(t, database)
	return done
}

// TestCrash stops each kind of statement before, in the middle of, and after each of its calls that write; where not every test is
// asked for only around its commit and its last call.
func TestCrash(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			p := prepare(t, k)
			done := 0
			for at := 1; at <= len(p.calls)+1; at++ {
				for _, do := range []action{stop, stopHalf, stopAfter} {
					if at > len(p.calls) || do == stopAfter && at < len(p.calls) || do == stopHalf && !strings.HasPrefix(p.calls[at-1], "put") {
						continue // a stop before the next call is one after this
					}
					if !long && at != p.commit() && at < len(p.calls) {
						continue
					}
					t.Run(fmt.Sprintf("%s %d %s", do, at, strings.ReplaceAll(strings.Fields(p.calls[at-1])[0], "/", ":")), func(t *testing.T) {
						database := p.copy(t)
						if long {
							killed(t, database, task{Database: database, Statements: p.run, At: at, Do: do})
						} else {
							stopped(t, database, p.run, &plan{at: at, do: do})
						}
						if p.recovers(t, database) {
							done++
						}
					})
				}
			}
			if last := len(p.calls); last > 0 && done == 0 && k.name != "drop" && !p.steps {
				t.Errorf("it was never done in %d calls: %q", last, p.calls)
			}
		})
	}
}

// stopped runs statements until the plan stops them.
func stopped(t *testing.T, database string, statements []string, p *plan) {
	t.Helper()
	ended := make(chan error, 1)
	ctx := p.attach(context.Background())
	go func() { ended <- execute(ctx, victim, database, statements...) }()
	select {
	case err := <-ended:
		t.Errorf("the statement came to its end: %v; calls %q", err, p.calls)
	case <-p.stopped:
	}
	// The locks of a process end with it. Those of a statement that never ends are worth nothing once their files are gone.
	if err := os.RemoveAll(filepath.Join(catalog, "_deltasql", "locks")); err != nil {
		t.Error(err)
	}
}

// TestKilledProcess kills a process in the middle of its commit, once for each way of dying.
func TestKilledProcess(t *testing.T) {
	k := kinds[0]
	for _, other := range kinds {
		if other.name == "insert overwrite" {
			k = other
		}
	}
	p := prepare(t, k)
	for at, call := range p.calls {
		if !strings.HasPrefix(call, "put-if-absent") || !strings.HasSuffix(call, ".json") {
			continue
		}
		for _, do := range []action{stop, stopHalf, stopAfter} {
			database := p.copy(t)
			killed(t, database, task{Database: database, Statements: p.run, At: at + 1, Do: do})
			if done := p.recovers(t, database); done != (do == stopAfter) {
				t.Errorf("%s: done %v", do, done)
			}
		}
	}
}

// taskVariable tells the test binary that it is a process to be killed, or a writer.
const taskVariable = "DELTASQL_CRASH_TASK"

// task is what such a process is to do.
type task struct {
	Catalog, Database string
	Statements        []string
	At                int
	Do                action
	Writer            *writerTask // a writer among many
	FileLimit         uint64      // bytes that a file may have; 0 any
}

// command is the test binary as a process with a task.
func command(t task) (*exec.Cmd, error) {
	t.Catalog = catalog
	text, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), taskVariable+"="+string(text))
	return c, nil
}

// killed runs statements in a process that is killed at its call.
func killed(t *testing.T, database string, what task) {
	t.Helper()
	c, err := command(what)
	if err != nil {
		t.Fatal(err)
	}
	var output bytes.Buffer
	c.Stdout, c.Stderr = &output, &output
	if err := c.Run(); err == nil || !strings.Contains(err.Error(), "signal") && !strings.Contains(err.Error(), "exit status 1") {
		t.Errorf("the process was to die: %v\n%s", err, output.String())
	} else if output.Len() > 0 {
		t.Errorf("the process did not die of the call: %v\n%s", err, output.String())
	}
}

// runTask is the process.
func runTask(text string) int {
	var what task
	if err := json.Unmarshal([]byte(text), &what); err != nil {
		fmt.Println(err)
		return 2
	}
	if what.FileLimit > 0 {
		if err := limitFiles(what.FileLimit); err != nil {
			fmt.Println(err)
			return 2
		}
	}
	engine, err := openEngine(what.Catalog)
	if err != nil {
		fmt.Println(err)
		return 2
	}
	if what.Writer != nil {
		return what.Writer.work(engine, what.Database)
	}
	catalog = what.Catalog
	p := &plan{at: what.At, do: what.Do, kill: what.At > 0}
	if err := execute(p.attach(context.Background()), engine, what.Database, what.Statements...); err != nil {
		fmt.Println(protocol.ClassOf(err), err)
		return 3
	}
	if what.At > 0 {
		fmt.Println("the statement came to its end")
	}
	return 0
}
