package protocol

import (
	"encoding/json"
	"slices"
)

// Action is one line of a commit: exactly one of the pointers is set, or none where the line holds an action that this
// product does not know, which is ignored (protocol, "Actions").
type Action struct {
	Add                *AddFile
	Remove             *RemoveFile
	CDC                *AddCDCFile
	Metadata           *Metadata
	Protocol           *Protocol
	Txn                *SetTransaction
	Domain             *DomainMetadata
	CommitInfo         *CommitInfo
	CheckpointMetadata *CheckpointMetadata
	Sidecar            *Sidecar
}

// AddFile adds a data file to the table (protocol, "Add File and Remove File").
type AddFile struct {
	Path                    string             // a URI reference as in the log: see DecodePath
	PartitionValues         map[string]*string // by physical name; nil is NULL, and so is "" for every type
	Size                    int64              // bytes
	ModificationTime        int64              // milliseconds since 1970
	DataChange              bool
	Stats                   string // JSON, empty where there are none
	Tags                    map[string]string
	DeletionVector          *DeletionVector
	BaseRowID               *int64
	DefaultRowCommitVersion *int64
	ClusteringProvider      string
}

// RemoveFile takes a data file out of the table; PartitionValues, Size and Tags count only with ExtendedFileMetadata.
type RemoveFile struct {
	Path                    string
	DeletionTimestamp       *int64 // milliseconds since 1970; missing counts as 0
	DataChange              bool
	ExtendedFileMetadata    *bool
	PartitionValues         map[string]*string
	Size                    *int64
	Stats                   string
	Tags                    map[string]string
	DeletionVector          *DeletionVector
	BaseRowID               *int64
	DefaultRowCommitVersion *int64
}

// AddCDCFile is a file of change rows (protocol, "Add CDC File").
type AddCDCFile struct {
	Path            string
	PartitionValues map[string]*string
	Size            int64
	DataChange      bool
	Tags            map[string]string
}

// Metadata is the table's metaData action (protocol, "Change Metadata").
type Metadata struct {
	ID               string
	Name             *string
	Description      *string
	Provider         string // format.provider, "parquet"
	FormatOptions    map[string]string
	SchemaString     string   // empty where the action has none
	PartitionColumns []string // logical names
	Configuration    map[string]string
	CreatedTime      *int64 // milliseconds since 1970
}

// Protocol is the table's protocol action. A nil list is absent, which differs from an empty one.
type Protocol struct {
	MinReaderVersion int
	MinWriterVersion int
	ReaderFeatures   []string
	WriterFeatures   []string
}

// SetTransaction records how far an application has written (protocol, "Transaction Identifiers").
type SetTransaction struct {
	AppID       string
	Version     int64
	LastUpdated *int64 // milliseconds since 1970
}

// DomainMetadata is one domain's configuration; Removed makes it a tombstone (protocol, "Domain Metadata").
type DomainMetadata struct {
	Domain        string
	Configuration string
	Removed       bool
}

// CheckpointMetadata stands in V2 checkpoints only.
type CheckpointMetadata struct {
	Version int64
	Tags    map[string]string
}

// Sidecar names a file of _delta_log/_sidecars that belongs to a V2 checkpoint.
type Sidecar struct {
	Path             string
	SizeInBytes      int64
	ModificationTime int64 // milliseconds since 1970
	Tags             map[string]string
}

// CommitInfo is a commit's provenance. It has no fixed shape, so the object is kept as it stands and the getters look
// into it; they answer false where the member is absent, null or of another type.
type CommitInfo struct {
	Raw json.RawMessage // an object; nil counts as {}
}

// member gives the raw value of a top-level member.
func (c *CommitInfo) member(key string) ([]byte, bool) {
	if c == nil || len(c.Raw) == 0 {
		return nil, false
	}
	cur := jsonCursor{data: c.Raw}
	var value []byte
	err := cur.object(func(name []byte) error {
		wanted := string(name) == key
		raw, err := cur.raw()
		if wanted {
			value = raw
		}
		return err
	})
	return value, err == nil && value != nil && string(value) != "null"
}

