package stats

import (
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"deltasql/protocol"
)

// Source is what a snapshot gives of its files, numbered 0 to NumFiles()-1 in an order that never changes.
// Its methods are called from several goroutines at once.
type Source interface {
	NumFiles() int
	// RawStats is the statistics JSON of the add action, nil or empty where it has none. The bytes must not change while they are read.
	RawStats(i int) []byte
	// PartitionValue is the text of the log for a partition column; null for JSON null and for an absent key.
	PartitionValue(i int, name protocol.PhysicalName) (text string, null bool)
	// DeletedRows is the cardinality of the file's deletion vector, 0 without one.
	DeletedRows(i int) int64
}

// Table answers questions about the files of one snapshot. What is parsed once is kept as long as the Table.
// It is safe for concurrent use.
type Table struct {
	src    Source
	cfg    *protocol.TableConfig
	fields map[protocol.PhysicalName]*protocol.Field // the table's columns
	// partitionedBy are the partition columns of cfg. They decide over Leaf.Partition: a data file's statistics say nothing of
	// such a column even if they name it.
	partitionedBy map[protocol.PhysicalName]bool

	// building is held while columns are parsed, so that two queries do not parse the same; mu guards the fields below, which are
	// only ever set to something complete.
	building   sync.Mutex
	mu         sync.RWMutex
	columns    map[string]*column
	partitions map[string]*partitionColumn
	records    []int64 // numRecords, -1 where unknown; nil before it is asked
	loose      bitmap  // files with tightBounds=false; nil before a leaf is asked
	everyFile  []int32 // 0, 1, 2, ...
}

// NewTable does no work: a leaf's column is parsed when a query first needs it. cfg is the configuration of the same snapshot.
func NewTable(src Source, cfg *protocol.TableConfig) *Table {
	t := &Table{
		src: src, cfg: cfg,
		fields:        map[protocol.PhysicalName]*protocol.Field{},
		partitionedBy: map[protocol.PhysicalName]bool{},
		columns:       map[string]*column{},
		partitions:    map[string]*partitionColumn{},
	}
	for i := range cfg.Schema.Fields {
		t.fields[cfg.Schema.Fields[i].PhysicalName(cfg.Mapping)] = &cfg.Schema.Fields[i]
	}
	for _, i := range cfg.PartitionColumns {
		t.partitionedBy[cfg.Schema.Fields[i].PhysicalName(cfg.Mapping)] = true
	}
	return t
}

// key tells leaves apart: the same path under another type has other bounds.
func (l Leaf) key() string {
	var key strings.Builder
	for _, name := range l.Path {
		key.WriteString(strconv.Itoa(len(name)))
		key.WriteByte(':')
		key.WriteString(string(name))
	}
	for _, n := range []int{int(l.Type.Kind), l.Type.Precision, l.Type.Scale} {
		key.WriteByte(' ')
		key.WriteString(strconv.Itoa(n))
	}
	key.WriteByte(' ')
	key.WriteString(l.Type.Collation)
	return key.String()
}

// isPartition tells whether the leaf's values come from the log.
func (t *Table) isPartition(l Leaf) bool { return len(l.Path) == 1 && t.partitionedBy[l.Path[0]] }

// field is the schema's field of the leaf, nil where there is none.
func (t *Table) field(l Leaf) *protocol.Field {
	if len(l.Path) == 0 {
		return nil
	}
	f := t.fields[l.Path[0]]
	for _, name := range l.Path[1:] {
		if f == nil {
			return nil
		}
		members := f.Type.Fields
		f = nil
		for i := range members {
			if members[i].PhysicalName(t.cfg.Mapping) == name {
				f = &members[i]
			}
		}
	}
	return f
}

// wasFloat tells that older files may hold the leaf, now a double, as a float (PROTOCOL.md "Type Widening").
func (t *Table) wasFloat(l Leaf) bool {
	f := t.field(l)
	if f == nil || l.Type.Kind != protocol.KindDouble {
		return false
	}
	changes, err := f.Metadata.TypeChanges()
	return err != nil || slices.ContainsFunc(changes, func(c protocol.TypeChange) bool {
		return c.FieldPath == "" && c.From.Kind == protocol.KindFloat
	})
}

// resolve gives each atom of the nodes its column, parsing those that are missing in one pass over the statistics.
func (t *Table) resolve(nodes ...*node) {
	var wanted []Leaf
	visitAtoms(nodes, func(a *atom) {
		if len(a.leaf.Path) > 0 && !t.isPartition(a.leaf) {
			wanted = append(wanted, a.leaf)
		}
	})
	columns := t.columnsOf(wanted)
	visitAtoms(nodes, func(a *atom) {
		switch {
		case len(a.leaf.Path) == 0:
		case t.isPartition(a.leaf):
			a.partition = t.partitionOf(a.leaf)
		default:
			a.column = columns[a.leaf.key()]
		}
	})
}

func visitAtoms(nodes []*node, visit func(*atom)) {
	for _, n := range nodes {
		if n.kind == nodeAtom {
			visit(&n.atom)
		}
		visitAtoms(n.members, visit)
	}
}

