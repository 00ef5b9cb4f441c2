package meta

import "deltasql/protocol"

// Sizes are the sizes of some files.
type Sizes struct {
	Count, Bytes, Min, Max int64
}

// Add counts a file.
func (s *Sizes) Add(bytes int64) {
	if s.Count == 0 || bytes < s.Min {
		s.Min = bytes
	}
	s.Max = max(s.Max, bytes)
	s.Count++
	s.Bytes += bytes
}

// Pair is a number of files and their bytes.
type Pair struct{ Files, Bytes int64 }

// Optimized is what OPTIMIZE and REORG did.
type Optimized struct {
	Path                              string
	Added, Removed                    Sizes
	Partitions                        int64
	ZOrder                            *ZOrdered
	Clustering                        *Clustered
	Bins, Batches                     int64
	Considered, Skipped               int64
	StartMillis, EndMillis            int64
	VectorsRemoved, VectorRowsRemoved int64
	Parallelism                       int64
	TableColumns, ColumnsWithStats    int64
}

// ZOrdered is what OPTIMIZE ... ZORDER BY did.
type ZOrdered struct {
	Input, Merged Pair
	OutputCubes   int64
}

// Clustered is what OPTIMIZE did to a clustered table.
type Clustered struct {
	InputCube, InputOther, Merged Pair
	InputCubes, OutputCubes       int64
}

var typeDouble = protocol.DataType{Kind: protocol.KindDouble}

type member struct {
	name string
	of   protocol.DataType
}

func structType(members ...member) protocol.DataType {
	t := protocol.DataType{Kind: protocol.KindStruct}
	for _, m := range members {
		t.Fields = append(t.Fields, protocol.Field{Name: protocol.LogicalName(m.name), Type: m.of, Nullable: true})
	}
	return t
}

func longs(names ...string) []member {
	members := make([]member, len(names))
	for i, name := range names {
		members[i] = member{name, typeLong}
	}
	return members
}

var (
	typeSizes   = structType(member{"min", typeLong}, member{"max", typeLong}, member{"avg", typeDouble}, member{"totalFiles", typeLong}, member{"totalSize", typeLong})
	typeFiles   = structType(longs("num", "size")...)
	typeCubes   = structType(longs("numFiles", "size")...)
	typeZOrder  = structType(member{"strategyName", typeString}, member{"inputCubeFiles", typeFiles}, member{"inputOtherFiles", typeFiles}, member{"inputNumCubes", typeLong}, member{"mergedFiles", typeFiles}, member{"numOutputCubes", typeLong}, member{"mergedNumCubes", typeLong})
	typeCluster = structType(member{"inputZCubeFiles", typeCubes}, member{"inputOtherFiles", typeCubes}, member{"inputNumZCubes", typeLong}, member{"mergedFiles", typeCubes}, member{"numOutputZCubes", typeLong})
	typeMetrics = structType(
		member{"numFilesAdded", typeLong}, member{"numFilesRemoved", typeLong}, member{"filesAdded", typeSizes}, member{"filesRemoved", typeSizes},
		member{"partitionsOptimized", typeLong}, member{"zOrderStats", typeZOrder}, member{"clusteringStats", typeCluster},
		member{"numBins", typeLong}, member{"numBatches", typeLong}, member{"totalConsideredFiles", typeLong}, member{"totalFilesSkipped", typeLong},
		member{"preserveInsertionOrder", typeBoolean}, member{"numFilesSkippedToReduceWriteAmplification", typeLong}, member{"numBytesSkippedToReduceWriteAmplification", typeLong},
		member{"startTimeMs", typeLong}, member{"endTimeMs", typeLong}, member{"totalClusterParallelism", typeLong}, member{"totalScheduledTasks", typeLong},
		member{"autoCompactParallelismStats", structType(longs("maxClusterActiveParallelism", "minClusterActiveParallelism", "maxSessionActiveParallelism", "minSessionActiveParallelism")...)},
		member{"deletionVectorStats", structType(longs("numDeletionVectorsRemoved", "numDeletionVectorRowsRemoved")...)},
		member{"numTableColumns", typeLong}, member{"numTableColumnsWithStats", typeLong},
	)
)

func (s Sizes) value() any {
	if s.Count == 0 {
		return []any{nil, nil, 0.0, int64(0), int64(0)}
	}
	return []any{s.Min, s.Max, float64(s.Bytes) / float64(s.Count), s.Count, s.Bytes}
}

func (p Pair) value() any { return []any{p.Files, p.Bytes} }

// OptimizeResult is the answer of OPTIMIZE and REORG, in the reference's form.
func OptimizeResult(o Optimized) Table {
	var zorder, clustering, vectors any
	if z := o.ZOrder; z != nil {
		zorder = []any{"all", Pair{}.value(), z.Input.value(), int64(0), z.Merged.value(), z.OutputCubes, nil}
	}
	if c := o.Clustering; c != nil {
		clustering = []any{c.InputCube.value(), c.InputOther.value(), c.InputCubes, c.Merged.value(), c.OutputCubes}
	}
	if o.VectorsRemoved > 0 {
		vectors = []any{o.VectorsRemoved, o.VectorRowsRemoved}
	}
	metrics := []any{
		o.Added.Count, o.Removed.Count, o.Added.value(), o.Removed.value(), o.Partitions, zorder, clustering, o.Bins, o.Batches, o.Considered, o.Skipped,
		false, int64(0), int64(0), o.StartMillis, o.EndMillis, o.Parallelism, int64(0), nil, vectors, o.TableColumns, o.ColumnsWithStats,
	}
	return Table{Columns: []Column{{"path", typeString, true}, {"metrics", typeMetrics, true}}, Rows: rowsOf([][]any{{o.Path, metrics}})}
}
