package txn

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"deltasql/protocol"
	"deltasql/txn/log"
)

// contender is a transaction that wants the next version: everything the conflict rules look at and everything that must be
// made anew when another commit takes that version. It is a value: a rule that changes part of it copies that part.
type contender struct {
	table string
	op    *Operation
	level Isolation
	blind bool // it only adds files and read no rows
	reads reads

	base *protocol.TableConfig // as it was read; nil for a new table
	was  *protocol.TableConfig // as the newest winner left it; base until there is one
	// protocol, metadata, txns, domains and files are what the commit changes. Added files that need row ids have none here:
	// each try gives them out behind the mark that is known then, so that there is nothing to shift.
	protocol *protocol.Protocol
	metadata *protocol.Metadata
	txns     []protocol.SetTransaction
	domains  []protocol.DomainMetadata
	files    []protocol.Action
	fresh    map[string]bool // canonical paths of files that are new
	done     []Duty          // for them

	firstVersion int64 // the version that was tried for first
	version      int64 // the version that is tried for now
	mark         int64 // the highest row id given out
	raise        int64 // what the mark must not stay below
	lastMillis   int64 // the time of the newest commit known
	// tracking is the value of the tag delta.rowTracking.preserved, "" for none.
	tracking string
	// applied: a winner wrote the application's transaction; there is nothing left to commit.
	applied bool
	// doubt: a write of the version was not answered, and nobody else is known to have it.
	doubt bool
}

// contend makes the contender of what is staged.
func (tx *Transaction) contend(op *Operation, nowMillis int64) (contender, error) {
	s := &tx.staged
	c := contender{
		table: tx.table.Name(), op: op, reads: tx.reads.clone(), protocol: s.protocol, metadata: s.metadata,
		txns: s.transactions(), domains: s.domainList(), files: s.fileActions(nowMillis), fresh: map[string]bool{}, done: s.done, mark: -1, raise: tx.mark,
	}
	for path, file := range s.files {
		if file.fresh {
			c.fresh[path] = true
		}
	}
	if tx.read != nil {
		c.base, c.was = tx.read.Config(), tx.read.Config()
		c.version, c.lastMillis = tx.read.Version()+1, tx.read.TimestampMillis()
		mark, err := rowMark(tx.read)
		if err != nil {
			return c, err
		}
		c.mark = mark
	}
	c.firstVersion = c.version
	config, err := c.config()
	if err != nil {
		return c, err
	}
	level, err := tableIsolation(config)
	if err != nil {
		return c, err
	}
	c.level = isolationOf(max(level, tx.options.Isolation), slices.Concat(s.singles(), c.files), op.NeverChangesData)
	c.blind = !c.reads.rows() && !slices.ContainsFunc(c.files, func(a protocol.Action) bool { return a.Add == nil })
	if c.base != nil && c.base.Active("rowTracking") {
		c.tracking = c.preserved()
	}
	return c, nil
}

// rowMark is the highest row id that a table has given out, -1 for none.
func rowMark(s *log.Snapshot) (int64, error) {
	domain, ok := s.Domain(protocol.DomainRowTracking)
	if !ok {
		return -1, nil
	}
	return protocol.RowIDHighWaterMark(domain.Configuration)
}

// preserved tells what a commit on a table that tracks rows did to the ids of rows that it moved: nothing to say where it
// moved none.
func (c *contender) preserved() string {
	moves := slices.ContainsFunc(c.files, func(a protocol.Action) bool { return a.Remove != nil })
	adds := slices.ContainsFunc(c.files, func(a protocol.Action) bool { return a.Add != nil && c.fresh[protocol.PathKey(a.Add.Path)] })
	switch {
	case !moves:
		return ""
	case adds && !slices.Contains(c.done, Duty{Kind: RowIDs}):
		return "false"
	}
	return "true"
}

// config is the table as it will be.
func (c *contender) config() (*protocol.TableConfig, error) {
	config, err := configured(c.was, c.protocol, c.metadata)
	if err == nil && config == nil {
		err = internal("%s would be made without a protocol or without metadata", c.table)
	}
	return config, err
}

