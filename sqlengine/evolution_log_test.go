package sqlengine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"deltasql/protocol"
)

// plainLog is what a reader makes of a table's commits that shares no code with this product: each line is JSON, protocol and metaData
// are the last ones, a file is added and removed by its path and its deletion vector.
type plainLog struct {
	folder   string
	next     int64 // the version that is read next
	protocol map[string]any
	metadata map[string]any
	files    map[string]map[string]any
	domains  map[string]string
	times    int64 // the last in-commit timestamp while they are on, 0 otherwise
}

func newPlainLog(table string) *plainLog {
	return &plainLog{folder: filepath.Join(table, "_delta_log"), files: map[string]map[string]any{}, domains: map[string]string{}}
}

// read applies the commits that have come, and holds each against what a commit must be.
func (l *plainLog) read(t *testing.T) {
	t.Helper()
	for ; ; l.next++ {
		text, err := os.ReadFile(filepath.Join(l.folder, fmt.Sprintf("%020d.json", l.next)))
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := l.apply(string(text)); err != nil {
			t.Errorf("version %d: %v", l.next, err)
		}
	}
}

// fileKey is a file's identity in a log.
func fileKey(action map[string]any) string {
	key := fmt.Sprint(action["path"])
	if vector, ok := action["deletionVector"].(map[string]any); ok {
		key += fmt.Sprint(" ", vector["storageType"], vector["pathOrInlineDv"], "@", vector["offset"])
	}
	return key
}

func (l *plainLog) apply(text string) error {
	var stamp float64
	written := map[string]bool{}
	paths := map[string]bool{}
	for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		var action map[string]map[string]any
		if err := json.Unmarshal([]byte(line), &action); err != nil {
			return err
		}
		for kind, a := range action {
			switch kind {
			case "protocol":
				l.protocol = a
				if lowest := lowestProtocol(plainFeatures(a)); !reflect.DeepEqual(a, lowest) {
					return fmt.Errorf("the protocol %v is not the lowest, %v", a, lowest)
				}
			case "metaData":
				l.metadata = a
			case "add":
				if key := fileKey(a); written[key] {
					return fmt.Errorf("%s is added twice", key)
				}
				written[fileKey(a)] = true
				l.files[fileKey(a)] = a
			case "remove":
				_, live := l.files[fileKey(a)]
				if !live && a["dataChange"] != false {
					return fmt.Errorf("%s is removed and was not there", fileKey(a))
				}
				if !written[fileKey(a)] {
					delete(l.files, fileKey(a))
				}
			case "domainMetadata":
				if a["removed"] == true {
					delete(l.domains, a["domain"].(string))
				} else {
					l.domains[a["domain"].(string)] = a["configuration"].(string)
				}
			case "commitInfo":
				if n != 0 && a["inCommitTimestamp"] != nil {
					return errors.New("the commitInfo with the in-commit timestamp is not the first action")
				}
				stamp, _ = a["inCommitTimestamp"].(float64)
			}
		}
	}
	for key, a := range l.files {
		if path := a["path"].(string); paths[path] {
			return fmt.Errorf("%s is there twice, with two vectors", key)
		} else {
			paths[path] = true
		}
	}
	on := l.metadata["configuration"].(map[string]any)["delta.enableInCommitTimestamps"] == "true"
	switch {
	case on != (stamp != 0):
		return fmt.Errorf("in-commit timestamps are %v, and the commit's is %v", on, stamp)
	case on && int64(stamp) <= l.times:
		return fmt.Errorf("the in-commit timestamp goes from %d to %d", l.times, int64(stamp))
	}
	l.times = int64(stamp)
	return nil
}

