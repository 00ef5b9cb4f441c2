package sqlengine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"deltasql/protocol"
	"deltasql/scan"
	"deltasql/scan/duck"
	"deltasql/sqlengine/check"
	"deltasql/sqlengine/meta"
	"deltasql/sqlengine/parse"
	"deltasql/txn"
	"deltasql/txn/log"
	"deltasql/txn/rewrite"
)

// maintain is the statements about tables that have few options.
func (st *statement) maintain(s *parse.Maintain) (*Result, error) {
	if s.Verb == "ANALYZE TABLES" {
		st.warn(warnIgnored, "ANALYZE TABLES does nothing: queries are planned by the statistics in the log, which writers keep")
		return &Result{}, nil
	}
	if s.Verb != "CHECK TABLE" && (s.Verb != "ANALYZE TABLE" || s.Delta) {
		if err := st.mayWrite(s.Verb, s.Pos); err != nil {
			return nil, err
		}
	}
	switch {
	case s.Verb == "CHECK TABLE", s.Verb == "REPAIR TABLE", s.Verb == "ANALYZE TABLE" && !s.Compute:
		return st.tableMessages(s)
	case s.Verb == "EXPORT TABLE":
		return st.exportTable(s)
	}
	t, err := st.resolve(st.ctx, s.Tables[0])
	if err != nil {
		return nil, err
	}
	table, err := st.table(t, s.Verb)
	if err != nil {
		return nil, at(err, s.Tables[0])
	}
	result, err := st.maintainTable(s, t, table)
	return result, withTable(err, t)
}

func (st *statement) maintainTable(s *parse.Maintain, t target, table *log.Table) (*Result, error) {
	snapshot, err := table.Snapshot(st.ctx)
	if err != nil {
		return nil, err
	}
	switch s.Verb {
	case "ANALYZE TABLE":
		return st.computeStatistics(s, t, table, snapshot)
	case "FSCK REPAIR TABLE":
		return st.fsck(s, t, table)
	case "MSCK REPAIR TABLE":
		st.warn(warnIgnored, "MSCK REPAIR TABLE does nothing: the log of a Delta table knows its partitions")
		return &Result{}, nil
	case "GENERATE":
		return &Result{}, st.generate(s, snapshot)
	case "CHECKPOINT":
		_, err := table.Checkpoint(st.ctx, snapshot, st.upkeep())
		return &Result{}, err
	case "COMPACT LOG":
		return &Result{}, st.compactLog(s, table, snapshot)
	case "CLEAN LOG":
		return st.cleanLog(s, table, snapshot)
	case "REPAIR CHECKSUM":
		if err := table.Store().Delete(st.ctx, protocol.LogFolder+"/"+protocol.ChecksumName(snapshot.Version())); err != nil {
			return nil, protocol.NewError("DELTASQL_STORAGE", "the checksum of version %d cannot be replaced", snapshot.Version()).WithCause(err)
		}
		return &Result{}, table.WriteChecksum(st.ctx, snapshot)
	}
	return nil, protocol.NewError("DELTASQL_UNSUPPORTED_STATEMENT", "%s is not supported by this version", s.Verb).At(s.Pos.Line, s.Pos.Column)
}

// statisticsCommitFiles is how many files one commit of ANALYZE describes anew.
const statisticsCommitFiles = 20_000

