package metamorphic_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"deltasql/protocol"
	"deltasql/scan/duck"
)

// checkpointKind is how the state at version 2 is kept.
type checkpointKind int

const (
	noCheckpoint      checkpointKind = iota
	classicCheckpoint                // one file, statistics as JSON
	structCheckpoint                 // one file, stats_parsed and partitionValues_parsed alone
	sidecarCheckpoint                // V2, a Parquet manifest
	jsonCheckpoint                   // V2, a JSON manifest, sidecars with statistics as structs
)

// variant is one layout of the data.
type variant struct {
	name        string
	mapping     protocol.MappingMode
	partitionBy []string
	fileRows    int
	shuffled    bool // rows of a file are not neighbours
	vectors     bool // half of the files hold rows that a vector deletes
	statistics  []quality
	checkpoint  checkpointKind
}

var variants = []variant{
	{name: "plain", fileRows: 20, statistics: []quality{fullStatistics}},
	{name: "one_file", fileRows: 1 << 20, statistics: []quality{fullStatistics}},
	{name: "small_files", fileRows: 4, statistics: []quality{roundedStatistics}, checkpoint: classicCheckpoint},
	{name: "by_name", mapping: protocol.MappingName, fileRows: 20, statistics: []quality{roundedStatistics, fullStatistics}},
	{name: "by_id", mapping: protocol.MappingID, fileRows: 30, statistics: []quality{fullStatistics, someStatistics}, checkpoint: structCheckpoint},
	{name: "part_p", partitionBy: []string{"p"}, fileRows: 25, statistics: []quality{fullStatistics}},
	{name: "part_q_p", partitionBy: []string{"q", "p"}, fileRows: 25, statistics: []quality{roundedStatistics, noStatistics}, checkpoint: classicCheckpoint},
	{name: "part_dt_mapped", mapping: protocol.MappingName, partitionBy: []string{"dt"}, fileRows: 15, statistics: []quality{looseStatistics}, checkpoint: structCheckpoint},
	{name: "part_ts", partitionBy: []string{"ts"}, fileRows: 15, statistics: []quality{fullStatistics}, checkpoint: jsonCheckpoint},
	{name: "vectored", vectors: true, fileRows: 20, statistics: []quality{fullStatistics, roundedStatistics}},
	{name: "vectored_mapped_part", vectors: true, mapping: protocol.MappingID, partitionBy: []string{"p"}, fileRows: 12,
		statistics: []quality{someStatistics, fullStatistics, looseStatistics}, checkpoint: sidecarCheckpoint},
	{name: "vectored_struct", vectors: true, fileRows: 15, statistics: []quality{fullStatistics, countStatistics}, checkpoint: structCheckpoint},
	{name: "some_statistics", fileRows: 20, statistics: []quality{noStatistics, someStatistics, countStatistics, fullStatistics}},
	{name: "loose", fileRows: 16, statistics: []quality{looseStatistics, roundedStatistics}, checkpoint: jsonCheckpoint},
	{name: "shuffled", fileRows: 30, shuffled: true, statistics: []quality{roundedStatistics}, checkpoint: sidecarCheckpoint},
}

// builder writes a variant into a folder.
type builder struct {
	variant
	data   *dataset
	dir    string
	writer *duck.Instance
	rng    *rand.Rand
	schema protocol.DataType // with the metadata of column mapping
	files  int
	err    error
}

// build writes the table: version 0 holds half of the files, version 1 the others and files to be removed, version 2 removes those
// and attaches the vectors, version 3 adds what is left. A checkpoint stands for version 2, whose commits are then gone.
// It gives the rows of each file.
func (v variant) build(data *dataset, dir string, writer *duck.Instance, rng *rand.Rand) ([][]row, error) {
	b := &builder{variant: v, data: data, dir: dir, writer: writer, rng: rng}
	b.mapping = cmp.Or(b.mapping, protocol.MappingNone)
	b.schema = data.schema
	b.schema.Fields = slices.Clone(b.schema.Fields)
	last := 0
	b.mapFields(b.schema.Fields, &last)
	b.check(os.MkdirAll(filepath.Join(dir, "_delta_log"), 0o755))

	var commits [4][]object
	commits[0] = []object{b.protocol(), b.metadata(last)}
	var live []object
	groups := b.groups()
	for n, group := range groups {
		plain, attached := b.file(group, n)
		switch {
		case b.err != nil:
			return nil, b.err
		case attached != nil:
			commits[n%2] = append(commits[n%2], object{"add": plain})
			commits[2] = append(commits[2], object{"remove": removal(plain)}, object{"add": attached})
			live = append(live, attached)
		case n%5 == 4:
			commits[3] = append(commits[3], object{"add": plain})
		default:
			commits[n%2] = append(commits[n%2], object{"add": plain})
			live = append(live, plain)
		}
	}
	gone, _ := b.file(data.rows[:min(3, len(data.rows))], 1)
	commits[1] = append(commits[1], object{"add": gone})
	commits[2] = append(commits[2], object{"remove": removal(gone)}, object{"txn": object{"appId": "a", "version": 7}})
	for version, actions := range commits {
		actions = append([]object{{"commitInfo": object{"operation": "WRITE", "timestamp": 1_700_000_000_000 + version}}}, actions...)
		b.lines(fmt.Sprintf("_delta_log/%020d.json", version), actions)
	}
	b.writeCheckpoint(append(commits[0][:2:2], object{"txn": object{"appId": "a", "version": 7}}), live)
	return groups, b.err
}