// parsed tells whether every leaf's column is there.
func (t *Table) parsed(leaves []Leaf) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, leaf := range leaves {
		if t.columns[leaf.key()] == nil {
			return false
		}
	}
	return true
}

// columnsOf gives the statistics columns of the leaves by key.
func (t *Table) columnsOf(leaves []Leaf) map[string]*column {
	if len(leaves) == 0 {
		return nil
	}
	if !t.parsed(leaves) {
		t.building.Lock()
		defer t.building.Unlock()
		t.parse(leaves)
	}
	out := make(map[string]*column, len(leaves))
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, leaf := range leaves {
		out[leaf.key()] = t.columns[leaf.key()]
	}
	return out
}

// parse reads the columns of the leaves that are not there yet; building is held.
func (t *Table) parse(leaves []Leaf) {
	n := t.src.NumFiles()
	var missing []Leaf
	var columns []*column
	seen := map[string]bool{}
	for _, leaf := range leaves {
		if key := leaf.key(); t.columns[key] == nil && !seen[key] { // writers hold building as well as mu
			seen[key] = true
			missing = append(missing, leaf)
			columns = append(columns, newColumn(leaf, n))
		}
	}
	if len(missing) == 0 {
		return
	}
	records, loose := make([]int64, n), newBitmap(n)
	builders := make([][]*columnBuilder, len(missing)) // by leaf, then by run
	var runs sync.WaitGroup
	for first, count := 0, runLength(n); first < n; first += count {
		count = min(count, n-first)
		run := make([]*columnBuilder, len(missing))
		for k, leaf := range missing {
			run[k] = newColumnBuilder(columns[k], t.wasFloat(leaf), first, count)
			builders[k] = append(builders[k], run[k])
		}
		runs.Go(func() { t.parseRun(newScanner(missing), run, first, count, records, loose) })
	}
	runs.Wait()
	for k, c := range columns {
		if c.min.storage == texts && n > 0 {
			lows, highs := make([]*textFiller, len(builders[k])), make([]*textFiller, len(builders[k]))
			for i, b := range builders[k] {
				lows[i], highs[i] = b.min, b.max
			}
			c.min.join(lows)
			c.max.join(highs)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.records == nil {
		t.records = records
	}
	if t.loose == nil {
		t.loose = loose
	}
	for k, leaf := range missing {
		t.columns[leaf.key()] = columns[k]
	}
}

const (
	// maxWorkers bounds how many runs of files are parsed at once.
	maxWorkers = 8
	// minRunFiles: a shorter run is not worth a goroutine.
	minRunFiles = 1 << 14
)

// runLength divides n files into equal runs, multiples of 64, for the processors there are.
func runLength(n int) int {
	workers := min(runtime.GOMAXPROCS(0), maxWorkers, n/minRunFiles)
	if workers <= 1 {
		return max(n, 1)
	}
	return ((n+workers-1)/workers + 63) / 64 * 64
}

// parseRun fills one run of every builder, and of records and loose.
func (t *Table) parseRun(s *scanner, builders []*columnBuilder, first, count int, records []int64, loose bitmap) {
	for i := first; i < first+count; i++ {
		records[i] = -1
		if !s.scan(t.src.RawStats(i)) {
			for _, b := range builders {
				b.addUnknown(i)
			}
			continue
		}
		records[i] = s.count(s.numRecords)
		if s.isLoose() {
			loose.set(i)
		}
		for k, b := range builders {
			b.add(i, s, s.leaf(k), records[i])
		}
	}
}

// partitionOf gives a partition column.
func (t *Table) partitionOf(leaf Leaf) *partitionColumn {
	key := leaf.key()
	t.mu.RLock()
	c := t.partitions[key]
	t.mu.RUnlock()
	if c != nil {
		return c
	}
	t.building.Lock()
	defer t.building.Unlock()
	if c := t.partitions[key]; c != nil {
		return c
	}
	f := t.field(leaf)
	c = newPartitionColumn(t.src, leaf, f == nil || f.Nullable)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.partitions[key] = c
	return c
}

// numRecords gives the record counts of all files, -1 where unknown.
func (t *Table) numRecords() []int64 {
	t.mu.RLock()
	records := t.records
	t.mu.RUnlock()
	if records != nil {
		return records
	}
	t.building.Lock()
	defer t.building.Unlock()
	if t.records != nil {
		return t.records
	}
	records = make([]int64, t.src.NumFiles())
	s := newScanner(nil)
	for i := range records {
		records[i] = -1
		if s.scan(t.src.RawStats(i)) {
			records[i] = s.count(s.numRecords)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.records = records
	return records
}

// allFiles is the list of every file; nobody may change it.
func (t *Table) allFiles() []int32 {
	t.mu.RLock()
	files := t.everyFile
	t.mu.RUnlock()
	if files != nil {
		return files
	}
	files = make([]int32, t.src.NumFiles())
	for i := range files {
		files[i] = int32(i)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.everyFile = files
	return files
}

// Bytes is the memory that the parsed columns and their indexes hold.
func (t *Table) Bytes() int64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	total := int64(8*cap(t.records) + 8*cap(t.loose) + 4*cap(t.everyFile))
	for _, c := range t.columns {
		total += c.memory()
	}
	for _, c := range t.partitions {
		total += c.memory()
	}
	return total
}
