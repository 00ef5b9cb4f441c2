package metamorphic_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deltasql/protocol"
	"deltasql/scan/duck"
)

// writeCheckpoint writes the variant's checkpoint of version 2 and takes away the commits before it.
func (b *builder) writeCheckpoint(singles, adds []object) {
	if b.checkpoint == noCheckpoint {
		return
	}
	const version = 2
	structs := b.checkpoint == structCheckpoint || b.checkpoint == jsonCheckpoint
	var files []object
	for _, add := range adds {
		files = append(files, object{"add": b.stored(add, structs)})
	}
	prefix := fmt.Sprintf("_delta_log/%020d.checkpoint", version)
	const id = "0190a0c2-5e5b-7c3e-8b1a-2f6d3c4b5a69"
	switch b.checkpoint {
	case classicCheckpoint, structCheckpoint:
		b.actions(prefix+".parquet", structs, append(slices.Clone(singles), files...))
	case sidecarCheckpoint:
		b.actions(prefix+"."+id+".parquet", structs, append(singles, b.sidecars(files, structs)...))
	case jsonCheckpoint:
		b.lines(prefix+"."+id+".json", append(singles, b.sidecars(files, structs)...))
	}
	for v := range version {
		b.check(os.Remove(b.path(fmt.Sprintf("_delta_log/%020d.json", v))))
	}
}

// sidecars writes the adds as two sidecars and gives the actions that name them, with the manifest's own.
func (b *builder) sidecars(files []object, structs bool) []object {
	actions := []object{{"checkpointMetadata": object{"version": 2}}}
	half := len(files) / 2
	for n, part := range [][]object{files[:half], files[half:]} {
		if len(part) == 0 {
			continue
		}
		name := fmt.Sprintf("part-%d.parquet", n)
		b.actions("_delta_log/_sidecars/"+name, structs, part)
		actions = append(actions, object{"sidecar": object{"path": name, "sizeInBytes": b.size("_delta_log/_sidecars/" + name), "modificationTime": 1_700_000_000_000}})
	}
	return actions
}

// stored is an add as a checkpoint has it: with its statistics as they are, or as structs alone.
func (b *builder) stored(add object, structs bool) object {
	add = maps.Clone(add)
	add["dataChange"] = false
	if !structs {
		return add
	}
	if text, ok := add["stats"].(string); ok {
		add["stats_parsed"] = json.RawMessage(text)
		delete(add, "stats")
	}
	if len(b.partitionBy) > 0 {
		add["partitionValues_parsed"] = add["partitionValues"]
	}
	return add
}

// actions writes actions as Parquet rows.
func (b *builder) actions(name string, structs bool, actions []object) {
	lines := "staged-actions.json"
	b.lines(lines, actions)
	add := []string{"path VARCHAR", `"partitionValues" MAP(VARCHAR, VARCHAR)`, "size BIGINT", `"modificationTime" BIGINT`, `"dataChange" BOOLEAN`,
		`"deletionVector" STRUCT("storageType" VARCHAR, "pathOrInlineDv" VARCHAR, "offset" INTEGER, "sizeInBytes" INTEGER, cardinality BIGINT)`}
	if structs {
		add = append(add, "stats_parsed "+b.statisticsType())
		if len(b.partitionBy) > 0 {
			add = append(add, `"partitionValues_parsed" `+b.structOf(true, func(t protocol.DataType) string { return duckType(t, b.physical) }))
		}
	} else {
		add = append(add, "stats VARCHAR")
	}
	columns := map[string]string{
		"add":      "STRUCT(" + strings.Join(add, ", ") + ")",
		"protocol": `STRUCT("minReaderVersion" INTEGER, "minWriterVersion" INTEGER, "readerFeatures" VARCHAR[], "writerFeatures" VARCHAR[])`,
		"metaData": `STRUCT(id VARCHAR, format STRUCT(provider VARCHAR, options MAP(VARCHAR, VARCHAR)), "schemaString" VARCHAR, ` +
			`"partitionColumns" VARCHAR[], configuration MAP(VARCHAR, VARCHAR))`,
		"txn":                `STRUCT("appId" VARCHAR, version BIGINT)`,
		"sidecar":            `STRUCT(path VARCHAR, "sizeInBytes" BIGINT, "modificationTime" BIGINT)`,
		"checkpointMetadata": "STRUCT(version BIGINT)",
	}
	var list []string
	for _, column := range slices.Sorted(maps.Keys(columns)) {
		used := slices.ContainsFunc(actions, func(a object) bool { _, ok := a[column]; return ok })
		if used {
			list = append(list, fmt.Sprintf("%s: %s", duck.QuoteString(column), duck.QuoteString(columns[column])))
		}
	}
	b.copy(name, fmt.Sprintf("SELECT * FROM read_json(%s, format = 'newline_delimited', columns = {%s})",
		duck.QuoteString(b.path(lines)), strings.Join(list, ", ")), "FORMAT parquet")
	b.check(os.Remove(filepath.Join(b.dir, lines)))
}

// statisticsType is the type of stats_parsed: bounds in the columns' own types.
func (b *builder) statisticsType() string {
	bounds := b.structOf(false, func(t protocol.DataType) string { return duckType(t, b.physical) })
	counts := b.structOf(false, func(t protocol.DataType) string {
		if t.Kind != protocol.KindStruct {
			return "BIGINT"
		}
		var members []string
		for _, field := range t.Fields {
			members = append(members, duck.QuoteIdentifier(b.physical(field))+" BIGINT")
		}
		return "STRUCT(" + strings.Join(members, ", ") + ")"
	})
	return fmt.Sprintf(`STRUCT("numRecords" BIGINT, "tightBounds" BOOLEAN, "minValues" %s, "maxValues" %s, "nullCount" %s)`, bounds, bounds, counts)
}

// structOf is a struct of the partition columns, or of the others.
func (b *builder) structOf(partitioned bool, typ func(protocol.DataType) string) string {
	var members []string
	for c, field := range b.schema.Fields {
		if b.partitioned(c) == partitioned {
			members = append(members, duck.QuoteIdentifier(b.physical(field))+" "+typ(field.Type))
		}
	}
	return "STRUCT(" + strings.Join(members, ", ") + ")"
}
