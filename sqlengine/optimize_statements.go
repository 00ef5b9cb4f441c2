package sqlengine

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"deltasql/ddl"
	"deltasql/protocol"
	"deltasql/scan"
	"deltasql/scan/duck"
	"deltasql/sqlengine/change"
	"deltasql/sqlengine/duckgen"
	"deltasql/sqlengine/expr"
	"deltasql/sqlengine/meta"
	"deltasql/sqlengine/parse"
	"deltasql/txn"
	"deltasql/txn/log"
	"deltasql/txn/rewrite"
)

const (
	// optimizedFileBytes is the size of the files that OPTIMIZE makes where neither the table nor the session wishes another.
	optimizedFileBytes = 1 << 30
	// optimizeCommitBytes is how much OPTIMIZE writes anew before it commits: what is committed is not lost if the rest fails.
	optimizeCommitBytes = 16 << 30
	// optimizeTries is how often a bin is tried that another writer keeps changing.
	optimizeTries = 5
)

// optimize is OPTIMIZE, and MySQL's OPTIMIZE TABLE, which answers in its own way.
func (st *statement) optimize(s *parse.Optimize) (*Result, error) {
	if !s.MySQL {
		var name parse.Name
		if len(s.Tables) > 0 {
			name = s.Tables[0]
		}
		o, err := st.newOptimization(name, s.Path, s.Pos)
		if err != nil {
			return nil, err
		}
		if err := o.ask(s); err != nil {
			return nil, withTable(err, o.t)
		}
		if err := o.run(); err != nil {
			return nil, withTable(err, o.t)
		}
		return st.metaResult(meta.OptimizeResult(o.result))
	}
	var messages []meta.TableMessage
	for _, name := range s.Tables {
		message := meta.TableMessage{Table: written(name), Op: "optimize", Type: "status", Text: "OK"}
		o, err := st.newOptimization(name, "", s.Pos)
		if err == nil {
			message.Table = o.t.shown()
			if err = o.ask(&parse.Optimize{}); err == nil {
				err = o.run()
			}
		}
		if st.ctx.Err() != nil {
			return nil, err
		}
		if err != nil {
			message.Type, message.Text = "Error", err.Error()
		} else if o.result.Removed.Count == 0 {
			message.Text = "Table is already up to date"
		}
		messages = append(messages, message)
	}
	return st.metaResult(meta.TableMessages(messages))
}

// optimization is one table while its files are put together anew.
type optimization struct {
	st     *statement
	t      target
	table  *log.Table
	first  *log.Snapshot // the version that the plan was made from
	bins   *rewrite.Bins
	leaves []protocol.Leaf // the rows are sorted by these
	// columns are their names as tags and history have them; clustered says that they are the table's clustering columns.
	columns   []string
	clustered bool
	target    int64
	operation txn.Operation // without metrics
	dryRun    bool
	done      int64 // bytes of bins that are done, for the progress
	total     int64
	result    meta.Optimized
	tuples    map[int]bool
}

func (st *statement) newOptimization(name parse.Name, path string, pos parse.Pos) (*optimization, error) {
	if err := st.mayWrite("OPTIMIZE", pos); err != nil {
		return nil, err
	}
	t, table, err := st.tableNamed(name, path, "OPTIMIZE")
	if err != nil {
		return nil, err
	}
	if t.moment != nil {
		return nil, protocol.NewError("DELTA_UNSUPPORTED_TIME_TRAVEL_VIEWS", "OPTIMIZE changes a table's newest version; %s names an older one", t.shown()).At(pos.Line, pos.Column)
	}
	o := &optimization{st: st, t: t, table: table, tuples: map[int]bool{}}
	if o.first, err = table.Snapshot(st.ctx); err != nil {
		return nil, withTable(err, t)
	}
	tx, err := txn.Begin(st.ctx, table, o.first, st.transactionOptions()) // refuses at once what may not be written
	if err != nil {
		return nil, withTable(err, t)
	}
	tx.Abort(st.ctx)
	config := o.first.Config()
	covered, err := config.StatisticsLeaves()
	if err != nil {
		return nil, err
	}
	withStats := int64(len(config.PartitionColumns))
	seen := map[int]bool{}
	for _, leaf := range covered {
		if !seen[leaf.Column] {
			seen[leaf.Column] = true
			withStats++
		}
	}
	if len(config.PartitionColumns) > 0 {
		withStats = min(withStats, int64(len(config.Schema.Fields)))
	}
	o.result = meta.Optimized{
		Path: "file:" + t.path, StartMillis: st.session.now().UnixMilli(), Batches: 1, Parallelism: int64(runtime.GOMAXPROCS(0)),
		TableColumns: int64(len(config.Schema.Fields)), ColumnsWithStats: withStats,
	}
	return o, nil
}

