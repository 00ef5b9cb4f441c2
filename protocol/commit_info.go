package protocol

import "encoding/json"

// Parameter is one of an operation's parameters: its value is JSON, which for most parameters of the reference is a string
// that holds JSON itself (`"[\"a\"]"`).
type Parameter struct {
	Key   string
	Value json.RawMessage
}

// Metric is one of an operation's metrics, a number as text.
type Metric struct{ Key, Value string }

// CommitInfoFields are what NewCommitInfo makes a commitInfo of. Empty texts, nil pointers and nil maps are left out;
// operationParameters and operationMetrics always stand there, as the reference has it.
type CommitInfoFields struct {
	InCommitTimestamp   *int64 // milliseconds since 1970
	Timestamp           int64  // milliseconds since 1970
	UserID, UserName    string
	Operation           string
	OperationParameters []Parameter // in this order
	ReadVersion         *int64      // nil for the commit that makes a table
	IsolationLevel      string
	IsBlindAppend       *bool
	OperationMetrics    []Metric // in this order
	UserMetadata        *string
	Tags                map[string]string
	EngineInfo          string
	TxnID               string
}

// NewCommitInfo makes the object, its members in the reference's order. A parameter whose value is no JSON is an error of ours.
func NewCommitInfo(f CommitInfoFields) (*CommitInfo, error) {
	e := actionEncoder{dst: []byte{'{'}}
	e.optionalInt("inCommitTimestamp", f.InCommitTimestamp)
	e.int("timestamp", f.Timestamp)
	e.optionalText("userId", f.UserID)
	e.optionalText("userName", f.UserName)
	e.text("operation", f.Operation)
	e.key("operationParameters")
	e.dst = append(e.dst, '{')
	seen := make(map[string]bool, len(f.OperationParameters))
	for _, p := range f.OperationParameters {
		if !json.Valid(p.Value) || seen[p.Key] {
			e.fail("the parameter %s of %s is %q", p.Key, f.Operation, shorten(string(p.Value)))
		}
		seen[p.Key] = true
		e.key(p.Key)
		e.dst = append(e.dst, p.Value...)
	}
	e.dst = append(e.dst, '}')
	e.optionalInt("readVersion", f.ReadVersion)
	e.optionalText("isolationLevel", f.IsolationLevel)
	if f.IsBlindAppend != nil {
		e.bool("isBlindAppend", *f.IsBlindAppend)
	}
	e.key("operationMetrics")
	e.dst = append(e.dst, '{')
	for _, m := range f.OperationMetrics {
		e.text(m.Key, m.Value)
	}
	e.dst = append(e.dst, '}')
	if f.UserMetadata != nil {
		e.text("userMetadata", *f.UserMetadata)
	}
	e.optionalTexts("tags", f.Tags)
	e.optionalText("engineInfo", f.EngineInfo)
	e.optionalText("txnId", f.TxnID)
	return &CommitInfo{Raw: append(e.dst, '}')}, e.err
}

// JSONText is a text as a JSON value: what most operation parameters are.
func JSONText(text string) json.RawMessage { return appendJSONString(nil, text) }
