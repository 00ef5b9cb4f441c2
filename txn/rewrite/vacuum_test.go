package rewrite

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"deltasql/protocol"
	"deltasql/txn"
)

// TestVacuumFollowsLinks: a file of the table that the log calls by an absolute path over a link is needed under its name.
func TestVacuumFollowsLinks(t *testing.T) {
	tt := newTable(t, openInstance(t), field("id", `"long"`), nil, nil)
	tx := tt.begin()
	written, err := Write(context.Background(), tt.in, tx, Rows{SQL: "SELECT 1::BIGINT AS c0", Done: tx.Duties()}, Options{DataChange: true})
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(tt.dir, link); err != nil {
		t.Skip(err)
	}
	alias := written.Files[0]
	name, _, err := protocol.DecodePath(alias.Path)
	if err != nil {
		t.Fatal(err)
	}
	alias.Path = protocol.EncodePath(filepath.ToSlash(filepath.Join(link, name)))
	again := tt.begin() // the first is left open: what it wrote stays
	if err := again.Add([]protocol.AddFile{alias}, append(again.Duties(), txn.Duty{Kind: txn.PhysicalNames})); err != nil {
		t.Fatal(err)
	}
	if _, err := again.Commit(context.Background(), txn.Operation{Name: "WRITE"}); err != nil {
		t.Fatal(err)
	}
	garbage, err := Unreferenced(context.Background(), tt.snapshot(), math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	if len(garbage.Files) > 0 {
		t.Errorf("a live file is garbage: %+v", garbage.Files)
	}
}
