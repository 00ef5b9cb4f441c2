package rewrite

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"deltasql/protocol"
	"deltasql/scan"
	"deltasql/scan/duck"
	"deltasql/txn/log"
	"deltasql/txn/store"
)

// oracleTables are tables that the reference wrote, beside the project; the test is skipped without them.
const oracleTables = "../../../shared/oracle-tables"

// TestStatisticsOfReference writes the rows of each file of the reference's tables anew and compares the statistics, as text
// and, where numbers have several forms, as values.
func TestStatisticsOfReference(t *testing.T) {
	if _, err := os.Stat(oracleTables); err != nil {
		t.Skip("the reference's tables are not there: ", err)
	}
	in := openInstance(t)
	files, same := 0, 0
	err := filepath.WalkDir(oracleTables, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() || entry.Name() != "_delta_log" {
			return err
		}
		t.Run(strings.TrimPrefix(filepath.Dir(path), oracleTables+"/"), func(t *testing.T) {
			n, k := compareStatistics(t, in, filepath.Dir(path))
			files, same = files+n, same+k
		})
		return fs.SkipDir
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files, %d of them with the same text", files, same)
	if files < 100 {
		t.Errorf("only %d files were compared", files)
	}
}

// compareStatistics goes through a table's commits, and compares the files that each added under the schema of then.
func compareStatistics(t *testing.T, in *duck.Instance, folder string) (files, same int) {
	st, err := store.NewLocal(folder)
	if err != nil {
		t.Fatal(err)
	}
	table := log.OpenTable(st, folder, scan.LogParquet{Instance: in})
	newest, err := table.Inspect(context.Background())
	if err != nil {
		t.Skip(err)
	}
	for commit, err := range table.Commits(context.Background(), 0, newest.Version()) {
		if err != nil {
			t.Skip(err) // the log starts later
		}
		added := map[string]protocol.AddFile{}
		for _, action := range commit.Actions {
			if action.Add != nil && action.Add.DeletionVector == nil && action.Add.Stats != "" {
				added[filepath.Base(action.Add.Path)] = *action.Add
			}
		}
		if len(added) == 0 {
			continue
		}
		snapshot, err := table.SnapshotAt(context.Background(), commit.Version)
		if err != nil {
			t.Logf("version %d: %v", commit.Version, err)
			continue
		}
		n, k := compareCommit(t, in, snapshot, added)
		files, same = files+n, same+k
	}
	return files, same
}

func compareCommit(t *testing.T, in *duck.Instance, snapshot *log.Snapshot, added map[string]protocol.AddFile) (files, same int) {
	config := snapshot.Config()
	if err := protocol.CheckWritable(config.Protocol, "t"); err != nil {
		t.Log(err)
		return 0, 0
	}
	columns := make([]int, len(config.Schema.Fields))
	for i := range columns {
		columns[i] = i
	}
	var domains []protocol.DomainMetadata
	if d, ok := snapshot.Domain(protocol.DomainClustering); ok {
		domains = append(domains, d)
	}
	relation, err := scan.Build(context.Background(), in, scan.Request{Snapshot: snapshot, Columns: columns, Hidden: []scan.HiddenColumn{scan.FileName}})
	if err != nil {
		t.Logf("version %d: %v", snapshot.Version(), err) // files of clones are elsewhere
		return 0, 0
	}
	defer relation.Release()
	outputs := make([]string, len(columns))
	for i := range columns {
		column := relation.Logical(i, fmt.Sprintf("c%d", i))
		if text, ok := config.Schema.Fields[i].Metadata.CharVarchar(); ok && strings.HasPrefix(text, "char") {
			column = "rtrim(" + column + ")" // it is read padded, but not stored so
		}
		outputs[i] = fmt.Sprintf("%s AS c%d", column, i)
	}
	tt := newTableOf(t, in, config.Protocol, config.Metadata, domains...)
	for name, add := range added {
		if strings.Contains(add.Stats, `"tightBounds":false`) {
			continue
		}
		rows := fmt.Sprintf("SELECT %s FROM (%s) WHERE c%d = %s", strings.Join(outputs, ", "), relation.SQL, len(columns), duck.QuoteString(name))
		tx := tt.begin()
		written, err := Write(context.Background(), in, tx, Rows{SQL: rows, Args: relation.Args, Done: tx.Duties()}, Options{DataChange: true})
		tx.Abort(context.Background())
		if err != nil && strings.Contains(err.Error(), "No files found") {
			continue // VACUUM has been there
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(written.Files) != 1 {
			t.Errorf("%s: %d files for one", name, len(written.Files))
			continue
		}
		files++
		ours := written.Files[0]
		if ours.Stats == add.Stats {
			same++
		} else if text := difference(t, ours.Stats, add.Stats); text != "" {
			t.Errorf("version %d, %s: %s\n     ours %s\nreference %s", snapshot.Version(), name, text, ours.Stats, add.Stats)
		}
		if len(ours.PartitionValues)+len(add.PartitionValues) > 0 && !reflect.DeepEqual(ours.PartitionValues, add.PartitionValues) {
			t.Errorf("%s: partition values %s instead of %s", name, partitionText(ours), partitionText(add))
		}
	}
	return files, same
}

func partitionText(add protocol.AddFile) string {
	text, _ := json.Marshal(add.PartitionValues)
	return string(text)
}

// difference compares statistics as values; numbers may be written in more than one way.
func difference(t *testing.T, ours, reference string) string {
	parse := func(text string) map[string]any {
		decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
		decoder.UseNumber()
		var out map[string]any
		if err := decoder.Decode(&out); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		return out
	}
	a, b := parse(ours), parse(reference)
	if b["tightBounds"] == nil {
		delete(a, "tightBounds") // a REPLACE of the reference goes by the protocol that the table had
	}
	var compare func(path string, a, b any) string
	compare = func(path string, a, b any) string {
		am, ok1 := a.(map[string]any)
		bm, ok2 := b.(map[string]any)
		if ok1 && ok2 {
			var names []string
			for name := range am {
				names = append(names, name)
			}
			for name := range bm {
				if _, ok := am[name]; !ok {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			for _, name := range names {
				if text := compare(path+"."+name, am[name], bm[name]); text != "" {
					return text
				}
			}
			return ""
		}
		an, ok1 := a.(json.Number)
		bn, ok2 := b.(json.Number)
		if ok1 && ok2 {
			x, okx := new(big.Rat).SetString(an.String())
			y, oky := new(big.Rat).SetString(bn.String())
			if okx && oky && x.Cmp(y) == 0 {
				return "" // 1E-38, and decimals of an older scale
			}
			if p, err := an.Float64(); err == nil && strings.Contains(an.String(), "E") {
				if q, err := bn.Float64(); err == nil && float32(p) == float32(q) {
					return "" // Java prints the least numbers with a digit more than they need
				}
			}
		}
		if !reflect.DeepEqual(a, b) {
			return fmt.Sprintf("%s is %v, the reference has %v", path, a, b)
		}
		return ""
	}
	return compare("", a, b)
}