// try makes the commit for the version that is tried for: row ids, times and the rest that depend on which version it is.
func (c *contender) try(o *Options, txnID string) (log.Commit, error) {
	now := o.Now().UnixMilli()
	config, err := c.config()
	if err != nil {
		return log.Commit{}, err
	}
	metadata, commitTime, err := c.timed(config, now)
	if err != nil {
		return log.Commit{}, err
	}
	files, mark, err := c.identified(config)
	if err != nil {
		return log.Commit{}, err
	}
	commit := log.Commit{Version: c.version, TimestampMillis: now}
	if commitTime != nil {
		commit.TimestampMillis = *commitTime
	}
	if metadata != nil {
		commit.Actions = append(commit.Actions, protocol.Action{Metadata: metadata})
	}
	if c.protocol != nil {
		commit.Actions = append(commit.Actions, protocol.Action{Protocol: c.protocol})
	}
	for i := range c.txns {
		commit.Actions = append(commit.Actions, protocol.Action{Txn: &c.txns[i]})
	}
	commit.Actions = append(commit.Actions, files...)
	for i := range c.domains {
		commit.Actions = append(commit.Actions, protocol.Action{Domain: &c.domains[i]})
	}
	if mark != c.mark {
		domain := protocol.RowTrackingDomain(mark)
		commit.Actions = append(commit.Actions, protocol.Action{Domain: &domain})
	}
	commit.Info, err = c.info(o, txnID, now, commitTime)
	return commit, err
}

// info is the commit's provenance.
func (c *contender) info(o *Options, txnID string, now int64, commitTime *int64) (*protocol.CommitInfo, error) {
	tags := map[string]string{}
	for key, value := range c.op.Tags {
		tags[key] = value
	}
	if c.tracking != "" && tags[tagRowTracking] == "" {
		tags[tagRowTracking] = c.tracking
	}
	if c.movesIdentityOnly() {
		tags[tagIdentity] = "true"
	}
	fields := protocol.CommitInfoFields{
		InCommitTimestamp: commitTime, Timestamp: now, UserName: o.UserName,
		Operation: c.op.Name, OperationParameters: c.op.Parameters, OperationMetrics: c.op.Metrics,
		IsolationLevel: c.level.String(), IsBlindAppend: &c.blind, Tags: tags, EngineInfo: o.Engine, TxnID: txnID,
	}
	if len(tags) == 0 {
		fields.Tags = nil
	}
	if c.base != nil {
		read := c.firstVersion - 1
		fields.ReadVersion = &read
	}
	if o.UserMetadata != "" {
		fields.UserMetadata = &o.UserMetadata
	}
	return protocol.NewCommitInfo(fields)
}

// movesIdentityOnly tells whether the only change of the metadata is to identity marks.
func (c *contender) movesIdentityOnly() bool {
	if c.base == nil || c.metadata == nil || c.metadata.SchemaString == c.base.Metadata.SchemaString {
		return false
	}
	config, err := configured(c.base, nil, c.metadata)
	return err == nil && sameButIdentity(c.base, config)
}

// identified gives the files with the ids of their rows, and the new mark (protocol digest, "Row tracking"). Ids are given
// to files that have none, new or committed again; where the table keeps none, they are taken off.
func (c *contender) identified(config *protocol.TableConfig) ([]protocol.Action, int64, error) {
	tracked := tracksRows(config)
	mark := c.mark
	if tracked {
		mark = max(mark, c.raise)
	}
	out := slices.Clone(c.files)
	for i := range out {
		if out[i].Add == nil {
			continue
		}
		add := *out[i].Add
		out[i].Add = &add
		if !tracked {
			add.BaseRowID, add.DefaultRowCommitVersion = nil, nil
			continue
		}
		n, ok := numRecords(&add)
		if add.BaseRowID != nil {
			mark = max(mark, *add.BaseRowID+n-1) // files of another table bring their ids
		} else {
			if !ok {
				return nil, 0, protocol.NewError("DELTA_ROW_ID_ASSIGNMENT_WITHOUT_STATS",
					"the rows of %s cannot be given ids: its statistics lack numRecords", add.Path).WithTable(c.table)
			}
			first := mark + 1
			add.BaseRowID = &first
			mark += n
		}
		if add.DefaultRowCommitVersion == nil {
			version := c.version
			add.DefaultRowCommitVersion = &version
		}
	}
	return out, mark, nil
}