// computeStatistics is ANALYZE TABLE ... COMPUTE [DELTA] STATISTICS. The statistics that queries are planned by are those in the log: they are made
// anew with DELTA, and without it there is nothing to do.
func (st *statement) computeStatistics(s *parse.Maintain, t target, table *log.Table, snapshot *log.Snapshot) (*Result, error) {
	if s.Partition {
		return nil, protocol.NewError("UNSUPPORTED_FEATURE", "ANALYZE TABLE ... PARTITION is not supported for Delta tables").At(s.Pos.Line, s.Pos.Column)
	}
	for _, name := range s.Columns {
		if snapshot.Config().Schema.Lookup(name[0].Name) < 0 {
			return nil, at(unknownColumn(name[0].Name, t, snapshot.Config().Schema), name)
		}
	}
	if !s.Delta {
		st.warn(warnIgnored, "ANALYZE TABLE does nothing: queries are planned by the statistics in the log, which writers keep; COMPUTE DELTA STATISTICS makes these anew")
		return &Result{}, nil
	}
	if err := st.admit(); err != nil {
		return nil, err
	}
	instance, err := st.session.engine.duck()
	if err != nil {
		return nil, err
	}
	keys := make([]string, 0, snapshot.Files().Len())
	for i := range snapshot.Files().Len() {
		keys = append(keys, rewrite.Key(snapshot, i))
	}
	for part := range slices.Chunk(keys, statisticsCommitFiles) {
		_, err := st.changeTable(t, table, func(tx *txn.Transaction) (*txn.Operation, error) {
			view := tx.Snapshot()
			places := rewrite.Places(view)
			var numbers []int32
			for _, key := range part {
				if number, ok := places[key]; ok {
					numbers = append(numbers, number)
				}
			}
			adds, err := rewrite.Measure(st.progress(), instance, view, numbers)
			if err != nil {
				return nil, translate(err, "")
			}
			for i, add := range adds {
				if add.Stats == string(view.Files().RawStats(int(numbers[i]))) {
					continue
				}
				if err := tx.AddAgain(add); err != nil {
					return nil, err
				}
			}
			if !tx.Changed() {
				return nil, nil
			}
			return &txn.Operation{Name: "COMPUTE STATS", NeverChangesData: true, Parameters: []txn.Parameter{{Key: "predicate", Value: protocol.JSONText("[]")}}}, nil
		})
		if err != nil {
			return nil, err
		}
	}
	return &Result{}, nil
}

// fsck is FSCK REPAIR TABLE: files that the log names and that are not there, or cannot be read, are taken out of the table.
func (st *statement) fsck(s *parse.Maintain, t target, table *log.Table) (*Result, error) {
	var found []rewrite.MissingFile
	_, err := st.changeTable(t, table, func(tx *txn.Transaction) (*txn.Operation, error) {
		view := tx.Snapshot()
		var err error
		if found, err = st.damaged(s, table, view); err != nil {
			return nil, err
		}
		if s.DryRun || len(found) == 0 {
			return nil, nil
		}
		for _, m := range found {
			if err := tx.Remove(true, m.Add); err != nil {
				return nil, err
			}
		}
		return &txn.Operation{Name: "FSCK", Metrics: []txn.Metric{{Key: "numRemovedFiles", Value: strconv.Itoa(len(found))}}}, nil
	})
	if err != nil {
		return nil, err
	}
	if !s.DryRun {
		return st.metaResult(meta.Counts([]string{"removedFiles"}, int64(len(found))))
	}
	var rows []meta.Damaged
	for _, m := range found[:min(len(found), vacuumShown)] {
		rows = append(rows, meta.Damaged{Path: m.Add.Path, Missing: m.DataMissing, Vector: m.Vector, VectorMissing: m.VectorMissing})
	}
	return st.metaResult(meta.DamagedFiles(rows))
}

// damaged finds the files that FSCK takes out. Where files are to be verified, what cannot be read counts as missing.
func (st *statement) damaged(s *parse.Maintain, table *log.Table, view *log.Snapshot) ([]rewrite.MissingFile, error) {
	files := view.Files()
	var done func(int)
	if report := st.session.options.Progress; report != nil && files.Len() > 0 {
		done = func(n int) { report(float64(n) / float64(files.Len())) }
	}
	found, err := rewrite.Missing(st.ctx, table, files.Add, files.Len(), 0, done)
	if err != nil {
		return nil, err
	}
	bad := map[string]bool{}
	for _, m := range found {
		bad[m.Add.Path] = true
	}
	config := view.Config()
	for i := range files.Len() {
		for _, column := range config.PartitionColumns {
			if _, null := files.PartitionValue(i, config.PhysicalName(column)); null && !config.Schema.Fields[column].Nullable && !bad[files.Path(i)] {
				bad[files.Path(i)] = true
				found = append(found, rewrite.MissingFile{Add: files.Add(i)})
			}
		}
	}
	if !strings.HasPrefix(s.Mode, "VERIFY") {
		return found, nil
	}
	after, before := int64(0), int64(1)<<62
	if s.Mode == "VERIFY FILES" {
		if after, err = st.instant(s.After); err != nil {
			return nil, err
		}
		if before, err = st.instant(s.Before); err != nil {
			return nil, err
		}
	}
	instance, err := st.session.engine.duck()
	if err != nil {
		return nil, err
	}
	for i := range files.Len() {
		if at := files.ModificationTime(i); bad[files.Path(i)] || at < after || at > before {
			continue
		}
		if err := st.ctx.Err(); err != nil {
			return nil, err
		}
		m := rewrite.MissingFile{Add: files.Add(i)}
		if _, err := scan.DeletedRows(st.ctx, view, int32(i)); err != nil {
			if st.ctx.Err() != nil {
				return nil, err
			}
			m.VectorMissing = true
			m.Vector, _, _ = m.Add.DeletionVector.Path()
		}
		if err := st.readable(instance, view, int32(i)); err != nil {
			if st.ctx.Err() != nil {
				return nil, err
			}
			m.DataMissing = true
		}
		if m.DataMissing || m.VectorMissing {
			found = append(found, m)
		}
	}
	return found, nil
}

