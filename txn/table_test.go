package txn

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deltasql/protocol"
	"deltasql/stats"
	"deltasql/txn/log"
	"deltasql/txn/store"
)

// rig makes transactions on a table in a store, with a clock that ticks a millisecond a look and ids that count.
type rig struct {
	t     testing.TB
	store store.Store
	table *log.Table
	now   atomic.Int64
	ids   *atomic.Int64
}

const startMillis = 1_800_000_000_000

func newRig(t testing.TB, st store.Store) *rig {
	t.Helper()
	r := &rig{t: t, store: st, table: log.OpenTable(st, "t", nil), ids: new(atomic.Int64)}
	r.now.Store(startMillis)
	return r
}

// another is a second process on the same table.
func (r *rig) another(st store.Store) *rig {
	other := &rig{t: r.t, store: st, table: log.OpenTable(st, "t", nil), ids: r.ids}
	other.now.Store(startMillis)
	return other
}

func (r *rig) options() Options {
	return Options{
		Now:    func() time.Time { return time.UnixMilli(r.now.Add(1)) },
		NewID:  func() string { return fmt.Sprintf("00000000-0000-0000-0000-%012d", r.ids.Add(1)) },
		Engine: "deltasql/test",
		Wait:   func(ctx context.Context, _ int) error { return ctx.Err() },
	}
}

// features are what the tables of the tests support; few are active.
var features = []string{"appendOnly", "changeDataFeed", "checkConstraints", "columnMapping", "deletionVectors", "domainMetadata",
	"identityColumns", "inCommitTimestamp", "invariants", "rowTracking", "v2Checkpoint"}

func allFeatures() protocol.Protocol {
	p := protocol.Protocol{MinReaderVersion: 3, MinWriterVersion: 7, WriterFeatures: slices.Clone(features)}
	for _, name := range features {
		if f, _ := protocol.LookupFeature(name); f.Kind == protocol.ReaderWriterFeature {
			p.ReaderFeatures = append(p.ReaderFeatures, name)
		}
	}
	return p
}

const plainSchema = `{"type":"struct","fields":[` +
	`{"name":"id","type":"long","nullable":true,"metadata":{"delta.identity.start":1,"delta.identity.step":1,"delta.identity.allowExplicitInsert":true}},` +
	`{"name":"p","type":"integer","nullable":true,"metadata":{}},` +
	`{"name":"v","type":"long","nullable":true,"metadata":{}}]}`

func metadata(properties ...string) protocol.Metadata {
	m := protocol.Metadata{ID: "11111111-1111-1111-1111-111111111111", Provider: "parquet", SchemaString: plainSchema,
		PartitionColumns: []string{"p"},
		Configuration:    map[string]string{"delta.checkpointInterval": "1000000"}} // checkpoints need a reader of Parquet
	for _, property := range properties {
		key, value, _ := strings.Cut(property, "=")
		m.Configuration[key] = value
	}
	return m
}

// create makes the table with the properties and commits its first files.
func (r *rig) create(properties ...string) {
	r.t.Helper()
	r.createAs(allFeatures(), metadata(properties...))
}

func (r *rig) createAs(p protocol.Protocol, m protocol.Metadata) {
	r.t.Helper()
	tx, err := Create(context.Background(), r.table, r.options())
	r.must(err)
	r.must(tx.SetProtocol(p))
	r.must(tx.SetMetadata(m))
	_, err = tx.Commit(context.Background(), Operation{Name: "CREATE TABLE"})
	r.must(err)
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) snapshot() *log.Snapshot {
	r.t.Helper()
	s, err := r.table.Snapshot(context.Background())
	r.must(err)
	return s
}

func (r *rig) begin() *Transaction {
	r.t.Helper()
	tx, err := Begin(context.Background(), r.table, r.snapshot(), r.options())
	r.must(err)
	return tx
}

// add stages a new file of rows with v from low to high in a partition, with every duty done.
func (r *rig) add(tx *Transaction, path string, partition int, low, high int64) {
	r.t.Helper()
	r.must(tx.Add([]protocol.AddFile{file(path, partition, low, high)}, done(tx)))
}

