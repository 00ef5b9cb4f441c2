package meta

import (
	"fmt"
	"iter"
	"strings"

	"deltasql/protocol"
	"deltasql/txn/store"
)

var logKinds = map[protocol.LogFileKind]string{
	protocol.LogCommit: "commit", protocol.LogStagedCommit: "staged commit", protocol.LogCompaction: "compaction",
	protocol.LogCheckpoint: "checkpoint", protocol.LogMultipartCheckpoint: "checkpoint part", protocol.LogUUIDCheckpoint: "checkpoint (V2)",
	protocol.LogSidecar: "sidecar", protocol.LogChecksum: "checksum", protocol.LogLastCheckpoint: "hint",
}

// Log is SHOW LOG: the files of the table's log in the order of the listing; for a commit, how many of each action it holds.
// read gives the actions of a commit's file; one that cannot be read says so in its own row.
func Log(files iter.Seq2[store.FileInfo, error], read func(name string) ([]protocol.Action, error)) Table {
	columns := []Column{{"version", typeLong, true}, {"file", typeString, false}, {"kind", typeString, false}, {"size", typeLong, false}, {"actions", typeString, true}}
	return Table{Columns: columns, Rows: func(yield func([]any, error) bool) {
		for info, err := range files {
			if err != nil {
				yield(nil, err)
				return
			}
			name := strings.TrimPrefix(info.Name, protocol.LogFolder+"/")
			if info.IsFolder() {
				continue
			}
			file, known := protocol.ParseLogFile(name)
			var version, actions any
			kind := "other"
			if known {
				kind = logKinds[file.Kind]
				if file.Kind != protocol.LogLastCheckpoint && file.Kind != protocol.LogSidecar {
					version = file.Version
				}
			}
			if known && file.Kind == protocol.LogCommit {
				if commit, err := read(info.Name); err != nil {
					actions = "cannot be read: " + err.Error()
				} else {
					actions = summary(commit)
				}
			}
			if !yield([]any{version, name, kind, info.Size, actions}, nil) {
				return
			}
		}
	}}
}

// summary counts the actions of a commit by kind.
func summary(actions []protocol.Action) string {
	names := []string{"commitInfo", "protocol", "metaData", "add", "remove", "cdc", "txn", "domainMetadata"}
	counts := make([]int, len(names))
	for i := range actions {
		a := &actions[i]
		for k, present := range []bool{a.CommitInfo != nil, a.Protocol != nil, a.Metadata != nil, a.Add != nil, a.Remove != nil, a.CDC != nil, a.Txn != nil, a.Domain != nil} {
			if present {
				counts[k]++
			}
		}
	}
	var parts []string
	for k, n := range counts {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", names[k], n))
		}
	}
	return strings.Join(parts, ", ")
}