// readable reads all columns of a file.
func (st *statement) readable(instance *duck.Instance, view *log.Snapshot, number int32) error {
	if err := st.admit(); err != nil {
		return err
	}
	return rewrite.Readable(st.ctx, instance, view, number)
}

// instant is a time in milliseconds.
func (st *statement) instant(e parse.Expr) (int64, error) {
	moment, err := st.moment(&parse.AsOf{Pos: e.At(), Timestamp: e})
	if err != nil {
		return 0, err
	}
	return floorMillis(*moment.Timestamp), nil
}

// generate is GENERATE symlink_format_manifest.
func (st *statement) generate(s *parse.Maintain, snapshot *log.Snapshot) error {
	place := func(err *protocol.Error) error { return err.At(s.Pos.Line, s.Pos.Column) }
	switch {
	case !strings.EqualFold(s.Mode, "symlink_format_manifest"):
		return place(protocol.NewError("DELTA_MODE_NOT_SUPPORTED", "GENERATE %s is not supported; the only mode is symlink_format_manifest", s.Mode))
	case snapshot.Config().Mapping != protocol.MappingNone:
		return place(protocol.NewError("DELTA_UNSUPPORTED_MANIFEST_GENERATION_WITH_COLUMN_MAPPING", "the table maps its columns, which readers of manifests do not know"))
	case snapshot.Files().NumDeletionVectors() > 0:
		return place(protocol.NewError("DELTA_UNSUPPORTED_GENERATE_WITH_DELETION_VECTORS", "the table has deletion vectors, which readers of manifests do not know").
			WithHint("REORG TABLE ... APPLY (PURGE) writes the files anew without the deleted rows"))
	}
	return rewrite.WriteManifests(st.ctx, snapshot)
}

// compactLog is COMPACT LOG: one file that stands for several commits, by default for all since the newest checkpoint.
func (st *statement) compactLog(s *parse.Maintain, table *log.Table, snapshot *log.Snapshot) error {
	extent, err := table.Extent(st.ctx)
	if err != nil {
		return err
	}
	from, to := max(extent.Commit, 0), snapshot.Version()
	if s.From != nil {
		from, to = *s.From, *s.To
	}
	if from < extent.Commit || to > snapshot.Version() || from > to {
		return protocol.NewError("DELTA_VERSION_NOT_FOUND", "the log has the commits %d to %d, not %d to %d", extent.Commit, snapshot.Version(), from, to).At(s.Pos.Line, s.Pos.Column)
	}
	if from == to {
		return nil
	}
	return table.Compact(st.ctx, from, to)
}

// cleanLog is CLEAN LOG: it deletes what is older than the table's delta.logRetentionDuration and not needed any more.
func (st *statement) cleanLog(s *parse.Maintain, table *log.Table, snapshot *log.Snapshot) (*Result, error) {
	retention, _, err := snapshot.Config().DurationProperty("delta.logRetentionDuration")
	if err != nil {
		return nil, err
	}
	before := st.session.now().Add(-time.Duration(retention) * time.Millisecond).UTC().Truncate(24 * time.Hour)
	if s.DryRun {
		names, err := table.Expirable(st.ctx, snapshot, before)
		if err != nil {
			return nil, err
		}
		return st.metaResult(meta.Paths(names))
	}
	deleted, err := table.CleanUp(st.ctx, snapshot, before, st.upkeep())
	if err != nil {
		return nil, err
	}
	return st.metaResult(meta.Counts([]string{"num_deleted_files"}, int64(deleted)))
}

// exportTable is EXPORT TABLE: a copy of a version in another folder.
func (st *statement) exportTable(s *parse.Maintain) (*Result, error) {
	clone := &parse.Clone{Pos: s.Pos, Source: s.Tables[0]}
	if s.From != nil {
		clone.AsOf = &parse.AsOf{Pos: s.Pos, Version: &parse.Literal{Kind: parse.IntegerLiteral, Text: strconv.FormatInt(*s.From, 10)}}
	}
	return st.createClone(&parse.CreateTable{Pos: s.Pos, Name: parse.Name{{Name: "delta", Pos: s.Pos}, {Name: s.Path, Quoted: true, Pos: s.Pos}}, Clone: clone})
}