// plainFeatures are the features of a protocol action.
func plainFeatures(p map[string]any) []string {
	var names []string
	if list, ok := p["writerFeatures"].([]any); ok {
		for _, name := range list {
			names = append(names, name.(string))
		}
	} else {
		for name, least := range legacyVersions {
			if float64(least[0]) <= p["minReaderVersion"].(float64) && float64(least[1]) <= p["minWriterVersion"].(float64) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// legacyVersions are the reader and writer versions that imply a feature.
var legacyVersions = map[string][2]int{"appendOnly": {1, 2}, "invariants": {1, 2}, "checkConstraints": {1, 3}, "changeDataFeed": {1, 4}, "generatedColumns": {1, 4}, "columnMapping": {2, 5}, "identityColumns": {1, 6}}

// readerFeatures are the features that readers must know, the legacy one aside.
var readerFeatures = []string{"deletionVectors", "timestampNtz", "v2Checkpoint", "typeWidening", "typeWidening-preview", "variantType", "variantShredding", "variantShredding-preview", "vacuumProtocolCheck"}

// lowestProtocol is the lowest protocol action of a set of features.
func lowestProtocol(features []string) map[string]any {
	reader, writer, implied := 1, 1, 0
	for _, f := range features {
		least, legacy := legacyVersions[f]
		switch {
		case slices.Contains(readerFeatures, f):
			least = [2]int{3, 7}
		case !legacy:
			least = [2]int{1, 7}
		}
		reader, writer = max(reader, least[0]), max(writer, least[1])
	}
	for _, least := range legacyVersions {
		if writer < 7 && least[0] <= reader && least[1] <= writer {
			implied++
		}
	}
	if writer < 7 && implied == len(features) {
		return map[string]any{"minReaderVersion": float64(reader), "minWriterVersion": float64(writer)}
	}
	all, read := []any{}, []any{}
	for _, f := range slices.Sorted(slices.Values(features)) {
		all = append(all, f)
		if f == "columnMapping" || slices.Contains(readerFeatures, f) {
			read = append(read, f)
		}
	}
	p := map[string]any{"minReaderVersion": float64(reader), "minWriterVersion": float64(7), "writerFeatures": all}
	if reader == 3 {
		p["readerFeatures"] = read
	}
	return p
}

// asJSON is a value as a JSON parser gives it.
func asJSON(t *testing.T, text string) (v any) {
	t.Helper()
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// agrees compares the plain reader's table with the snapshot that a session has, and with that of an engine that begins anew at the
// newest checkpoint.
func (l *plainLog) agrees(t *testing.T, s *Session) {
	t.Helper()
	table, err := s.engine.catalog.table(filepath.Dir(l.folder))
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := table.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if snapshot.Version() != l.next-1 {
		t.Errorf("the snapshot's version is %d, the last commit's %d", snapshot.Version(), l.next-1)
	}
	config := snapshot.Config()
	features := config.Protocol.Features()
	if plain := plainFeatures(l.protocol); !slices.Equal(features, plain) || float64(config.Protocol.MinReaderVersion) != l.protocol["minReaderVersion"] || float64(config.Protocol.MinWriterVersion) != l.protocol["minWriterVersion"] {
		t.Errorf("the snapshot's protocol is %+v, the log's %v", config.Protocol, l.protocol)
	}
	m := config.Metadata
	configuration, partitions := map[string]any{}, []any{}
	for key, value := range m.Configuration {
		configuration[key] = value
	}
	for _, name := range m.PartitionColumns {
		partitions = append(partitions, name)
	}
	for key, pair := range map[string][2]any{"id": {m.ID, l.metadata["id"]}, "schemaString": {m.SchemaString, l.metadata["schemaString"]},
		"configuration": {configuration, l.metadata["configuration"]}, "partitionColumns": {partitions, l.metadata["partitionColumns"]}} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("the snapshot's %s is %v, the log's %v", key, pair[0], pair[1])
		}
	}
	domains := map[string]string{}
	for name, d := range snapshot.Domains() {
		domains[name] = d.Configuration
	}
	if !maps.Equal(domains, l.domains) {
		t.Errorf("the snapshot's domains are %v, the log's %v", domains, l.domains)
	}
	files := snapshot.Files()
	if files.Len() != len(l.files) {
		t.Errorf("the snapshot has %d files, the log %d", files.Len(), len(l.files))
	}
	for i := range files.Len() {
		add := files.Add(i)
		if line := plainAdd(t, add); l.files[fileKey(line)] == nil {
			t.Errorf("%s is in the snapshot and not in the log", fileKey(line))
		} else if logged := l.files[fileKey(line)]; !sameFile(t, line, logged) {
			t.Errorf("the snapshot's file is\n%v\nthe log's\n%v", line, logged)
		}
	}
}

// plainAdd is an add action as the log spells it.
func plainAdd(t *testing.T, add protocol.AddFile) map[string]any {
	t.Helper()
	line, err := protocol.AppendAction(nil, protocol.Action{Add: &add})
	if err != nil {
		t.Fatal(err)
	}
	return asJSON(t, string(line)).(map[string]any)["add"].(map[string]any)
}

// sameFile compares what readers see of two actions; statistics as JSON.
func sameFile(t *testing.T, a, b map[string]any) bool {
	t.Helper()
	for _, key := range []string{"path", "partitionValues", "size", "deletionVector", "baseRowId", "defaultRowCommitVersion", "clusteringProvider"} {
		if !reflect.DeepEqual(a[key], b[key]) {
			return false
		}
	}
	stats := func(m map[string]any) any {
		text, _ := m["stats"].(string)
		return asJSON(t, text)
	}
	return reflect.DeepEqual(stats(a), stats(b))
}
