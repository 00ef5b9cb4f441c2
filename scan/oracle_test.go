package scan

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deltasql/protocol"
)

// The recordings of what Spark with Delta did, and the tables it left; tests skip without them.
const (
	oracleDir       = "../../shared/oracle"
	oracleTablesDir = "../../shared/oracle-tables"
)

// TestOracleTables reads every table that Spark wrote while it was recorded.
func TestOracleTables(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join(oracleTablesDir, "*", "*", "*", "_delta_log"))
	if err != nil || len(folders) == 0 {
		t.Skip("the tables of the oracle are not there")
	}
	in := openInstance(t)
	for _, folder := range folders {
		folder = filepath.Dir(folder)
		name := filepath.Base(folder)
		script := filepath.Base(filepath.Dir(folder))
		area := filepath.Base(filepath.Dir(filepath.Dir(folder)))
		t.Run(area+"/"+script+"/"+name, func(t *testing.T) {
			want, ok := oracleRows(t, filepath.Join(oracleDir, area, script+".json"), name)
			if !ok {
				t.Skip("the oracle has no rows of this table")
			}
			snapshot, err := openTable(t, in, folder).Snapshot(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			var columns []int
			var types []protocol.DataType
			for i, f := range snapshot.Config().Schema.Fields {
				columns = append(columns, i)
				types = append(types, f.Type)
			}
			relation, err := Build(context.Background(), in, Request{Snapshot: snapshot, Columns: columns})
			if err != nil {
				t.Fatal(err)
			}
			defer relation.Release()
			got, err := relationRows(in, relation)
			if err != nil {
				t.Fatal(err)
			}
			var rows []string
			for _, row := range want {
				var text strings.Builder
				for i, value := range row {
					writeJSON(&text, types[i], value)
					text.WriteByte('|')
				}
				rows = append(rows, text.String())
			}
			compareRows(t, "newest version", got, rows)
		})
	}
}

func oracleRows(t *testing.T, path, table string) ([][]any, bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Skip(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var recording struct {
		Tables map[string]struct {
			Final *struct{ Rows [][]any }
		}
	}
	if err := decoder.Decode(&recording); err != nil {
		t.Fatal(err)
	}
	final := recording.Tables[table].Final
	if final == nil {
		return nil, false
	}
	return final.Rows, true
}