// Text is a string member.
func (c *CommitInfo) Text(key string) (string, bool) {
	raw, ok := c.member(key)
	if !ok {
		return "", false
	}
	s, err := (&jsonCursor{data: raw}).str()
	return s, err == nil
}

// Int is an integer member.
func (c *CommitInfo) Int(key string) (int64, bool) {
	raw, ok := c.member(key)
	if !ok {
		return 0, false
	}
	v, err := (&jsonCursor{data: raw}).int()
	return v, err == nil
}

// Bool is a boolean member.
func (c *CommitInfo) Bool(key string) (bool, bool) {
	raw, ok := c.member(key)
	if !ok {
		return false, false
	}
	v, err := (&jsonCursor{data: raw}).bool()
	return v, err == nil
}

// RawMember is any member as JSON text.
func (c *CommitInfo) RawMember(key string) (json.RawMessage, bool) {
	raw, ok := c.member(key)
	return json.RawMessage(slices.Clone(raw)), ok
}

// textMap reads an object whose values become text: a string as it is, null as absent, anything else as its JSON.
func (c *CommitInfo) textMap(key string) map[string]string {
	raw, ok := c.member(key)
	if !ok {
		return nil
	}
	cur := jsonCursor{data: raw}
	out := map[string]string{}
	err := cur.object(func(name []byte) error {
		k := string(name)
		if cur.null() {
			return nil
		}
		if cur.peek() == '"' {
			s, err := cur.str()
			out[k] = s
			return err
		}
		value, err := cur.raw()
		out[k] = string(value)
		return err
	})
	if err != nil {
		return nil
	}
	return out
}

// Timestamp is the writer's clock at the commit, in milliseconds since 1970.
func (c *CommitInfo) Timestamp() (int64, bool) { return c.Int("timestamp") }

// InCommitTimestamp is the commit's authoritative time where the feature is active, in milliseconds since 1970.
func (c *CommitInfo) InCommitTimestamp() (int64, bool) { return c.Int("inCommitTimestamp") }

// Operation is the operation's name, "" where none is recorded.
func (c *CommitInfo) Operation() string { s, _ := c.Text("operation"); return s }

// OperationParameters are the operation's parameters; values that are not strings are given as JSON text.
func (c *CommitInfo) OperationParameters() map[string]string {
	return c.textMap("operationParameters")
}

// OperationMetrics are the operation's metrics as text.
func (c *CommitInfo) OperationMetrics() map[string]string { return c.textMap("operationMetrics") }

// ReadVersion is the version the operation read.
func (c *CommitInfo) ReadVersion() (int64, bool) { return c.Int("readVersion") }

// IsolationLevel is the level the commit was made under.
func (c *CommitInfo) IsolationLevel() (string, bool) { return c.Text("isolationLevel") }

// IsBlindAppend tells whether the commit only added files without reading the table.
func (c *CommitInfo) IsBlindAppend() (bool, bool) { return c.Bool("isBlindAppend") }

// UserMetadata is the text a user attached to the commit.
func (c *CommitInfo) UserMetadata() (string, bool) { return c.Text("userMetadata") }

// EngineInfo names the writer.
func (c *CommitInfo) EngineInfo() (string, bool) { return c.Text("engineInfo") }

// TxnID is the commit attempt's own id.
func (c *CommitInfo) TxnID() (string, bool) { return c.Text("txnId") }

// UserID is the id of the user who committed.
func (c *CommitInfo) UserID() (string, bool) { return c.Text("userId") }

// UserName is the name of the user who committed.
func (c *CommitInfo) UserName() (string, bool) { return c.Text("userName") }

// ClusterID is the id of the cluster that committed.
func (c *CommitInfo) ClusterID() (string, bool) { return c.Text("clusterId") }

// Job describes the job that committed, as text by member; nil where none is recorded.
func (c *CommitInfo) Job() map[string]string { return c.textMap("job") }

// Notebook describes the notebook that committed.
func (c *CommitInfo) Notebook() map[string]string { return c.textMap("notebook") }

// Tags are the commit's tags, such as delta.rowTracking.preserved.
func (c *CommitInfo) Tags() map[string]string { return c.textMap("tags") }