func done(tx *Transaction) []Duty {
	return append(tx.Duties(), Duty{Kind: ChangeRows}, Duty{Kind: RowIDs})
}

func file(path string, partition int, low, high int64) protocol.AddFile {
	value := fmt.Sprint(partition)
	return protocol.AddFile{
		Path: path, PartitionValues: map[string]*string{"p": &value}, Size: 100, ModificationTime: startMillis, DataChange: true,
		Stats: fmt.Sprintf(`{"numRecords":%d,"minValues":{"v":%d},"maxValues":{"v":%d},"nullCount":{"v":0},"tightBounds":true}`, high-low+1, low, high),
	}
}

// live is a file of a snapshot.
func live(t testing.TB, s *log.Snapshot, path string) protocol.AddFile {
	t.Helper()
	for i := range s.Files().Len() {
		if s.Files().Path(i) == path {
			add := s.Files().Add(i)
			add.DataChange = true
			return add
		}
	}
	t.Fatalf("version %d has no file %s", s.Version(), path)
	return protocol.AddFile{}
}

func paths(s *log.Snapshot) []string {
	var out []string
	for i := range s.Files().Len() {
		out = append(out, s.Files().Path(i))
	}
	slices.Sort(out)
	return out
}

// commit commits what is staged as an operation.
func (r *rig) commit(tx *Transaction, operation string) Committed {
	r.t.Helper()
	c, err := tx.Commit(context.Background(), Operation{Name: operation})
	r.must(err)
	return c
}

// append commits one file.
func (r *rig) append(path string, partition int, low, high int64) Committed {
	r.t.Helper()
	tx := r.begin()
	r.add(tx, path, partition, low, high)
	return r.commit(tx, "WRITE")
}

// raw is a version's commit file.
func (r *rig) raw(version int64) string {
	r.t.Helper()
	data, err := r.store.Read(context.Background(), protocol.LogFolder+"/"+protocol.CommitName(version), 1<<20)
	r.must(err)
	return string(data)
}

func (r *rig) exists(name string) bool {
	_, err := r.store.Stat(context.Background(), name)
	return err == nil
}

// put creates a data file and tells the transaction.
func (r *rig) put(tx *Transaction, name string) {
	r.t.Helper()
	_, err := r.store.PutIfAbsent(context.Background(), name, []byte("data"))
	r.must(err)
	tx.Wrote(name)
}

func wantClass(t testing.TB, err error, class protocol.Class) {
	t.Helper()
	if err == nil || protocol.ClassOf(err) != class {
		t.Fatalf("got %v, want %s", err, class)
	}
}

// inPartition is p = n.
func inPartition(n int64) stats.Predicate {
	integer := protocol.DataType{Kind: protocol.KindInteger}
	return stats.Compare{
		Leaf: stats.Leaf{Path: []protocol.PhysicalName{"p"}, Type: integer, Partition: true, Name: "p"}, Op: stats.Equal,
		Value: protocol.Value{Kind: protocol.KindInteger, Int: n},
	}
}

// between is v BETWEEN low AND high.
func between(low, high int64) stats.Predicate {
	leaf := stats.Leaf{Path: []protocol.PhysicalName{"v"}, Type: protocol.DataType{Kind: protocol.KindLong}, Name: "v"}
	return stats.And{
		stats.Compare{Leaf: leaf, Op: stats.GreaterOrEqual, Value: protocol.Value{Kind: protocol.KindLong, Int: low}},
		stats.Compare{Leaf: leaf, Op: stats.LessOrEqual, Value: protocol.Value{Kind: protocol.KindLong, Int: high}},
	}
}

// vector is an inline vector, told apart by its text.
func vector(text string, cardinality int64) protocol.DeletionVector {
	return protocol.DeletionVector{StorageType: protocol.VectorInline, PathOrInline: text, SizeInBytes: 40, Cardinality: cardinality}
}

// loose are statistics as a file with a vector has them.
func loose(stats string) string {
	return strings.Replace(stats, `"tightBounds":true`, `"tightBounds":false`, 1)
}

// both is a AND b.
func both(a, b stats.Predicate) stats.Predicate { return stats.And{a, b} }
