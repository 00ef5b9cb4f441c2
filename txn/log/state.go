package log

import (
	"cmp"
	"encoding/json"
	"maps"
	"math/bits"
	"reflect"
	"slices"

	"deltasql/protocol"
)

// state is a table's state while commits are applied to it, oldest first: of each protocol, metaData, txn and
// domainMetadata the newest counts, and a file is live if the newest action about its key is an add
// (protocol, "Action Reconciliation").
//
// Applying forward, with an index from key to row, gives what replay from the newest to the oldest with a set of seen
// keys gives, and serves the first load and the extension of a snapshot alike.
type state struct {
	version    int64 // of the last commit or the checkpoint applied
	protocol   *protocol.Protocol
	metadata   *protocol.Metadata
	txns       map[string]protocol.SetTransaction
	domains    map[string]protocol.DomainMetadata
	commitInfo *protocol.CommitInfo // of version; nil where its commit has none or was not read

	columns   *columns
	dead      []uint64 // a bit for each row that is no live file
	deadRows  int
	sizeBytes int64
	vectors   int
	deleted   int64 // rows hidden by the vectors of live files
	totals    *totals
	index     *fileIndex
	warnings  []string

	scratch []byte
}

func newState() *state {
	return &state{
		version: -1, columns: newColumns(),
		txns: map[string]protocol.SetTransaction{}, domains: map[string]protocol.DomainMetadata{},
	}
}

// extend gives a state to which further commits can be applied while snapshots of s stay as they are. The index moves to
// the new state: s can be extended again, but then builds its index anew.
func (s *state) extend() *state {
	next := *s
	next.txns, next.domains = maps.Clone(s.txns), maps.Clone(s.domains)
	next.columns = s.columns.clone()
	next.dead = slices.Clone(s.dead)
	next.warnings = slices.Clip(s.warnings)
	next.totals = s.totals.clone()
	next.commitInfo, next.scratch = nil, nil
	s.index = nil
	return &next
}

// addFile makes a row the live file of its key, and gives the row that was the newest of the key before, -1 for none.
func (s *state) addFile(add *addRow, key fileKey) (older int, err error) {
	index := s.indexed()
	row, err := s.columns.append(add)
	if err != nil {
		return 0, err
	}
	if row/64 >= len(s.dead) {
		s.dead = append(s.dead, 0)
	}
	s.count(row, 1)
	older = index.swap(s.columns, row, key)
	if older >= 0 && s.isLive(older) {
		s.kill(older)
	}
	return older, nil
}

// kill makes a row no file of the table any more.
func (s *state) kill(row int) {
	s.dead[row/64] |= 1 << (row % 64)
	s.deadRows++
	s.count(row, -1)
}

func (s *state) isLive(row int) bool { return s.dead[row/64]&(1<<(row%64)) == 0 }

func (s *state) count(row int, sign int64) {
	k, at := s.columns.chunk(row)
	s.sizeBytes += sign * k.size[at]
	deleted := int64(0)
	if vector := sparse(k.vectors, at, nil); vector != nil {
		s.vectors += int(sign)
		deleted = vector.Cardinality
		s.deleted += sign * deleted
	}
	if s.totals != nil {
		s.totals.count(k.size[at], deleted, sign)
	}
}

// indexed gives the index, built anew where another state took it over.
func (s *state) indexed() *fileIndex {
	if s.index == nil {
		s.index = newFileIndex(s.columns)
	}
	return s.index
}

// maxReserved bounds the rows that room is made for on the word of a file's footer.
const maxReserved = 16 << 20

// reserve makes room in the index of an empty state.
func (s *state) reserve(rows int) {
	if s.columns.rows == 0 {
		s.index = &fileIndex{slots: make([]uint64, slotsFor(min(rows, maxReserved)))}
	}
}

// applyCommit applies the actions of one commit, or of a compaction file that stands for several. The order of actions
// in a commit has no meaning, so removals go first. Where a commit breaks the protocol by adding and removing one key,
// the later line counts, as other engines have it, and a warning is kept.
func (s *state) applyCommit(c *commit) error {
	s.version = c.version
	s.commitInfo = nil
	if err := s.applySingles(c); err != nil {
		return err
	}
	removed, err := s.applyRemoves(c)
	if err != nil {
		return err
	}
	return s.applyAdds(c, removed)
}

// applySingles applies everything but the files. Two protocol or metaData actions that differ are an error, as it cannot
// be known which one the writer meant.
func (s *state) applySingles(c *commit) error {
	var newProtocol *protocol.Protocol
	var newMetadata *protocol.Metadata
	for i := range c.actions {
		switch action := &c.actions[i]; {
		case action.Protocol != nil:
			if newProtocol != nil && !reflect.DeepEqual(newProtocol, action.Protocol) {
				return differing(c.file, "protocol")
			}
			newProtocol = action.Protocol
		case action.Metadata != nil:
			if newMetadata != nil && !reflect.DeepEqual(newMetadata, action.Metadata) {
				return differing(c.file, "metaData")
			}
			newMetadata = action.Metadata
		case action.Txn != nil:
			s.txns[action.Txn.AppID] = *action.Txn
		case action.Domain != nil:
			if action.Domain.Removed {
				delete(s.domains, action.Domain.Domain)
			} else {
				s.domains[action.Domain.Domain] = *action.Domain
			}
		case action.CommitInfo != nil:
			s.commitInfo = action.CommitInfo
		}
	}
	s.protocol, s.metadata = cmp.Or(newProtocol, s.protocol), cmp.Or(newMetadata, s.metadata)
	return nil
}

