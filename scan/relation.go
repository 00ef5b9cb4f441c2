package scan

import (
	"context"
	"fmt"
	"strconv"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/stats"
	"deltasql/txn/log"
)

// Request says what a scan is to give.
type Request struct {
	Snapshot *log.Snapshot
	// Columns are indices into the schema's fields, in the order wanted; none are needed to count rows.
	Columns []int
	// Hidden columns follow the others.
	Hidden []HiddenColumn
	// Predicate may leave out files none of whose rows can match, if Skip is set; rows are not filtered by it.
	Predicate stats.Predicate
	Skip      bool
	Subset
	// Unpadded gives CHAR columns as they lie in the files, for whoever writes the rows again.
	Unpadded bool
	// FirstParameter is the number of the first placeholder ($n) in the relation's text; 0 counts as 1. Relations of one
	// statement are numbered one after another, and their Args joined.
	FirstParameter int
}

// Relation is a SELECT that gives the rows, with columns c0, c1, ... as asked (one column c0 of no meaning where none was
// asked for). It must be released once the statements that use it are closed.
type Relation struct {
	SQL     string
	Args    []any
	Columns []Column
	Report  Report

	logical []string // templates, "" where a column is logical as it is
	table   string
	files   []*dataFile
	sets    []*duck.Set
	in      *duck.Instance
}

// Column describes a column of a relation.
type Column struct {
	Name     string // c0, c1, ...
	Type     protocol.DataType
	Nullable bool
}

// Report says what a scan reads.
type Report struct {
	Version            int64
	Files              int // in the snapshot
	SkippedByPartition int
	SkippedByStats     int
	By                 []stats.PredicateReport
	Read               int   // files that are read
	Bytes              int64 // of those
	Rows               int64 // live rows of those, if RowsKnown
	RowsKnown          bool
	FilesWithVectors   int
	DeletedRows        int64
	Branches           int
}

// Logical is an expression that gives column i with the members of structs under their logical names, for the expression
// of the column. Where nothing is renamed it is the expression itself.
func (r *Relation) Logical(i int, expression string) string {
	if r.logical[i] == "" {
		return expression
	}
	return fmt.Sprintf(r.logical[i], expression)
}

// Diagnose turns an error of a statement over the relation into one that names the table and the data file, where it is
// about a data file; other errors stay as they are.
func (r *Relation) Diagnose(err error) error {
	if err == nil || r == nil {
		return err
	}
	if err = diagnose(err, r.table, r.files); r.in == nil || !namesNoFile(err) {
		return err
	}
	return diagnose(nameBrokenFile(r.in, err, r.files), r.table, r.files)
}

// Release frees what the relation holds outside DuckDB. It may be called more than once.
func (r *Relation) Release() {
	if r == nil {
		return
	}
	for _, set := range r.sets {
		set.Release()
	}
}

// Build makes the relation of a snapshot's rows. It reads deletion vectors and the footers of files that were not met before.
// A file that stores a wanted column as a type that does not fit the table's is refused, see FindMisfit.
//
// Errors: DELTA_FILE_NOT_FOUND_DETAILED, DELTA_FAILED_TO_READ_FILE, DELTA_DELETION_VECTOR_*, DELTA_INVALID_PARTITION_VALUE,
// UNSUPPORTED_FEATURE, naming the table and the file.
func Build(ctx context.Context, in *duck.Instance, req Request) (*Relation, error) {
	snapshot := req.Snapshot
	config := snapshot.Config()
	b := &builder{
		in: in, config: config, firstParameter: max(req.FirstParameter, 1),
		table:  tableRef{name: snapshot.Table().Name(), store: snapshot.Table().Store()},
		subset: req.Subset, unpadded: req.Unpadded,
	}
	if err := req.checkPerFile(config); err != nil {
		return nil, err
	}
	for _, i := range req.Columns {
		if err := b.addField(i); err != nil {
			return nil, err
		}
	}
	for _, h := range req.Hidden {
		info := h.Info()
		if info.RowTracking && !tracksRows(config) {
			return nil, protocol.NewError("FIELD_NOT_FOUND", "_metadata.%s is there only for tables with row tracking", info.Name).
				WithTable(b.table.name)
		}
		b.columns = append(b.columns, column{source: sourceHidden, hidden: h, field: protocol.Field{Type: info.Type, Nullable: true}})
	}
	files := snapshot.Files()
	report := Report{Version: snapshot.Version(), Files: files.Len()}
	chosen := req.files()
	if req.Skip {
		b.bounds = &bounds{snapshot.Stats(), files.Len()}
	}
	if req.Skip && req.Predicate != nil {
		var result stats.Result
		if p := withoutChars(req.Predicate, config); chosen == nil {
			result = snapshot.Stats().Prune(p)
		} else {
			result = snapshot.Stats().PruneFiles(p, chosen)
		}
		chosen = result.Keep
		report.SkippedByPartition, report.SkippedByStats, report.By = result.SkippedByPartition, result.SkippedByStats, result.By
	} else if chosen == nil {
		chosen = make([]int32, files.Len())
		for i := range chosen {
			chosen[i] = int32(i)
		}
	}
	for _, i := range chosen {
		if err := b.addSnapshotFile(files, int(i)); err != nil {
			return nil, diagnose(err, b.table.name, nil)
		}
	}
	return b.build(ctx, report)
}

