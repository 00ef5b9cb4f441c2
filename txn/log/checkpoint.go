package log

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	"deltasql/protocol"
	"deltasql/txn/store"
)

// A checkpoint is one of
//
//	v.checkpoint.parquet                     one file; a V2 one if it has sidecar rows
//	v.checkpoint.<part>.<parts>.parquet      several files, whose rows add up
//	v.checkpoint.<uuid>.parquet or .json     V2: the non-file actions and either all file actions or the names of sidecars
//
// and a row or line of each file is one action. Only live adds and the newest of everything else are in it, so that adds
// are taken as they come; removes are for VACUUM and are not read here.

// errDamaged marks the failure to read a checkpoint, which an older one may make good.
var errDamaged = errors.New("damaged checkpoint")

// damaged wraps what went wrong with a checkpoint's file.
func damaged(file string, cause error) error {
	if errors.Is(cause, context.Canceled) || errors.Is(cause, context.DeadlineExceeded) {
		return cause
	}
	switch protocol.ClassOf(cause) {
	case "DELTASQL_CANCELLED", "DELTASQL_OUT_OF_MEMORY", "DELTASQL_LIMIT_EXCEEDED", "DELTASQL_STORAGE", "DELTA_LOG_FILE_TOO_LARGE":
		return cause // nothing that another checkpoint would make good
	}
	return protocol.NewError("DELTA_INVALID_LOG_FILE", "the checkpoint %s cannot be read", file).WithCause(damage{plain(cause)})
}

// damage marks an error with errDamaged without changing its text.
type damage struct{ error }

func (d damage) Is(target error) bool { return target == errDamaged }
func (d damage) Unwrap() error        { return d.error }

// loadCheckpoint fills an empty state from a checkpoint.
func (t *Table) loadCheckpoint(ctx context.Context, s *state, c *checkpoint) error {
	s.version = c.version
	var sidecars []*protocol.Sidecar
	if c.files[0].JSON {
		manifest, err := readActions(ctx, t.store, c.name(), c.files[0].Size)
		if err != nil {
			return damaged(c.name(), err)
		}
		if sidecars, err = s.applyManifest(manifest); err != nil {
			return damaged(c.name(), err)
		}
	} else {
		paths, err := t.locate(ctx, c.files)
		if err != nil {
			return err
		}
		groups, err := t.groupByColumns(ctx, paths)
		if err != nil {
			return damaged(c.name(), err)
		}
		if sidecars, err = t.loadSingles(ctx, s, groups); err != nil {
			return damaged(c.name(), err)
		}
		if err := t.loadAdds(ctx, s, groups); err != nil {
			return damaged(c.name(), err)
		}
	}
	return t.loadSidecars(ctx, s, c, sidecars)
}

// locate gives the local paths of files.
func (t *Table) locate(ctx context.Context, files []logFile) ([]string, error) {
	paths := make([]string, len(files))
	for i, file := range files {
		local, err := t.store.Locate(ctx, file.Name)
		if err != nil {
			return nil, storageError(file.Name, err)
		}
		paths[i] = local
	}
	return paths, nil
}

// applyManifest applies the actions of a JSON manifest, and gives its sidecars.
func (s *state) applyManifest(manifest *commit) ([]*protocol.Sidecar, error) {
	manifest.version = s.version
	var sidecars []*protocol.Sidecar
	kept := manifest.actions[:0]
	for _, action := range manifest.actions {
		switch {
		case action.Sidecar != nil:
			sidecars = append(sidecars, action.Sidecar)
		case action.Remove == nil:
			kept = append(kept, action)
		}
	}
	manifest.actions, manifest.removes = kept, 0
	return sidecars, s.applyCommit(manifest)
}

// fileGroup are Parquet files that have the same columns.
type fileGroup struct {
	columns *duckType // a struct
	paths   []string
}

// groupByColumns divides the files of one checkpoint, keeping their order within a group. Read in one query, files take
// the columns of the first: a sidecar that was written before the table had deletion vectors, and serves a later
// checkpoint too, would hide the vectors of all others.
func (t *Table) groupByColumns(ctx context.Context, paths []string) ([]fileGroup, error) {
	var groups []fileGroup
	for _, path := range paths {
		columns, err := t.describe(ctx, path)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(groups, func(g fileGroup) bool { return reflect.DeepEqual(g.columns, columns) })
		if at < 0 {
			at = len(groups)
			groups = append(groups, fileGroup{columns: columns})
		}
		groups[at].paths = append(groups[at].paths, path)
	}
	return groups, nil
}

