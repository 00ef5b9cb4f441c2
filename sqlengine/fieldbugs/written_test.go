package fieldbugs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deltasql/protocol"
	"deltasql/sqlengine"
	"deltasql/sqlengine/check"
)

// made is a table that our own statements make: $t in them is its name by its path.
func made(t *testing.T, statements ...string) *table {
	t.Helper()
	tb := emptyFolder(t)
	tb.do(statements...)
	return tb
}

// actions are the actions of a version, by kind.
func (tb *table) actions(version int) map[string][]map[string]any {
	tb.t.Helper()
	out := map[string][]map[string]any{}
	for line := range strings.Lines(string(tb.read(fmt.Sprintf("_delta_log/%020d.json", version)))) {
		var action map[string]map[string]any
		tb.check(json.Unmarshal([]byte(line), &action))
		for kind, members := range action {
			out[kind] = append(out[kind], members)
		}
	}
	return out
}

// newest is the number of the newest version.
func (tb *table) newest() int {
	tb.t.Helper()
	names, err := filepath.Glob(tb.path("_delta_log/*.json"))
	tb.check(err)
	slices.Sort(names)
	for i := len(names) - 1; i >= 0; i-- {
		if file, ok := protocol.ParseLogFile(filepath.Base(names[i])); ok && file.Kind == protocol.LogCommit {
			return int(file.Version)
		}
	}
	return -1
}

// features are those of the protocol action of a version.
func (tb *table) features(version int) (reader, writer []string) {
	tb.t.Helper()
	all := tb.actions(version)["protocol"]
	if len(all) != 1 {
		tb.t.Fatalf("version %d has %d protocol actions", version, len(all))
	}
	list := func(key string) (out []string) {
		names, _ := all[0][key].([]any)
		for _, name := range names {
			out = append(out, name.(string))
		}
		slices.Sort(out)
		return out
	}
	return list("readerFeatures"), list("writerFeatures")
}

// statsOf are the statistics of an add action.
func (tb *table) statsOf(add map[string]any) map[string]any {
	tb.t.Helper()
	text, _ := add["stats"].(string)
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var out map[string]any
	tb.check(decoder.Decode(&out))
	return out
}

// session is one more session, which stays open until the test ends.
func (tb *table) session() *sqlengine.Session {
	tb.t.Helper()
	s, err := engine.NewSession(sqlengine.SessionOptions{})
	tb.check(err)
	tb.t.Cleanup(func() { s.Close() })
	return s
}

// faultless holds the table against the protocol.
func (tb *table) faultless() {
	tb.t.Helper()
	err := tb.skipping.Check(context.Background(), tb.dir, check.Options{Deep: true}, func(f check.Fault) {
		tb.t.Errorf("check: %s: %s", f.File, f.Message)
	})
	tb.check(err)
}

// unchanged checks that a statement is refused and makes no version and no file.
func (tb *table) unchanged(sql string, class protocol.Class, says ...string) {
	tb.t.Helper()
	before, files := tb.newest(), tb.dataFiles()
	tb.refuse(sql, class, says...)
	if now := tb.newest(); now != before {
		tb.t.Errorf("%s made version %d", sql, now)
	}
	if now := tb.dataFiles(); !slices.Equal(now, files) {
		tb.t.Errorf("%s left files: %q", sql, now)
	}
}

// dataFiles are the files beside the log.
func (tb *table) dataFiles() []string {
	tb.t.Helper()
	var out []string
	tb.check(filepath.WalkDir(tb.dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !strings.Contains(path, "_delta_log") {
			out = append(out, path)
		}
		return err
	}))
	return out
}

// metric is one of a version's operation.
func (tb *table) metric(version int, name string) string {
	tb.t.Helper()
	metrics, _ := tb.actions(version)["commitInfo"][0]["operationMetrics"].(map[string]any)
	text, _ := metrics[name].(string)
	return text
}
