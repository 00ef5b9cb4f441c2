package rewrite

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"

	"deltasql/protocol"
	"deltasql/stats"
	"deltasql/txn/log"
)

// The tags by which files say with what others they were sorted, and by which columns: together they are one cube, whose files
// overlap little.
const (
	TagCubeID      = "ZCUBE_ID"
	TagCubeColumns = "ZCUBE_ZORDER_BY"
	TagCubeCurve   = "ZCUBE_ZORDER_CURVE"
)

// ClusteringProvider is the implementation of clustering that this product shares with the reference.
const ClusteringProvider = "liquid"

// Packing says which files are to be packed together.
type Packing struct {
	// Only are the files that are considered; nil is all.
	Only []int32
	// TargetBytes is the size of the files that come out; files of SmallBytes and more are left alone.
	TargetBytes, SmallBytes int64
	// MaxDeleted is the share of deleted rows above which a file is written anew whatever its size.
	MaxDeleted float64
	// Lone packs files of which there is only one in its bin too: they are to be written anew for their own sake.
	Lone bool
	// All takes every file that is considered, whatever its size.
	All bool
}

// Bin is files of one partition whose rows become other files together.
type Bin struct {
	Files []int32
	Keys  []string // of the files, see Bins
	Bytes int64
	Tuple int // of the partition
	// Cubes are the cubes that the files belonged to.
	Cubes int
}

// Bins is what is to be done to a table.
type Bins struct {
	Bins       []Bin
	Considered int // files that were looked at
	Skipped    int // of those
	// Clustered and Other are the files that have been clustered by the same columns already, and the others, with their sizes; and the
	// cubes of the first.
	Clustered, Other           int
	ClusteredBytes, OtherBytes int64
	Cubes                      int
}

func newBin(snapshot *log.Snapshot, files []int32) Bin {
	bin := Bin{Files: files, Keys: make([]string, len(files)), Tuple: snapshot.Files().PartitionTuple(int(files[0]))}
	for i, number := range files {
		bin.Keys[i] = fileKey(snapshot.Files(), int(number))
		bin.Bytes += snapshot.Files().Size(int(number))
	}
	return bin
}