func (b *builder) addSnapshotFile(files *log.Files, i int) error {
	f := &dataFile{
		path: files.Path(i), number: int32(i), size: files.Size(i), modTime: files.ModificationTime(i), records: -1,
		vector:    files.DeletionVector(i),
		partition: func(name protocol.PhysicalName) (string, bool) { return files.PartitionValue(i, name) },
	}
	if n, ok := files.NumRecords(i); ok {
		f.records = n
	}
	if id, ok := files.BaseRowID(i); ok {
		f.baseRowID = &id
	}
	if version, ok := files.DefaultRowCommitVersion(i); ok {
		f.commitVersion = &version
	}
	if err := b.subset.narrow(f); err != nil {
		return b.table.vectorError(f.path, err)
	}
	return b.addFile(f)
}

// builder collects the columns and the files of a relation.
type builder struct {
	in             *duck.Instance
	table          tableRef
	config         *protocol.TableConfig
	columns        []column
	constants      int // how many columns are per-file constants
	files          []*dataFile
	firstParameter int
	byLayout       bool // files of different layouts are read by different SELECTs
	adapts         bool // and columns converted by them, see needsLayouts
	bounds         *bounds
	subset         Subset
	unpadded       bool
}

// bounds are the statistics that may be handed to DuckDB; nil where there are none, or skipping is off.
type bounds struct {
	table *stats.Table
	files int // of the whole snapshot
}

// source says where a column's values come from.
type source uint8

const (
	sourceFile       source = iota
	sourceConstant          // dataFile.constants[constant]
	sourceHidden            // hidden
	sourceChangeType        // dataFile.constants[constant], or the file's own _change_type
)

// column is one column of the relation.
type column struct {
	source   source
	field    protocol.Field
	physical protocol.PhysicalName
	constant int
	hidden   HiddenColumn
}

// addField adds column i of the schema.
func (b *builder) addField(i int) error {
	if i < 0 || i >= len(b.config.Schema.Fields) {
		return protocol.NewError(protocol.ClassInternal, "column %d of %d was asked for", i, len(b.config.Schema.Fields))
	}
	c := column{field: b.config.Schema.Fields[i], physical: b.config.PhysicalName(i)}
	if b.config.IsPartitionColumn(i) {
		c.source, c.constant = sourceConstant, b.constants
		b.constants++
	}
	b.columns = append(b.columns, c)
	return nil
}

// addFile adds a file and decodes its partition values.
func (b *builder) addFile(f *dataFile) error {
	if b.constants > 0 {
		f.constants = append(make([]protocol.Value, 0, b.constants), f.constants...)
		for _, c := range b.columns {
			if c.source != sourceConstant || c.constant < len(f.constants) {
				continue
			}
			v, err := partitionValue(f, c.field, c.physical)
			if err != nil {
				return err
			}
			f.constants = append(f.constants, v)
		}
	}
	b.files = append(b.files, f)
	return nil
}