// sizes are the target of new files and the size from which on files are left alone.
func (o *optimization) sizes() (target, small int64, err error) {
	settings := o.st.session.settings
	wanted, err := byteSize("deltasql_optimize_file_size", settings.get("deltasql_optimize_file_size"))
	if err != nil {
		return 0, 0, err
	}
	if target, err = rewrite.TargetFileBytes(o.first.Config(), wanted, optimizedFileBytes); err != nil {
		return 0, 0, err
	}
	if small, err = byteSize("deltasql_optimize_small_file", settings.get("deltasql_optimize_small_file")); err != nil || small > 0 {
		return target, small, err
	}
	// Files come out a little smaller or larger than the target: those are not packed again.
	return target, target/4*3 + 1, nil
}

func byteSize(name, text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	return wholeNumber(name, text)
}

// ask takes over what OPTIMIZE says, refuses what the table does not allow, and plans.
func (o *optimization) ask(s *parse.Optimize) error {
	st, config := o.st, o.first.Config()
	clustering, err := clusteringLeaves(o.first)
	if err != nil {
		return err
	}
	place := func(err *protocol.Error) error { return err.At(s.Pos.Line, s.Pos.Column) }
	switch {
	case len(clustering) > 0 && s.Where != nil:
		return place(protocol.NewError("DELTA_CLUSTERING_WITH_PARTITION_PREDICATE", "OPTIMIZE of a clustered table takes no condition (%s): it has no partitions", s.WhereText))
	case len(clustering) > 0 && len(s.ZOrder) > 0:
		return place(protocol.NewError("DELTA_CLUSTERING_WITH_ZORDER_BY", "OPTIMIZE of a clustered table takes no ZORDER BY: it sorts by the clustering columns").
			WithHint("ALTER TABLE ... CLUSTER BY changes these"))
	case len(clustering) == 0 && s.Full:
		return place(protocol.NewError("DELTA_OPTIMIZE_FULL_NOT_SUPPORTED", "OPTIMIZE FULL is for tables with clustering columns"))
	}
	o.dryRun = s.DryRun
	small := int64(0)
	if o.target, small, err = o.sizes(); err != nil {
		return err
	}
	ratio, err := strconv.ParseFloat(strings.TrimSpace(st.session.settings.get("deltasql_optimize_deleted_ratio")), 64)
	if err != nil {
		return err
	}
	packing := rewrite.Packing{TargetBytes: o.target, SmallBytes: small, MaxDeleted: ratio}
	predicate := "[]"
	if s.Where != nil {
		if packing.Only, err = st.partitionFiles(o.t, o.table, o.first, s.Where, s.Pos); err != nil {
			return err
		}
		predicate = jsonOf([]string{s.WhereText})
	}
	switch {
	case len(clustering) > 0:
		full, err := byteSize("deltasql_clustering_cube_size", st.session.settings.get("deltasql_clustering_cube_size"))
		if err != nil {
			return err
		}
		o.leaves, o.columns, o.clustered = clustering, leafNames(clustering), true
		o.bins = rewrite.PackClustering(o.first, rewrite.Clustering{Columns: o.columns, Full: s.Full, FullCubeBytes: full, MaxDeleted: ratio})
		o.result.Clustering = &meta.Clustered{
			InputCube: meta.Pair{Files: int64(o.bins.Clustered), Bytes: o.bins.ClusteredBytes}, InputOther: meta.Pair{Files: int64(o.bins.Other), Bytes: o.bins.OtherBytes},
			InputCubes: int64(o.bins.Cubes),
		}
	case len(s.ZOrder) > 0:
		if o.leaves, err = st.zorderLeaves(config, s.ZOrder); err != nil {
			return err
		}
		o.columns = leafNames(o.leaves)
		o.bins = rewrite.PackSorted(o.first, packing, o.columns)
		o.result.ZOrder = &meta.ZOrdered{Input: meta.Pair{Files: int64(o.bins.Other), Bytes: o.bins.OtherBytes}}
	default:
		o.bins = rewrite.PackSmall(o.first, packing)
	}
	o.operation = optimizeOperation(predicate, o.columns, o.clustered, s.Full, false)
	return nil
}