// considered are the files that a packing looks at.
func (p *Packing) considered(snapshot *log.Snapshot) []int32 {
	if p.Only != nil {
		return p.Only
	}
	all := make([]int32, snapshot.Files().Len())
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// PackSmall packs small files, and files of which many rows are deleted, into bins of the target size, partition by partition. Files are
// taken in the order of their sizes, so that a later run finds little to do.
func PackSmall(snapshot *log.Snapshot, p Packing) *Bins {
	files := snapshot.Files()
	considered := p.considered(snapshot)
	byTuple := map[int][]int32{}
	var tuples []int
	for _, number := range considered {
		if i := int(number); !p.All && files.Size(i) >= p.SmallBytes && !manyDeleted(files, i, p.MaxDeleted) {
			continue
		}
		tuple := files.PartitionTuple(int(number))
		if byTuple[tuple] == nil {
			tuples = append(tuples, tuple)
		}
		byTuple[tuple] = append(byTuple[tuple], number)
	}
	slices.Sort(tuples)
	out := &Bins{Considered: len(considered)}
	packed := 0
	for _, tuple := range tuples {
		list := byTuple[tuple]
		slices.SortFunc(list, func(a, b int32) int {
			return cmp.Or(cmp.Compare(files.Size(int(a)), files.Size(int(b))), cmp.Compare(a, b))
		})
		var open []int32
		bytes := int64(0)
		closeBin := func() {
			if len(open) > 1 || len(open) == 1 && p.Lone {
				out.Bins = append(out.Bins, newBin(snapshot, open))
				packed += len(open)
			}
			open, bytes = nil, 0
		}
		for _, number := range list {
			size := files.Size(int(number))
			if len(open) > 0 && size > p.TargetBytes-bytes {
				closeBin()
			}
			open = append(open, number)
			bytes = addBytes(bytes, size)
		}
		closeBin()
	}
	out.Skipped = out.Considered - packed
	return out
}

func addBytes(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// manyDeleted tells whether the share of a file's rows that are deleted is above a limit.
func manyDeleted(files *log.Files, i int, limit float64) bool {
	deleted := files.DeletedRows(i)
	if deleted == 0 {
		return false
	}
	rows, ok := files.NumRecords(i)
	return !ok || float64(deleted) > limit*float64(rows)
}

// cube is what a file's tags say.
type cube struct {
	id, curve string
	columns   []string
}

func cubeOf(files *log.Files, i int) (cube, bool) {
	tags := files.Tags(i)
	c := cube{id: tags[TagCubeID], curve: tags[TagCubeCurve]}
	if c.id == "" || json.Unmarshal([]byte(tags[TagCubeColumns]), &c.columns) != nil {
		return c, false
	}
	return c, true
}

// PackSorted makes a bin of all files of a partition, which are then sorted by columns. A partition whose files are one cube of these
// columns already is left alone.
func PackSorted(snapshot *log.Snapshot, p Packing, columns []string) *Bins {
	files := snapshot.Files()
	considered := p.considered(snapshot)
	byTuple := map[int][]int32{}
	var tuples []int
	for _, number := range considered {
		tuple := files.PartitionTuple(int(number))
		if byTuple[tuple] == nil {
			tuples = append(tuples, tuple)
		}
		byTuple[tuple] = append(byTuple[tuple], number)
	}
	slices.Sort(tuples)
	out := &Bins{Considered: len(considered)}
	for _, tuple := range tuples {
		list := byTuple[tuple]
		first, sorted := cubeOf(files, int(list[0]))
		for _, number := range list {
			c, ok := cubeOf(files, int(number))
			sorted = sorted && ok && c.id == first.id && c.curve == curveName && slices.Equal(c.columns, columns) && !manyDeleted(files, int(number), p.MaxDeleted)
		}
		if sorted {
			out.Skipped += len(list)
			continue
		}
		out.Bins = append(out.Bins, newBin(snapshot, list))
		out.Other += len(list)
		out.OtherBytes += out.Bins[len(out.Bins)-1].Bytes
	}
	return out
}

// Clustering says how a clustered table is packed.
type Clustering struct {
	Columns []string // logical names of the clustering columns, as tags have them
	// Full takes up files that were clustered by other columns or providers, too.
	Full bool
	// FullCubeBytes is the size from which on a cube is finished: it is not clustered again with new files.
	FullCubeBytes int64
	MaxDeleted    float64
}

// cubeGrowth bounds how much older cubes weigh that are clustered again with what is new: each row is written anew only some log(n)
// times while a table grows, and the cubes of a table are as few.
const cubeGrowth = 4

// PackClustering chooses the files that are clustered together: those that never were, and cubes that are not much larger than what
// is new. Files of another provider, and of other columns, are left alone unless all is to be done anew.
func PackClustering(snapshot *log.Snapshot, c Clustering) *Bins {
	files := snapshot.Files()
	out := &Bins{Considered: files.Len()}
	type group struct {
		files   []int32
		bytes   int64
		deleted bool
	}
	cubes := map[string]*group{}
	var ids []string
	var fresh group
	for i := range files.Len() {
		number, size := int32(i), files.Size(i)
		provider := files.Add(i).ClusteringProvider
		of, tagged := cubeOf(files, i)
		same := tagged && slices.Equal(of.columns, c.Columns) && provider == ClusteringProvider
		switch {
		case same:
			out.Clustered++
			out.ClusteredBytes += size
			g := cubes[of.id]
			if g == nil {
				g = &group{}
				cubes[of.id] = g
				ids = append(ids, of.id)
			}
			g.files = append(g.files, number)
			g.bytes = addBytes(g.bytes, size)
			g.deleted = g.deleted || manyDeleted(files, i, c.MaxDeleted)
		case c.Full || provider == "" || provider == ClusteringProvider && !tagged:
			out.Other++
			out.OtherBytes += size
			fresh.files = append(fresh.files, number)
			fresh.bytes = addBytes(fresh.bytes, size)
		}
	}
	out.Cubes = len(ids)
	slices.SortFunc(ids, func(a, b string) int { return cmp.Or(cmp.Compare(cubes[a].bytes, cubes[b].bytes), cmp.Compare(a, b)) })
	taken := 0
	for _, id := range ids {
		g := cubes[id]
		switch {
		case g.bytes >= c.FullCubeBytes && !g.deleted:
		case g.deleted, len(fresh.files) > 0 && g.bytes <= cubeGrowth*fresh.bytes, c.Full && len(ids) > 1:
			fresh.files = append(fresh.files, g.files...)
			fresh.bytes = addBytes(fresh.bytes, g.bytes)
			taken++
		}
	}
	if len(fresh.files) == 0 {
		out.Skipped = out.Considered
		return out
	}
	slices.Sort(fresh.files)
	bin := newBin(snapshot, fresh.files)
	bin.Cubes = taken
	out.Bins = []Bin{bin}
	out.Skipped = out.Considered - len(fresh.files)
	return out
}

// Relocate finds the files of a bin in a newer snapshot. Files that are gone, or have other deleted rows, are left out: who changed them
// was first.
func (b *Bin) Relocate(at map[string]int32) Bin {
	out := Bin{Tuple: b.Tuple, Cubes: b.Cubes, Bytes: b.Bytes}
	for _, key := range b.Keys {
		if number, ok := at[key]; ok {
			out.Files = append(out.Files, number)
			out.Keys = append(out.Keys, key)
		}
	}
	return out
}

// Key tells a file of a snapshot from others, as log replay does: by its path and its vector.
func Key(snapshot *log.Snapshot, number int) string { return fileKey(snapshot.Files(), number) }

// Places gives where the files of a snapshot are, by the keys of bins.
func Places(snapshot *log.Snapshot) map[string]int32 {
	at := make(map[string]int32, snapshot.Files().Len())
	for i := range snapshot.Files().Len() {
		at[fileKey(snapshot.Files(), i)] = int32(i)
	}
	return at
}

// maxJobBins and maxJobBytes bound what one query of DuckDB packs, where the bins are of different partitions: so many files are open at
// once.
const (
	maxJobBins  = 64
	maxJobBytes = 256 << 20
)

// Jobs divides bins into what one query does: bins of different partitions go together, as long as they are small.
func Jobs(bins []Bin) [][]Bin {
	var jobs [][]Bin
	var open []Bin
	bytes, tuples := int64(0), map[int]bool{}
	for _, bin := range bins {
		if len(open) > 0 && (tuples[bin.Tuple] || len(open) == maxJobBins || addBytes(bytes, bin.Bytes) > maxJobBytes) {
			jobs = append(jobs, open)
			open, bytes = nil, 0
			clear(tuples)
		}
		open = append(open, bin)
		bytes = addBytes(bytes, bin.Bytes)
		tuples[bin.Tuple] = true
	}
	if len(open) > 0 {
		jobs = append(jobs, open)
	}
	return jobs
}

// PartitionFiles are the files whose rows satisfy a condition on partition columns; false where partition values alone do not tell.
func PartitionFiles(snapshot *log.Snapshot, p stats.Predicate) ([]int32, bool) {
	return decidedFiles(snapshot, p)
}

// TargetFileBytes is the size of new files of a table: what is wanted, else what the table's property says, else the default of the
// statement.
func TargetFileBytes(config *protocol.TableConfig, wanted, otherwise int64) (int64, error) {
	if wanted > 0 {
		return wanted, nil
	}
	if config.Property("delta.targetFileSize") == "" {
		return otherwise, nil
	}
	return targetFileBytes(config, 0)
}
