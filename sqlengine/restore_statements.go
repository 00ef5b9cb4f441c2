package sqlengine

import (
	"strconv"
	"strings"
	"time"

	"deltasql/ddl"
	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/meta"
	"deltasql/sqlengine/parse"
	"deltasql/txn"
	"deltasql/txn/log"
	"deltasql/txn/rewrite"
)

// missingShown is how many missing files an error names.
const missingShown = 10

// restore is RESTORE TABLE: a new commit after which the table has the rows and the definition of an older version.
func (st *statement) restore(s *parse.Restore) (*Result, error) {
	t, table, err := st.changeTarget(s.Table, "RESTORE TABLE")
	if err != nil {
		return nil, err
	}
	moment, err := bind.Moment(st.ctx, s.AsOf, st.bindOptions())
	if err != nil {
		if strings.HasPrefix(string(protocol.ClassOf(err)), "INVALID_TIME_TRAVEL_TIMESTAMP_EXPR") {
			return nil, protocol.NewError("DELTA_TIMESTAMP_INVALID", "RESTORE TABLE needs a time that can be cast to TIMESTAMP").WithCause(err).At(s.AsOf.Pos.Line, s.AsOf.Pos.Column)
		}
		return nil, err
	}
	var counts []int64
	_, err = st.changeTable(t, table, func(tx *txn.Transaction) (*txn.Operation, error) {
		now := tx.Snapshot()
		then, err := st.snapshotAt(st.ctx, table, t, moment)
		if err != nil {
			return nil, restoreError(err)
		}
		come, gone, err := rewrite.Difference(now, then)
		if err != nil {
			return nil, err
		}
		if err := st.allThere(table, then.Version(), &come); err != nil {
			return nil, err
		}
		counts = restoreCounts(then, come, gone)
		if now.Version() == then.Version() {
			return nil, nil
		}
		made, err := ddl.Restore(state(now), state(then))
		if err != nil {
			return nil, err
		}
		if err := st.stage(tx, made); err != nil {
			return nil, err
		}
		tx.ReadAll()
		if domain, ok := then.Domain(protocol.DomainRowTracking); ok {
			mark, err := protocol.RowIDHighWaterMark(domain.Configuration)
			if err != nil {
				return nil, err
			}
			tx.RaiseRowMark(mark)
		}
		if err := rewrite.Exchange(tx, come, gone); err != nil {
			return nil, err
		}
		var metrics []txn.Metric
		for i, key := range []string{"tableSizeAfterRestore", "numOfFilesAfterRestore", "numRemovedFiles", "numRestoredFiles", "removedFilesSize", "restoredFilesSize"} {
			metrics = append(metrics, txn.Metric{Key: key, Value: strconv.FormatInt(counts[i], 10)})
		}
		timestamp := ""
		if moment.Timestamp != nil {
			timestamp = javaTimestamp(time.UnixMicro(*moment.Timestamp).In(st.session.Location()))
		}
		operation := ddl.RestoreOperation(moment.Version, timestamp, metrics)
		return &operation, nil
	})
	if err != nil {
		return nil, err
	}
	return st.metaResult(meta.Counts(restoreColumns, counts...))
}

// restoreError gives the errors of time travel the names that they have in RESTORE.
func restoreError(err error) error {
	known, ok := err.(*protocol.Error)
	if !ok {
		return err
	}
	class, ok := map[protocol.Class]protocol.Class{
		"DELTA_VERSION_NOT_FOUND": "DELTA_CANNOT_RESTORE_TABLE_VERSION", "DELTA_TIMESTAMP_GREATER_THAN_COMMIT": "DELTA_CANNOT_RESTORE_TIMESTAMP_GREATER",
		"DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION": "DELTA_CANNOT_RESTORE_TIMESTAMP_EARLIER",
	}[known.Class]
	if !ok {
		return err
	}
	renamed := *known
	renamed.Class = class
	return &renamed
}

// restoreColumns are the columns of RESTORE's answer.
var restoreColumns = []string{"table_size_after_restore", "num_of_files_after_restore", "num_removed_files", "num_restored_files", "removed_files_size", "restored_files_size"}

func restoreCounts(then *log.Snapshot, come, gone []protocol.AddFile) []int64 {
	return []int64{then.Files().SizeBytes(), int64(then.Files().Len()), int64(len(gone)), int64(len(come)), sizeOf(gone), sizeOf(come)}
}

func sizeOf(files []protocol.AddFile) int64 {
	total := int64(0)
	for i := range files {
		total += files[i].Size
	}
	return total
}

// allThere refuses to bring back files that are gone, before anything is written. Where the session ignores missing files they are left
// out instead.
func (st *statement) allThere(table *log.Table, version int64, files *[]protocol.AddFile) error {
	missing, err := rewrite.Missing(st.ctx, table, func(i int) protocol.AddFile { return (*files)[i] }, len(*files), 0, nil)
	if err != nil || len(missing) == 0 {
		return err
	}
	if st.session.settings.on("deltasql_ignore_missing_files") {
		gone := map[string]bool{}
		for _, m := range missing {
			gone[m.Add.Path] = true
		}
		kept := (*files)[:0:0]
		for _, add := range *files {
			if !gone[add.Path] {
				kept = append(kept, add)
			}
		}
		*files = kept
		st.warn(warningLog, "%d files of version %d are gone and were left out", len(missing), version)
		return nil
	}
	var names []string
	for _, m := range missing[:min(len(missing), missingShown)] {
		name := m.Add.Path
		if !m.DataMissing {
			name = m.Vector
		}
		names = append(names, name)
	}
	more := ""
	if len(missing) > missingShown {
		more = " and others"
	}
	return protocol.NewError("DELTA_FILE_NOT_FOUND_DETAILED", "version %d of the table %s cannot be restored: %d of its files are not there any more: %s%s",
		version, table.Name(), len(missing), strings.Join(names, ", "), more).WithTable(table.Name()).
		WithHint("they were deleted by VACUUM or by hand; SET deltasql_ignore_missing_files = on restores the rows of the others")
}

// javaTimestamp is a time as Java's Timestamp writes it, which is how history shows it.
func javaTimestamp(at time.Time) string {
	text := at.Format("2006-01-02 15:04:05.000000")
	text = strings.TrimRight(text, "0")
	if strings.HasSuffix(text, ".") {
		text += "0"
	}
	return text
}
