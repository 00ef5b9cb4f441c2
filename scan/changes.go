package scan

import (
	"context"
	"encoding/json"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/txn/log"
)

// ChangeRequest asks for the changes that a range of versions made, both ends included.
type ChangeRequest struct {
	Table          *log.Table
	From, To       int64 // To below 0, or beyond the newest version, is the newest
	FirstParameter int   // as in Request
}

// The columns that follow the table's own in a relation of changes.
var changeColumns = []protocol.Field{
	{Name: changeTypeColumn, Type: protocol.DataType{Kind: protocol.KindString}, Nullable: true},
	{Name: "_commit_version", Type: protocol.DataType{Kind: protocol.KindLong}, Nullable: true},
	{Name: "_commit_timestamp", Type: protocol.DataType{Kind: protocol.KindTimestamp}, Nullable: true},
}

const changeTypeColumn = "_change_type"

// Changes is a relation of change rows: the columns of Schema in their order, then _change_type (insert, delete,
// update_preimage, update_postimage), _commit_version and _commit_timestamp.
type Changes struct {
	*Relation
	Config *protocol.TableConfig // whose schema the rows have
	From   int64
	To     int64
}

// ChangeFields are the fields of the relation's columns.
func (c *Changes) ChangeFields() []protocol.Field {
	fields := append([]protocol.Field(nil), c.Config.Schema.Fields...)
	return append(fields, changeColumns...)
}

// BuildChanges makes the relation of change rows (protocol, "Add CDC File" and "Change Data Feed").
//
// A commit with files of change rows is told by those alone; another by its added and removed files that change data,
// where a file whose deletion vector changed gives the rows between the two vectors. Rows have the newest schema, or under
// column mapping that of the last version of the range.
//
// Errors: DELTA_CDC_START_VERSION_AFTER_LATEST, DELTA_INVALID_CDC_RANGE, DELTA_MISSING_CHANGE_DATA (the feed was off in a
// part of the range), DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE and _DATA_SCHEMA,
// DELTA_REMOVE_FILE_CDC_MISSING_EXTENDED_METADATA; else as Build.
func BuildChanges(ctx context.Context, in *duck.Instance, req ChangeRequest) (*Changes, error) {
	c, err := newChangeReader(ctx, in, req)
	if err != nil {
		return nil, err
	}
	for commit, err := range req.Table.Commits(ctx, c.from, c.to) {
		if err != nil {
			return nil, err
		}
		if err := c.addCommit(ctx, commit); err != nil {
			return nil, diagnose(err, c.table.name, c.files)
		}
	}
	relation, err := c.build(ctx, Report{Version: c.to, Files: len(c.files)})
	if err != nil {
		return nil, err
	}
	return &Changes{Relation: relation, Config: c.config, From: c.from, To: c.to}, nil
}

// changeReader collects the files of a range of commits.
type changeReader struct {
	builder
	from, to int64
}

func newChangeReader(ctx context.Context, in *duck.Instance, req ChangeRequest) (*changeReader, error) {
	latest, err := req.Table.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	name := req.Table.Name()
	if req.From > latest.Version() {
		return nil, protocol.NewError("DELTA_CDC_START_VERSION_AFTER_LATEST",
			"the start version %d is beyond the newest version %d", req.From, latest.Version()).WithTable(name)
	}
	if req.To < 0 || req.To > latest.Version() {
		req.To = latest.Version()
	}
	if req.To < req.From {
		return nil, protocol.NewError("DELTA_INVALID_CDC_RANGE", "the end version %d is before the start version %d", req.To, req.From).
			WithTable(name)
	}
	last := latest
	if latest.Config().Mapping != protocol.MappingNone && req.To != latest.Version() {
		if last, err = req.Table.SnapshotAt(ctx, req.To); err != nil {
			return nil, err
		}
	}
	c := &changeReader{from: req.From, to: req.To, builder: builder{
		in: in, config: last.Config(), firstParameter: max(req.FirstParameter, 1), constants: len(changeColumns),
		table: tableRef{name: name, store: req.Table.Store()},
	}}
	first, err := req.Table.SnapshotAt(ctx, req.From)
	if err != nil {
		return nil, err
	}
	if err := c.checkConfig(first.Config(), req.From); err != nil {
		return nil, err
	}
	for i := range c.config.Schema.Fields {
		if err := c.addField(i); err != nil {
			return nil, err
		}
	}
	for i, field := range changeColumns {
		column := column{source: sourceConstant, field: field, physical: protocol.PhysicalName(field.Name), constant: i}
		if field.Name == changeTypeColumn {
			column.source = sourceChangeType
		}
		c.columns = append(c.columns, column)
	}
	return c, nil
}

