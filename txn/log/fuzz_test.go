package log

import (
	"context"
	"testing"

	"deltasql/protocol"
	"deltasql/txn/store"
)

// FuzzCommit feeds any bytes as the second commit of a table: an answer or an error of a class, never a panic, and the
// version before stays readable.
func FuzzCommit(f *testing.F) {
	dir := newLog(f, "")
	for _, seed := range []string{"add a\n", "remove a v1\nadd a v2\n", "table two\n", "{\"add\":{\"path\":\"a\"", "{\n}\n{}", "\ufeff{}", "add a%zz\nremove //x\n",
		`{"domainMetadata":{"domain":"d","configuration":"","removed":true}}{"txn":{"appId":"a","version":1}}`} {
		f.Add([]byte(dir.expand(seed)))
	}
	head := dir.expand("table\nadd first\n")
	f.Fuzz(func(t *testing.T, data []byte) {
		st := store.NewMemory(nil)
		ctx := context.Background()
		for version, content := range [][]byte{[]byte(head), data} {
			if err := st.Put(ctx, logFolder+protocol.CommitName(int64(version)), content); err != nil {
				t.Fatal(err)
			}
		}
		table := OpenTable(st, "t", nil)
		snapshot, err := table.Snapshot(ctx)
		if err != nil && protocol.ClassOf(err) == protocol.ClassInternal {
			t.Fatal(err)
		}
		if err == nil {
			for i := range snapshot.Files().Len() {
				snapshot.Files().NumRecords(i)
				_ = snapshot.Files().Add(i)
			}
		}
		if old, err := table.SnapshotAt(ctx, 0); err != nil || live(old) != "first" {
			t.Fatal(err)
		}
	})
}

// FuzzHint feeds any bytes as _last_checkpoint, which must never change what is read.
func FuzzHint(f *testing.F) {
	for _, seed := range []string{"", `{"version":1,"size":1}`, `{"version":99,"size":1,"parts":3}`, `{"version":-1,"size":1}`, `{"version":1,"size":1,"checksum":"x"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := newLog(t, "-- 0.json --\ntable\nadd a\n-- 1.json --\nadd b\n")
		if err := dir.Put(context.Background(), logFolder+protocol.LastCheckpointName, data); err != nil {
			t.Fatal(err)
		}
		if snapshot := mustSnapshot(t, dir.open()); live(snapshot) != "a b" {
			t.Fatal(live(snapshot))
		}
	})
}

// FuzzDuckType: any text is a type or an error.
func FuzzDuckType(f *testing.F) {
	f.Add(`STRUCT(path VARCHAR, "a ""b""" MAP(VARCHAR, DECIMAL(38,18)), e ENUM('a)', 'b'), f INTEGER[3][])`)
	f.Fuzz(func(t *testing.T, text string) {
		if parsed, err := parseDuckType(text); err == nil && parsed.name == "" {
			t.Fatal("a type without a name")
		}
	})
}