// optimizeOperation is what history says of an OPTIMIZE.
func optimizeOperation(predicate string, columns []string, clustered, full, auto bool) txn.Operation {
	text := func(list []string) json.RawMessage {
		if list == nil {
			list = []string{}
		}
		return textOf(list)
	}
	var zorder, cluster []string
	if clustered {
		cluster = columns
	} else {
		zorder = columns
	}
	flag := func(on bool) json.RawMessage { return json.RawMessage(fmt.Sprint(on)) }
	parameters := []txn.Parameter{{Key: "predicate", Value: protocol.JSONText(predicate)}, {Key: "zOrderBy", Value: text(zorder)}, {Key: "clusterBy", Value: text(cluster)}, {Key: "auto", Value: flag(auto)}}
	if clustered {
		parameters = append(parameters, txn.Parameter{Key: "isFull", Value: flag(full)})
	}
	return txn.Operation{Name: "OPTIMIZE", Parameters: parameters, NeverChangesData: true}
}

func leafNames(leaves []protocol.Leaf) []string {
	names := make([]string, len(leaves))
	for i, leaf := range leaves {
		path := make(ddl.Path, len(leaf.Logical))
		for k, name := range leaf.Logical {
			path[k] = string(name)
		}
		names[i] = path.String()
	}
	return names
}

// clusteringLeaves are a table's clustering columns; none where it is not clustered.
func clusteringLeaves(s *log.Snapshot) ([]protocol.Leaf, error) {
	domain, ok := s.Domain(protocol.DomainClustering)
	if !ok || domain.Removed || !s.Config().Supports("clustering") {
		return nil, nil
	}
	paths, err := protocol.ClusteringColumns(domain.Configuration)
	if err != nil {
		return nil, err
	}
	all := s.Config().Leaves()
	var leaves []protocol.Leaf
	for _, path := range paths {
		at := slices.IndexFunc(all, func(l protocol.Leaf) bool { return slices.Equal(l.Physical, path) })
		if at < 0 {
			return nil, protocol.NewError("DELTA_COLUMN_NOT_FOUND_IN_SCHEMA", "the table is clustered by the column %v, which it does not have", path).
				WithHint("ALTER TABLE ... CLUSTER BY names others")
		}
		leaves = append(leaves, all[at])
	}
	return leaves, nil
}