func differing(file, action string) error {
	return protocol.NewError("DELTA_DUPLICATE_ACTIONS_FOUND", "%s holds several %s actions that differ", file, action)
}

// removal is where in a commit a key was removed last.
type removal struct {
	key fileKey
	at  int
}

// applyRemoves kills the files that the commit removes, and gives the removals by hash of their key.
func (s *state) applyRemoves(c *commit) (map[uint64]removal, error) {
	if c.removes == 0 {
		return nil, nil
	}
	var removed map[uint64]removal
	if c.adds > 0 {
		removed = make(map[uint64]removal, c.removes)
	}
	for i := range c.actions {
		remove := c.actions[i].Remove
		if remove == nil {
			continue
		}
		key := keyOf([]byte(remove.Path), remove.DeletionVector)
		if row := s.indexed().lookup(s.columns, key); row >= 0 && s.isLive(row) {
			s.kill(row)
		}
		if removed != nil {
			removed[key.hash()] = removal{key, i}
		}
	}
	return removed, nil
}

func (s *state) applyAdds(c *commit, removed map[uint64]removal) error {
	if c.adds == 0 {
		return nil
	}
	first := s.columns.rows
	for i := range c.actions {
		add := c.actions[i].Add
		if add == nil {
			continue
		}
		key := keyOf([]byte(add.Path), add.DeletionVector)
		if removed != nil {
			if r, ok := removed[key.hash()]; ok && r.key.vector == key.vector && string(r.key.path) == string(key.path) {
				s.warn("%s both adds and removes %q; the later line counts", c.file, add.Path)
				if r.at > i {
					continue
				}
			}
		}
		row, err := s.rowOf(add)
		if err != nil {
			return err
		}
		older, err := s.addFile(row, key)
		if err != nil {
			return err
		}
		if older >= first {
			return protocol.NewError("DELTA_DUPLICATE_ACTIONS_FOUND", "%s adds the file %q more than once", c.file, add.Path)
		}
	}
	return nil
}

// rowOf turns an action into a row.
func (s *state) rowOf(add *protocol.AddFile) (*addRow, error) {
	tuple, err := s.columns.tuples.code(add.PartitionValues, &s.scratch)
	if err != nil {
		return nil, err
	}
	row := &addRow{
		path: []byte(add.Path), stats: []byte(add.Stats),
		size: add.Size, modification: add.ModificationTime, tuple: tuple,
		baseRowID: absent, rowCommitVersion: absent,
		provider: add.ClusteringProvider, vector: add.DeletionVector,
	}
	if add.BaseRowID != nil {
		row.baseRowID = *add.BaseRowID
	}
	if add.DefaultRowCommitVersion != nil {
		row.rowCommitVersion = *add.DefaultRowCommitVersion
	}
	if len(add.Tags) > 0 {
		if row.tags, err = json.Marshal(add.Tags); err != nil {
			return nil, err
		}
	}
	return row, nil
}

// maxWarnings bounds what a snapshot remembers of a log that breaks the rules all the time.
const maxWarnings = 100

func (s *state) warn(format string, args ...any) {
	if len(s.warnings) < maxWarnings {
		s.warnings = append(s.warnings, protocol.NewError("DELTA_DUPLICATE_ACTIONS_FOUND", format, args...).Error())
	}
}

// files gives the live files. When most of a large state is dead rows, the live ones are copied together first.
func (s *state) files() (*Files, error) {
	const worthIt = 4 * chunkRows
	if s.deadRows > worthIt && s.deadRows > s.columns.rows/2 {
		if err := s.compact(); err != nil {
			return nil, err
		}
	}
	files := &Files{columns: s.columns, sizeBytes: s.sizeBytes, vectors: s.vectors, deletedRows: s.deleted}
	if s.deadRows == 0 {
		return files, nil
	}
	files.live = make([]uint32, 0, s.columns.rows-s.deadRows)
	for word, dead := range s.dead {
		for live := ^dead; live != 0; live &= live - 1 {
			row := word*64 + bits.TrailingZeros64(live)
			if row >= s.columns.rows {
				break
			}
			files.live = append(files.live, uint32(row))
		}
	}
	return files, nil
}

// compact replaces the columns by ones that hold the live rows only.
func (s *state) compact() error {
	kept := &columns{tuples: s.columns.tuples, providers: nil}
	for row := range s.columns.rows {
		if !s.isLive(row) {
			continue
		}
		if err := kept.copyRow(s.columns, row); err != nil {
			return err
		}
	}
	s.columns, s.index = kept, nil
	s.dead, s.deadRows = make([]uint64, (kept.rows+63)/64), 0
	return nil
}