// describe gives the columns of a Parquet file as the members of a struct.
func (t *Table) describe(ctx context.Context, localPath string) (*duckType, error) {
	columns := &duckType{name: "STRUCT"}
	err := t.parquet.Query(ctx, describeSQL(localPath), nil, func(batch Batch) error {
		for row := range batch.Len() {
			name, _ := batch.Bytes(0, row)
			text, _ := batch.Bytes(1, row)
			parsed, err := parseDuckType(string(text))
			if err != nil {
				return fmt.Errorf("column %s: %w", name, err)
			}
			columns.fields = append(columns.fields, duckField{string(name), parsed})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path.Base(localPath), err)
	}
	return columns, nil
}

// loadSingles applies the non-file actions of Parquet files, and gives the sidecars.
func (t *Table) loadSingles(ctx context.Context, s *state, groups []fileGroup) ([]*protocol.Sidecar, error) {
	singles := &commit{version: s.version, file: path.Base(groups[0].paths[0])}
	var sidecars []*protocol.Sidecar
	for _, group := range groups {
		sql, kinds := singlesSQL(group.columns, group.paths)
		if sql == "" {
			continue
		}
		err := t.parquet.Query(ctx, sql, nil, func(batch Batch) error {
			for row := range batch.Len() {
				for column, kind := range kinds {
					text, ok := batch.Bytes(column, row)
					if !ok {
						continue
					}
					action, err := protocol.ParseAction(fmt.Appendf(nil, `{"%s":%s}`, kind, text))
					if err != nil {
						return err
					}
					if action.Sidecar != nil {
						sidecars = append(sidecars, action.Sidecar)
						continue
					}
					singles.add(action)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return sidecars, s.applySingles(singles)
}

// loadAdds appends the add actions of Parquet files.
func (t *Table) loadAdds(ctx context.Context, s *state, groups []fileGroup) error {
	for _, group := range groups {
		addType := group.columns.field("add")
		if addType == nil {
			continue
		}
		add := &columnExpr{quoteName("add"), addType}
		counts, err := t.readFooters(ctx, group.paths)
		if err != nil {
			return err
		}
		partitions := s.partitionNames()
		if values := add.field("partitionValues"); values != nil && values.duckType.name != "MAP" {
			partitions = nil
		}
		sql, ok := addsSQL(add, group.paths, partitions, counts)
		if !ok {
			continue
		}
		s.reserve(counts.adds())
		if err := t.parquet.Query(ctx, sql, nil, (&addLoader{state: s, partitions: partitions}).load); err != nil {
			return err
		}
	}
	return nil
}

// readFooters finds out which leaves of add hold anything.
func (t *Table) readFooters(ctx context.Context, paths []string) (footers, error) {
	counts := footers{}
	err := t.parquet.Query(ctx, footersSQL(paths), nil, func(batch Batch) error {
		for row := range batch.Len() {
			leaf, _ := batch.Bytes(0, row)
			nulls, ok1 := batch.Int64(1, row)
			values, ok2 := batch.Int64(2, row)
			unknown, ok3 := batch.Int64(3, row)
			counts[string(leaf)] = leafCounts{nulls, values, ok1 && ok2 && ok3 && unknown == 0}
		}
		return nil
	})
	return counts, err
}

// partitionNames are the keys that partitionValues have, in ascending order; nil where they are not known.
func (s *state) partitionNames() []string {
	if s.protocol == nil || s.metadata == nil {
		return nil
	}
	config, err := protocol.NewTableConfig(*s.protocol, *s.metadata)
	if err != nil {
		return nil // a later metaData may be sound
	}
	names := make([]string, 0, len(config.PartitionColumns))
	for _, column := range config.PartitionColumns {
		names = append(names, string(config.PhysicalName(column)))
	}
	slices.Sort(names)
	return names
}

// addLoader turns batches of addsSQL into rows.
type addLoader struct {
	state      *state
	partitions []string // nil: the values come as JSON
	row        addRow
}

func (l *addLoader) load(batch Batch) error {
	for i := range batch.Len() {
		if err := l.loadRow(batch, i); err != nil {
			return err
		}
	}
	return nil
}

func (l *addLoader) loadRow(batch Batch, i int) error {
	row := &l.row
	*row = addRow{baseRowID: absent, rowCommitVersion: absent}
	row.path, _ = batch.Bytes(addPath, i)
	row.size, _ = batch.Int64(addSize, i)
	row.modification, _ = batch.Int64(addModification, i)
	row.stats, _ = batch.Bytes(addStats, i)
	row.tags, _ = batch.Bytes(addTags, i)
	if value, ok := batch.Int64(addBaseRowID, i); ok {
		row.baseRowID = value
	}
	if value, ok := batch.Int64(addRowCommitVersion, i); ok {
		row.rowCommitVersion = value
	}
	if text, ok := batch.Bytes(addProvider, i); ok {
		row.provider = string(text)
	}
	if text, ok := batch.Bytes(addVectorType, i); ok {
		row.vector = vectorAt(batch, i, string(text))
	}
	var err error
	if row.tuple, err = l.tuple(batch, i); err != nil {
		return err
	}
	// A checkpoint should name each file once; some writers repeat rows, of which one counts.
	_, err = l.state.addFile(row, keyOf(row.path, row.vector))
	return err
}

func (l *addLoader) tuple(batch Batch, i int) (uint32, error) {
	tuples, scratch := l.state.columns.tuples, &l.state.scratch
	values := map[string]*string(nil)
	if l.partitions == nil {
		text, _ := batch.Bytes(addPartition, i)
		if len(text) > 0 {
			if err := json.Unmarshal(text, &values); err != nil {
				return 0, fmt.Errorf("partition values %.100q: %w", text, err)
			}
		}
		return tuples.code(values, scratch)
	}
	key := (*scratch)[:0]
	for n, name := range l.partitions {
		if text, ok := batch.Bytes(addColumns+n, i); ok {
			key = appendEntry(key, name, text)
		} else {
			key = appendNullEntry(key, name)
		}
	}
	*scratch = key
	if code, ok := tuples.lookup(key); ok {
		return code, nil
	}
	values = make(map[string]*string, len(l.partitions))
	for n, name := range l.partitions {
		values[name] = nil
		if text, ok := batch.Bytes(addColumns+n, i); ok {
			value := string(text)
			values[name] = &value
		}
	}
	return tuples.code(values, scratch)
}

func vectorAt(batch Batch, i int, storageType string) *protocol.DeletionVector {
	vector := &protocol.DeletionVector{StorageType: storageType}
	text, _ := batch.Bytes(addVectorPath, i)
	vector.PathOrInline = string(text)
	if offset, ok := batch.Int64(addVectorOffset, i); ok {
		vector.Offset = &offset
	}
	vector.SizeInBytes, _ = batch.Int64(addVectorSize, i)
	vector.Cardinality, _ = batch.Int64(addVectorCardinality, i)
	return vector
}

// loadSidecars appends the adds of a V2 checkpoint's sidecars. One that is not there is an error for the table: files of
// it are lost, and nobody would notice if an older checkpoint stood in.
func (t *Table) loadSidecars(ctx context.Context, s *state, c *checkpoint, sidecars []*protocol.Sidecar) error {
	if len(sidecars) == 0 {
		return nil
	}
	paths := make([]string, len(sidecars))
	for i, sidecar := range sidecars {
		local, err := t.locateSidecar(ctx, sidecar.Path)
		if err != nil {
			return protocol.NewError(protocol.ClassOf(err), "the checkpoint %s names a sidecar that cannot be used", c.name()).WithCause(plain(err))
		}
		paths[i] = local
	}
	groups, err := t.groupByColumns(ctx, paths)
	if err == nil {
		err = t.loadAdds(ctx, s, groups)
	}
	if err != nil {
		return damaged(c.name()+" (its sidecars)", err)
	}
	return nil
}

// locateSidecar finds a sidecar: by its bare name in the sidecar folder, as the protocol has it, or by a URI, whose last
// segment is looked for in that folder first so that a table that was moved still reads.
func (t *Table) locateSidecar(ctx context.Context, uri string) (string, error) {
	decoded, absolute, err := protocol.DecodePath(uri)
	if err != nil {
		return "", err
	}
	name := logFolder + protocol.SidecarFolder + "/" + path.Base(decoded)
	_, err = t.store.Stat(ctx, name)
	if err == nil {
		return t.store.Locate(ctx, name)
	}
	if errors.Is(err, store.ErrNotFound) && absolute && strings.HasPrefix(decoded, "/") {
		return decoded, nil
	}
	return "", storageError(name, err)
}