// zorderLeaves finds the columns of ZORDER BY. Their files must have statistics, or sorting them would be in vain.
func (st *statement) zorderLeaves(config *protocol.TableConfig, names []parse.Name) ([]protocol.Leaf, error) {
	covered, err := config.StatisticsLeaves()
	if err != nil {
		return nil, err
	}
	matches := func(name parse.Name) func(protocol.Leaf) bool {
		return func(l protocol.Leaf) bool {
			return slices.EqualFunc(l.Logical, name, func(a protocol.LogicalName, b parse.Ident) bool { return strings.EqualFold(string(a), b.Name) })
		}
	}
	var leaves []protocol.Leaf
	all := config.Leaves()
	for _, name := range names {
		if i := config.Schema.Lookup(name[0].Name); i >= 0 && len(name) == 1 && config.IsPartitionColumn(i) {
			return nil, at(protocol.NewError("DELTA_ZORDERING_ON_PARTITION_COLUMN", "%s is a partition column, by which files are apart already; ZORDER BY takes other columns", written(name)), name)
		}
		k := slices.IndexFunc(all, matches(name))
		if k < 0 {
			return nil, at(protocol.NewError("DELTA_ZORDERING_COLUMN_DOES_NOT_EXIST", "the table has no column %s to sort by", written(name)), name)
		}
		leaf := all[k]
		if slices.ContainsFunc(leaves, matches(name)) {
			return nil, at(protocol.NewError("DELTA_DUPLICATE_COLUMNS_FOUND", "ZORDER BY names %s twice", written(name)), name)
		}
		checks := st.session.settings.on("deltasql_zorder_check_statistics")
		if !slices.ContainsFunc(covered, matches(name)) && checks || !ordered(leaf.Type) {
			return nil, at(protocol.NewError("DELTA_ZORDERING_ON_COLUMN_WITHOUT_STATS", "files keep no statistics of %s, so that sorting by it would help no query", written(name)).
				WithHint("delta.dataSkippingNumIndexedCols and delta.dataSkippingStatsColumns say which columns have statistics"), name)
		}
		leaves = append(leaves, leaf)
	}
	return leaves, nil
}

// ordered tells types that have an order to sort files by.
func ordered(t protocol.DataType) bool {
	switch t.Kind {
	case protocol.KindArray, protocol.KindMap, protocol.KindStruct, protocol.KindVariant, protocol.KindVoid, protocol.KindGeometry, protocol.KindGeography, protocol.KindBinary:
		return false
	}
	return true
}

// partitionFiles are the files that a condition on partition columns names; other columns are refused.
func (st *statement) partitionFiles(t target, table *log.Table, snapshot *log.Snapshot, where parse.Expr, pos parse.Pos) ([]int32, error) {
	config := snapshot.Config()
	var partitions []string
	for _, i := range config.PartitionColumns {
		partitions = append(partitions, string(config.Schema.Fields[i].Name))
	}
	refuse := func(name string) *protocol.Error {
		return protocol.NewError("DELTA_NON_PARTITION_COLUMN_REFERENCE", "the condition is about %s; only partition columns may stand there: [%s]", name, strings.Join(partitions, ", ")).At(pos.Line, pos.Column)
	}
	st.pin(t.path, snapshot)
	tx, err := txn.Begin(st.ctx, table, snapshot, st.transactionOptions())
	if err != nil {
		return nil, err
	}
	st.tx, st.changing = tx, t // so that the scan numbers the table's files
	defer func() {
		st.tx = nil
		tx.Abort(st.ctx)
	}()
	ref := parse.Name{{Name: t.path, Quoted: true, Pos: pos}}
	ref = append(parse.Name{{Name: "delta", Pos: pos}}, ref...)
	if t.name != "" {
		ref = parse.Name{{Name: t.database, Quoted: true, Pos: pos}, {Name: t.name, Quoted: true, Pos: pos}}
	}
	c, err := change.Delete(st.ctx, &parse.Delete{Pos: pos, From: &parse.TableRef{Pos: pos, Name: ref}, Where: where}, st.changed(tx, t), st.changeOptions())
	if err != nil {
		if strings.HasPrefix(string(protocol.ClassOf(err)), "UNRESOLVED_COLUMN") {
			return nil, refuse("a column that the table does not have").WithCause(err)
		}
		return nil, err
	}
	if c.Where == nil {
		return nil, nil
	}
	var other string
	var walk func(e expr.Expr)
	walk = func(e expr.Expr) {
		if column, ok := e.(*expr.Column); ok && column.Relation == c.Target && !config.IsPartitionColumn(column.Index) {
			other = string(config.Schema.Fields[min(column.Index, len(config.Schema.Fields)-1)].Name)
		}
		expr.Children(e, walk)
	}
	walk(c.Where)
	if other != "" {
		return nil, refuse(other)
	}
	if files, decided := rewrite.PartitionFiles(snapshot, st.predicate(config, []expr.Expr{c.Where})); decided {
		return append([]int32{}, files...), nil
	}
	return st.touchedFiles(c)
}