func (b *builder) check(err error) {
	if b.err == nil && err != nil {
		b.err = fmt.Errorf("%s: %w", b.name, err)
	}
}

// mapFields gives fields ids and physical names, in preorder.
func (b *builder) mapFields(fields []protocol.Field, last *int) {
	if b.mapping == protocol.MappingNone {
		return
	}
	for i := range fields {
		*last++
		fields[i].Metadata = protocol.FieldMetadata{
			"delta.columnMapping.id":           json.RawMessage(fmt.Sprint(*last)),
			"delta.columnMapping.physicalName": json.RawMessage(fmt.Sprintf(`"col-%x %d"`, 7919**last, *last)),
		}
		if fields[i].Type.Kind == protocol.KindStruct {
			fields[i].Type.Fields = slices.Clone(fields[i].Type.Fields)
			b.mapFields(fields[i].Type.Fields, last)
		}
	}
}

func (b *builder) physical(f protocol.Field) string { return string(f.PhysicalName(b.mapping)) }

func (b *builder) partitioned(column int) bool {
	return slices.Contains(b.partitionBy, string(b.schema.Fields[column].Name))
}

func (b *builder) protocol() object {
	reader := []string{"timestampNtz"}
	if b.mapping != protocol.MappingNone {
		reader = append(reader, "columnMapping")
	}
	if b.vectors {
		reader = append(reader, "deletionVectors")
	}
	if b.checkpoint >= sidecarCheckpoint {
		reader = append(reader, "v2Checkpoint")
	}
	return object{"protocol": object{"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": reader, "writerFeatures": reader}}
}

func (b *builder) metadata(lastID int) object {
	configuration := object{}
	if b.mapping != protocol.MappingNone {
		configuration["delta.columnMapping.mode"] = string(b.mapping)
		configuration["delta.columnMapping.maxColumnId"] = fmt.Sprint(lastID)
	}
	if b.vectors {
		configuration["delta.enableDeletionVectors"] = "true"
	}
	return object{"metaData": object{
		"id": fmt.Sprintf("00000000-0000-4000-8000-%012x", len(b.name)), "format": object{"provider": "parquet", "options": object{}},
		"schemaString": b.schema.JSON(), "partitionColumns": append([]string{}, b.partitionBy...), "configuration": configuration,
	}}
}

// groups divides the rows into files, whose rows agree in the partition columns.
func (b *builder) groups() [][]row {
	rows := slices.Clone(b.data.rows)
	if b.shuffled {
		b.rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	}
	byKey := map[string][]row{}
	var keys []string
	for _, r := range rows {
		key := ""
		for c := range b.schema.Fields {
			if b.partitioned(c) {
				key += fmt.Sprintf("%q,", r[c].value.SQL())
			}
		}
		if byKey[key] == nil {
			keys = append(keys, key)
		}
		byKey[key] = append(byKey[key], r)
	}
	var out [][]row
	for _, key := range keys {
		out = slices.AppendSeq(out, slices.Chunk(byKey[key], b.fileRows))
	}
	return out
}

// file writes rows as data file n and gives its add action; for a file that gets a vector also the action that has it. Such a file
// holds further rows, which the vector deletes.
func (b *builder) file(rows []row, n int) (plain, attached object) {
	b.files++
	written, live := rows, []row(nil)
	var deleted []uint64
	if b.vectors && n%2 == 0 {
		written, live = nil, rows
		for _, r := range rows {
			for b.rng.IntN(3) == 0 {
				deleted = append(deleted, uint64(len(written)))
				written = append(written, b.ghost(r))
			}
			written = append(written, r)
		}
		if deleted == nil {
			deleted, written = []uint64{uint64(len(written))}, append(written, b.ghost(rows[0]))
		}
	}
	folder, values := "", object{}
	for _, name := range b.partitionBy {
		c := b.schema.Lookup(name)
		v := rows[0][c].value
		values[b.physical(b.schema.Fields[c])] = nil
		if !v.Null {
			text := v.Text()
			if v.Kind == protocol.KindTimestamp && n%3 > 0 {
				text = strings.Trim(string(v.AppendJSON(nil)), `"`)
			}
			values[b.physical(b.schema.Fields[c])] = text
		}
		folder += name + "=" + url.PathEscape(v.Text()) + "/"
	}
	name := fmt.Sprintf("%spart-%05d +%d.parquet", folder, b.files, n)
	b.parquet(name, written)
	size := b.size(name)
	action := func(live []row) object {
		collector := &collector{quality: b.statistics[n%len(b.statistics)], names: b.physical, skip: b.partitioned, rows: written, live: live, chance: b.data.chance}
		add := object{"path": protocol.EncodePath(name), "partitionValues": values, "size": size, "modificationTime": 1_700_000_000_000 + n, "dataChange": true}
		if text := collector.collect(b.schema).text(); text != "" {
			add["stats"] = text
		}
		return add
	}
	if deleted == nil {
		return action(nil), nil
	}
	attached = action(live)
	attached["deletionVector"] = b.vector(deleted, n%4 == 0)
	return action(nil), attached
}

