package txn

import "encoding/json"

// Operation is what a commit says of itself in commitInfo.
type Operation struct {
	Name             string // one of the protocol digest's vocabulary, such as "CREATE TABLE"
	Parameters       []Parameter
	Metrics          []Metric
	Tags             map[string]string
	NeverChangesData bool
	AllowEmpty       bool // commit even where nothing is staged
}

// Parameter is a member of operationParameters, written in the order given.
type Parameter struct {
	Key   string
	Value json.RawMessage
}

// Metric is a member of operationMetrics, whose values are text.
type Metric struct {
	Key, Value string
}
