package crash_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deltasql/protocol"
)

// quickKinds are the kinds of statements that other tests than TestCrash try where not every test is asked for.
var quickKinds = []string{"create", "create as select", "create external", "insert, identity and row ids", "insert, partitioned", "replace as select",
	"add column", "transaction", "v2 checkpoint", "delete with vectors and change data", "merge", "optimize by clustering", "purge", "vacuum of all but the newest", "restore", "deep clone", "convert", "repair of a missing vector", "clean-up on demand"}

func someKinds() []kind {
	if long {
		return kinds
	}
	var out []kind
	for _, name := range quickKinds {
		for _, k := range kinds {
			if k.name == name {
				out = append(out, k)
			}
		}
	}
	return out
}

// TestFaultyStore lets each call of each kind of statement fail in every way. A statement that says it is done is; one that says it
// failed left the table as it was, and no file; only an outcome that is said to be unknown may be either. What the answer was lost
// of, what is repeated and what is slow is no failure at all.
func TestFaultyStore(t *testing.T) {
	for _, k := range someKinds() {
		t.Run(k.name, func(t *testing.T) {
			p := prepare(t, k)
			for at, call := range p.calls {
				for _, do := range []action{fail, failAfter, lost, full, twice, slow} {
					if do == full && !strings.HasPrefix(call, "put") || do == twice && (strings.HasPrefix(call, "locate") || strings.Contains(call, "_deltasql/")) {
						continue // entries of the catalog bear no mark by which their writer would know them
					}
					if !long && at+1 != p.commit() && do != fail && do != failAfter {
						continue
					}
					t.Run(fmt.Sprintf("%s at %d %s", do, at+1, strings.Fields(call)[0]), func(t *testing.T) {
						database := p.copy(t)
						fault := &plan{at: at + 1, do: do}
						err := execute(fault.attach(context.Background()), victim, database, p.run...)
						p.judge(t, database, call, do, err)
					})
				}
			}
		})
	}
}

// judge holds what a statement said against what it did.
func (p *prepared) judge(t *testing.T, database, call string, do action, err error) {
	t.Helper()
	class := protocol.ClassOf(err)
	now := p.state(t, database)
	commit := strings.HasPrefix(call, "put-if-absent") && strings.HasSuffix(call, ".json")
	switch {
	case class == "DELTASQL_COMMIT_OUTCOME_UNKNOWN":
		if now != p.before && now != p.after {
			t.Errorf("neither the old nor the new state:\n%s", now)
		}
	case err == nil && now != p.after:
		t.Errorf("it was said to be done:\n%s\nwanted:\n%s", now, p.after)
	case err != nil && now != p.before && !p.steps:
		t.Errorf("it was said to have failed: %v\n%s\nwanted:\n%s", err, now, p.before)
	case err != nil && (do == twice || do == slow || commit && (do == lost || do == failAfter)):
		t.Errorf("%s of a commit is no failure: %v", do, err)
	}
	if err != nil {
		if class == "" || class == protocol.ClassInternal {
			t.Errorf("not an error for a user: %v", err)
		}
		if text := err.Error(); !strings.Contains(text, database) && !strings.Contains(text, "t") {
			t.Errorf("the error does not say where: %v", err)
		}
	}
	if now == p.after || !p.hurt {
		faultless(t, database)
	}
	p.keptVersions(t, database)
	if left := p.left(t, database); err != nil && len(left) > 0 && class != "DELTASQL_COMMIT_OUTCOME_UNKNOWN" && !strings.HasPrefix(call, "delete") {
		t.Errorf("files were left by a statement that failed: %q", left)
	}
}