// ghost is a row that must never be seen: another row's values, in the same partition.
func (b *builder) ghost(r row) row {
	out := slices.Clone(b.data.rows[b.rng.IntN(len(b.data.rows))])
	for c := range b.schema.Fields {
		if b.partitioned(c) {
			out[c] = r[c]
		}
	}
	return out
}

func removal(add object) object {
	return object{"path": add["path"], "partitionValues": add["partitionValues"], "size": add["size"], "dataChange": true,
		"deletionTimestamp": 1_700_000_000_000, "extendedFileMetadata": true}
}

func (b *builder) path(name string) string { return filepath.Join(b.dir, name) }

func (b *builder) write(name string, data []byte) {
	b.check(os.MkdirAll(filepath.Dir(b.path(name)), 0o755))
	b.check(os.WriteFile(b.path(name), data, 0o644))
}

func (b *builder) size(name string) int64 {
	info, err := os.Stat(b.path(name))
	b.check(err)
	if err != nil {
		return 0
	}
	return info.Size()
}

// parquet writes rows as a data file, with field ids under column mapping.
func (b *builder) parquet(name string, rows []row) {
	var columns, tuples []string
	for c, field := range b.schema.Fields {
		if !b.partitioned(c) {
			columns = append(columns, duck.QuoteIdentifier(b.physical(field)))
		}
	}
	for _, r := range rows {
		var values []string
		for c, field := range b.schema.Fields {
			if !b.partitioned(c) {
				values = append(values, literal(r[c], field.Type, b.physical))
			}
		}
		tuples = append(tuples, "("+strings.Join(values, ", ")+")")
	}
	options := "FORMAT parquet"
	if b.mapping != protocol.MappingNone {
		options += ", FIELD_IDS " + b.fieldIDs(b.schema.Fields, true, "")
	}
	b.copy(name, fmt.Sprintf("SELECT * FROM (VALUES %s) AS t(%s)", strings.Join(tuples, ", "), strings.Join(columns, ", ")), options)
}

func (b *builder) copy(name, query, options string) {
	if b.err != nil {
		return
	}
	b.check(os.MkdirAll(filepath.Dir(b.path(name)), 0o755))
	b.check(b.writer.Exec(context.Background(), fmt.Sprintf("COPY (%s) TO %s (%s)", query, duck.QuoteString(b.path(name)), options)))
}

func (b *builder) fieldIDs(fields []protocol.Field, top bool, own string) string {
	var out []string
	if own != "" {
		out = append(out, "__duckdb_field_id: "+own)
	}
	for c, field := range fields {
		if top && b.partitioned(c) {
			continue
		}
		id, _ := field.ColumnID()
		text := fmt.Sprint(id)
		if field.Type.Kind == protocol.KindStruct {
			text = b.fieldIDs(field.Type.Fields, false, text)
		}
		out = append(out, duck.QuoteIdentifier(b.physical(field))+": "+text)
	}
	return "{" + strings.Join(out, ", ") + "}"
}

// vector gives the descriptor of a deletion vector, inline or in a file of its own.
func (b *builder) vector(deleted []uint64, inline bool) object {
	data, err := protocol.EncodeBitmap(roaring64.BitmapOf(deleted...))
	b.check(err)
	if inline {
		return object{"storageType": "i", "pathOrInlineDv": protocol.EncodeZ85(data), "sizeInBytes": len(data), "cardinality": len(deleted)}
	}
	id := fmt.Sprintf("%016x%016x", b.rng.Uint64(), b.rng.Uint64())
	section := binary.BigEndian.AppendUint32([]byte{1}, uint32(len(data)))
	section = binary.BigEndian.AppendUint32(append(section, data...), crc32.ChecksumIEEE(data))
	b.write(fmt.Sprintf("deletion_vector_%s-%s-%s-%s-%s.bin", id[:8], id[8:12], id[12:16], id[16:20], id[20:]), section)
	raw, err := hex.DecodeString(id)
	b.check(err)
	return object{"storageType": "u", "pathOrInlineDv": protocol.EncodeZ85(raw), "offset": 1, "sizeInBytes": len(data), "cardinality": len(deleted)}
}

// lines writes actions, one a line.
func (b *builder) lines(name string, actions []object) {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	for _, action := range actions {
		b.check(encoder.Encode(action))
	}
	b.write(name, []byte(out.String()))
}