// build finds the files, reads what must be known of them, and writes the SQL.
func (b *builder) build(ctx context.Context, report Report) (*Relation, error) {
	r := &Relation{in: b.in, table: b.table.name, files: b.files, Report: report}
	if err := b.write(ctx, r); err != nil {
		r.Release()
		return nil, r.Diagnose(err)
	}
	return r, nil
}

func (b *builder) write(ctx context.Context, r *Relation) error {
	for i, c := range b.columns {
		template, err := logicalTemplate(c.field.Type, b.config.Mapping)
		if err != nil {
			return err
		}
		r.logical = append(r.logical, template)
		r.Columns = append(r.Columns, Column{Name: "c" + strconv.Itoa(i), Type: c.field.Type, Nullable: c.field.Nullable})
	}
	for _, f := range b.files {
		if err := b.table.locate(ctx, f); err != nil {
			return err
		}
	}
	if !b.subset.PerFile {
		if err := b.table.loadVectors(ctx, b.files); err != nil {
			return err
		}
	}
	if err := b.leaveOut(); err != nil {
		return err
	}
	b.describe(&r.Report)
	if b.readsFiles() {
		if err := findLayouts(ctx, b.in, b.files, b.needsLayouts()); err != nil {
			return err
		}
		if err := b.checkStored(); err != nil {
			return err
		}
		b.byLayout = b.adapts || len(b.files) <= maxFilesForEstimate && b.numShapes() <= maxShapesForEstimate
		if err := b.findVariantNulls(ctx); err != nil {
			return err
		}
	}
	branches := b.branches()
	r.Report.Branches = len(branches)
	if len(branches) == 0 {
		return b.writeEmpty(r)
	}
	for i, br := range branches {
		w := &branchWriter{builder: b, branch: br, adapter: adapter{mode: b.config.Mapping}}
		sql, set, err := w.write(b.firstParameter + i)
		r.sets = append(r.sets, w.variantSets...)
		if set != nil {
			r.sets = append(r.sets, set)
		}
		if err != nil {
			return err
		}
		if i > 0 {
			r.SQL += " UNION ALL "
		}
		r.SQL += sql
		if !b.subset.PerFile {
			r.Args = append(r.Args, globPaths(br.files))
		}
	}
	for _, f := range b.files {
		f.deleted, f.only, f.variants = nil, nil, nil // the row sets have them, and the relation keeps its files
	}
	return nil
}

// describe completes the report by the files that are read.
func (b *builder) describe(report *Report) {
	report.Read, report.RowsKnown = len(b.files), true
	for _, f := range b.files {
		report.Bytes += f.size
		report.DeletedRows += f.deletedRows
		if f.vector != nil {
			report.FilesWithVectors++
		}
		if f.records < 0 {
			report.RowsKnown = false
			continue
		}
		report.Rows += f.records - f.deletedRows
	}
}

// needsLayouts says that some column can be read right only by the layouts of the files.
func (b *builder) needsLayouts() bool {
	for _, c := range b.columns {
		if c.source == sourceFile && (b.config.Mapping == protocol.MappingID || needsLayout(c.field.Type)) {
			return true
		}
	}
	return false
}

// maxFilesForEstimate and maxShapesForEstimate are up to how many files, and SELECTs of them, are grouped by layout where that
// serves DuckDB's estimates alone.
const (
	maxFilesForEstimate  = 5_000
	maxShapesForEstimate = 16
)

// readsFiles says that some column's values may stand in the files.
func (b *builder) readsFiles() bool {
	for _, c := range b.columns {
		if c.source == sourceFile || c.source == sourceChangeType || c.source == sourceHidden && materialisedProperty(c.hidden) != "" {
			return true
		}
	}
	return false
}

// writeEmpty writes the relation of no files.
func (b *builder) writeEmpty(r *Relation) error {
	r.SQL = "SELECT "
	for i, c := range b.columns {
		text, err := TypeText(c.field.Type, b.config.Mapping)
		if err != nil {
			return err
		}
		if i > 0 {
			r.SQL += ", "
		}
		r.SQL += fmt.Sprintf("CAST(NULL AS %s) AS c%d", text, i)
	}
	if len(b.columns) == 0 {
		r.SQL += "1 AS c0"
	}
	r.SQL += " WHERE false"
	return nil
}