// TestFaultsOfReading lets each call, also those that read, fail once: before the commit the statement fails or does it all the same.
func TestFaultsOfReading(t *testing.T) {
	for i, k := range someKinds() {
		if !long && i%3 > 0 {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			p := prepare(t, k)
			count := &plan{reads: true}
			if err := execute(count.attach(context.Background()), victim, p.copy(t), p.run...); err != nil {
				t.Fatal(err)
			}
			for at, call := range count.calls {
				if strings.HasPrefix(call, "put") || strings.HasPrefix(call, "delete") || strings.HasPrefix(call, "locate") {
					continue
				}
				t.Run(fmt.Sprintf("%d %s", at+1, strings.Fields(call)[0]), func(t *testing.T) {
					database := p.copy(t)
					fault := &plan{at: at + 1, do: fail, reads: true}
					err := execute(fault.attach(context.Background()), victim, database, p.run...)
					p.judge(t, database, call, fail, err)
				})
			}
		})
	}
}

// TestFullDisk runs statements in a process whose files cannot grow: the small files of the log can be written, the data cannot.
func TestFullDisk(t *testing.T) {
	const big = "SELECT id, md5(CAST(id AS STRING)) AS s FROM range(20000)"
	for _, c := range []struct {
		name  string
		setup []string
		run   string
	}{
		{"insert", []string{"CREATE TABLE t (id BIGINT, s STRING)", "INSERT INTO t VALUES (1, 'a')"}, "INSERT INTO t " + big},
		{"insert overwrite", []string{"CREATE TABLE t (id BIGINT, s STRING)", "INSERT INTO t VALUES (1, 'a')"}, "INSERT OVERWRITE t " + big},
		{"create", nil, "CREATE TABLE t AS " + big},
	} {
		t.Run(c.name, func(t *testing.T) {
			database := newDatabase(t, "")
			must(t, database, c.setup...)
			before := state(t, database)
			process, err := command(task{Database: database, Statements: []string{c.run}, FileLimit: 32 << 10})
			if err != nil {
				t.Fatal(err)
			}
			var output bytes.Buffer
			process.Stdout, process.Stderr = &output, &output
			if err := process.Run(); err == nil {
				t.Fatal("the statement was to fail")
			}
			if text := output.String(); !strings.HasPrefix(text, "DELTASQL_STORAGE") || !strings.Contains(text, database+".t") {
				t.Errorf("the error: %s", text)
			}
			if now := state(t, database); now != before {
				t.Errorf("the state after:\n%s\nbefore:\n%s", now, before)
			}
			if left := unreferenced(t, database); len(left) > 0 {
				t.Errorf("files were left: %q", left)
			}
			must(t, database, c.run)
			faultless(t, database)
		})
	}
}

// TestFolderThatCannotBeWritten: a table in a folder whose files may be read alone.
func TestFolderThatCannotBeWritten(t *testing.T) {
	database := newDatabase(t, "")
	must(t, database, "CREATE TABLE t (id INT, p INT) PARTITIONED BY (p)", "INSERT INTO t VALUES (1, 1)")
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	for _, folder := range []string{filepath.Join(catalog, database, "t"), filepath.Join(catalog, database, "t", protocol.LogFolder)} {
		if err := os.Chmod(folder, 0o555); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(folder, 0o777)
	}
	before := state(t, database)
	for _, sql := range []string{"INSERT INTO t VALUES (2, 2)", "INSERT OVERWRITE t VALUES (2, 2)", "ALTER TABLE t ADD COLUMN s STRING"} {
		err := execute(context.Background(), victim, database, sql)
		if class := protocol.ClassOf(err); class != "DELTASQL_STORAGE" {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if now := state(t, database); now != before {
		t.Errorf("the state after:\n%s\nbefore:\n%s", now, before)
	}
	if left := unreferenced(t, database); len(left) > 0 {
		t.Errorf("files were left: %q", left)
	}
}

// TestClosedSessionLeavesNoFiles: what an open transaction has written goes with its session.
func TestClosedSessionLeavesNoFiles(t *testing.T) {
	database := newDatabase(t, "")
	must(t, database, plainTable, twoRows)
	must(t, database, "BEGIN", "INSERT INTO t VALUES (3, 'c')") // and the session is closed
	if left := unreferenced(t, database); len(left) > 0 {
		t.Errorf("files were left: %q", left)
	}
	if rows := query(t, database, "SELECT count(*) FROM t"); rows[0] != "[2]" {
		t.Errorf("rows: %s", rows)
	}
}