// checkMessages is how many faults CHECK TABLE tells of a table.
const checkMessages = 100

// tableMessages is MySQL's ANALYZE, CHECK and REPAIR TABLE, which answer for several tables and never fail because of one.
func (st *statement) tableMessages(s *parse.Maintain) (*Result, error) {
	op := strings.ToLower(strings.TrimSuffix(s.Verb, " TABLE"))
	var messages []meta.TableMessage
	for _, name := range s.Tables {
		message := func(table, kind, text string) {
			messages = append(messages, meta.TableMessage{Table: table, Op: op, Type: kind, Text: text})
		}
		t, err := st.resolve(st.ctx, name)
		var table *log.Table
		if err == nil {
			table, err = st.table(t, s.Verb)
		}
		if err != nil {
			message(written(name), "Error", err.Error())
			continue
		}
		faults := 0
		switch op {
		case "check":
			err = st.session.Check(st.ctx, t.path, check.Options{}, func(f check.Fault) {
				if faults++; faults <= checkMessages {
					message(t.shown(), "error", strings.TrimSpace(f.File+" "+f.Message))
				}
			})
		case "repair":
			var result *Result
			if result, err = st.fsck(&parse.Maintain{Pos: s.Pos, Verb: s.Verb}, t, table); err == nil {
				err = result.each(st.ctx, func(batch *duck.Batch, row int) error {
					if n := batch.Vector(0).Int64(row); n > 0 {
						message(t.shown(), "info", fmt.Sprintf("%d files that are gone were taken out of the table", n))
					}
					return nil
				})
				result.Close()
			}
		default:
			_, err = table.Snapshot(st.ctx)
		}
		switch {
		case st.ctx.Err() != nil:
			return nil, err
		case err != nil:
			message(t.shown(), "Error", err.Error())
		case faults == 0:
			message(t.shown(), "status", "OK")
		}
	}
	return st.metaResult(meta.TableMessages(messages))
}

// ---- auto compaction ----

const (
	// autoCompactFiles is how many small files a partition has when they are packed.
	autoCompactFiles = 50
	// autoCompactBytes is the size of the files that come out.
	autoCompactBytes = 128 << 20
)

// autoCompact packs the small files of a table that asks for it, after a commit that changed its rows. What goes wrong is a warning.
func (st *statement) autoCompact(t target, table *log.Table, operation string) {
	switch operation {
	case "WRITE", "UPDATE", "DELETE", "MERGE", "TRANSACTION", "STREAMING UPDATE":
	default:
		return
	}
	snapshot := table.Known(st.ctx)
	if snapshot == nil || !autoCompacts(snapshot.Config()) || snapshot.Files().Len() < autoCompactFiles {
		return
	}
	o := &optimization{st: st, t: t, table: table, first: snapshot, tuples: map[int]bool{}, target: autoCompactBytes}
	leaves, err := clusteringLeaves(snapshot)
	if err == nil && len(leaves) > 0 {
		columns := leafNames(leaves)
		bins := rewrite.PackClustering(snapshot, rewrite.Clustering{Columns: columns, FullCubeBytes: 100 << 30, MaxDeleted: 1})
		if bins.Other < autoCompactFiles {
			return
		}
		o.leaves, o.columns, o.clustered, o.bins = leaves, columns, true, bins
	} else if err == nil {
		o.bins = rewrite.PackSmall(snapshot, rewrite.Packing{TargetBytes: autoCompactBytes, SmallBytes: autoCompactBytes / 2, MaxDeleted: 1})
		inTuple := map[int]int{}
		for _, bin := range o.bins.Bins {
			inTuple[bin.Tuple] += len(bin.Files)
		}
		o.bins.Bins = slices.DeleteFunc(o.bins.Bins, func(bin rewrite.Bin) bool { return inTuple[bin.Tuple] < autoCompactFiles })
	}
	if err == nil {
		o.operation = optimizeOperation("[]", o.columns, o.clustered, false, true)
		err = o.run()
	}
	if err != nil {
		st.warn(warningLog, "the commit stands, but the small files of %s could not be packed: %v", t.shown(), err)
	}
}

func autoCompacts(config *protocol.TableConfig) bool {
	value, set := config.LookupProperty("delta.autoOptimize.autoCompact")
	if !set {
		value, set = config.LookupProperty("delta.autoOptimize")
	}
	return set && (strings.EqualFold(value, "true") || strings.EqualFold(value, "auto"))
}