// checkConfig refuses a version at which the feed was off or whose columns are not those of the rows to be given.
func (c *changeReader) checkConfig(config *protocol.TableConfig, version int64) error {
	on, err := config.BoolProperty("delta.enableChangeDataFeed")
	if err != nil {
		return err
	}
	if !on {
		return protocol.NewError("DELTA_MISSING_CHANGE_DATA",
			"the changes of the versions [%d, %d] cannot be told: none were recorded for version %d", c.from, c.to, version).
			WithTable(c.table.name).
			WithHint("DESCRIBE HISTORY shows when delta.enableChangeDataFeed was switched on")
	}
	return c.checkSchema(config, version)
}

// addCommit adds the files that tell a commit's changes.
func (c *changeReader) addCommit(ctx context.Context, commit log.Commit) error {
	var cdc []*protocol.AddCDCFile
	var metadata *protocol.Metadata
	proto := c.config.Protocol
	changed := newFileChanges()
	for _, action := range commit.Actions {
		switch {
		case action.CDC != nil:
			cdc = append(cdc, action.CDC)
		case action.Metadata != nil:
			metadata = action.Metadata
		case action.Protocol != nil:
			proto = *action.Protocol
		case action.Add != nil && action.Add.DataChange:
			changed.at(action.Add.Path).add = action.Add
		case action.Remove != nil && action.Remove.DataChange:
			changed.at(action.Remove.Path).remove = action.Remove
		}
	}
	if metadata != nil && commit.Version > c.from {
		config, err := protocol.NewTableConfig(proto, *metadata)
		if err != nil {
			return err
		}
		if err := c.checkConfig(config, commit.Version); err != nil {
			return err
		}
	}
	if len(cdc) > 0 {
		for _, file := range cdc {
			f := &dataFile{path: file.Path, number: -1, partition: partitionOf(file.PartitionValues), size: file.Size, records: -1, changeRows: true}
			if err := c.addChange(commit, f, ""); err != nil {
				return err
			}
		}
		return nil
	}
	if changesNothing(commit.Info) {
		return nil
	}
	for _, path := range changed.order {
		if err := c.addFileChange(ctx, commit, changed.byPath[path]); err != nil {
			return err
		}
	}
	return nil
}

// changesNothing says that a MERGE touched files but no row: its files were only written anew.
func changesNothing(info *protocol.CommitInfo) bool {
	if info.Operation() != "MERGE" {
		return false
	}
	metrics := info.OperationMetrics()
	for _, name := range []string{"numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted"} {
		if metrics[name] != "0" {
			return false
		}
	}
	return true
}

// fileChanges are a commit's added and removed files by path, in order of first appearance.
type fileChanges struct {
	byPath map[string]*fileChange
	order  []string
}

type fileChange struct {
	add    *protocol.AddFile
	remove *protocol.RemoveFile
}

func newFileChanges() *fileChanges { return &fileChanges{byPath: map[string]*fileChange{}} }

func (c *fileChanges) at(path string) *fileChange {
	key := protocol.PathKey(path)
	change := c.byPath[key]
	if change == nil {
		change = &fileChange{}
		c.byPath[key] = change
		c.order = append(c.order, key)
	}
	return change
}

