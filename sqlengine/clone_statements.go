package sqlengine

import (
	"path/filepath"
	"strconv"
	"strings"

	"deltasql/ddl"
	"deltasql/protocol"
	"deltasql/sqlengine/bind"
	"deltasql/sqlengine/meta"
	"deltasql/sqlengine/parse"
	"deltasql/txn"
	"deltasql/txn/log"
	"deltasql/txn/rewrite"
)

// cloneColumns are the columns of the answer of a clone.
var cloneColumns = []string{"source_table_size", "source_num_of_files", "num_removed_files", "num_copied_files", "removed_files_size", "copied_files_size"}

// cloneMetrics are the same numbers as history calls them.
var cloneMetrics = []string{"sourceTableSize", "sourceNumOfFiles", "numRemovedFiles", "numCopiedFiles", "removedFilesSize", "copiedFilesSize"}

// createClone is CREATE TABLE ... CLONE. A shallow clone refers to the source's files where they are; a deep one has copies, and copies
// only what changed when it is made once more.
func (st *statement) createClone(s *parse.CreateTable) (*Result, error) {
	if err := checkCloneTarget(s); err != nil {
		return nil, err
	}
	return st.retryCreation(s, st.cloneOnce)
}

// cloneOnce looks the name up and makes the clone there.
func (st *statement) cloneOnce(s *parse.CreateTable) (*Result, error) {
	clone := s.Clone
	c, err := st.locate(s)
	if err != nil {
		return nil, err
	}
	switch {
	case c.known && s.Mode == parse.Create && s.IfNotExists:
		st.warn(noteTableExists, "table %s exists already", c.target.shown())
		return st.metaResult(meta.Slice(meta.Counts(cloneColumns, 0, 0, 0, 0, 0, 0), 0, 0, true))
	case c.known && s.Mode == parse.Create:
		return nil, at(protocol.NewError("DELTA_TABLE_ALREADY_EXISTS", "the table %s exists already", c.target.shown()), s.Name)
	case !c.known && s.Mode == parse.Replace:
		return nil, at(protocol.NewError("TABLE_OR_VIEW_NOT_FOUND", "there is no table %s to replace", written(s.Name)).WithHint("CREATE OR REPLACE TABLE makes one"), s.Name)
	}
	properties, err := propertyMap(s.Properties, s.Pos)
	if err != nil {
		return nil, err
	}
	source, name, err := st.cloneSource(clone)
	if err != nil {
		return nil, err
	}
	if c.log, err = st.table(c.target, "CREATE TABLE"); err != nil {
		return nil, err
	}
	var counts []int64
	do := func(tx *txn.Transaction) (*txn.Operation, error) {
		var old *ddl.State
		if now := tx.Snapshot(); now != nil {
			if err := mayReplaceByClone(c, now, source, clone); err != nil {
				return nil, err
			}
			was := state(now)
			old = &was
			tx.ReadAll()
		}
		made, err := ddl.Clone(old, state(source), ddl.CreateSpec{Table: c.target.shown(), Properties: properties}, st.env())
		if err != nil {
			return nil, err
		}
		if err := st.stage(tx, made); err != nil {
			return nil, err
		}
		if domain, ok := source.Domain(protocol.DomainRowTracking); ok {
			mark, err := protocol.RowIDHighWaterMark(domain.Configuration)
			if err != nil {
				return nil, err
			}
			tx.RaiseRowMark(mark)
		}
		if counts, err = st.cloneFiles(tx, c.path, source, clone.Shallow); err != nil {
			return nil, err
		}
		var metrics []txn.Metric
		for i, key := range cloneMetrics {
			metrics = append(metrics, txn.Metric{Key: key, Value: strconv.FormatInt(counts[i], 10)})
		}
		operation := ddl.CloneOperation(name, source.Version(), clone.Shallow, metrics)
		return &operation, nil
	}
	if err := st.put(c, do); err != nil {
		return nil, err
	}
	return st.metaResult(meta.Counts(cloneColumns, counts...))
}

