package meta

import (
	"bytes"
	"encoding/json"

	"deltasql/protocol"
)

// filesColumns are SHOW FILES'. Statistics are the JSON of the log, by physical names.
var filesColumns = []Column{
	{"path", typeString, false}, {"size", typeLong, false}, {"partition", typeStringMap, false}, {"numRecords", typeLong, true},
	{"numDeleted", typeLong, false}, {"minValues", typeString, true}, {"maxValues", typeString, true},
	{"modificationTime", typeTimestamp, true}, {"baseRowId", typeLong, true}, {"tags", typeStringMap, true},
}

// Files is SHOW FILES: the data files of the snapshot as its log describes them.
func Files(s Subject) Table {
	config, files, statistics := s.Snapshot.Config(), s.Snapshot.Files(), s.Snapshot.Stats()
	type partition struct {
		name     string
		physical protocol.PhysicalName
	}
	var partitions []partition
	for _, i := range config.PartitionColumns {
		partitions = append(partitions, partition{string(config.Schema.Fields[i].Name), config.PhysicalName(i)})
	}
	return Table{Columns: filesColumns, Rows: func(yield func([]any, error) bool) {
		for i := range files.Len() {
			values := map[string]*string{}
			for _, p := range partitions {
				values[p.name] = nil
				if text, null := files.PartitionValue(i, p.physical); !null {
					values[p.name] = &text
				}
			}
			var records, base, tags any
			if n, ok := statistics.NumRecords(i); ok {
				records = n
			}
			if n, ok := files.BaseRowID(i); ok {
				base = n
			}
			if add := files.Add(i); len(add.Tags) > 0 {
				tags = stringMap(add.Tags)
			}
			deleted := int64(0)
			if vector := files.DeletionVector(i); vector != nil {
				deleted = vector.Cardinality
			}
			low, high := bounds(files.RawStats(i))
			row := []any{files.Path(i), files.Size(i), values, records, deleted, low, high, micros(files.ModificationTime(i)), base, tags}
			if !yield(row, nil) {
				return
			}
		}
	}}
}

// bounds are minValues and maxValues of statistics JSON as texts; damaged statistics are shown as NULL.
func bounds(stats []byte) (low, high any) {
	var parsed struct {
		MinValues json.RawMessage `json:"minValues"`
		MaxValues json.RawMessage `json:"maxValues"`
	}
	if len(stats) == 0 || json.NewDecoder(bytes.NewReader(stats)).Decode(&parsed) != nil {
		return nil, nil
	}
	if len(parsed.MinValues) > 0 {
		low = string(parsed.MinValues)
	}
	if len(parsed.MaxValues) > 0 {
		high = string(parsed.MaxValues)
	}
	return low, high
}
