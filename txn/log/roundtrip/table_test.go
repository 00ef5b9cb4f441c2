package roundtrip

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deltasql/protocol"
	"deltasql/scan"
	"deltasql/scan/duck"
	"deltasql/txn/log"
	"deltasql/txn/store"
)

func openDuck(t testing.TB) scan.LogParquet {
	in, err := duck.Open(duck.Config{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return scan.LogParquet{Instance: in}
}

// upkeep has a clock that stands and ids that count.
func upkeep(now time.Time) log.Upkeep {
	ids := 0
	return log.Upkeep{
		Now: func() time.Time { return now },
		NewID: func() string {
			ids++
			return fmt.Sprintf("%08d-0000-4000-8000-000000000000", ids)
		},
	}
}

func openLocal(t testing.TB, folder string) *store.Local {
	st, err := store.NewLocal(folder)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// copyLog copies a table's log, without its data, to a fresh folder. File times are kept.
func copyLog(t testing.TB, from string) string {
	t.Helper()
	to := t.TempDir()
	source := filepath.Join(from, protocol.LogFolder)
	err := filepath.WalkDir(source, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(source, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, protocol.LogFolder, relative)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o777)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(target, data, 0o666); err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		return os.Chtimes(target, info.ModTime(), info.ModTime())
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// state is what a snapshot says, as text that can be compared; by file for the adds.
type state struct {
	singles    string
	adds       map[string]string
	stats      map[string]string
	tombstones map[string]string
}

func stateOf(t testing.TB, s *log.Snapshot, now time.Time) state {
	t.Helper()
	out := state{adds: map[string]string{}, stats: map[string]string{}, tombstones: map[string]string{}}
	line := func(a protocol.Action) string {
		text, err := protocol.AppendAction(nil, a)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	config := s.Config()
	singles := []string{line(protocol.Action{Protocol: &config.Protocol}), line(protocol.Action{Metadata: &config.Metadata})}
	for _, txn := range s.Transactions() {
		singles = append(singles, line(protocol.Action{Txn: &txn}))
	}
	for _, domain := range s.Domains() {
		singles = append(singles, line(protocol.Action{Domain: &domain}))
	}
	slices.Sort(singles)
	out.singles = strings.Join(singles, "\n")
	for i := range s.Files().Len() {
		add := s.Files().Add(i)
		key := add.Path
		if add.DeletionVector != nil {
			key += "/" + add.DeletionVector.UniqueID()
		}
		if _, twice := out.adds[key]; twice {
			t.Errorf("%s is there twice", key)
		}
		out.stats[key], add.Stats, add.DataChange = add.Stats, "", false
		out.adds[key] = line(protocol.Action{Add: &add})
	}
	retention, _, err := config.DurationProperty("delta.deletedFileRetentionDuration")
	if err != nil {
		t.Fatal(err)
	}
	for remove, err := range s.Tombstones(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if remove.DeletionTimestamp == nil || *remove.DeletionTimestamp < now.UnixMilli()-retention {
			continue
		}
		key := remove.Path
		if remove.DeletionVector != nil {
			key += "/" + remove.DeletionVector.UniqueID()
		}
		remove.Stats, remove.Tags = "", nil
		out.tombstones[key] = line(protocol.Action{Remove: &remove})
	}
	return out
}

// sameMaps reports the first differences.
func sameMaps(t testing.TB, what string, got, want map[string]string) {
	t.Helper()
	shown := 0
	for key, text := range want {
		if got[key] != text && shown < 3 {
			shown++
			t.Errorf("%s %s:\n got %s\nwant %s", what, key, got[key], text)
		}
	}
	for key := range got {
		if _, ok := want[key]; !ok && shown < 3 {
			shown++
			t.Errorf("%s %s is new: %s", what, key, got[key])
		}
	}
}

// keepOnly deletes everything of the log but what a predicate keeps.
func keepOnly(t testing.TB, folder string, keep func(name string) bool) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(folder, protocol.LogFolder))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !entry.IsDir() && !keep(entry.Name()) {
			if err := os.Remove(filepath.Join(folder, protocol.LogFolder, entry.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
}