// touchedFiles runs a bound DELETE's query for the numbers of the files that it touches.
func (st *statement) touchedFiles(c *change.Changes) ([]int32, error) {
	if err := st.admit(); err != nil {
		return nil, err
	}
	instance, err := st.session.engine.duck()
	if err != nil {
		return nil, err
	}
	p := &plan{wide: st.widens()}
	planner := &planner{st: st, instance: instance, plan: p, texts: map[*expr.Relation]string{}}
	if p.sql, p.args, err = duckgen.Print(c.Query, duckgen.Options{Relation: planner.relation}); err != nil {
		return nil, err
	}
	files := []int32{}
	err = eachRow(st.ctx, instance, fmt.Sprintf("SELECT DISTINCT c%d FROM (%s) ORDER BY 1", c.File, p.sql), p.args, func(batch *duck.Batch, row int) error {
		files = append(files, int32(batch.Vector(0).Int64(row)))
		return nil
	})
	return files, p.diagnose(err)
}

// run does what was planned: bins in jobs, jobs in commits.
func (o *optimization) run() error {
	o.result.Bins = int64(len(o.bins.Bins))
	o.result.Considered, o.result.Skipped = int64(o.bins.Considered), int64(o.bins.Skipped)
	for _, bin := range o.bins.Bins {
		o.total += bin.Bytes
	}
	defer func() {
		o.result.Partitions = int64(len(o.tuples))
		o.result.EndMillis = o.st.session.now().UnixMilli()
	}()
	if o.dryRun {
		o.wouldRemove()
		return nil
	}
	if len(o.bins.Bins) == 0 {
		return nil
	}
	if err := o.st.admit(); err != nil {
		return err
	}
	var batch []rewrite.Bin
	bytes := int64(0)
	batches := int64(0)
	for i, bin := range o.bins.Bins {
		batch = append(batch, bin)
		bytes += min(bin.Bytes, math.MaxInt64-bytes)
		if bytes < optimizeCommitBytes && i < len(o.bins.Bins)-1 {
			continue
		}
		if err := o.commit(batch, o.first, 1); err != nil {
			return err
		}
		batch, bytes = nil, 0
		batches++
	}
	o.result.Batches = max(batches, 1)
	return nil
}

// wouldRemove fills the result of a dry run.
func (o *optimization) wouldRemove() {
	for _, bin := range o.bins.Bins {
		o.tuples[bin.Tuple] = true
		for _, number := range bin.Files {
			o.result.Removed.Add(o.first.Files().Size(int(number)))
		}
	}
}

// commit writes bins anew and commits that. Where another writer was first with some of their files, each bin is tried by itself, without
// these.
func (o *optimization) commit(bins []rewrite.Bin, planned *log.Snapshot, try int) error {
	st := o.st
	read, err := o.table.Snapshot(st.ctx)
	if err != nil {
		return err
	}
	if read.Version() != planned.Version() {
		at := rewrite.Places(read)
		var there []rewrite.Bin
		for _, bin := range bins {
			moved := bin.Relocate(at)
			if len(moved.Files) > 1 || len(moved.Files) == len(bin.Files) && len(moved.Files) > 0 {
				there = append(there, moved)
			}
		}
		if bins = there; len(bins) == 0 {
			return nil
		}
	}
	before, done := o.result, o.done
	err = o.commitOnce(bins, read)
	var conflict *txn.Conflict
	if err == nil || !errors.As(err, &conflict) || st.ctx.Err() != nil {
		return err
	}
	o.result, o.done = before, done
	if len(bins) == 1 {
		if try == optimizeTries {
			st.warn(warningLog, "%d files of %s were left as they are: other writers kept changing them: %v", len(bins[0].Files), o.t.shown(), err)
			return nil
		}
		return o.commit(bins, read, try+1)
	}
	for _, bin := range bins {
		if err := o.commit([]rewrite.Bin{bin}, read, 1); err != nil {
			return err
		}
	}
	return nil
}

