package meta

import (
	"bytes"
	"encoding/json"

	"deltasql/protocol"
	"deltasql/txn/log"
)

var (
	typeJob      = structOf("jobId", "jobName", "jobRunId", "runId", "jobOwnerId", "triggerType")
	typeNotebook = structOf("notebookId")
)

// historyColumns are DESCRIBE HISTORY's; new ones go last.
var historyColumns = []Column{
	{"version", typeLong, true}, {"timestamp", typeTimestamp, true}, {"userId", typeString, true}, {"userName", typeString, true},
	{"operation", typeString, true}, {"operationParameters", typeStringMap, true}, {"job", typeJob, true},
	{"notebook", typeNotebook, true}, {"clusterId", typeString, true}, {"readVersion", typeLong, true},
	{"isolationLevel", typeString, true}, {"isBlindAppend", typeBoolean, true}, {"operationMetrics", typeStringMap, true},
	{"userMetadata", typeString, true}, {"engineInfo", typeString, true},
}

// History is DESCRIBE HISTORY over commits, newest first.
func History(commits []log.Commit) Table {
	return Table{Columns: historyColumns, Rows: func(yield func([]any, error) bool) {
		for _, commit := range commits {
			if !yield(historyRow(commit), nil) {
				return
			}
		}
	}}
}

func historyRow(commit log.Commit) []any {
	info := commit.Info
	// A field that is of another shape than expected is shown as NULL: history must not fail for another writer's notes.
	raw := func(key string) json.RawMessage {
		value, _ := info.RawMember(key)
		return value
	}
	return []any{
		commit.Version, micros(commit.TimestampMillis), text(raw("userId")), text(raw("userName")), text(raw("operation")),
		texts(raw("operationParameters")), members(raw("job"), typeJob), members(raw("notebook"), typeNotebook),
		text(raw("clusterId")), integer(raw("readVersion")), text(raw("isolationLevel")), boolean(raw("isBlindAppend")),
		texts(raw("operationMetrics")), text(raw("userMetadata")), text(raw("engineInfo")),
	}
}

func absent(raw json.RawMessage) bool { return len(raw) == 0 || bytes.Equal(raw, []byte("null")) }

// text is a JSON string's text, or any other JSON value as it stands.
func text(raw json.RawMessage) any {
	if absent(raw) {
		return nil
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func integer(raw json.RawMessage) any {
	var n int64
	if absent(raw) || json.Unmarshal(raw, &n) != nil {
		return nil
	}
	return n
}

func boolean(raw json.RawMessage) any {
	var b bool
	if absent(raw) || json.Unmarshal(raw, &b) != nil {
		return nil
	}
	return b
}

// texts is a JSON object as a map of texts; values that are no strings keep their JSON.
func texts(raw json.RawMessage) any {
	var fields map[string]json.RawMessage
	if absent(raw) || json.Unmarshal(raw, &fields) != nil {
		return nil
	}
	out := make(map[string]*string, len(fields))
	for name, value := range fields {
		out[name] = nil
		if s, ok := text(value).(string); ok {
			out[name] = &s
		}
	}
	return out
}

// members is a JSON object as the struct t, by field name.
func members(raw json.RawMessage, t protocol.DataType) any {
	var fields map[string]json.RawMessage
	if absent(raw) || json.Unmarshal(raw, &fields) != nil {
		return nil
	}
	out := make([]any, len(t.Fields))
	for i, field := range t.Fields {
		out[i] = text(fields[string(field.Name)])
	}
	return out
}