// tracksRows tells whether the table gives ids to rows.
func tracksRows(c *protocol.TableConfig) bool {
	suspended, err := c.BoolProperty("delta.rowTrackingSuspended")
	return c.Supports("rowTracking") && !(err == nil && suspended)
}

// The properties that record since when a table's commits have their own times.
const (
	propertyTimes        = "delta.enableInCommitTimestamps"
	propertyTimesVersion = "delta.inCommitTimestampEnablementVersion"
	propertyTimesMillis  = "delta.inCommitTimestampEnablementTimestamp"
	propertyProtection   = "delta.requireCheckpointProtectionBeforeVersion"
)

// timed gives the in-commit timestamp, nil where the table has none, and the metadata with what they must say of the
// version: since when there are such timestamps, up to where checkpoints are protected, and when a type was widened.
func (c *contender) timed(config *protocol.TableConfig, now int64) (*protocol.Metadata, *int64, error) {
	var commitTime *int64
	if config.Active("inCommitTimestamp") {
		millis := now
		if c.version > 0 {
			millis = max(now, c.lastMillis+1)
		}
		commitTime = &millis
	}
	if c.metadata == nil {
		return nil, commitTime, nil
	}
	metadata := *c.metadata
	set := map[string]string{}
	if commitTime != nil && c.was != nil {
		if !c.was.Active("inCommitTimestamp") {
			set[propertyTimesVersion] = strconv.FormatInt(c.version, 10)
			set[propertyTimesMillis] = strconv.FormatInt(*commitTime, 10)
		} else {
			for _, key := range []string{propertyTimesVersion, propertyTimesMillis} {
				if value, ok := c.was.LookupProperty(key); ok {
					set[key] = value // whatever replaced the metadata: they say what is so
				}
			}
		}
	}
	if c.version != c.firstVersion {
		if value, ok := config.LookupProperty(propertyProtection); ok && value == strconv.FormatInt(c.firstVersion, 10) && config.Supports("checkpointProtection") {
			set[propertyProtection] = strconv.FormatInt(c.version, 10)
		}
		if config.Supports("typeWidening-preview") {
			schema, err := widenedAt(config.Schema, c.firstVersion, c.version)
			if err != nil {
				return nil, nil, err
			}
			metadata.SchemaString = schema.JSON()
		}
	}
	if len(set) > 0 {
		metadata.Configuration = withProperties(metadata.Configuration, set)
	}
	return &metadata, commitTime, nil
}

// withProperties copies a configuration and sets some keys.
func withProperties(configuration, set map[string]string) map[string]string {
	out := make(map[string]string, len(configuration)+len(set))
	for key, value := range configuration {
		out[key] = value
	}
	for key, value := range set {
		out[key] = value
	}
	return out
}

// keyTypeChanges is the field metadata in which the preview of type widening records a table version.
const keyTypeChanges = "delta.typeChanges"

// widenedAt moves the version of type changes that this commit makes.
func widenedAt(t protocol.DataType, from, to int64) (protocol.DataType, error) {
	t.Fields = slices.Clone(t.Fields)
	for i := range t.Fields {
		f := &t.Fields[i]
		var err error
		if f.Type, err = widenedAt(f.Type, from, to); err != nil {
			return t, err
		}
		raw, ok := f.Metadata[keyTypeChanges]
		if !ok {
			continue
		}
		var changes []map[string]json.RawMessage
		if err := json.Unmarshal(raw, &changes); err != nil {
			return t, protocol.NewError("DELTA_INVALID_SCHEMA", "%s of the column %q is malformed", keyTypeChanges, f.Name).WithCause(err)
		}
		moved := false
		for _, change := range changes {
			if bytes.Equal(change["tableVersion"], strconv.AppendInt(nil, from, 10)) {
				change["tableVersion"] = strconv.AppendInt(nil, to, 10)
				moved = true
			}
		}
		if moved {
			if raw, err = json.Marshal(changes); err != nil {
				return t, err
			}
			f.Metadata = f.Metadata.WithRaw(keyTypeChanges, raw)
		}
	}
	for _, inner := range []**protocol.DataType{&t.Element, &t.Key, &t.Value} {
		if *inner == nil {
			continue
		}
		moved, err := widenedAt(**inner, from, to)
		if err != nil {
			return t, err
		}
		*inner = &moved
	}
	return t, nil
}