func (o *optimization) commitOnce(bins []rewrite.Bin, read *log.Snapshot) error {
	st := o.st
	tx, err := txn.Begin(st.ctx, o.table, read, st.transactionOptions())
	if err != nil {
		return err
	}
	total := &rewrite.Applied{}
	for _, job := range o.jobs(bins) {
		applied, err := o.write(tx, read, job)
		if err != nil {
			tx.Abort(st.ctx)
			return err
		}
		o.count(read, job, applied)
		total.FilesAdded += applied.FilesAdded
		total.BytesAdded += applied.BytesAdded
		total.FilesRemoved += applied.FilesRemoved
		total.BytesRemoved += applied.BytesRemoved
		total.VectorsRemoved += applied.VectorsRemoved
		total.Sizes = append(total.Sizes, applied.Sizes...)
	}
	operation := o.operation
	operation.Metrics = total.Metrics(operation.Name)
	committed, err := tx.Commit(st.ctx, operation)
	for _, text := range committed.Warnings {
		st.warn(warningLog, "%s", text)
	}
	return err
}

// jobs divides bins into queries: sorted ones each by itself, since a sort is over all its rows.
func (o *optimization) jobs(bins []rewrite.Bin) [][]rewrite.Bin {
	if len(o.leaves) == 0 {
		return rewrite.Jobs(bins)
	}
	var jobs [][]rewrite.Bin
	for _, bin := range bins {
		jobs = append(jobs, []rewrite.Bin{bin})
	}
	return jobs
}

// write writes the rows of a job into new files.
func (o *optimization) write(tx *txn.Transaction, read *log.Snapshot, job []rewrite.Bin) (*rewrite.Applied, error) {
	instance, err := o.st.session.engine.duck()
	if err != nil {
		return nil, err
	}
	var files []int32
	bytes, largest := int64(0), int64(0)
	for _, bin := range job {
		files = append(files, bin.Files...)
		bytes += bin.Bytes
		largest = max(largest, bin.Bytes)
	}
	options := rewrite.Options{TargetFileBytes: o.target}
	if len(o.leaves) > 0 {
		options.OrderBy = o.leaves
		options.Tags = map[string]string{rewrite.TagCubeID: newID(), rewrite.TagCubeColumns: jsonOf(o.columns)}
		if o.clustered {
			options.ClusteringProvider = rewrite.ClusteringProvider
		} else {
			options.Tags[rewrite.TagCubeCurve] = "zorder"
		}
	} else if largest <= o.target {
		options.TargetFileBytes = math.MaxInt64 // each bin becomes one file
	}
	ctx := o.st.ctx
	if report := o.st.session.options.Progress; report != nil && o.total > 0 {
		done, total := float64(o.done), float64(o.total)
		ctx = duck.WithProgress(ctx, func(fraction float64) { report((done + fraction*float64(bytes)) / total) })
	}
	applied, err := rewrite.Rewrite(ctx, instance, tx, read, files, options)
	if err != nil {
		return nil, translate(err, "")
	}
	o.done += bytes
	return applied, nil
}