// addFileChange adds what happened to one data file: it came, it went, or its deletion vector changed.
func (c *changeReader) addFileChange(ctx context.Context, commit log.Commit, change *fileChange) error {
	switch {
	case change.remove == nil:
		return c.addChange(commit, addedFile(change.add), insertChange)
	case change.add == nil:
		f, err := c.removedFile(change.remove)
		if err != nil {
			return err
		}
		return c.addChange(commit, f, deleteChange)
	}
	var before, after []uint64
	var err error
	if vector := change.remove.DeletionVector; vector != nil {
		if before, err = c.table.vectorRows(ctx, change.remove.Path, vector, recordsOf(change.remove.Stats)); err != nil {
			return err
		}
	}
	if vector := change.add.DeletionVector; vector != nil {
		if after, err = c.table.vectorRows(ctx, change.add.Path, vector, recordsOf(change.add.Stats)); err != nil {
			return err
		}
	}
	for _, part := range []struct {
		kind string
		rows []uint64
	}{{deleteChange, without(after, before)}, {insertChange, without(before, after)}} {
		if part.rows == nil {
			continue
		}
		f := addedFile(change.add)
		f.vector, f.only = nil, part.rows
		if err := c.addChange(commit, f, part.kind); err != nil {
			return err
		}
	}
	return nil
}

const (
	insertChange = "insert"
	deleteChange = "delete"
)

// addChange adds a file whose rows are all changes of one kind, or say themselves what they are.
func (c *changeReader) addChange(commit log.Commit, f *dataFile, kind string) error {
	f.constants = []protocol.Value{
		{Kind: protocol.KindString, Str: kind, Null: kind == ""},
		{Kind: protocol.KindLong, Int: commit.Version},
		{Kind: protocol.KindTimestamp, Int: commit.TimestampMillis * 1000},
	}
	return c.addFile(f)
}

func addedFile(add *protocol.AddFile) *dataFile {
	return &dataFile{
		path: add.Path, number: -1, partition: partitionOf(add.PartitionValues), size: add.Size, modTime: add.ModificationTime,
		records: recordsOf(add.Stats), vector: add.DeletionVector,
	}
}

// recordsOf finds the number of rows in a file's statistics; -1 where they do not have it.
func recordsOf(text string) int64 {
	var parsed struct {
		NumRecords *int64 `json:"numRecords"`
	}
	if text == "" || json.Unmarshal([]byte(text), &parsed) != nil || parsed.NumRecords == nil || *parsed.NumRecords < 0 {
		return -1
	}
	return *parsed.NumRecords
}

func (c *changeReader) removedFile(remove *protocol.RemoveFile) (*dataFile, error) {
	// With extended metadata an empty map is all that is left of values that are NULL.
	extended := remove.ExtendedFileMetadata != nil && *remove.ExtendedFileMetadata
	if remove.PartitionValues == nil && !extended && len(c.config.PartitionColumns) > 0 {
		return nil, protocol.NewError("DELTA_REMOVE_FILE_CDC_MISSING_EXTENDED_METADATA",
			"the log says that the file %s was removed, but not which partition it belonged to", remove.Path).WithTable(c.table.name)
	}
	f := &dataFile{path: remove.Path, number: -1, partition: partitionOf(remove.PartitionValues), vector: remove.DeletionVector,
		records: recordsOf(remove.Stats)}
	if remove.Size != nil {
		f.size = *remove.Size
	}
	return f, nil
}

func partitionOf(values map[string]*string) func(protocol.PhysicalName) (string, bool) {
	return func(name protocol.PhysicalName) (string, bool) {
		if value := values[string(name)]; value != nil {
			return *value, false
		}
		return "", true
	}
}

// without is the set of rows in a but not in b; nil if there are none.
func without(a, b []uint64) []uint64 {
	var out []uint64
	for i, word := range a {
		if i < len(b) {
			word &^= b[i]
		}
		if word == 0 {
			continue
		}
		if out == nil {
			out = make([]uint64, len(a))
		}
		out[i] = word
	}
	return out
}
