package log

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"deltasql/protocol"
)

// model is a table as a map from (path, vector) to the commit that added the file: what the columns, the index, the
// tombstones and the copies of a snapshot must agree with.
type model map[[2]string]int

func (m model) live() string {
	var out []string
	for key := range m {
		name := key[0]
		if key[1] != "" {
			name += "/" + key[1]
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// randomCommit gives the lines of a lawful commit and applies it to the model.
func randomCommit(random *rand.Rand, m model, version int) string {
	var lines strings.Builder
	touched := map[[2]string]bool{}
	key := func() [2]string {
		vector := ""
		if random.IntN(3) == 0 {
			vector = fmt.Sprintf("v%d", random.IntN(3))
		}
		return [2]string{fmt.Sprintf("f%d", random.IntN(40)), vector}
	}
	line := func(action string, key [2]string) { fmt.Fprintf(&lines, "%s %s %s\n", action, key[0], key[1]) }
	for range random.IntN(6) {
		at := key()
		if touched[at] {
			continue
		}
		touched[at] = true
		if random.IntN(2) == 0 {
			line("remove", at)
			delete(m, at)
		} else {
			line("add", at)
			m[at] = version
		}
	}
	if lines.Len() == 0 {
		return "{\"commitInfo\":{}}\n"
	}
	return lines.String()
}

// TestReplayAgreesWithAModel extends one table commit by commit, loads others anew and travels back, through random
// compactions; every view must show the model's files, and views taken before must not have changed.
func TestReplayAgreesWithAModel(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 42))
			dir := newLog(t, "-- 0.json --\ntable\n")
			m := model{}
			kept := dir.open()
			var history []string
			var snapshots []*Snapshot
			history = append(history, "")
			snapshots = append(snapshots, mustSnapshot(t, kept))
			const versions = 60
			for version := 1; version < versions; version++ {
				dir.write(fmt.Sprintf("-- %d.json --\n%s", version, randomCommit(random, m, version)))
				history = append(history, m.live())
				if random.IntN(3) == 0 {
					snapshots = append(snapshots, mustSnapshot(t, kept))
				}
				if from := version - 1 - random.IntN(10); from > 0 && random.IntN(5) == 0 {
					dir.compact(from, version)
				}
			}
			check := func(what string, s *Snapshot) {
				t.Helper()
				if got, want := live(s), history[s.Version()]; got != want {
					t.Fatalf("%s at version %d: %q, want %q", what, s.Version(), got, want)
				}
				if s.Files().SizeBytes() != int64(10*s.Files().Len()) {
					t.Fatalf("%s at version %d: %d bytes", what, s.Version(), s.Files().SizeBytes())
				}
			}
			check("extended", mustSnapshot(t, kept))
			fresh := dir.open()
			check("loaded", mustSnapshot(t, fresh))
			for version := range int64(versions) {
				old, err := fresh.SnapshotAt(context.Background(), version)
				if err != nil {
					t.Fatal(err)
				}
				check("travelled", old)
			}
			for _, snapshot := range snapshots {
				check("kept", snapshot)
			}
		})
	}
}

// compact writes a log compaction of commits in the way of the protocol: of each key the newest action.
func (d *logDir) compact(from, to int) {
	d.t.Helper()
	newest := map[string]string{}
	for version := from; version <= to; version++ {
		data, err := d.Read(context.Background(), logFolder+protocol.CommitName(int64(version)), 1<<20)
		if err != nil {
			d.t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			action, err := protocol.ParseAction([]byte(line))
			if err != nil {
				d.t.Fatal(err)
			}
			switch {
			case action.Add != nil:
				newest[nameOf(action.Add.Path, action.Add.DeletionVector)] = line
			case action.Remove != nil:
				newest[nameOf(action.Remove.Path, action.Remove.DeletionVector)] = line
			}
		}
	}
	if len(newest) == 0 {
		return
	}
	var content strings.Builder
	for _, line := range newest {
		content.WriteString(line)
	}
	d.write(fmt.Sprintf("-- %d.%d.compacted.json --\n%s", from, to, content.String()))
}

func nameOf(path string, vector *protocol.DeletionVector) string {
	key := keyOf([]byte(path), vector)
	return string(key.path) + "/" + key.vector
}

// Most rows of a large state dead: the live ones are copied together, and nothing that is visible changes.
func TestColumnsAreCompacted(t *testing.T) {
	const files = 5 * chunkRows
	s := newState()
	batch := func(version int64, action string) *commit {
		c := &commit{version: version, file: "test"}
		for i := range files {
			path := fmt.Sprintf("p=%d/f%d", i%7, i)
			if action == "remove" && i%10 != 0 {
				c.add(protocol.Action{Remove: &protocol.RemoveFile{Path: path}})
			}
			if action == "add" {
				value := fmt.Sprint(i % 7)
				id := int64(i)
				c.add(protocol.Action{Add: &protocol.AddFile{Path: path, Size: 1, Stats: fmt.Sprintf(`{"numRecords":%d}`, i),
					PartitionValues: map[string]*string{"p": &value}, BaseRowID: &id}})
			}
		}
		return c
	}
	if err := s.applyCommit(batch(0, "add")); err != nil {
		t.Fatal(err)
	}
	before, err := s.files()
	if err != nil {
		t.Fatal(err)
	}
	next := s.extend()
	if err := next.applyCommit(batch(1, "remove")); err != nil {
		t.Fatal(err)
	}
	after, err := next.files()
	if err != nil {
		t.Fatal(err)
	}
	if before.Len() != files || after.Len() != files/10 || after.columns.rows != files/10 || after.SizeBytes() != files/10 {
		t.Fatalf("%d files before, %d after in %d rows", before.Len(), after.Len(), after.columns.rows)
	}
	for i := range after.Len() {
		add := after.Add(i)
		if add.Path != fmt.Sprintf("p=%d/f%d", i*10%7, i*10) || *add.BaseRowID != int64(i*10) || *add.PartitionValues["p"] != fmt.Sprint(i*10%7) {
			t.Fatalf("file %d: %+v", i, add)
		}
		if n, ok := after.NumRecords(i); !ok || n != int64(i*10) {
			t.Fatalf("file %d has %d records", i, n)
		}
	}
	if err := next.extend().applyCommit(&commit{version: 2, adds: 1, actions: []protocol.Action{{Add: &protocol.AddFile{Path: "p=0/f0"}}}}); err != nil {
		t.Fatal(err)
	}
}