// count adds a job to the result.
func (o *optimization) count(read *log.Snapshot, job []rewrite.Bin, applied *rewrite.Applied) {
	merged := meta.Pair{}
	for _, bin := range job {
		o.tuples[bin.Tuple] = true
		for _, number := range bin.Files {
			o.result.Removed.Add(read.Files().Size(int(number)))
			merged.Files++
			merged.Bytes += read.Files().Size(int(number))
			if read.Files().DeletionVector(int(number)) != nil {
				o.result.VectorsRemoved++
				o.result.VectorRowsRemoved += read.Files().DeletedRows(int(number))
			}
		}
	}
	for _, size := range applied.Sizes {
		o.result.Added.Add(size)
	}
	if z := o.result.ZOrder; z != nil {
		copied := *z
		copied.Merged.Files += merged.Files
		copied.Merged.Bytes += merged.Bytes
		copied.OutputCubes += int64(len(job))
		o.result.ZOrder = &copied
	}
	if c := o.result.Clustering; c != nil {
		copied := *c
		copied.Merged.Files += merged.Files
		copied.Merged.Bytes += merged.Bytes
		copied.OutputCubes += int64(len(job))
		o.result.Clustering = &copied
	}
}

// reorg is REORG TABLE ... APPLY (...).
func (st *statement) reorg(s *parse.Reorg) (*Result, error) {
	o, err := st.newOptimization(s.Table, "", s.Pos)
	if err != nil {
		return nil, err
	}
	switch {
	case s.Checkpoint:
		if !o.first.Config().Supports("v2Checkpoint") {
			return nil, withTable(protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "REORG ... APPLY (CHECKPOINT) is for tables with the feature v2Checkpoint").
				WithHint("CHECKPOINT %s writes a checkpoint of any table", written(s.Table)).At(s.Pos.Line, s.Pos.Column), o.t)
		}
		_, err := o.table.Checkpoint(st.ctx, o.first, st.upkeep())
		return &Result{}, withTable(err, o.t)
	case s.Uniform != nil:
		return nil, protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "REORG ... APPLY (UPGRADE UNIFORM ...) is not supported: the metadata of Iceberg are not written by this product").At(s.Pos.Line, s.Pos.Column)
	}
	if err := o.askPurge(s); err != nil {
		return nil, withTable(err, o.t)
	}
	if err := o.run(); err != nil {
		return nil, withTable(err, o.t)
	}
	return st.metaResult(meta.OptimizeResult(o.result))
}

// askPurge plans APPLY (PURGE): files that hold what the table does not show any more are written anew, each of them: deleted rows, dropped
// columns, and values in the types that columns had.
func (o *optimization) askPurge(s *parse.Reorg) error {
	st := o.st
	var only map[int32]bool
	predicate := "[]"
	if s.Where != nil {
		files, err := st.partitionFiles(o.t, o.table, o.first, s.Where, s.Pos)
		if err != nil {
			return err
		}
		only = map[int32]bool{}
		for _, number := range files {
			only[number] = true
		}
		predicate = jsonOf([]string{s.WhereText})
	}
	wanted := map[int32]bool{}
	files := o.first.Files()
	for i := range files.Len() {
		if files.DeletionVector(i) != nil {
			wanted[int32(i)] = true
		}
	}
	instance, err := st.session.engine.duck()
	if err != nil {
		return err
	}
	old, err := scan.FilesOfOldTypes(st.ctx, instance, o.first)
	if err != nil {
		return err
	}
	dropped, err := scan.FilesOfDroppedColumns(st.ctx, instance, o.first)
	if err != nil {
		return err
	}
	for _, number := range append(old, dropped...) {
		wanted[number] = true
	}
	list := []int32{}
	for i := range files.Len() {
		if number := int32(i); wanted[number] && (only == nil || only[number]) {
			list = append(list, number)
		}
	}
	if o.target, _, err = o.sizes(); err != nil {
		return err
	}
	o.bins = rewrite.PackSmall(o.first, rewrite.Packing{Only: list, TargetBytes: o.target, Lone: true, All: true})
	o.bins.Considered = files.Len()
	if only != nil {
		o.bins.Considered = len(only)
	}
	o.bins.Skipped = o.bins.Considered - len(list)
	o.operation = txn.Operation{Name: "REORG", NeverChangesData: true, Parameters: []txn.Parameter{
		{Key: "predicate", Value: protocol.JSONText(predicate)}, {Key: "applyPurge", Value: json.RawMessage("true")}}}
	return nil
}