// checkCloneTarget refuses targets that leave open where the clone is to be.
func checkCloneTarget(s *parse.CreateTable) error {
	if len(s.Name) != 2 || !s.Name[1].Quoted || !fileFormats[strings.ToLower(s.Name[0].Name)] {
		return nil
	}
	path := s.Name[1].Name
	if _, _, uri := uriScheme(path); !uri && !filepath.IsAbs(path) {
		return at(protocol.NewError("DELTA_INVALID_CLONE_PATH", "the target of a clone is named by an absolute path, not by %s", path), s.Name)
	}
	if s.Location != nil {
		return at(protocol.NewError("DELTA_CLONE_AMBIGUOUS_TARGET", "the target of the clone is named by the path %s, and LOCATION says %s", path, *s.Location), s.Name)
	}
	return nil
}

// cloneSource is the version that is cloned, and its name in the history.
func (st *statement) cloneSource(clone *parse.Clone) (*log.Snapshot, string, error) {
	t, err := st.resolve(st.ctx, clone.Source)
	if err != nil {
		return nil, "", err
	}
	if t.format != "" {
		return nil, "", at(protocol.NewError("DELTA_CLONE_UNSUPPORTED_SOURCE", "%s cannot be cloned: only Delta tables can", t.shown()).
			WithHint("CONVERT TO DELTA makes a table of Parquet files"), clone.Source)
	}
	if _, err := st.table(t, "CLONE"); err != nil {
		return nil, "", at(err, clone.Source)
	}
	moment, err := bind.Moment(st.ctx, clone.AsOf, st.bindOptions())
	if err != nil {
		return nil, "", err
	}
	source, err := st.snapshot(st.ctx, t, moment)
	if err != nil {
		return nil, "", withTable(err, t)
	}
	name := "delta.`file:" + t.path + "`"
	if t.name != "" {
		name = catalogName + "." + t.database + "." + t.name
	}
	return source, name, nil
}

// mayReplaceByClone refuses to put a clone in the place of a table that has rows, unless REPLACE says that a deep clone is to do so.
func mayReplaceByClone(c *creation, now, source *log.Snapshot, clone *parse.Clone) error {
	same := now.Table() == source.Table()
	switch {
	case now.Files().Len() > 0 && (clone.Shallow || same || c.s.Mode == parse.Create):
		return protocol.NewError("DELTA_UNSUPPORTED_NON_EMPTY_CLONE", "the table %s is not empty, and a clone would take its place", c.target.shown()).
			WithHint("DELETE FROM or TRUNCATE it first, or drop it")
	case same:
		return protocol.NewError("DELTA_UNSUPPORTED_CLONE_REPLACE_SAME_TABLE", "the table %s cannot be a clone of itself", c.target.shown())
	}
	return nil
}

// cloneFiles stages the source's files for a clone in a folder, and gives the numbers of the answer.
func (st *statement) cloneFiles(tx *txn.Transaction, path string, source *log.Snapshot, shallow bool) ([]int64, error) {
	counts := []int64{source.Files().SizeBytes(), int64(source.Files().Len()), 0, 0, 0, 0}
	if shallow {
		adds, err := rewrite.FilesOf(st.ctx, source)
		if err != nil {
			return nil, err
		}
		if err := st.enterClone(path, source, adds); err != nil {
			return nil, err
		}
		return counts, rewrite.Exchange(tx, adds, nil)
	}
	var done func(int64)
	if report := st.session.options.Progress; report != nil && source.Files().SizeBytes() > 0 {
		done = func(bytes int64) { report(min(1, float64(bytes)/float64(source.Files().SizeBytes()))) }
	}
	come, gone, copied, bytes, err := rewrite.CopyFiles(st.ctx, source, tx, done)
	if err != nil {
		return nil, err
	}
	counts[2], counts[3], counts[4], counts[5] = int64(len(gone)), int64(copied), sizeOf(gone), bytes
	return counts, rewrite.Exchange(tx, come, gone)
}
