package log

import (
	"maps"
	"sync"

	"deltasql/protocol"
	"deltasql/stats"
)

// Snapshot is the state of a table at one version. It never changes (L3) and may be used by any number of goroutines.
type Snapshot struct {
	table     *Table
	version   int64
	timestamp int64
	config    *protocol.TableConfig
	files     *Files
	segment   *Segment
	warnings  []string
	state     *state
	// unreadable is what the protocol's negotiation says, see Table.Inspect.
	unreadable error
	overlay    bool // made by Overlay
	// anchor is the file whose identity tells that the log at this place is still the one the snapshot was read from.
	anchor, anchorTag string

	statsOnce sync.Once
	stats     *stats.Table
}

// Version is the snapshot's version.
func (s *Snapshot) Version() int64 { return s.version }

// TimestampMillis is the time of the version's commit in milliseconds since 1970: its in-commit timestamp where the
// feature is active, else the time of its file.
func (s *Snapshot) TimestampMillis() int64 { return s.timestamp }

// Unreadable says why the table must not be read (protocol.CheckReadable); nil for every snapshot but Table.Inspect's.
func (s *Snapshot) Unreadable() error { return s.unreadable }

// readable gives the snapshot where the table may be read.
func (s *Snapshot) readable() (*Snapshot, error) {
	if s.unreadable != nil {
		return nil, s.unreadable
	}
	return s, nil
}

// Table is the table that the snapshot is of.
func (s *Snapshot) Table() *Table { return s.table }

// Config is the protocol and the metadata of the version, its schema parsed.
func (s *Snapshot) Config() *protocol.TableConfig { return s.config }

// Files are the live files.
func (s *Snapshot) Files() *Files { return s.files }

// Stats are the statistics and partition values of the files; parsing happens when a query first needs a column.
func (s *Snapshot) Stats() *stats.Table {
	s.statsOnce.Do(func() { s.stats = stats.NewTable(s.files, s.config) })
	return s.stats
}

// Segment tells which files of the log the snapshot was made from; for one that grew out of an older snapshot, only the
// files that were added to that.
func (s *Snapshot) Segment() *Segment { return s.segment }

// CommitInfo is the version's provenance; nil where its commit has none, and where the version came from a checkpoint
// and its commit was not read (Table.History reads it).
func (s *Snapshot) CommitInfo() *protocol.CommitInfo { return s.state.commitInfo }

// Domain is the configuration of a domain; false where the table has none of the name.
func (s *Snapshot) Domain(name string) (protocol.DomainMetadata, bool) {
	domain, ok := s.state.domains[name]
	return domain, ok
}

// Domains are all live domains by name; the map is the caller's.
func (s *Snapshot) Domains() map[string]protocol.DomainMetadata { return maps.Clone(s.state.domains) }

// Transactions are the newest transaction identifiers by application; the map is the caller's.
func (s *Snapshot) Transactions() map[string]protocol.SetTransaction { return maps.Clone(s.state.txns) }

// Warnings are what is wrong with the log without making the version unreadable: actions against the rules, a damaged
// checkpoint that others made good, and a checksum file that disagrees. Each starts with an error class in brackets.
func (s *Snapshot) Warnings() []string { return s.warnings }
